"""Combine the predictions of the square and letter networks into class probabilities for each square.

The square network uses colours and surroundings; the letter network uses the letter and the shape of a tile. A square
without a letter is either empty or has a blank, and both networks are unreliable for these squares. Two more
measurements on the same board help:

Colour: colours differ between editions and with the lighting, but on one board all empty squares of one kind have the
same colour, and so do all tiles. A square without a letter is compared with the empty squares and with the tiles.
Nearby squares have a larger weight, because the lighting changes smoothly.

Edges: a blank may have exactly the colour of the board, but a tile covers the lines, ridges or gaps between squares.
The look of an edge depends on the board, on the lighting of each side of a square, and on tiles nearby. So each side of
a square is compared with the same side of tiles and of empty squares on the same board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.board import Premium, load_layout
from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image
from vision.recognition.glare import hide_under_glare
from vision.recognition.letters import BLANK_CLASS, NO_TILE_CLASS
from vision.recognition.views import (
    EMPTY_KIND,
    HIDDEN_KIND,
    TILE_KIND,
    VIEW_MARGIN_SQUARES,
    VIEW_PX_PER_SQUARE,
    cut_inner_halves,
)

_KINDS: Final = tuple(dict.fromkeys(load_layout().premiums))
SQUARE_KINDS: Final = np.array([_KINDS.index(p) for p in load_layout().premiums])
"""The kind of each of the 225 squares, as an index into `_KINDS`; the same after a quarter turn of the board."""
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
_SAME_KIND_WEIGHTS: Final = _NEIGHBOUR_WEIGHTS * (SQUARE_KINDS[:, None] == SQUARE_KINDS)
"""Weights as in `_NEIGHBOUR_WEIGHTS`, but 0 between squares of different kinds."""
_MIN_SQUARES: Final = 4
"""Minimum number of tiles, or of empty squares of one kind, to estimate their colour."""
_MIN_COLOUR_SPREAD: Final = 0.005
"""Minimum standard deviation of log-colours of tiles or of empty squares. Like `_NEIGHBOUR_REACH_SQUARES`, it was
chosen to minimise the errors that `python -m vision.training.fit_blanks` reports for rendered scenes."""
_T_DEGREES_OF_FREEDOM: Final = 4.0
"""Degrees of freedom of the Student t distribution of colours: heavy tails for shadows and worn squares."""
_MAX_LOG_RATIO_NATS: Final = 6.0
"""Maximum absolute log-likelihood ratio tile : empty of the colour of a square, in nats; larger ratios are clipped."""
_ANY_COLOUR_NATS: Final = -1.16
"""Log-likelihood of a colour if all colours are equally likely, without the normalising constant that `log_likelihood`
leaves out: -3 log(log(263 / 8)) + 2.60 for three channels of `measure_log_colours`."""
_MARKED_TILE_NATS: Final = _ANY_COLOUR_NATS + float(np.log(0.2))
_STRANGE_SQUARE_NATS: Final = _ANY_COLOUR_NATS + float(np.log(0.01))
"""`_MARKED_TILE_NATS` and `_STRANGE_SQUARE_NATS`: minimum log-likelihood of the colour of a tile and of a bare square.

