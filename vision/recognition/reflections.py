"""Tell reflections on the empty squares of a glossy board from tiles without a clear letter.

A window or a lamp that a board reflects is bright and may have edges, so both networks may take it for a tile. Three
things tell them apart, and all of them come from the other squares of the picture:

- A tile ends at the edges of its square, but light goes on in the neighbouring squares. How bright a square would be
  without a tile is known from the empty squares of its kind, pixel by pixel.
- Light adds to the colour of the square below it; a tile has the colour of the other tiles, unless it has a sticker.
- A picture with one reflection that looks like a tile often has more of them, while a set has two blanks.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image
from vision.recognition.colour_comparison import (
    MARKED_TILE_NATS,
    MIN_COLOUR_SQUARES,
    SQUARE_PREMIUMS,
    average_nearby_colours,
    compare_with_tiles,
    log_likelihood,
)
from vision.recognition.edge_comparison import find_neighbours
from vision.recognition.letters import LETTER_CLASSES, NO_TILE_CLASS
from vision.recognition.views import VIEW_MARGIN_SQUARES, VIEW_PX_PER_SQUARE, split_squares

_MIN_EMPTY_P: Final = 0.97
"""Minimum probability of an empty square with which others are compared."""
_MIN_TILE_P: Final = 0.02
"""Minimum probability of a tile on a square that may have a reflection."""
_CLEAR_LETTER_P: Final = 0.9
"""Minimum probability of all letters together on a square that has no reflection but a tile."""
_NEIGHBOUR_LETTER_P: Final = 0.25
"""Minimum probability of all letters together on a square whose brightness may be that of a tile, not light."""
_MIN_BRIGHTENING: Final = 0.08
_MAX_DARKENING: Final = 0.05
"""`_MIN_BRIGHTENING` and `_MAX_DARKENING`: minimum difference of the mean log-colours of a square with a reflection and
of an empty one, and maximum by which one channel may be darker."""
_INSIDE_PX, _OUTSIDE_PX = (2, 5), (4, 7)
"""Minimum and maximum distance, in pixels from the edge of a square, of the strips inside and outside. The outer one is
beyond the tops of tiles that a low camera sees above the neighbouring square."""
_MIN_NOISE: Final = 3.0
_MAD_TO_SIGMA: Final = 1.5
_MIN_DEVIATIONS: Final = 4.0
_MIN_SPAN_SHARE: Final = 0.1
"""Minimum brightening by a reflection: `_MIN_DEVIATIONS` standard deviations of the strips outside empty squares, and
`_MIN_SPAN_SHARE` of the span from the dark to the bright parts of the view. The standard deviation is at least
`_MIN_NOISE` grey levels; `_MAD_TO_SIGMA` is that of a normal distribution with a median absolute deviation of 1."""
_MIN_LIGHT_SHARE: Final = 0.25
"""Minimum brightening outside an edge that light crosses, as a share of that inside."""
_CROSSED_NATS, _ENDED_NATS = float(np.log(0.6 / 0.05)), float(np.log(0.4 / 0.95))
"""Log-likelihood ratios reflection : tile of an edge that light crosses, and of one at which it ends. The shares are
assumed: a reflection is larger than its square or smaller, and one edge of a tile in 20 has light beside it by chance.
"""
_LIGHT_STRENGTHS: Final = (0.05, 0.1, 0.2, 0.3, 0.45, 0.65, 0.9, 1.3)
_RESPONSES: Final = (1.0, 2.2)
_LIGHT_SPREAD: Final = 0.1**2 * np.eye(3)
"""Brightness of the reflections that are tried, as a share of the brightest level; exponents of the response of a
camera, from plain addition of levels to a display's curve; and the covariance of the log-colours, for coloured light.
"""
_MAX_COLOUR_NATS: Final = 4.0
"""Maximum evidence of the colour for a reflection: a sticker on a blank may be white. None without other tiles."""
_BLANK_COUNT, _USUAL_REFLECTIONS = 2.0, 0.2
"""Number of blanks in a set, and usual number of reflections in a picture that look like tiles. Those that a picture
shows are added to it."""
_MIN_PROBABILITY: Final = 1e-6
"""Minimum of each probability that is turned into log-odds."""
_NETWORK_SHARE: Final = 0.25
"""Share of the log-odds tile : empty that also holds for tile : reflection."""


def weigh_reflections(chances: Floats, letter_p: Floats, view: Image, colours: Floats) -> None:
    """Reduce the probability of tiles on squares that light crosses, in place.

    `chances` `(225, classes + 1)` are the class probabilities; the last one is that the square is hidden. `letter_p`
    `(225,)` is the letter network's probability of any letter. `view` is the image from `rectify_board`, and `colours`
    the result of `measure_log_colours(view)`.
    """
    empty_p = chances[:, NO_TILE_CLASS].copy()
    tile_p, letters_p = 1 - empty_p - chances[:, -1], chances[:, :-1][:, LETTER_CLASSES].sum(axis=1)
    is_empty = empty_p > _MIN_EMPTY_P
    is_known = (np.bincount(SQUARE_PREMIUMS[is_empty], minlength=len(chances)) >= MIN_COLOUR_SQUARES)[SQUARE_PREMIUMS]
    examined = (tile_p > _MIN_TILE_P) & (letters_p < _CLEAR_LETTER_P) & is_known
    if not examined.any():
        return
    usual = _estimate_empty_colours(colours, is_empty & is_known)
    examined &= _are_brighter(colours, usual)
    if not examined.any():
        return
    nats = _measure_crossing_light(view, usual, is_empty & is_known, letters_p > _NEIGHBOUR_LETTER_P)
    rows = np.flatnonzero(examined & (nats > 0))
    nats = nats[rows] + _compare_with_light(colours, usual, np.flatnonzero(letters_p > _CLEAR_LETTER_P), rows)
    # A square is empty as it may be without reflections, or it has one of the reflections of this picture.
    odds = _log_odds(tile_p[rows], empty_p[rows])
    count = _USUAL_REFLECTIONS + np.count_nonzero(tile_p[rows] > 0.5)
    against_light = np.log(_BLANK_COUNT / count) + _NETWORK_SHARE * odds - nats
    against_light += np.maximum(_log_odds(letter_p[rows], 1 - letter_p[rows]), 0)
    left_p = (tile_p + empty_p)[rows] / (1 + np.exp(np.logaddexp(-odds, -against_light)))
    chances[rows, 1:-1] *= (left_p / tile_p[rows])[:, None]
    chances[rows, NO_TILE_CLASS] += tile_p[rows] - left_p


def _are_brighter(colours: Floats, usual: Floats) -> NDArray[np.bool_]:
    """Return the mask `(225,)` of the squares that are brighter than an empty square, in all channels."""
    brightening = colours - usual
    is_brighter = (brightening.mean(axis=1) > _MIN_BRIGHTENING) & (brightening.min(axis=1) > -_MAX_DARKENING)
    return np.asarray(is_brighter, np.bool_)


def _log_odds(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.log((one + _MIN_PROBABILITY) / (other + _MIN_PROBABILITY)), np.float64)


def _estimate_empty_colours(colours: Floats, is_empty: NDArray[np.bool_]) -> Floats:
    """Return the log-colours `(225, 3)` that the squares would have if they were empty.

    They are those of the empty squares nearby, corrected for the kind of square: the light changes smoothly.
    """
    usual = average_nearby_colours(colours, np.flatnonzero(is_empty), np.arange(len(colours)))
    for kind in np.unique(SQUARE_PREMIUMS[is_empty]):
        own = kind == SQUARE_PREMIUMS
        usual[own] += np.median((colours - usual)[own & is_empty], axis=0)
    return usual


def _compare_with_light(
    colours: Floats, usual: Floats, tiles: NDArray[np.intp], rows: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the log-likelihood ratios reflection : tile (nats) of the colours of the squares `rows`.

    `usual` `(225, 3)` are the log-colours of the squares if they were empty, `tiles` the squares with other tiles.
    """
    as_tile = np.logaddexp(compare_with_tiles(colours, tiles, rows), MARKED_TILE_NATS)
    levels = ((np.exp(usual[rows]) - 8) / 255).clip(0, 1)
    as_light = np.full(len(rows), -np.inf)
    for exponent in _RESPONSES:
        for strength in _LIGHT_STRENGTHS:
            lit = 255 * np.minimum((levels**exponent + strength**exponent) ** (1 / exponent), 1)
            as_light = np.logaddexp(as_light, log_likelihood(colours[rows] - np.log(lit + 8), _LIGHT_SPREAD))
    nats = as_light - np.log(len(_RESPONSES) * len(_LIGHT_STRENGTHS)) - as_tile
    return np.asarray(np.minimum(nats, _MAX_COLOUR_NATS if len(tiles) >= MIN_COLOUR_SQUARES else 0.0), np.float64)


