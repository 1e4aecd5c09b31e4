"""Fuse the predictions of both networks into probabilities of empty, blank, letters and hidden for each square.

The square network judges colours and surroundings, the letter network print and shape. For squares without print, where
both are weak, the board itself gives more evidence:

Colours differ between editions and with the light, but on one board all empty squares of one kind have the same colour,
and so have all tiles. A square without print is compared with both; nearby squares count most, because the light
changes smoothly.

A blank may have exactly the colour of the board, but it covers the lines, ridges or gaps between squares. These look
different on each board, on each side of a square (because of the light) and next to a tile, so each side of a square is
compared with the same side of tiles and empty squares of the same board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.board import Premium, load_layout
from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image
from vision.recognition import squares
from vision.recognition.letters import BLANK_CLASS, LETTER_CLASSES, NO_TILE_CLASS
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


_EDGE_OFFSETS_PX: Final = np.arange(-2, 2)
"""Pixels of a rectified board across each edge, relative to it."""
_CORNER_PX: Final = 3
"""Pixels at both ends of an edge that are left out, because they belong to other squares as well."""
_MIN_SIDES: Final = 8
"""Least number of sides of a sort to estimate its appearance."""
_MIN_EDGE_SPREAD: Final = 0.05
"""Least standard deviation of the log-colours of sides of one sort."""
_MAX_SIDE_LOG_RATIO_NATS: Final = 4.0
"""Clip of the log-likelihood ratio of one side, in nats. Values 50 % larger or 25 % smaller, of this and of the two
above, are as good on rendered scenes."""
_IS_PREMIUM: Final = np.array([premium is not Premium.NONE for premium in load_layout().premiums])


def compute_edge_log_ratio(
    view: Image, colours: Floats, empty: NDArray[np.bool_], tiles: NDArray[np.bool_], asked: NDArray[np.bool_]
) -> Floats:
    """Return the log-likelihood ratio tile : empty of the edges of each `asked` square, `(225,)` nats.

    `view` is the rectified board, `colours` its `measure_log_colours`. `empty` and `tiles` mark the squares known to be
    one or the other, `(225,)` each. The ratios of the four sides are added; the sum is 0 for squares that are not asked
    and if too little is known. A side counts only if the square next to it is known: there is no line next to a hand or
    the frame.
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
        for kind in np.unique(SQUARE_KINDS[asked & sides[:, side]]):
            own = kind == SQUARE_KINDS
            here = asked & own & sides[:, side]
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
    """Return a mask `(..., 15, 15, 4)` of the top, right, bottom and left neighbours of each square.

    A neighbour is True if it is in the mask `squares` `(..., 15, 15)`, and False outside the board.
    """
    around = np.pad(squares, [(0, 0)] * (squares.ndim - 2) + [(1, 1), (1, 1)])
    above, below = around[..., :-2, 1:-1], around[..., 2:, 1:-1]
    left, right = around[..., 1:-1, :-2], around[..., 1:-1, 2:]
    return np.stack([above, right, below, left], axis=-1)


def _measure_edges(view: Image) -> Floats:
    """Return the log-colours of the pixels across the sides of each square: `(225, 4, 3, 3)`.

    Sides are clockwise from the top; the pixels run from the last one outside the square to the second one inside.
    """
    lying, standing = _measure_row_edges(view), _measure_row_edges(view.transpose(1, 0, 2)).transpose(1, 0, 2, 3)
    # The lower edge of a square is the upper edge of the next one, with its pixels in reverse order.
    sides = [lying[:-1], standing[:, 1:, ::-1], lying[1:, :, ::-1], standing[:, :-1]]
    return np.stack(sides, axis=2).reshape(BOARD_SIZE * BOARD_SIZE, 4, len(_EDGE_OFFSETS_PX), 3)[:, :, 1:]


def _measure_row_edges(view: Image) -> Floats:
    """Return the log-colours across the 16 edges above, between and below the rows of squares: `(16, 15, 4, 3)`."""
    border = VIEW_MARGIN_SQUARES * VIEW_PX_PER_SQUARE
    rows = border + VIEW_PX_PER_SQUARE * np.arange(BOARD_SIZE + 1)[:, None] + _EDGE_OFFSETS_PX
    strips = view[rows, border:-border].reshape(
        BOARD_SIZE + 1, len(_EDGE_OFFSETS_PX), BOARD_SIZE, VIEW_PX_PER_SQUARE, 3
    )
    colours = strips[:, :, :, _CORNER_PX:-_CORNER_PX].mean(axis=3)
    return np.asarray(np.log(colours + 8.0).transpose(0, 2, 1, 3), np.float64)


