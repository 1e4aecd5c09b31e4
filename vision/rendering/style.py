"""Appearance of boards as parameters. Lengths are in squares, colours are BGR 0 to 255.

Every random function takes a numpy Generator, so the same seed gives the same colour.
"""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True)
class BoardStyle:
    """Appearance of a printed or moulded board: colours, lines, premium squares, print, frame and wear."""

    ground: Colour
    premium: dict[str, Colour]  # 'T', 'D', 't', 'd' -> colour
    line: Colour
    line_width: float  # 0 = no lines
    ridge: float  # brightness of the highlight on raised grid lines, 0 = flat lines
    premium_shape: str  # shape of premium squares: full, inset, rounded, burst, teeth, arrows
    inset: float  # width of the border around inset and rounded premium squares
    raised: float  # brightness of the highlight on raised premium squares, 0 = flat
    text: Mapping[str, tuple[str, ...]]  # 'T', 'D', 't', 'd' -> printed lines
    text_font: Path
    text_size: float  # height of a line of text
    text_colour: Colour
    text_turn: int  # rotation of all texts, quarter turns
    text_faces: bool  # texts are rotated towards the nearest side of the board instead
    centre: str  # print of the centre square: star, heart, text, plain, disc
    frame_bands: tuple[tuple[float, Colour], ...]  # bands of the frame, from the grid outwards: width, colour
    frame_panels: tuple[float, float, float, float]  # additional width of the frame: left, top, right, bottom
    frame_text: bool  # words are printed on the frame
    labels: bool  # A to O and 1 to 15 are printed along the grid
    corner_radius: float  # radius of the corners of the board's outline
    seam: str  # fold of the board: none, vertical, horizontal
    grain: float  # relative standard deviation of the texture's brightness
    star_points: int = 5  # number of points of the star on the centre square
    hollow_star: bool = False  # the star is drawn as an outline


def hsv_to_bgr(h: float, s: float, v: float) -> Colour:
    """Convert HSV to BGR (0..255); hue `h` is in turns, saturation `s` and value `v` are clipped to 0..1."""
    r, g, b = colorsys.hsv_to_rgb(h % 1.0, min(max(s, 0.0), 1.0), min(max(v, 0.0), 1.0))
    return (255 * b, 255 * g, 255 * r)


def scale_brightness(colour: Colour, factor: float) -> Colour:
    """Return a darker or brighter colour: each channel times `factor`, 255 at most."""
    blue, green, red = (min(255.0, value * factor) for value in colour)
    return blue, green, red


def random_colour(rng: Rng) -> Colour:
    """Return a random BGR colour that is not nearly black."""
    return hsv_to_bgr(rng.random(), rng.random() ** 0.8, 0.15 + 0.85 * rng.random())