A fifth of the tile sets in rendered scenes have blanks with stickers of any colour. The share of bare squares with an
unusual colour, 0.01, is assumed. Half or a third of these shares give the same readings."""


def measure_log_colours(view: Image) -> Floats:
    """Return the logarithm of the median BGR colour of each square of a rectified board: `(225, 3)`.

    `view` is the image from `rectify_board`; only the inner half of each square is used.
    """
    return np.asarray(np.log(np.median(cut_inner_halves(view), axis=1) + 8.0), np.float64)


def compute_colour_log_ratio(
    colours: Floats, empty: NDArray[np.bool_], tiles: NDArray[np.bool_], mask: NDArray[np.bool_]
) -> Floats:
    """Return the log-likelihood ratio tile : empty (nats) of the colours of the squares in `mask`, as `(225,)`.

    `colours` `(225, 3)` are from `measure_log_colours`. The masks `empty` and `tiles` `(225,)` mark squares that are
    certainly empty or certainly tiles; their colours are the reference. The ratio is 0 for squares outside `mask`, and
    for all squares if too few are certain.
    """
    answer = np.zeros(BOARD_SIZE * BOARD_SIZE)
    laid = np.flatnonzero(tiles)
    known = np.bincount(SQUARE_KINDS[empty], minlength=len(_KINDS)) >= _MIN_SQUARES
    bare, here = np.flatnonzero(empty & known[SQUARE_KINDS]), np.flatnonzero(mask & known[SQUARE_KINDS])
    if len(laid) < _MIN_SQUARES or not len(bare):
        return answer
    tile_spread = _colour_covariance(colours[laid] - average_nearby_colours(colours, laid, laid))
    # Pool the squares of all kinds: one kind alone has too few squares to estimate a covariance.
    bare_spread = _colour_covariance(colours[bare] - average_nearby_colours(colours, bare, bare, _SAME_KIND_WEIGHTS))
    as_tile = log_likelihood(colours[here] - average_nearby_colours(colours, laid, here), tile_spread)
    as_bare = log_likelihood(
        colours[here] - average_nearby_colours(colours, bare, here, _SAME_KIND_WEIGHTS), bare_spread
    )
    # A colour that neither the tiles nor the empty squares have is rather that of a sticker on a blank.
    as_tile, as_bare = np.logaddexp(as_tile, _MARKED_TILE_NATS), np.logaddexp(as_bare, _STRANGE_SQUARE_NATS)
    answer[here] = np.clip(as_tile - as_bare, -_MAX_LOG_RATIO_NATS, _MAX_LOG_RATIO_NATS)
    return answer


def average_nearby_colours(
    colours: Floats, known: NDArray[np.intp], at: NDArray[np.intp], near: Floats = _NEIGHBOUR_WEIGHTS
) -> Floats:
    """Return, for each square index in `at`, the weighted mean colour of the squares with the indices `known`.

    A square is left out of its own mean. `near` `(225, 225)` are the weights; at least one must be positive.
    """
    weight = near[np.ix_(at, known)]
    return np.asarray(weight @ colours[known] / weight.sum(axis=1, keepdims=True), np.float64)


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


_EDGE_OFFSETS_PX: Final = np.arange(-2, 2)
"""Rows of pixels that are sampled across the edge between two squares, relative to that edge."""
_CORNER_PX: Final = 3
"""Number of pixels left out at both ends of an edge, because other squares also touch the edge there."""
_MIN_SIDES: Final = 8
"""Minimum number of edges of tiles, or of empty squares, to estimate the distribution of their log-colours."""
_MIN_EDGE_SPREAD: Final = 0.05
"""Minimum standard deviation of the log-colours across edges of tiles or of empty squares."""
_MAX_SIDE_LOG_RATIO_NATS: Final = 4.0
"""Maximum absolute log-likelihood ratio of one edge, in nats; larger ratios are clipped. The value is not critical:
this constant, `_MIN_SIDES` and `_MIN_EDGE_SPREAD` can be 50 % larger or 25 % smaller without more errors on rendered
scenes."""
_IS_PREMIUM: Final = np.array([premium is not Premium.NONE for premium in load_layout().premiums])


def compute_edge_log_ratio(
    view: Image, colours: Floats, empty: NDArray[np.bool_], tiles: NDArray[np.bool_], mask: NDArray[np.bool_]
) -> Floats:
    """Return the log-likelihood ratio tile : empty (nats) of the edges of the squares in `mask`, as `(225,)`.

    `view` is the rectified board, `colours` the result of `measure_log_colours(view)`. The masks `empty` and `tiles`
    `(225,)` mark squares that are certainly empty or certainly tiles; their edges are the reference.

    The result is the sum over the four edges of a square. An edge counts only if the square on its other side is
    certain, because next to a hand or the frame there is no line. The result is 0 for squares outside `mask`, and for
    all squares if too few are certain.
    """
    answer = np.zeros(BOARD_SIZE * BOARD_SIZE)
    plain = np.flatnonzero(empty & ~_IS_PREMIUM)
    if len(plain) < _MIN_SIDES:
        return answer
    light = average_nearby_colours(colours, plain, np.arange(BOARD_SIZE * BOARD_SIZE))
    edges = (_measure_edges(view) - light[:, None, None]).reshape(BOARD_SIZE * BOARD_SIZE, 4, -1)
    next_to = [
        find_neighbours(squares.reshape(BOARD_SIZE, BOARD_SIZE)).reshape(BOARD_SIZE * BOARD_SIZE, 4)
        for squares in (tiles, empty)
    ]
    for sides, side in product(next_to, range(4)):
        for kind in np.unique(SQUARE_KINDS[mask & sides[:, side]]):
            own = kind == SQUARE_KINDS
            here = mask & own & sides[:, side]
            of_tiles, of_bare = (_select_edges(edges, which, sides, side) for which in (tiles, empty & own))
            if len(of_bare) < _MIN_SIDES:
                of_bare = _select_edges(edges, empty & np.equal(_IS_PREMIUM, _IS_PREMIUM[here][0]), sides, side)
            if min(len(of_tiles), len(of_bare)) >= _MIN_SIDES:
                odds = _compute_edge_likelihood(edges[here, side], of_tiles) - _compute_edge_likelihood(
                    edges[here, side], of_bare
                )
                answer[here] += np.clip(odds, -_MAX_SIDE_LOG_RATIO_NATS, _MAX_SIDE_LOG_RATIO_NATS)
    return answer


def find_neighbours(squares: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return, for each square, the values of its top, right, bottom and left neighbours: `(..., 15, 15, 4)`.

    `squares` is a mask `(..., 15, 15)`. A neighbour outside the board is False.
    """
    around = np.pad(squares, [(0, 0)] * (squares.ndim - 2) + [(1, 1), (1, 1)])
    above, below = around[..., :-2, 1:-1], around[..., 2:, 1:-1]
    left, right = around[..., 1:-1, :-2], around[..., 1:-1, 2:]
    return np.stack([above, right, below, left], axis=-1)


