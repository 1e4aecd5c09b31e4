"""Effects of the print on tiles: hollow, foil, carved, deformed as by hand, and a line along the edges."""

from __future__ import annotations

import cv2
import numpy as np

from vision.rendering.board_art import Picture, print_mask
from vision.rendering.fonts import Mask
from vision.rendering.style import Colour, Rng
from vision.training.letter_shapes import thin_strokes

PRINT_EFFECTS = {"plain": 0.7, "hollow": 0.06, "inline": 0.04, "shadow": 0.06, "foil": 0.08, "carved": 0.06}
"""Styles in which letters are printed on tiles, with the probability of each in a random set of tiles."""
_WOBBLE_CELLS = 3
"""Number of cells, along each side, of the random field that deforms letters drawn by hand."""


def draw_print(
    face: Picture, mask: Mask, x: float, y: float, effect: str, colours: tuple[Colour, Colour], strength: float
) -> None:
    """Draw the letter `mask` (h, w) uint8, centred at (x, y) px, on `face` (s, s, 3) uint8 BGR in place.

    `colours` are the colour of the print and a second colour. The second is used for the shadow, the shine of foil or
    the lit edge of a carved letter, depending on `effect`. `strength` (0..1) is the opacity of the print.
    """
    ink, second = colours
    step = max(1.0, face.shape[0] / 36)
    match effect:
        case "hollow":
            print_mask(face, mask - _shrink(mask, 0.07), x, y, ink, strength)
        case "inline":
            inner = _shrink(mask, 0.06)
            print_mask(face, mask - (inner - _shrink(inner, 0.05)), x, y, ink, strength)
        case "shadow":
            print_mask(face, mask, x + step, y + step, second, 0.8 * strength)
            print_mask(face, mask, x, y, ink, strength)
        case "foil":
            print_mask(face, mask, x, y, ink, strength)
            # The shine of foil is a soft diagonal stripe across the letter.
            across, down = np.meshgrid(np.linspace(-1, 1, mask.shape[1]), np.linspace(-1, 1, mask.shape[0]))
            shine = np.exp(-(((across + down + np.sin(7 * x)) / 0.5) ** 2))
            print_mask(face, np.asarray(mask * shine, np.uint8), x, y, second, strength)
        case "carved":
            print_mask(face, mask, x + step / 2, y + step / 2, second, 0.6)
            print_mask(face, mask, x, y, ink, strength)
        case _:
            print_mask(face, mask, x, y, ink, strength)


def _shrink(mask: Mask, share: float) -> Mask:
    """Return a letter with thinner strokes: eroded by `share` of its height, at least by a pixel."""
    return thin_strokes(mask, max(1, round(share * mask.shape[0] / 2)))


def deform_letter(rng: Rng, mask: Mask, amount: float) -> Mask:
    """Return a letter as if drawn by hand: a smooth random field moves each pixel by up to `amount` times the height.

    The shape (h, w) stays the same. The field is zero at the edges, so that no ink is moved over them.
    """
    height, width = mask.shape
    field = np.zeros((2, _WOBBLE_CELLS + 2, _WOBBLE_CELLS + 2), np.float32)
    field[:, 1:-1, 1:-1] = rng.normal(0, amount * height, (2, _WOBBLE_CELLS, _WOBBLE_CELLS))
    across, down = (cv2.resize(part, (width, height), interpolation=cv2.INTER_CUBIC) for part in field)
    columns, rows = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    return np.asarray(cv2.remap(mask, columns + across, rows + down, cv2.INTER_LINEAR), np.uint8)


def draw_rim(face: Picture, inset: float, colour: Colour, width: float = 0.03) -> None:
    """Draw a square line along the edges of a tile's top, in place.

    `inset` is its distance from the edges and `width` its width, as fractions of the tile's side.
    """
    s = face.shape[0]
    edge = round(inset * s)
    cv2.rectangle(face, (edge, edge), (s - 1 - edge, s - 1 - edge), colour, max(1, round(width * s)), cv2.LINE_AA)
