"""Combine the predictions of the square and letter networks into class probabilities for each square.

The square network uses colours and surroundings; the letter network uses the letter and the shape of a tile. A square
without a letter is either empty or has a blank, and both networks are unreliable for these squares. Two more
measurements on the same board help: its colours (`colour_comparison`) and its edges (`edge_comparison`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image
from vision.recognition.colour_comparison import SQUARE_PREMIUMS, compute_colour_log_ratio, measure_log_colours
from vision.recognition.edge_comparison import compute_edge_log_ratio, find_neighbours
from vision.recognition.glare import hide_under_glare
from vision.recognition.letters import BLANK_CLASS, LETTER_CLASSES, NO_TILE_CLASS
from vision.recognition.reflections import weigh_reflections
from vision.recognition.views import EMPTY_KIND, HIDDEN_KIND, TILE_KIND

_BLANK_MISS_RATE: Final = 0.2
"""Share of blanks that the letter network classifies as no tile, measured on rendered scenes outside the training data.
"""
_FALSE_LETTER_RATE: Final = 0.01
_FALSE_LETTER_SQUARES: Final = 50.0
_CLEAR_LETTER_P: Final = 0.9
"""`_FALSE_LETTER_RATE`: usual share of empty squares on which the letter network sees a letter, at any confidence. In
the estimate for a board, the usual share weighs as much as `_FALSE_LETTER_SQUARES` squares of the board itself. Letters
with a probability above `_CLEAR_LETTER_P` are not counted as false: lines and pegs of empty squares are less clear."""
_MIN_PROBABILITY: Final = 1e-4
"""Minimum of each probability that is turned into log-odds; limits them to +-9.2 nats."""
_MIN_EMPTY_PROBABILITY: Final = 0.97
"""Minimum probability of a square that certainly is empty."""
_MAX_HIDDEN_PROBABILITY: Final = 0.2
"""Maximum probability that a square is hidden. If it is more, the square is not examined for a blank, and its colours
are not compared with those of other squares."""
_MIN_BLANK_PROBABILITY: Final = 0.003
"""Minimum probability of a blank on a square without a letter; a square below it is not examined for a blank."""
_MAX_EMPTY_TILE_PROBABILITY: Final = 0.5
_MIN_USUAL_SQUARES: Final = 8
_USUAL_PERCENTILE: Final = 90
"""`_MAX_EMPTY_TILE_PROBABILITY` and `_MIN_USUAL_SQUARES`: maximum tile probability, from the square network, of the
squares whose usual look is measured, and their minimum number. `_USUAL_PERCENTILE` is the percentile that counts as
usual."""
_MAX_BLANKS: Final = 4
_MAX_LIKE_BLANKS: Final = 9
_COMMON_LOOK_NATS: Final = 4.0
_MIN_TILE_COLOUR_NATS: Final = 4.0
"""`_MAX_BLANKS`: number of blanks in two sets. `_MAX_LIKE_BLANKS`: maximum number of squares that look like blanks; if
it is more, their look is that of the board. `_COMMON_LOOK_NATS`: log-odds empty : blank of a square with this look.
`_MIN_TILE_COLOUR_NATS`: minimum log-likelihood ratio of the colour of a tile."""
_EVIDENCE_WEIGHTS: Final = np.array([0.82, 0.72, 0.37, 0.32])
"""Weights of the columns of `BlankEvidence.log_odds` in a logistic regression without intercept, fitted by `python -m
vision.training.fit_blanks`."""
_MAX_DOUBTFUL_LOG_ODDS: Final = 6.0
"""Maximum absolute log-odds of a square whose edges are measured; with more, the four edges could not change the
result: their log-likelihood ratio is at most 16 nats (`edge_comparison`), times their weight."""
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
    kinds: NDArray[np.float32], cells: Sequence[tuple[int, int]], letters: Floats, board: Image, colours: Floats
) -> NDArray[np.float64]:
    """Combine the predictions of both networks; return class probabilities `(15, 15, classes + 1)`.

    The last probability of a square is that it is hidden. `kinds` `(15, 15, 3)` are the probabilities from the square
    network. `letters` `(n, classes)` are the probabilities from the letter network for the n squares `cells` (row,
    column). `board` is the image from `rectify_board`, and `colours` the result of `measure_log_colours(board)`.
    """
    kinds_p, indices = _flatten_kinds(kinds, cells)
    chances = _multiply_odds(kinds_p, indices, letters)
    evidence = _measure_blank_evidence(kinds_p, indices, letters, chances, board, colours)
    plain = chances[evidence.squares, NO_TILE_CLASS] + chances[evidence.squares, BLANK_CLASS]
    log_odds = evidence.log_odds @ _EVIDENCE_WEIGHTS + _BLANK_PRIOR_SHIFT[evidence.neighbour_count]
    blank = plain / (1 + np.exp(-_subtract_common_odds(log_odds, evidence.log_odds[:, 2])))
    chances[evidence.squares, BLANK_CLASS], chances[evidence.squares, NO_TILE_CLASS] = blank, plain - blank
    letter_p = np.zeros(len(chances))
    letter_p[indices] = letters[:, LETTER_CLASSES].sum(axis=1)
    weigh_reflections(chances, letter_p, board, colours)
    hide_under_glare(chances, evidence.squares, board, SQUARE_PREMIUMS)
    return chances.reshape(BOARD_SIZE, BOARD_SIZE, -1)


def _subtract_common_odds(log_odds: Floats, by_colours: Floats) -> Floats:
    """Return the log-odds blank : empty of n squares, less those that the squares of this board share.

    If far more squares look like blanks than any set has, as on a board with holes for pegs, this look is no sign of a
    blank. Then the square after the most blank-like ones, as many as the blanks of two sets, counts as empty. Squares
    with the colour of a tile, `by_colours` `(n,)` nats, may be letters that are not legible: they are not counted.
    """
    falling = np.sort(log_odds[by_colours < _MIN_TILE_COLOUR_NATS])[::-1]
    if len(falling) <= _MAX_LIKE_BLANKS or falling[_MAX_LIKE_BLANKS] <= 0:
        return log_odds
    return np.asarray(log_odds - np.sort(log_odds)[-1 - _MAX_BLANKS] - _COMMON_LOOK_NATS, np.float64)


def collect_blank_evidence(
    kinds: NDArray[np.float32], cells: Sequence[tuple[int, int]], letters: Floats, board: Image
) -> BlankEvidence:
    """Measure the evidence for blanks on squares without a letter.

    `kinds` `(15, 15, 3)` are the probabilities from the square network. `letters` `(n, classes)` are the probabilities
    from the letter network for the n squares `cells` (row, column). `board` is the image from `rectify_board`.
    """
    kinds_p, indices = _flatten_kinds(kinds, cells)
    chances = _multiply_odds(kinds_p, indices, letters)
    return _measure_blank_evidence(kinds_p, indices, letters, chances, board, measure_log_colours(board))


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
    false_rate = _estimate_false_letters(letters[here[:, TILE_KIND] < _MAX_EMPTY_TILE_PROBABILITY])
    empty = here[:, EMPTY_KIND] * (no_tile + false_rate)
    laid = here[:, TILE_KIND] * (1 - np.minimum(no_tile + false_rate, 1 - _MIN_PROBABILITY))
    seen = (1 - here[:, HIDDEN_KIND]) / np.maximum(empty + laid, 1e-12)
    chances[indices, NO_TILE_CLASS] = empty * seen
    chances[indices, 1:-1] = which * (laid * seen)[:, None]
    return chances


def _estimate_false_letters(empty: Floats) -> float:
    """Return the share of empty squares of this board that look like a letter, from n rather empty squares.

    `empty` `(n, classes)` are the probabilities from the letter network.
    """
    letters = empty[:, LETTER_CLASSES]
    seen = letters[letters.max(axis=1, initial=0) < _CLEAR_LETTER_P]
    count = _FALSE_LETTER_SQUARES + len(seen)
    return float((_FALSE_LETTER_SQUARES * _FALSE_LETTER_RATE + seen.sum()) / count)


def _measure_blank_evidence(
    kinds_p: Floats, indices: NDArray[np.intp], letters: Floats, chances: Floats, board: Image, colours: Floats
) -> BlankEvidence:
    """Measure the evidence for a blank on the squares without a letter; `chances` is from `_multiply_odds`."""
    empty, blank = chances[:, NO_TILE_CLASS], chances[:, BLANK_CLASS]
    in_sight = chances[:, -1] < _MAX_HIDDEN_PROBABILITY
    without_print = letters[:, NO_TILE_CLASS] + letters[:, BLANK_CLASS] > 0.5
    examined = without_print & (in_sight & (empty + blank > 0.5) & (blank > _MIN_BLANK_PROBABILITY))[indices]
    places, seen = indices[examined], letters[examined]
    if not len(places):
        return BlankEvidence(places, np.zeros((0, len(_EVIDENCE_WEIGHTS))), places)
    plain = _mark_squares(places)
    known_empty = in_sight & (empty > _MIN_EMPTY_PROBABILITY) & ~plain
    known_tile = in_sight & (1 - empty - blank > 0.9)
    by_colours = compute_colour_log_ratio(colours, known_empty, known_tile, plain)[places]
    by_squares = _log_odds(kinds_p[places, TILE_KIND], kinds_p[places, EMPTY_KIND])
    by_letters = _log_odds(seen[:, BLANK_CLASS], seen[:, NO_TILE_CLASS])
    # If the empty squares of this board look like blanks, this look is no sign of a blank: subtract it.
    is_rather_empty = kinds_p[places, TILE_KIND] < _MAX_EMPTY_TILE_PROBABILITY
    by_letters -= _find_usual_odds(by_letters, is_rather_empty, SQUARE_PREMIUMS[places])
    odds = np.column_stack([by_squares, by_letters, by_colours, np.zeros(len(places))])
    laid = (1 - empty - chances[:, -1] > 0.5).reshape(BOARD_SIZE, BOARD_SIZE)
    beside = find_neighbours(laid).sum(axis=-1).ravel()[places]
    doubtful = places[np.abs(odds @ _EVIDENCE_WEIGHTS + _BLANK_PRIOR_SHIFT[beside]) < _MAX_DOUBTFUL_LOG_ODDS]
    if len(doubtful):
        mask = _mark_squares(doubtful)
        odds[:, 3] = compute_edge_log_ratio(board, colours, known_empty, known_tile, mask)[places]
    return BlankEvidence(places, odds, beside)


def _find_usual_odds(log_odds: Floats, is_empty: NDArray[np.bool_], kinds: NDArray[np.intp]) -> Floats:
    """Return the usual log-odds blank : empty, at least 0, of the empty squares of each square's kind: `(n,)`.

    `log_odds`, `is_empty` and `kinds` `(n,)` are those of the letter network, a mask of squares that are rather empty,
    and the premiums. The usual odds are a high percentile, or 0 if the empty squares of a kind are few. On some boards,
    empty squares look like blanks: they are white, or have lines or pegs where a tile has its edges.
    """
    usual = np.zeros(len(log_odds))
    for kind in np.unique(kinds):
        alike = log_odds[is_empty & (kinds == kind)]
        if len(alike) >= _MIN_USUAL_SQUARES:
            usual[kinds == kind] = max(float(np.percentile(alike, _USUAL_PERCENTILE)), 0.0)
    return usual


def _mark_squares(indices: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return a mask `(225,)` of the squares with these indices."""
    mask = np.zeros(BOARD_SIZE * BOARD_SIZE, np.bool_)
    mask[indices] = True
    return mask


def _log_odds(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.log((one + _MIN_PROBABILITY) / (other + _MIN_PROBABILITY)), np.float64)
