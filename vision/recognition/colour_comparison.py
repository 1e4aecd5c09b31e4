"""Compare the colours of squares without a letter with those of the empty squares and the tiles of the same board.

Colours differ between editions and with the lighting, but on one board all empty squares of one kind have the same
colour, and so do all tiles. Nearby squares have a larger weight, because the lighting changes smoothly.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.board import load_layout
from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image
from vision.recognition.views import cut_inner_halves

_PREMIUMS: Final = tuple(dict.fromkeys(load_layout().premiums))
SQUARE_PREMIUMS: Final = np.array([_PREMIUMS.index(p) for p in load_layout().premiums])
"""The premium of each of the 225 squares, as an index into `_PREMIUMS`; the same after a quarter turn of the board."""
_SQUARE_POSITIONS: Final = np.indices((BOARD_SIZE, BOARD_SIZE)).reshape(2, -1).T.astype(np.float64)
_NEIGHBOUR_REACH_SQUARES: Final = 2.0
"""Distance, in squares, at which a neighbour has half of the maximum weight in the mean colour around a square."""
_NEIGHBOUR_WEIGHTS: Final = (
    1
    / (((_SQUARE_POSITIONS[:, None] - _SQUARE_POSITIONS) ** 2).sum(axis=2) + _NEIGHBOUR_REACH_SQUARES**2)
    * (1 - np.eye(BOARD_SIZE * BOARD_SIZE))
)
"""Weights `(225, 225)` for the mean colour around a square: row = the square, column = its neighbour. 0 on the
diagonal."""
_SAME_PREMIUM_WEIGHTS: Final = _NEIGHBOUR_WEIGHTS * (SQUARE_PREMIUMS[:, None] == SQUARE_PREMIUMS)
"""Weights `(225, 225)` for the mean colour around a square, from its neighbours with the same premium only."""
MIN_COLOUR_SQUARES: Final = 4
"""Minimum number of tiles, or of empty squares of one kind, to estimate their colour."""
_MIN_COLOUR_SPREAD: Final = 0.005
"""Minimum standard deviation of log-colours of tiles or of empty squares. Like `_NEIGHBOUR_REACH_SQUARES`, it was
chosen to minimise the errors that `python -m vision.training.fit_blanks` reports for rendered scenes."""
_T_DEGREES_OF_FREEDOM: Final = 4.0
"""Degrees of freedom of the Student t distribution of colours: heavy tails for shadows and worn squares."""
_MAX_LOG_RATIO_NATS: Final = 6.0
"""Maximum absolute log-likelihood ratio tile : empty of the colour of a square, in nats; larger ratios are clipped."""
ANY_COLOUR_NATS: Final = -1.16
"""Log-likelihood of a colour if all colours are equally likely, without the normalising constant that `log_likelihood`
leaves out: -3 log(log(263 / 8)) + 2.60 for three channels of `measure_log_colours`."""
MARKED_TILE_NATS: Final = ANY_COLOUR_NATS + float(np.log(0.2))
_STRANGE_SQUARE_NATS: Final = ANY_COLOUR_NATS + float(np.log(0.01))
"""`MARKED_TILE_NATS` and `_STRANGE_SQUARE_NATS`: minimum log-likelihood of the colour of a tile and of a bare square.