def _select_edges(edges: Floats, which: NDArray[np.bool_], sides: NDArray[np.bool_], side: int) -> Floats:
    """Return the edges of the squares `which` `(225,)` on one side, or on any side if those are too few: `(n, 9)`.

    `sides` `(225, 4)` marks the sides that count.
    """
    here = edges[which & sides[:, side], side]
    return here if len(here) >= _MIN_SIDES else edges[which[:, None] & sides]


def _compute_edge_likelihood(seen: Floats, known: Floats) -> Floats:
    usual = np.median(known, axis=0)
    return log_likelihood(seen - usual, covariance(known - usual, _MIN_EDGE_SPREAD))


_BLANK_MISS_RATE: Final = 0.2
"""Rate at which the letter network takes a blank for no tile (measured in training, on held-out scenes)."""
_FALSE_LETTER_RATE: Final = 0.01
"""Rate at which the letter network reads a letter where there is no tile, whatever its confidence."""
_MIN_PROBABILITY: Final = 1e-4
"""Probability floor: limits each of the log-odds to +-9.2."""
_MAX_HIDDEN_PROBABILITY: Final = 0.2
_MIN_BLANK_PROBABILITY: Final = 0.003
"""Evidence for blanks is collected for squares on which the letter network sees no print, with less than the first
probability of being hidden and more than the second of being a blank."""
_EVIDENCE_WEIGHTS: Final = np.array([0.87, 0.44, 0.45, 0.25])
"""Weights of the columns of `BlankEvidence.log_odds`, without a constant, fitted by `python -m
vision.training.fit_blanks`."""
_MAX_DOUBTFUL_LOG_ODDS: Final = 6.0
"""Log-odds below which, either way, the edges of a square are measured as well: they change the log-odds by at most
four times their weight in `_EVIDENCE_WEIGHTS` for each side of the square."""
_MAX_GLARE_SHARE: Final = 0.5
"""Share of a square under glare above which print would not be visible."""
_MIN_BRIGHT_TILE_PROBABILITY: Final = 0.5
"""Probability of a letter above which a square is used to measure the brightness of tiles."""
_BLANK_PRIOR_SHIFT: Final = np.array([-1.5, -1.5, -1.5, -2.5, -2.8])
"""Difference of the prior log-odds blank : empty between real boards and training, for 0 to 4 adjacent tiles.

The final boards of 600 games have 146, 673, 281 and 64 blanks and 25,381, 17,586, 6501 and 692 empty squares with 1, 2,
3 and 4 adjacent tiles; a training scene has 1.03, 2.58, 2.11 and 1.02 blanks and 42.3, 14.4, 4.01 and 0.66 empty
squares (mean of 600). The value for 1 is also used for 0."""


@dataclass(frozen=True, slots=True, eq=False)
class BlankEvidence:
    """Evidence for blank against empty on the n squares without print."""

    squares: NDArray[np.intp]
    """Numbers (0..224) of the squares, `(n,)`."""
    log_odds: Floats
    """Log-odds blank : empty `(n, 4)` (nats) from the square network, the letter network, the colours and the edges of
    this board; 0 if unknown or not measured."""
    neighbour_count: NDArray[np.intp]
    """Number (0..4) of adjacent tiles, `(n,)`."""


def fuse_predictions(
    kinds: NDArray[np.float32], cells: Sequence[tuple[int, int]], letters: Floats, board: Image
) -> NDArray[np.float64]:
    """Return the probabilities `(15, 15, classes + 1)` of the classes of the letter network and, last, of hidden.

    `kinds` `(15, 15, 3)` are the probabilities of the square network. `letters` `(n, classes)` are those of the letter
    network for the n squares `cells` (row, column). `board` is the view from `rectify_board`.
    """
    lies, asked = _flatten_kinds(kinds, cells)
    chances = _multiply_odds(lies, asked, letters)
    said = _measure_blank_evidence(lies, asked, letters, chances, board)
    plain = chances[said.squares, NO_TILE_CLASS] + chances[said.squares, BLANK_CLASS]
    blank = plain / (1 + np.exp(-(said.log_odds @ _EVIDENCE_WEIGHTS + _BLANK_PRIOR_SHIFT[said.neighbour_count])))
    chances[said.squares, BLANK_CLASS], chances[said.squares, NO_TILE_CLASS] = blank, plain - blank
    _hide_under_glare(chances, said.squares, board)
    return chances.reshape(BOARD_SIZE, BOARD_SIZE, -1)


