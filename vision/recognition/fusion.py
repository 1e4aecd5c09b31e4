"""Fuse the predictions of both networks into probabilities of empty, blank, letters and hidden for each square.

The square network judges colours and surroundings, the letter network print and shape. For squares without print, where
both are weak, the board itself gives more evidence: a blank has the colour and the edges of the board's other tiles, an
empty square those of its other empty squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image
from vision.recognition import blank_by_colour, blank_by_edges, squares
from vision.recognition.letters import BLANK_CLASS, LETTER_CLASSES, NO_TILE_CLASS

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
_MIN_LETTER_PROBABILITY: Final = 0.5
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
    washed = blank_by_colour.measure_glare(board)
    if not washed.any():
        return
    blanks = plain[washed[plain] > _MAX_GLARE_SHARE]
    chances[blanks, -1] += chances[blanks, BLANK_CLASS]
    chances[blanks, BLANK_CLASS] = 0
    letters = chances[:, :-1][:, LETTER_CLASSES]
    lettered = letters.sum(axis=1)
    if not blank_by_colour.has_bright_tiles(board, lettered > _MIN_LETTER_PROBABILITY):
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
    square_colours = blank_by_colour.measure_log_colours(board)
    by_colours = blank_by_colour.compute_colour_log_ratio(square_colours, known_empty, known_tile, plain)[places]
    by_squares = _log_odds(lies[places, squares.TILE_KIND], lies[places, squares.EMPTY_KIND])
    by_letters = _log_odds(seen[:, BLANK_CLASS], seen[:, NO_TILE_CLASS])
    odds = np.column_stack([by_squares, by_letters, by_colours, np.zeros(len(places))])
    laid = (1 - empty - chances[:, -1] > 0.5).reshape(BOARD_SIZE, BOARD_SIZE)
    beside = blank_by_edges.find_neighbours(laid).sum(axis=-1).ravel()[places]
    doubtful = np.isin(
        np.arange(BOARD_SIZE * BOARD_SIZE),
        places[np.abs(odds @ _EVIDENCE_WEIGHTS + _BLANK_PRIOR_SHIFT[beside]) < _MAX_DOUBTFUL_LOG_ODDS],
    )
    if doubtful.any():
        by_edges = blank_by_edges.compute_edge_log_ratio(board, square_colours, known_empty, known_tile, doubtful)
        odds[:, 3] = by_edges[places]
    return BlankEvidence(places, odds, beside)


def _log_odds(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.log((one + _MIN_PROBABILITY) / (other + _MIN_PROBABILITY)), np.float64)
