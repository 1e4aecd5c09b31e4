"""Evidence for blanks from colour: a square without print is a blank tile or empty.

Colours differ between editions and with the light, but on one board all empty squares of one kind have the same colour,
and so have all tiles. A square without print is compared with both; nearby squares count most, because the light
changes smoothly.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.board import load_layout
from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image
from vision.recognition.squares import VIEW_MARGIN_SQUARES, VIEW_PX_PER_SQUARE

_KINDS: Final = tuple(dict.fromkeys(load_layout().premiums))
SQUARE_KINDS: Final = np.array([_KINDS.index(p) for p in load_layout().premiums])
"""Kind (premium) of each of the 225 squares; symmetric under rotation."""
_SQUARE_POSITIONS: Final = np.indices((BOARD_SIZE, BOARD_SIZE)).reshape(2, -1).T.astype(np.float64)
_NEIGHBOUR_REACH_SQUARES: Final = 2.0
"""Distance over which the weight of a neighbour halves, in squares."""
_NEIGHBOUR_WEIGHTS: Final = (
    1
    / (((_SQUARE_POSITIONS[:, None] - _SQUARE_POSITIONS) ** 2).sum(axis=2) + _NEIGHBOUR_REACH_SQUARES**2)
    * (1 - np.eye(BOARD_SIZE * BOARD_SIZE))
)
"""Weight of each square for each other one, `(225, 225)`."""
_SAME_KIND_WEIGHTS: Final = _NEIGHBOUR_WEIGHTS * (SQUARE_KINDS[:, None] == SQUARE_KINDS)
"""The same weights, 0 for squares of another kind."""
_MIN_SQUARES: Final = 4
"""Least number of squares of a sort to estimate its colour."""
_MIN_COLOUR_SPREAD: Final = 0.005
"""Least standard deviation of the log-colours of one sort; chosen, like `_NEIGHBOUR_REACH_SQUARES`, on rendered scenes
by the errors that `python -m vision.training.fit_blanks` counts."""
_T_DEGREES_OF_FREEDOM: Final = 4.0
"""Degrees of freedom of the Student t distribution of colours: heavy tails for shadows and worn squares."""
_MAX_LOG_RATIO_NATS: Final = 6.0
_MIN_GLARE_LEVEL: Final = 250
"""Level (0..255) in all channels from which a pixel is glare; white tiles in a well exposed picture are darker."""
_BRIGHT_TILE_LEVEL: Final = 200
"""Level (0..255) of tile faces from which glare cannot be distinguished from them."""


def measure_log_colours(view: Image) -> Floats:
    """Return the logarithm of the median colour of the inner half of each square of a rectified board: `(225, 3)`."""
    return np.asarray(np.log(np.median(_cut_inner_halves(view), axis=1) + 8.0), np.float64)


def measure_glare(view: Image) -> Floats:
    """Return the share of each square of a rectified board that is glare: `(225,)`."""
    brightest = cv2.inRange(view, (_MIN_GLARE_LEVEL,) * 3, (255,) * 3)
    return np.asarray(
        _cut_inner_halves(np.asarray(brightest, np.uint8)[:, :, None]).mean(axis=(1, 2)) / 255, np.float64
    )


def has_bright_tiles(view: Image, tiles: NDArray[np.bool_]) -> bool:
    """Return True if the faces of `tiles` `(225,)` are too bright to distinguish glare; False without tiles."""
    faces = np.percentile(_cut_inner_halves(view)[tiles].min(axis=2), 75, axis=1)
    return bool(tiles.any() and np.median(faces) >= _BRIGHT_TILE_LEVEL)


def _cut_inner_halves(view: Image) -> Image:
    """Return the pixels of the inner half of each square, `(225, 64, channels)`."""
    edge, inset = VIEW_MARGIN_SQUARES * VIEW_PX_PER_SQUARE, VIEW_PX_PER_SQUARE // 4
    grid = view[edge:-edge, edge:-edge].reshape(BOARD_SIZE, VIEW_PX_PER_SQUARE, BOARD_SIZE, VIEW_PX_PER_SQUARE, -1)[
        :, inset:-inset, :, inset:-inset
    ]
    return grid.transpose(0, 2, 1, 3, 4).reshape(BOARD_SIZE * BOARD_SIZE, -1, view.shape[2])


def compute_colour_log_ratio(
    colours: Floats, empty: NDArray[np.bool_], tiles: NDArray[np.bool_], asked: NDArray[np.bool_]
) -> Floats:
    """Return the log-likelihood ratio tile : empty of the colour of each `asked` square, `(225,)` nats.

    `empty` and `tiles` mark the squares known to be one or the other, `(225,)` each. The ratio is 0 for squares that
    are not asked, and if too few squares are known.
    """
    answer = np.zeros(BOARD_SIZE * BOARD_SIZE)
    laid = np.flatnonzero(tiles)
    known = np.bincount(SQUARE_KINDS[empty], minlength=len(_KINDS)) >= _MIN_SQUARES
    bare, here = np.flatnonzero(empty & known[SQUARE_KINDS]), np.flatnonzero(asked & known[SQUARE_KINDS])
    if len(laid) < _MIN_SQUARES or not len(bare):
        return answer
    tile_spread = _colour_covariance(colours[laid] - average_nearby_colours(colours, laid, laid))
    # Only all kinds together have squares enough to say how much those of one kind differ.
    bare_spread = _colour_covariance(colours[bare] - average_nearby_colours(colours, bare, bare, _SAME_KIND_WEIGHTS))
    as_tile = log_likelihood(colours[here] - average_nearby_colours(colours, laid, here), tile_spread)
    as_bare = log_likelihood(
        colours[here] - average_nearby_colours(colours, bare, here, _SAME_KIND_WEIGHTS), bare_spread
    )
    answer[here] = np.clip(as_tile - as_bare, -_MAX_LOG_RATIO_NATS, _MAX_LOG_RATIO_NATS)
    return answer


def average_nearby_colours(
    colours: Floats, known: NDArray[np.intp], at: NDArray[np.intp], near: Floats = _NEIGHBOUR_WEIGHTS
) -> Floats:
    """Return the weighted mean colour of the `known` squares for each square of `at`, without itself.

    `near` `(225, 225)` are the weights. There must be another known square.
    """
    weight = near[np.ix_(at, known)]
    return np.asarray(weight @ colours[known] / weight.sum(axis=1, keepdims=True), np.float64)


def _colour_covariance(differences: Floats) -> Floats:
    return covariance(differences, _MIN_COLOUR_SPREAD)


def covariance(differences: Floats, least: float) -> Floats:
    """Return the covariance of `differences` `(n, d)` from the mean, with a least standard deviation: `(d, d)`."""
    return np.asarray(
        differences.T @ differences / len(differences) + np.eye(differences.shape[1]) * least**2, np.float64
    )


def log_likelihood(differences: Floats, spread: Floats) -> Floats:
    """Return the log-likelihood of `differences` `(n, d)` under a Student t distribution, up to a constant: `(n,)`."""
    squared = np.einsum("ni,ij,nj->n", differences, np.linalg.inv(spread), differences)
    logs = -0.5 * np.linalg.slogdet(spread)[1] - (_T_DEGREES_OF_FREEDOM + differences.shape[1]) / 2 * np.log1p(
        squared / _T_DEGREES_OF_FREEDOM
    )
    return np.asarray(logs, np.float64)
