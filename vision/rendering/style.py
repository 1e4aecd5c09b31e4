"""Colours (BGR 0 to 255), and the standard layout of a board."""

from __future__ import annotations

import colorsys

import numpy as np

Rng = np.random.Generator
Colour = tuple[float, float, float]

# The standard layout: ' ' plain, d/t double/triple letter, D/T double/triple word, * centre (rule sheet classic-2008).
LAYOUT = (
    "T  d   T   d  T",
    " D   t   t   D ",
    "  D   d d   D  ",
    "d  D   d   D  d",
    "    D     D    ",
    " t   t   t   t ",
    "  d   d d   d  ",
    "T  d   *   d  T",
    "  d   d d   d  ",
    " t   t   t   t ",
    "    D     D    ",
    "d  D   d   D  d",
    "  D   d d   D  ",
    " D   t   t   D ",
    "T  d   T   d  T",
)


def hsv_to_bgr(h: float, s: float, v: float) -> Colour:
    """Convert HSV to BGR (0..255); hue `h` is in turns, saturation `s` and value `v` are clipped to 0..1."""
    r, g, b = colorsys.hsv_to_rgb(h % 1.0, min(max(s, 0.0), 1.0), min(max(v, 0.0), 1.0))
    return (255 * b, 255 * g, 255 * r)


def random_colour(rng: Rng) -> Colour:
    """Return a random BGR colour that is not nearly black."""
    return hsv_to_bgr(rng.random(), rng.random() ** 0.8, 0.15 + 0.85 * rng.random())