def _measure_edges(view: Image) -> Floats:
    """Return the mean log-colours across the four edges of each square: `(225, 4, 3 pixels, 3 channels)`.

    Edges are in clockwise order from the top; pixels run from the last pixel outside the square to the second inside.
    """
    lying, standing = _measure_row_edges(view), _measure_row_edges(view.transpose(1, 0, 2)).transpose(1, 0, 2, 3)
    # The lower edge of a square is the upper edge of the next one, with its pixels in reverse order.
    sides = [lying[:-1], standing[:, 1:, ::-1], lying[1:, :, ::-1], standing[:, :-1]]
    return np.stack(sides, axis=2).reshape(BOARD_SIZE * BOARD_SIZE, 4, len(_EDGE_OFFSETS_PX), 3)[:, :, 1:]


def _measure_row_edges(view: Image) -> Floats:
    """Return mean log-colours across horizontal edges of squares: `(16 edges, 15 columns, 4 pixels, 3 channels)`."""
    border = VIEW_MARGIN_SQUARES * VIEW_PX_PER_SQUARE
    rows = border + VIEW_PX_PER_SQUARE * np.arange(BOARD_SIZE + 1)[:, None] + _EDGE_OFFSETS_PX
    strips = view[rows, border:-border].reshape(
        BOARD_SIZE + 1, len(_EDGE_OFFSETS_PX), BOARD_SIZE, VIEW_PX_PER_SQUARE, 3
    )
    colours = strips[:, :, :, _CORNER_PX:-_CORNER_PX].mean(axis=3)
    return np.asarray(np.log(colours + 8.0).transpose(0, 2, 1, 3), np.float64)


def _select_edges(edges: Floats, which: NDArray[np.bool_], sides: NDArray[np.bool_], side: int) -> Floats:
    """Return the edge measurements `(n, 9)` on side `side` (0..3) of the squares in `which` `(225,)`.

    A row has the logarithms of three colour channels at three places across the edge. `sides` `(225, 4)` marks the
    usable edges. If too few are usable on that side, those of all four sides are returned.
    """
    here = edges[which & sides[:, side], side]
    return here if len(here) >= _MIN_SIDES else edges[which[:, None] & sides]


def _compute_edge_likelihood(seen: Floats, known: Floats) -> Floats:
    usual = np.median(known, axis=0)
    return log_likelihood(seen - usual, covariance(known - usual, _MIN_EDGE_SPREAD))


