"""What both networks say of a board made one: what lies on each square, and if a tile, which.

They look at different things, the one at colours and surroundings, the other at print and shape. Where neither sees
print, the board itself is asked as well: a blank has the colour and the edges of its tiles, a bare square those of its
uncovered ones.
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
"""How often the letter network takes a blank for no tile (measured in training, on scenes held out)."""
_FALSE_LETTER_RATE: Final = 0.01
"""How often the letter network takes something beside a tile for a letter, however sure it is."""
_MIN_PROBABILITY: Final = 1e-4
"""No probability counts for less: no witness's word is worth more than 9 nats."""
_MAX_HIDDEN_PROBABILITY: Final = 0.2
_MIN_BLANK_PROBABILITY: Final = 0.003
"""The witnesses are heard of squares on which the letter network sees no print, hidden less than the one, and blanks
more probably than the other."""
_EVIDENCE_WEIGHTS: Final = np.array([0.87, 0.44, 0.45, 0.25])
"""What the witnesses count together, in the order of `Witnesses.log_odds`: `python -m vision.training.fit_blanks` fits
it, without a constant."""
_MAX_DOUBTFUL_LOG_ODDS: Final = 6.0
"""The edges of a square are looked at where the other witnesses leave it nearer to even odds (natural logarithms): at
most they make a difference of four times `_EVIDENCE_WEIGHTS` a side."""
_MAX_GLARE_SHARE: Final = 0.5
"""Share of a square that is washed out from which on print there would not show."""
_MIN_LETTER_PROBABILITY: Final = 0.5
"""Probability of a letter from which on a square's face tells how bright tiles are."""
_BLANK_PRIOR_SHIFT: Final = np.array([-1.5, -1.5, -1.5, -2.5, -2.8])
"""By how much (natural logarithms) the odds of a blank instead of a bare square are less on real boards than in
training, for a square with tiles on 0 to 4 sides. The last boards of 600 games have 146, 673, 281 and 64 blanks to
25,381, 17,586, 6501 and 692 bare squares with tiles on 1, 2, 3 and 4 sides, a scene 1.03, 2.58, 2.11 and 1.02 to 42.3,
14.4, 4.01 and 0.66 (mean of 600). A square by itself is taken for one with a tile beside it."""


@dataclass(frozen=True, slots=True, eq=False)
class BlankEvidence:
    """What is said of the squares without print, for a blank rather than a bare square."""

    squares: NDArray[np.intp]
    """Their numbers, `(n,)`."""
    log_odds: Floats
    """Logarithms of odds `(n, 4)`: by the network of squares, by that of letters, by the colours and by the edges of
    this board; 0 where one has nothing to say or was not asked."""
    neighbour_count: NDArray[np.intp]
    """On how many sides of them a tile lies, `(n,)`."""


def fuse_predictions(
    kinds: NDArray[np.float32], cells: Sequence[tuple[int, int]], letters: Floats, board: Image
) -> NDArray[np.float64]:
    """Probabilities `(15, 15, classes + 1)`: the classes of the letter network, then a hidden square.

    `kinds` `(15, 15, 3)` are those of the network of squares, `letters` `(n, classes)` those of the letter network
    for the `cells` that it was asked about, `board` is the `rectify_board`.
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
    """What looks like a blank under glare may be any tile, and a letter of which only a part shows may be another one:
    an O without one side is surely a C to the network."""
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
    """What is said of the squares without print; the arguments are those of `joined`."""
    lies, asked = _flatten_kinds(kinds, cells)
    return _measure_blank_evidence(lies, asked, letters, _multiply_odds(lies, asked, letters), board)


def _flatten_kinds(kinds: NDArray[np.float32], cells: Sequence[tuple[int, int]]) -> tuple[Floats, NDArray[np.intp]]:
    """The kinds `(225, 3)`, and the numbers of the squares that the letter network was asked about."""
    asked = np.array([row * BOARD_SIZE + column for row, column in cells], np.intp)
    return kinds.reshape(BOARD_SIZE * BOARD_SIZE, 3).astype(np.float64), asked


def _multiply_odds(lies: Floats, asked: NDArray[np.intp], letters: Floats) -> Floats:
    """The odds of both networks multiplied, `(225, classes + 1)`; both say whether there is a tile at all."""
    chances = np.zeros((BOARD_SIZE * BOARD_SIZE, letters.shape[1] + 1))
    chances[:, NO_TILE_CLASS] = lies[:, squares.EMPTY_KIND] + lies[:, squares.TILE_KIND]
    chances[:, -1] = lies[:, squares.HIDDEN_KIND]
    here, no_tile, tile = lies[asked], letters[:, NO_TILE_CLASS], letters[:, 1:].copy()
    # What looks like no tile and is one is a blank: without print the two look alike.
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
