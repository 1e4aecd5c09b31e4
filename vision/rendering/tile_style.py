"""Appearance of tiles as parameters, and letters drawn in these styles.

Lengths are in squares unless stated otherwise; colours are BGR 0 to 255.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from vision.rendering.board_art import print_mask
from vision.rendering.fonts import PLAIN_SHAPE, LetterShape, thin_strokes
from vision.rendering.style import Colour, Rng

Picture = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.uint8]
PRINT_EFFECTS = {"plain": 0.7, "hollow": 0.06, "inline": 0.04, "shadow": 0.06, "foil": 0.08, "carved": 0.06}
"""Styles in which letters are printed on tiles, with the probability of each in a random set of tiles."""
_WOBBLE_CELLS = 3
"""Number of cells, along each side, of the random field that deforms letters drawn by hand."""


def draw_print(
    face: Picture, mask: Mask, x: float, y: float, effect: str, colours: tuple[Colour, Colour], strength: float
) -> None:
    """Draw the letter `mask` (h, w) uint8, centred at (x, y) px, on `face` (s, s, 3) uint8 BGR in place.

    `colours` are the colour of the print and a second colour, which depends on the effect: that of the shadow, of the
    shine of foil, or of the lit edge of a carved letter. `strength` (0..1) is the opacity of the print.
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


@dataclass(frozen=True)
class Dimples:
    """Round marks of the mould's ejector pins on plastic tiles: dimples, or bumps if `depth` is negative."""

    centres: tuple[tuple[float, float], ...] = ()  # (x, y) as fractions of the tile's side
    radius: float = 0.0  # fraction of the tile's side
    depth: float = 0.0  # relative brightness difference between the centre and the sides of a dimple


@dataclass(frozen=True)
class TileStyle:
    """Appearance of a set of tiles, and the accuracy with which they are placed."""

    top: Colour  # colour of the top
    side: Colour  # colour of the side faces
    ink: Colour  # colour of the print
    size: float  # side of a tile
    height: float  # thickness of a tile
    rounding: float  # corner radius, fraction of the tile's side
    bevel: float  # width of the bevel, fraction of the tile's side
    bevel_light: float  # maximum relative brightness change on the bevel
    grain: float  # relative standard deviation of the wood grain, 0 = plastic
    colour_spread: float  # relative standard deviation of brightness between tiles
    font: Path
    cap_height: float  # cap height, fraction of the tile's side
    letter_centre: tuple[float, float]  # centre (x, y) of the letter, fractions of the tile's side
    value_height: float  # height of the value's digits, fraction of the tile's side, 0 = no value
    value_centre: tuple[float, float]  # centre (x, y) of the value, fractions of the tile's side
    engraved: float  # strength of the bright edge of engraved letters, 0 = printed
    dimples: Dimples
    blank: str  # mark on blanks: plain, or one of _BLANK_MARKS
    turn_sd_deg: float  # standard deviation of the rotation on the square, degrees
    slip_sd: float  # standard deviation of the shift from the square's centre, squares
    gloss: float  # strength of reflections, 0..1
    letter_shape: LetterShape = PLAIN_SHAPE  # geometric variation of the font
    mixed_faces: tuple[tuple[Path, LetterShape], ...] = ()  # if not empty, each tile has one of these typefaces
    pencil_font: Path | None = None  # font of letters written on blanks
    subscript: bool = False  # the value is next to the letter instead of in the corner
    worn_share: float = 0.0  # approximate share of the print that is worn off
    careless_share: float = 0.0  # share of tiles with a large shift and rotation
    sticker: Colour | None = None  # colour of stickers on blanks; random for each blank if None
    print_effect: str = "plain"  # one of PRINT_EFFECTS
    second_ink: Colour = (0.0, 0.0, 0.0)  # second colour of the print effect
    wobble: float = 0.0  # deformation of each letter, as by hand, fraction of its height
    rim: float = 0.0  # distance of a printed line from the edges, fraction of the tile's side, 0 = no line
    rim_colour: Colour = (0.0, 0.0, 0.0)
    shading: tuple[float, float] = (0.0, 0.0)  # relative change of brightness across the top: right, down
    grain_angle: float = 0.0  # direction of the wood grain, radians from the tile's bottom edge
    grain_bend: float = 0.0  # amplitude of the curves of the wood grain, fraction of the tile's side