_BLANK_MISS_RATE: Final = 0.2
"""Share of blanks that the letter network classifies as no tile, measured on rendered scenes outside the training data.
"""
_FALSE_LETTER_RATE: Final = 0.01
"""Share of empty squares on which the letter network sees a letter, at any confidence."""
_MIN_PROBABILITY: Final = 1e-4
"""Minimum of each probability that is turned into log-odds; limits them to +-9.2 nats."""
_MAX_HIDDEN_PROBABILITY: Final = 0.2
"""Maximum probability that a square is hidden. If it is more, the square is not examined for a blank, and its colours
are not compared with those of other squares."""
_MIN_BLANK_PROBABILITY: Final = 0.003
"""Minimum probability of a blank on a square without a letter; a square below it is not examined for a blank."""
_EVIDENCE_WEIGHTS: Final = np.array([0.82, 0.72, 0.37, 0.32])
"""Weights of the columns of `BlankEvidence.log_odds` in a logistic regression without intercept, fitted by `python -m
vision.training.fit_blanks`."""
_MAX_DOUBTFUL_LOG_ODDS: Final = 6.0
"""Maximum absolute log-odds of a square whose edges are measured; with more, the four edges could not change the
result. The influence of the edges is at most 4 * `_MAX_SIDE_LOG_RATIO_NATS` times their weight."""
_BLANK_PRIOR_SHIFT: Final = np.array([-1.5, -1.5, -1.5, -2.5, -2.8])
"""Correction of the prior log-odds blank : empty (nats), for squares with 0 to 4 adjacent tiles.

Blanks are rarer on real boards than in training scenes. The numbers of squares with 1, 2, 3 and 4 adjacent tiles are:

- final boards of 600 games: 146, 673, 281 and 64 blanks; 25,381, 17,586, 6501 and 692 empty squares;
- a training scene (mean of 600): 1.03, 2.58, 2.11 and 1.02 blanks; 42.3, 14.4, 4.01 and 0.66 empty squares.

The correction for squares with 1 adjacent tile is also used for squares without adjacent tiles.
"""


@dataclass(frozen=True, slots=True, eq=False)
class BlankEvidence:
    """Evidence for a blank on each of the n squares without a letter, as parallel arrays."""

    squares: NDArray[np.intp]
    """`(n,)`: indices (0..224) of the squares."""
    log_odds: Floats
    """`(n, 4)`: log-odds blank : empty in nats. The columns are the square network, the letter network, the colour
    comparison and the edge comparison. A value is 0 if it is unknown or was not measured."""
    neighbour_count: NDArray[np.intp]
    """`(n,)`: number (0..4) of adjacent tiles."""


def fuse_predictions(
    kinds: NDArray[np.float32], cells: Sequence[tuple[int, int]], letters: Floats, board: Image
) -> NDArray[np.float64]:
    """Combine the predictions of both networks; return class probabilities `(15, 15, classes + 1)`.

    The last probability of a square is that it is hidden. `kinds` `(15, 15, 3)` are the probabilities from the square
    network. `letters` `(n, classes)` are the probabilities from the letter network for the n squares `cells` (row,
    column). `board` is the image from `rectify_board`.
    """
    kinds_p, indices = _flatten_kinds(kinds, cells)
    chances = _multiply_odds(kinds_p, indices, letters)
    evidence = _measure_blank_evidence(kinds_p, indices, letters, chances, board)
    plain = chances[evidence.squares, NO_TILE_CLASS] + chances[evidence.squares, BLANK_CLASS]
    blank = plain / (
        1 + np.exp(-(evidence.log_odds @ _EVIDENCE_WEIGHTS + _BLANK_PRIOR_SHIFT[evidence.neighbour_count]))
    )
    chances[evidence.squares, BLANK_CLASS], chances[evidence.squares, NO_TILE_CLASS] = blank, plain - blank
    hide_under_glare(chances, evidence.squares, board, SQUARE_KINDS)
    return chances.reshape(BOARD_SIZE, BOARD_SIZE, -1)


def collect_blank_evidence(
    kinds: NDArray[np.float32], cells: Sequence[tuple[int, int]], letters: Floats, board: Image
) -> BlankEvidence:
    """Measure the evidence for blanks on squares without a letter; the arguments are those of `fuse_predictions`."""
    kinds_p, indices = _flatten_kinds(kinds, cells)
    return _measure_blank_evidence(kinds_p, indices, letters, _multiply_odds(kinds_p, indices, letters), board)


