"""Model of the empty board: the colour of each square without a tile, used to tell blanks from empty squares.

The networks and the neighbouring squares tell a blank tile from an empty square in general
(`vision.recognition.fusion`). For a board that was seen before, the colour of each empty square is known as well. The
light may have changed since then, but smoothly over the board: the change is estimated from squares known to be empty,
and a difference that remains on a square is evidence for a tile.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import BLANK, BOARD_SIZE, EMPTY, HIDDEN, BoardReading, SquareReading
from vision.geometry import Floats
from vision.recognition.blank_by_colour import SQUARE_KINDS

SQUARE_COUNT: Final = BOARD_SIZE * BOARD_SIZE
_MAX_IMAGES_AVERAGED: Final = 8
"""Number of pictures in the running average of a square's colour."""
_MIN_EMPTY_SQUARES: Final = 12
_MIN_TILE_SQUARES: Final = 4
"""Squares known to be empty, and squares known to hold a tile, that a picture must have to be used."""
_MAX_HIDDEN_PROBABILITY: Final = 0.2
_MIN_EMPTY_PROBABILITY: Final = 0.97
_MIN_LETTER_PROBABILITY: Final = 0.9
"""Probabilities from which a square counts as visible, empty, or a tile with a letter."""
_MIN_DOUBT_PROBABILITY: Final = 0.003
_MAX_LOG_RATIO_NATS: Final = 4.0
"""Least probability of both \"empty\" and \"blank\" on an uncertain square, and the clip of its log-likelihood
ratio."""
_TRUST_FACTORS: Final = (0.0, 0.25, 0.5, 1.0)
"""Weights of the log-likelihood ratios to choose from; the one that fits the known squares of the picture best is
used."""
_NEIGHBOUR_REACH_SQUARES: Final = 3.0
"""Distance, in squares, over which the weight of a neighbour halves."""
_MIN_COLOUR_SPREAD: Final = 0.02
_T_DEGREES_OF_FREEDOM: Final = 4.0
"""Degrees of freedom of the Student t distribution of colours: heavy tails for shadows and worn squares."""
_MAX_SPREAD_RATIO: Final = 1.25
"""Ratio of the deviation from the model to the deviation between squares of one kind, above which the picture shows
another board."""
_SQUARE_POSITIONS: Final = np.indices((BOARD_SIZE, BOARD_SIZE)).reshape(2, -1).T.astype(np.float64)
_NEIGHBOUR_WEIGHTS: Final = (
    1
    / (((_SQUARE_POSITIONS[:, None] - _SQUARE_POSITIONS[None]) ** 2).sum(axis=2) + _NEIGHBOUR_REACH_SQUARES**2)
    * (1 - np.eye(SQUARE_COUNT))
)


@dataclass(frozen=True, slots=True, eq=False)
class EmptyBoardModel:
    """Colours of a board's empty squares; immutable."""

    colours: Floats
    """`(225, 3)` logarithms of BGR colours, in the light of the first picture."""
    observation_counts: NDArray[np.int64]
    """`(225,)`: how often each square was seen empty."""

    @classmethod
    def untrained(cls) -> EmptyBoardModel:
        """Return the model of a board that was never seen."""
        return cls(np.zeros((SQUARE_COUNT, 3)), np.zeros(SQUARE_COUNT, np.int64))

    def rotate(self, quarter_turns: int) -> EmptyBoardModel:
        """Return the model of the board rotated anticlockwise by quarter turns."""
        colours = np.rot90(self.colours.reshape(BOARD_SIZE, BOARD_SIZE, 3), quarter_turns).reshape(SQUARE_COUNT, 3)
        times = np.rot90(self.observation_counts.reshape(BOARD_SIZE, BOARD_SIZE), quarter_turns).reshape(SQUARE_COUNT)
        return replace(self, colours=colours, observation_counts=times)

    def with_picture(self, colours: Floats, bare: NDArray[np.bool_]) -> EmptyBoardModel:
        """Return the model updated with a picture.

        `colours` are `(225, 3)` log-colours, `bare` `(225,)` marks the squares known to be empty. If the picture shows
        another board, the model starts again.
        """
        board = self._match_rotation(colours, bare)
        known = bare & (board.observation_counts > 0)
        if known.sum() < _MIN_EMPTY_SQUARES or board._is_other_board(colours, known):
            board, change = EmptyBoardModel.untrained(), np.zeros(3)
        else:
            change = _average_neighbours(colours - board.colours, known)
        share = 1 / np.minimum(board.observation_counts + 1, _MAX_IMAGES_AVERAGED)
        taught = board.colours + (colours - change - board.colours) * share[:, None]
        return EmptyBoardModel(np.where(bare[:, None], taught, board.colours), board.observation_counts + bare)

    def compute_log_ratios(self, colours: Floats, reading: BoardReading) -> Floats:
        """Return the log-likelihood ratio tile : empty of each square, `(225,)` nats; 0 if unknown."""
        chances = _KnownSquares.from_reading(reading)
        board = self._match_rotation(colours, chances.empty)
        bare, tiles = chances.empty & (board.observation_counts > 0), chances.tiles
        nothing = np.zeros(SQUARE_COUNT)
        if bare.sum() < _MIN_EMPTY_SQUARES or tiles.sum() < _MIN_TILE_SQUARES or board._is_other_board(colours, bare):
            return nothing
        change = colours - board.colours
        as_bare = _log_likelihood(change - _average_neighbours(change, bare), bare)
        as_tile = _log_likelihood(colours - _average_neighbours(colours, tiles), tiles)
        words = np.where(
            board.observation_counts > 0, np.clip(as_tile - as_bare, -_MAX_LOG_RATIO_NATS, _MAX_LOG_RATIO_NATS), 0.0
        )
        return np.asarray(words * _choose_trust(words, bare, tiles), np.float64)

    def _match_rotation(self, colours: Floats, bare: NDArray[np.bool_]) -> EmptyBoardModel:
        """Return the model rotated as the board is in a picture; a game may start from any side."""
        ways = [self, *(self.rotate(quarter) for quarter in (1, 2, 3))]
        if not self.observation_counts.any():
            return self
        spreads = [way._measure_spread(colours, bare & (way.observation_counts > 0)) for way in ways]
        # Most boards look nearly the same from all sides: rotate only if that fits clearly better.
        return ways[int(np.argmin(spreads))] if min(spreads) < 0.8 * spreads[0] else self

    def _measure_spread(self, colours: Floats, known: NDArray[np.bool_]) -> float:
        """Return the median deviation of a picture's empty squares from the model, apart from a change of the light."""
        if known.sum() < _MIN_EMPTY_SQUARES:
            return np.inf
        change = colours - self.colours
        return _median_length((change - _average_neighbours(change, known))[known])

    def _is_other_board(self, colours: Floats, known: NDArray[np.bool_]) -> bool:
        """Return True if the picture shows another board: its squares fit the model no better than each other."""
        return self._measure_spread(colours, known) > _MAX_SPREAD_RATIO * _measure_kind_spread(colours, known)