def _measure_crossing_light(
    view: Image, usual: Floats, is_empty: NDArray[np.bool_], has_letter: NDArray[np.bool_]
) -> Floats:
    """Return the log-likelihood ratio reflection : tile (nats) of the light at the four edges of each square: `(225,)`.

    `usual` `(225, 3)` are the log-colours of the squares if they were empty. Edges beside the squares `has_letter`,
    and edges at which a square is not brighter than an empty one, do not count.
    """
    grey = np.asarray(cv2.cvtColor(view, cv2.COLOR_BGR2GRAY), np.uint8)
    brighter = _subtract_empty_squares(grey, usual, is_empty)
    inside, outside = _measure_strips(_paint_squares(brighter))
    low, high = np.percentile(grey[::3, ::3], (3, 97))
    least = max(_MIN_DEVIATIONS * _estimate_noise(outside[is_empty]), _MIN_SPAN_SHARE * (high - low))
    half = slice(VIEW_PX_PER_SQUARE // 4, -VIEW_PX_PER_SQUARE // 4)
    middle = brighter[:, half, half].mean(axis=(1, 2))[:, None, None]
    beside_letter = find_neighbours(has_letter.reshape(BOARD_SIZE, BOARD_SIZE)).reshape(-1, 4, 1)
    counts = (middle > least) & ~np.isnan(inside + outside) & ~beside_letter
    is_crossed = counts & (inside > least) & (outside > np.maximum(least, _MIN_LIGHT_SHARE * inside))
    is_ended = counts & ~is_crossed & (inside > 0.5 * middle)
    nats = np.where(is_crossed.any(axis=2), _CROSSED_NATS, np.where(is_ended.any(axis=2), _ENDED_NATS, 0.0))
    return np.asarray(nats.sum(axis=1), np.float64)


def _estimate_noise(strips: Floats) -> float:
    """Return the standard deviation of the brightness of the strips outside empty squares, in grey levels."""
    known = strips[~np.isnan(strips)]
    return max(_MIN_NOISE, _MAD_TO_SIGMA * float(np.median(np.abs(known)))) if len(known) else _MIN_NOISE


def _subtract_empty_squares(grey: Image, usual: Floats, is_empty: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return how much brighter each pixel is than on an empty square: `(225, 16, 16)`, NaN if unknown."""
    squares = split_squares(grey).reshape(-1, VIEW_PX_PER_SQUARE, VIEW_PX_PER_SQUARE).astype(np.float32)
    light = np.exp(usual.mean(axis=1)).astype(np.float32)[:, None, None]
    brighter = np.full_like(squares, np.nan)
    for kind in np.unique(SQUARE_PREMIUMS[is_empty]):
        own = kind == SQUARE_PREMIUMS
        pattern = np.median((squares / light)[own & is_empty], axis=0)
        brighter[own] = squares[own] - pattern * light[own]
    return brighter


def _paint_squares(values: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return a view of the board whose squares have the given pixels `(225, 16, 16)`."""
    side, border = VIEW_PX_PER_SQUARE, VIEW_MARGIN_SQUARES * VIEW_PX_PER_SQUARE
    painted = np.full((BOARD_SIZE * side + 2 * border,) * 2, np.nan, np.float32)
    grid = painted[border:-border, border:-border].reshape(BOARD_SIZE, side, BOARD_SIZE, side).swapaxes(1, 2)
    grid[:] = values.reshape(BOARD_SIZE, BOARD_SIZE, side, side)
    return painted


def _measure_strips(view: NDArray[np.float32]) -> tuple[Floats, Floats]:
    """Return the means of strips along the edges of each square, inside and outside: two arrays `(225, 4, 2)`.

    The four sides run clockwise from the top; each has two halves, in the order of rows or columns.
    """
    (near, far), side = _INSIDE_PX, VIEW_PX_PER_SQUARE
    before, after = _OUTSIDE_PX
    measured = []
    for first, last in (((near, far), (side - far, side - near)), ((-after, -before), (side + before, side + after))):
        top, bottom = _cut_strips(view, *first), _cut_strips(view, *last)
        left, right = (_cut_strips(view.T, *at).transpose(1, 0, 2) for at in (first, last))
        measured.append(np.stack([top, right, bottom, left], axis=2).reshape(-1, 4, 2))
    return measured[0], measured[1]


def _cut_strips(view: NDArray[np.float32], start: int, end: int) -> Floats:
    """Return the means of the rows `start` to `end` of each square, in two halves: `(15 rows, 15 columns, 2)`."""
    side, border = VIEW_PX_PER_SQUARE, VIEW_MARGIN_SQUARES * VIEW_PX_PER_SQUARE
    rows = border + side * np.arange(BOARD_SIZE)[:, None] + np.arange(start, end)
    strips = view[rows, border:-border].reshape(BOARD_SIZE, end - start, BOARD_SIZE, side)
    near = _INSIDE_PX[0]
    halves = strips[..., near:-near].reshape(BOARD_SIZE, end - start, BOARD_SIZE, 2, -1)
    return np.asarray(halves.mean(axis=(1, 4)), np.float64)