def _flatten_kinds(kinds: NDArray[np.float32], cells: Sequence[tuple[int, int]]) -> tuple[Floats, NDArray[np.intp]]:
    """Return the array `kinds` reshaped to `(225, 3)`, and the indices (0..224) of the squares `cells`, `(n,)`."""
    indices = np.array([row * BOARD_SIZE + column for row, column in cells], np.intp)
    return kinds.reshape(BOARD_SIZE * BOARD_SIZE, 3).astype(np.float64), indices


def _multiply_odds(kinds_p: Floats, indices: NDArray[np.intp], letters: Floats) -> Floats:
    """Multiply the odds of both networks; return class probabilities `(225, classes + 1)`.

    The last probability of a square is that it is hidden. Both networks predict the presence of a tile; only the letter
    network predicts its letter. `kinds_p` `(225, 3)` are the probabilities from the square network; row i of `letters`
    belongs to the square with the index `indices[i]`.
    """
    chances = np.zeros((BOARD_SIZE * BOARD_SIZE, letters.shape[1] + 1))
    chances[:, NO_TILE_CLASS] = kinds_p[:, EMPTY_KIND] + kinds_p[:, TILE_KIND]
    chances[:, -1] = kinds_p[:, HIDDEN_KIND]
    here, no_tile, tile = kinds_p[indices], letters[:, NO_TILE_CLASS], letters[:, 1:].copy()
    # Add missed blanks: a tile that the letter network classifies as no tile is a blank, as it has no print.
    tile[:, 0] += _BLANK_MISS_RATE * no_tile
    which = tile / np.maximum(tile.sum(axis=1, keepdims=True), 1e-12)
    empty = here[:, EMPTY_KIND] * (no_tile + _FALSE_LETTER_RATE)
    laid = here[:, TILE_KIND] * (1 - np.minimum(no_tile + _FALSE_LETTER_RATE, 1 - _MIN_PROBABILITY))
    seen = (1 - here[:, HIDDEN_KIND]) / np.maximum(empty + laid, 1e-12)
    chances[indices, NO_TILE_CLASS] = empty * seen
    chances[indices, 1:-1] = which * (laid * seen)[:, None]
    return chances


def _measure_blank_evidence(
    kinds_p: Floats, indices: NDArray[np.intp], letters: Floats, chances: Floats, board: Image
) -> BlankEvidence:
    empty, blank, in_sight = (
        chances[:, NO_TILE_CLASS],
        chances[:, BLANK_CLASS],
        chances[:, -1] < _MAX_HIDDEN_PROBABILITY,
    )
    without_print = letters[:, NO_TILE_CLASS] + letters[:, BLANK_CLASS] > 0.5
    examined = without_print & (in_sight & (empty + blank > 0.5) & (blank > _MIN_BLANK_PROBABILITY))[indices]
    places, seen = indices[examined], letters[examined]
    if not len(places):
        return BlankEvidence(places, np.zeros((0, len(_EVIDENCE_WEIGHTS))), places)
    plain = np.isin(np.arange(BOARD_SIZE * BOARD_SIZE), places)
    known_empty = in_sight & (empty > 0.97) & ~plain
    known_tile = in_sight & (1 - empty - blank > 0.9)
    square_colours = measure_log_colours(board)
    by_colours = compute_colour_log_ratio(square_colours, known_empty, known_tile, plain)[places]
    by_squares = _log_odds(kinds_p[places, TILE_KIND], kinds_p[places, EMPTY_KIND])
    by_letters = _log_odds(seen[:, BLANK_CLASS], seen[:, NO_TILE_CLASS])
    odds = np.column_stack([by_squares, by_letters, by_colours, np.zeros(len(places))])
    laid = (1 - empty - chances[:, -1] > 0.5).reshape(BOARD_SIZE, BOARD_SIZE)
    beside = find_neighbours(laid).sum(axis=-1).ravel()[places]
    doubtful = np.isin(
        np.arange(BOARD_SIZE * BOARD_SIZE),
        places[np.abs(odds @ _EVIDENCE_WEIGHTS + _BLANK_PRIOR_SHIFT[beside]) < _MAX_DOUBTFUL_LOG_ODDS],
    )
    if doubtful.any():
        by_edges = compute_edge_log_ratio(board, square_colours, known_empty, known_tile, doubtful)
        odds[:, 3] = by_edges[places]
    return BlankEvidence(places, odds, beside)


def _log_odds(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.log((one + _MIN_PROBABILITY) / (other + _MIN_PROBABILITY)), np.float64)
