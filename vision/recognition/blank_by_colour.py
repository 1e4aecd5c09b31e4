"""Is a plain square a blank or nothing? The board itself tells: by its uncovered squares and by its tiles.

Colours differ from edition to edition and with the light, but on one board uncovered squares of one kind look alike,
and so do tiles. A square without print is compared with both, those nearby counting most, as light changes slowly.
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
"""The kind of each of the 225 squares; the same from all four sides."""
_SQUARE_POSITIONS: Final = np.indices((BOARD_SIZE, BOARD_SIZE)).reshape(2, -1).T.astype(np.float64)
_NEIGHBOUR_REACH_SQUARES: Final = 2.0
"""Squares within which neighbours count nearly alike."""
_NEIGHBOUR_WEIGHTS: Final = (
    1
    / (((_SQUARE_POSITIONS[:, None] - _SQUARE_POSITIONS) ** 2).sum(axis=2) + _NEIGHBOUR_REACH_SQUARES**2)
    * (1 - np.eye(BOARD_SIZE * BOARD_SIZE))
)
"""How much each square counts for each other, `(225, 225)`."""
_SAME_KIND_WEIGHTS: Final = _NEIGHBOUR_WEIGHTS * (SQUARE_KINDS[:, None] == SQUARE_KINDS)
"""The same, squares of other kinds for nothing."""
_MIN_SQUARES: Final = 4
"""Squares of a sort that it takes to know how they look."""
_MIN_COLOUR_SPREAD: Final = 0.005
"""Squares of one sort differ by so much at least (logarithms of colours); chosen like `_NEIGHBOUR_REACH_SQUARES` on
drawn scenes, where `python -m vision.training.fit_blanks` counts how often colours alone are mistaken."""
_T_DEGREES_OF_FREEDOM: Final = 4.0
"""Degrees of freedom of the t distribution of colours: shadows and worn squares are no rarity."""
_MAX_LOG_RATIO_NATS: Final = 6.0
_MIN_GLARE_LEVEL: Final = 250
"""Of 255 in each colour: glare, and not a white tile in a picture that is well exposed."""
_BRIGHT_TILE_LEVEL: Final = 200
"""From where on the faces of tiles are so bright themselves that glare cannot be told from them."""


def measure_log_colours(view: Image) -> Floats:
    """The logarithm of the usual colour of each square's inner half, of a `rectify_board`: `(225, 3)`."""
    return np.asarray(np.log(np.median(_cut_inner_halves(view), axis=1) + 8.0), np.float64)


def measure_glare(view: Image) -> Floats:
    """The share of each square of a `rectify_board` that is as bright as can be, so that no print would show:
    `(225,)`."""
    brightest = cv2.inRange(view, (_MIN_GLARE_LEVEL,) * 3, (255,) * 3)
    return np.asarray(
        _cut_inner_halves(np.asarray(brightest, np.uint8)[:, :, None]).mean(axis=(1, 2)) / 255, np.float64
    )


def has_bright_tiles(view: Image, tiles: NDArray[np.bool_]) -> bool:
    """Whether the faces of `tiles` `(225,)` are usually so bright that glare on one cannot be told; not without any."""
    faces = np.percentile(_cut_inner_halves(view)[tiles].min(axis=2), 75, axis=1)
    return bool(tiles.any() and np.median(faces) >= _BRIGHT_TILE_LEVEL)


def _cut_inner_halves(view: Image) -> Image:
    """The inner half of each square, `(225, 64, channels)`."""
    edge, inset = VIEW_MARGIN_SQUARES * VIEW_PX_PER_SQUARE, VIEW_PX_PER_SQUARE // 4
    grid = view[edge:-edge, edge:-edge].reshape(BOARD_SIZE, VIEW_PX_PER_SQUARE, BOARD_SIZE, VIEW_PX_PER_SQUARE, -1)[
        :, inset:-inset, :, inset:-inset
    ]
    return grid.transpose(0, 2, 1, 3, 4).reshape(BOARD_SIZE * BOARD_SIZE, -1, view.shape[2])


def compute_colour_log_ratio(
    colours: Floats, empty: NDArray[np.bool_], tiles: NDArray[np.bool_], asked: NDArray[np.bool_]
) -> Floats:
    """How much rather each `asked` square has the colour of a tile than of an uncovered square of its kind.

    `empty` and `tiles` say which squares are known to be one or the other; all `(225,)`. Returns the logarithm of the
    ratio of likelihoods, 0 where nothing was asked or too little is known.
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
    """The mean colour of `known` squares as seen from each of `at`, itself left out: there must be another.

    `near` `(225, 225)` says how much each square counts for each other.
    """
    weight = near[np.ix_(at, known)]
    return np.asarray(weight @ colours[known] / weight.sum(axis=1, keepdims=True), np.float64)


def _colour_covariance(differences: Floats) -> Floats:
    return covariance(differences, _MIN_COLOUR_SPREAD)


def covariance(differences: Floats, least: float) -> Floats:
    """How `differences` `(n, d)` from what is usual spread: `(d, d)`, by the standard deviation `least` at least."""
    return np.asarray(
        differences.T @ differences / len(differences) + np.eye(differences.shape[1]) * least**2, np.float64
    )


def log_likelihood(differences: Floats, spread: Floats) -> Floats:
    """Of each of `differences` `(n, d)` where they spread so, less a constant of their size: t distribution, `(n,)`."""
    squared = np.einsum("ni,ij,nj->n", differences, np.linalg.inv(spread), differences)
    logs = -0.5 * np.linalg.slogdet(spread)[1] - (_T_DEGREES_OF_FREEDOM + differences.shape[1]) / 2 * np.log1p(
        squared / _T_DEGREES_OF_FREEDOM
    )
    return np.asarray(logs, np.float64)