@dataclass(frozen=True, slots=True, eq=False)
class _KnownSquares:
    """The squares that a reading is certain about, `(225,)` each."""

    empty: NDArray[np.bool_]
    tiles: NDArray[np.bool_]
    """Tiles with a letter; blanks are what the model has to decide."""

    @classmethod
    def from_reading(cls, reading: BoardReading) -> _KnownSquares:
        empty, blank, hidden = (np.array([s.probability(x) for s in reading.squares]) for x in (EMPTY, BLANK, HIDDEN))
        seen = hidden < _MAX_HIDDEN_PROBABILITY
        return cls(
            seen & (empty > _MIN_EMPTY_PROBABILITY), seen & (1 - empty - blank - hidden > _MIN_LETTER_PROBABILITY)
        )


def apply_log_ratios(reading: BoardReading, words: Floats) -> BoardReading:
    """Return the reading with its uncertain blanks updated by log-likelihood ratios `(225,)`."""
    squares = list(reading.squares)
    for at in np.flatnonzero(words).tolist():
        if is_blank_uncertain(squares[at]):
            squares[at] = _shift_blank_odds(squares[at], float(words[at]))
    return BoardReading(tuple(squares))


def is_blank_uncertain(square: SquareReading) -> bool:
    """Return True if a square shows no print and may be a blank or empty."""
    empty, blank = square.probability(EMPTY), square.probability(BLANK)
    return (
        empty + blank > 0.5
        and min(empty, blank) > _MIN_DOUBT_PROBABILITY
        and square.probability(HIDDEN) < _MAX_HIDDEN_PROBABILITY
    )


def _shift_blank_odds(square: SquareReading, word: float) -> SquareReading:
    chances = dict(square.candidates)
    both = chances[EMPTY] + chances[BLANK]
    odds = chances[BLANK] / chances[EMPTY] * float(np.exp(word))
    chances |= {EMPTY: both / (1 + odds), BLANK: both * odds / (1 + odds)}
    return SquareReading(tuple(sorted(chances.items(), key=lambda item: -item[1])))


def _average_neighbours(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return the distance-weighted mean of the `known` squares around each square, without itself, `(225, 3)`."""
    weight = _NEIGHBOUR_WEIGHTS[:, known]
    return np.asarray(weight @ values[known] / weight.sum(axis=1, keepdims=True), np.float64)


def _measure_kind_spread(colours: Floats, known: NDArray[np.bool_]) -> float:
    """Return the median deviation of squares from the neighbours of their kind (premium or plain)."""
    kinds = [known & (kind == SQUARE_KINDS) for kind in np.unique(SQUARE_KINDS)]
    left = [(colours - _average_neighbours(colours, kind))[kind] for kind in kinds if kind.sum() >= _MIN_TILE_SQUARES]
    return _median_length(np.concatenate(left)) if left else np.inf


def _median_length(differences: Floats) -> float:
    return float(np.sqrt(np.median((differences**2).sum(axis=1))))


def _log_likelihood(differences: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return the log-likelihood `(225,)` of each difference under a Student t distribution fitted to `known` ones."""
    own = differences[known]
    spread = own.T @ own / len(own) + np.eye(3) * _MIN_COLOUR_SPREAD**2
    squared = np.einsum("ni,ij,nj->n", differences, np.linalg.inv(spread), differences)
    logs = -0.5 * np.linalg.slogdet(spread)[1] - (_T_DEGREES_OF_FREEDOM + 3) / 2 * np.log1p(
        squared / _T_DEGREES_OF_FREEDOM
    )
    return np.asarray(logs, np.float64)


def _choose_trust(words: Floats, bare: NDArray[np.bool_], tiles: NDArray[np.bool_]) -> float:
    """Return the weight of the log-likelihood ratios with the least loss on the known squares.

    Empty squares and tiles have equal weight.
    """

    def loss(share: float) -> float:
        return float(np.logaddexp(0, share * words[bare]).mean() + np.logaddexp(0, -share * words[tiles]).mean())

    return min(_TRUST_FACTORS, key=loss)