def _hide_under_glare(chances: Floats, plain: NDArray[np.intp], board: Image) -> None:
    """Count blanks under glare as hidden, and letters in part; changes `chances` `(225, classes + 1)`.

    A blank under glare may be any tile, and a letter of which only a part is visible may be read as another one: an O
    without its right side is a C to the network. `plain` are the squares without print.
    """
    washed = measure_glare(board)
    if not washed.any():
        return
    blanks = plain[washed[plain] > _MAX_GLARE_SHARE]
    chances[blanks, -1] += chances[blanks, BLANK_CLASS]
    chances[blanks, BLANK_CLASS] = 0
    letters = chances[:, :-1][:, LETTER_CLASSES]
    lettered = letters.sum(axis=1)
    if not has_bright_tiles(board, lettered > _MIN_BRIGHT_TILE_PROBABILITY):
        unseen = washed**2
        chances[:, -1] += unseen * lettered
        letters *= (1 - unseen)[:, None]


def collect_blank_evidence(
    kinds: NDArray[np.float32], cells: Sequence[tuple[int, int]], letters: Floats, board: Image
) -> BlankEvidence:
    """Return the evidence for blanks; the arguments are those of `fuse_predictions`."""
    lies, asked = _flatten_kinds(kinds, cells)
    return _measure_blank_evidence(lies, asked, letters, _multiply_odds(lies, asked, letters), board)


def _flatten_kinds(kinds: NDArray[np.float32], cells: Sequence[tuple[int, int]]) -> tuple[Floats, NDArray[np.intp]]:
    """Return the kinds as `(225, 3)` and the numbers of the squares in `cells`, `(n,)`."""
    asked = np.array([row * BOARD_SIZE + column for row, column in cells], np.intp)
    return kinds.reshape(BOARD_SIZE * BOARD_SIZE, 3).astype(np.float64), asked


def _multiply_odds(lies: Floats, asked: NDArray[np.intp], letters: Floats) -> Floats:
    """Return the product of the odds of both networks as probabilities `(225, classes + 1)`.

    Both networks predict the presence of a tile; only the letter network predicts which one. `lies` are the kinds
    `(225, 3)`, `asked` the squares of `letters`.
    """
    chances = np.zeros((BOARD_SIZE * BOARD_SIZE, letters.shape[1] + 1))
    chances[:, NO_TILE_CLASS] = lies[:, squares.EMPTY_KIND] + lies[:, squares.TILE_KIND]
    chances[:, -1] = lies[:, squares.HIDDEN_KIND]
    here, no_tile, tile = lies[asked], letters[:, NO_TILE_CLASS], letters[:, 1:].copy()
    # A tile that the letter network takes for no tile is a blank: without print the two look alike.
    tile[:, 0] += _BLANK_MISS_RATE * no_tile
    which = tile / np.maximum(tile.sum(axis=1, keepdims=True), 1e-12)
    empty = here[:, squares.EMPTY_KIND] * (no_tile + _FALSE_LETTER_RATE)
    laid = here[:, squares.TILE_KIND] * (1 - np.minimum(no_tile + _FALSE_LETTER_RATE, 1 - _MIN_PROBABILITY))
    seen = (1 - here[:, squares.HIDDEN_KIND]) / np.maximum(empty + laid, 1e-12)
    chances[asked, NO_TILE_CLASS] = empty * seen
    chances[asked, 1:-1] = which * (laid * seen)[:, None]
    return chances


def _measure_blank_evidence(
    lies: Floats, asked: NDArray[np.intp], letters: Floats, chances: Floats, board: Image
) -> BlankEvidence:
    empty, blank, in_sight = (
        chances[:, NO_TILE_CLASS],
        chances[:, BLANK_CLASS],
        chances[:, -1] < _MAX_HIDDEN_PROBABILITY,
    )
    without_print = letters[:, NO_TILE_CLASS] + letters[:, BLANK_CLASS] > 0.5
    heard = without_print & (in_sight & (empty + blank > 0.5) & (blank > _MIN_BLANK_PROBABILITY))[asked]
    places, seen = asked[heard], letters[heard]
    if not len(places):
        return BlankEvidence(places, np.zeros((0, len(_EVIDENCE_WEIGHTS))), places)
    plain = np.isin(np.arange(BOARD_SIZE * BOARD_SIZE), places)
    known_empty = in_sight & (empty > 0.97) & ~plain
    known_tile = in_sight & (1 - empty - blank > 0.9)
    square_colours = measure_log_colours(board)
    by_colours = compute_colour_log_ratio(square_colours, known_empty, known_tile, plain)[places]
    by_squares = _log_odds(lies[places, squares.TILE_KIND], lies[places, squares.EMPTY_KIND])
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