A fifth of the tile sets in rendered scenes have blanks with stickers of any colour. The share of bare squares with an
unusual colour, 0.01, is assumed. Half or a third of these shares give the same readings."""


def measure_log_colours(view: Image) -> Floats:
    """Return the logarithm of the median BGR colour of each square of a rectified board: `(225, 3)`.

    `view` is the image from `rectify_board`; only the inner half of each square is used.
    """
    levels = cut_inner_halves(view).transpose(0, 2, 1)
    middle = levels.shape[2] // 2
    # Take the medians from partly sorted levels: this is faster than np.median.
    ranked = np.partition(levels, (middle - 1, middle), axis=2)
    return np.asarray(np.log(ranked[:, :, middle - 1 : middle + 1].mean(axis=2) + 8.0), np.float64)


def compute_colour_log_ratio(
    colours: Floats, empty: NDArray[np.bool_], tiles: NDArray[np.bool_], mask: NDArray[np.bool_]
) -> Floats:
    """Return the log-likelihood ratio tile : empty (nats) of the colours of the squares in `mask`, as `(225,)`.

    `colours` `(225, 3)` are from `measure_log_colours`. The masks `empty` and `tiles` `(225,)` mark squares that are
    certainly empty or certainly tiles; their colours are the reference. With too few tiles, a tile may have any colour.
    The ratio is 0 for squares outside `mask`, and for all squares if too few are certainly empty.
    """
    answer = np.zeros(BOARD_SIZE * BOARD_SIZE)
    laid = np.flatnonzero(tiles)
    known = np.bincount(SQUARE_PREMIUMS[empty], minlength=len(_PREMIUMS)) >= MIN_COLOUR_SQUARES
    bare, here = np.flatnonzero(empty & known[SQUARE_PREMIUMS]), np.flatnonzero(mask & known[SQUARE_PREMIUMS])
    if not len(bare):
        return answer
    # Pool the squares of all kinds: one kind alone has too few squares to estimate a covariance.
    bare_spread = _colour_covariance(colours[bare] - average_nearby_colours(colours, bare, bare, _SAME_PREMIUM_WEIGHTS))
    as_tile = compare_with_tiles(colours, laid, here)
    as_bare = log_likelihood(
        colours[here] - average_nearby_colours(colours, bare, here, _SAME_PREMIUM_WEIGHTS), bare_spread
    )
    # If neither the tiles nor the empty squares have a colour, it is more probably the colour of a sticker on a blank.
    as_tile, as_bare = np.logaddexp(as_tile, MARKED_TILE_NATS), np.logaddexp(as_bare, _STRANGE_SQUARE_NATS)
    answer[here] = np.clip(as_tile - as_bare, -_MAX_LOG_RATIO_NATS, _MAX_LOG_RATIO_NATS)
    return answer


def compare_with_tiles(colours: Floats, laid: NDArray[np.intp], here: NDArray[np.intp]) -> Floats:
    """Return the log-likelihood that the colour of each square in `here` is that of a tile like those on `laid`."""
    if len(laid) < MIN_COLOUR_SQUARES:
        return np.full(len(here), ANY_COLOUR_NATS)
    spread = _colour_covariance(colours[laid] - average_nearby_colours(colours, laid, laid))
    return log_likelihood(colours[here] - average_nearby_colours(colours, laid, here), spread)


def average_nearby_colours(
    colours: Floats, known: NDArray[np.intp], at: NDArray[np.intp], near: Floats = _NEIGHBOUR_WEIGHTS
) -> Floats:
    """Return, for each square index in `at`, the weighted mean colour of the squares with the indices `known`.

    A square is left out of its own mean. `near` `(225, 225)` are the weights; at least one must be positive.
    """
    # Sum the known colours and the weights in one product: selecting rows and columns of `near` would take longer.
    marked = np.zeros((len(colours), colours.shape[1] + 1))
    marked[known, :-1], marked[known, -1] = colours[known], 1.0
    sums = near[at] @ marked
    return np.asarray(sums[:, :-1] / sums[:, -1:], np.float64)


def _colour_covariance(differences: Floats) -> Floats:
    return covariance(differences, _MIN_COLOUR_SPREAD)


def covariance(differences: Floats, least: float) -> Floats:
    """Return the covariance `(d, d)` of zero-mean samples `differences` `(n, d)`, plus `least ** 2` on the diagonal."""
    return np.asarray(
        differences.T @ differences / len(differences) + np.eye(differences.shape[1]) * least**2, np.float64
    )


def log_likelihood(differences: Floats, spread: Floats) -> Floats:
    """Return the log-likelihood `(n,)` of `differences` `(n, d)` under a zero-mean multivariate Student t distribution.

    `spread` is the scale matrix `(d, d)`. The normalising constant is left out.
    """
    squared = np.einsum("ni,ij,nj->n", differences, np.linalg.inv(spread), differences)
    logs = -0.5 * np.linalg.slogdet(spread)[1] - (_T_DEGREES_OF_FREEDOM + differences.shape[1]) / 2 * np.log1p(
        squared / _T_DEGREES_OF_FREEDOM
    )
    return np.asarray(logs, np.float64)
