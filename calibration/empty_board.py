"""How this board's squares look when nothing lies on them, each by itself.

A plain blank and a bare square are told apart in general by the networks and by their neighbours
(`vision.recognition.fusion`). A board that was seen before tells more: each square's own colour then. The light has
changed since, but slowly over the board, so that squares known to be bare say how; what is left of a difference on a
square is what lies on it.
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
"""A square's colour is the mean of about so many pictures, the newest counting most."""
_MIN_EMPTY_SQUARES: Final = 12
_MIN_TILE_SQUARES: Final = 4
"""Squares of a sort that it takes to know how they look in a picture."""
_MAX_HIDDEN_PROBABILITY: Final = 0.2
_MIN_EMPTY_PROBABILITY: Final = 0.97
_MIN_LETTER_PROBABILITY: Final = 0.9
"""A square is known to be in sight, bare or a tile by these probabilities."""
_MIN_DOUBT_PROBABILITY: Final = 0.003
_MAX_LOG_RATIO_NATS: Final = 4.0
"""Nats that a colour may count for or against a tile."""
_TRUST_FACTORS: Final = (0.0, 0.25, 0.5, 1.0)
"""What a colour's word is worth in a picture: as much as it is right about the squares that are known."""
_NEIGHBOUR_REACH_SQUARES: Final = 3.0
"""Squares within which neighbours count nearly alike."""
_MIN_COLOUR_SPREAD: Final = 0.02
_T_DEGREES_OF_FREEDOM: Final = 4.0
"""Degrees of freedom of the t distribution of colours: shadows and worn squares are no rarity."""
_MAX_SPREAD_RATIO: Final = 1.25
"""How much further bare squares may be from their own past than from their neighbours of their kind: this is another
board."""
_SQUARE_POSITIONS: Final = np.indices((BOARD_SIZE, BOARD_SIZE)).reshape(2, -1).T.astype(np.float64)
_NEIGHBOUR_WEIGHTS: Final = (
    1
    / (((_SQUARE_POSITIONS[:, None] - _SQUARE_POSITIONS[None]) ** 2).sum(axis=2) + _NEIGHBOUR_REACH_SQUARES**2)
    * (1 - np.eye(SQUARE_COUNT))
)


@dataclass(frozen=True, slots=True, eq=False)
class EmptyBoardModel:
    """What is known of a board's bare squares; immutable."""

    colours: Floats
    """`(225, 3)` logarithms of colours, all in the light of the first picture."""
    observation_counts: NDArray[np.int64]
    """`(225,)`: how often each square was seen bare."""

    @classmethod
    def untrained(cls) -> EmptyBoardModel:
        """Nothing is known yet."""
        return cls(np.zeros((SQUARE_COUNT, 3)), np.zeros(SQUARE_COUNT, np.int64))

    def rotate(self, quarter_turns: int) -> EmptyBoardModel:
        """The board turned by quarters anticlockwise."""
        colours = np.rot90(self.colours.reshape(BOARD_SIZE, BOARD_SIZE, 3), quarter_turns).reshape(SQUARE_COUNT, 3)
        times = np.rot90(self.observation_counts.reshape(BOARD_SIZE, BOARD_SIZE), quarter_turns).reshape(SQUARE_COUNT)
        return replace(self, colours=colours, observation_counts=times)

    def with_picture(self, colours: Floats, bare: NDArray[np.bool_]) -> EmptyBoardModel:
        """Learn the colours `(225, 3)` of the squares that are known to be `bare` in a picture.

        A board that looks otherwise than it did (another board) is learnt from the beginning.
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
        """How much rather each square shows a tile than itself bare: `(225,)` nats, 0 where nobody can say."""
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
        """The board as it is turned in a picture: people begin a game from any side."""
        ways = [self, *(self.rotate(quarter) for quarter in (1, 2, 3))]
        if not self.observation_counts.any():
            return self
        spreads = [way._measure_spread(colours, bare & (way.observation_counts > 0)) for way in ways]
        # As it was unless another way is clearly better: most boards look nearly alike from all sides.
        return ways[int(np.argmin(spreads))] if min(spreads) < 0.8 * spreads[0] else self

    def _measure_spread(self, colours: Floats, known: NDArray[np.bool_]) -> float:
        """How far a picture's bare squares are from what is known of them, light apart."""
        if known.sum() < _MIN_EMPTY_SQUARES:
            return np.inf
        change = colours - self.colours
        return _median_length((change - _average_neighbours(change, known))[known])

    def _is_other_board(self, colours: Floats, known: NDArray[np.bool_]) -> bool:
        """Whether a picture is of another board than this: its squares are no likelier to look as they did."""
        return self._measure_spread(colours, known) > _MAX_SPREAD_RATIO * _measure_kind_spread(colours, known)


@dataclass(frozen=True, slots=True, eq=False)
class _KnownSquares:
    """Which squares a reading is sure of."""

    empty: NDArray[np.bool_]
    tiles: NDArray[np.bool_]
    """Tiles with a letter: a blank is what is asked for."""

    @classmethod
    def from_reading(cls, reading: BoardReading) -> _KnownSquares:
        empty, blank, hidden = (np.array([s.probability(x) for s in reading.squares]) for x in (EMPTY, BLANK, HIDDEN))
        seen = hidden < _MAX_HIDDEN_PROBABILITY
        return cls(
            seen & (empty > _MIN_EMPTY_PROBABILITY), seen & (1 - empty - blank - hidden > _MIN_LETTER_PROBABILITY)
        )


def apply_log_ratios(reading: BoardReading, words: Floats) -> BoardReading:
    """The reading with blank and bare weighed anew where that was in doubt, by `words` from `likes_tiles`."""
    squares = list(reading.squares)
    for at in np.flatnonzero(words).tolist():
        if is_blank_uncertain(squares[at]):
            squares[at] = _shift_blank_odds(squares[at], float(words[at]))
    return BoardReading(tuple(squares))


def is_blank_uncertain(square: SquareReading) -> bool:
    """Whether a square shows no print and may be a blank or nothing."""
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
    """The mean of `known` squares' values as seen from each square, itself left out: `(225, 3)`."""
    weight = _NEIGHBOUR_WEIGHTS[:, known]
    return np.asarray(weight @ values[known] / weight.sum(axis=1, keepdims=True), np.float64)


def _measure_kind_spread(colours: Floats, known: NDArray[np.bool_]) -> float:
    """How far squares are from their neighbours of their kind."""
    kinds = [known & (kind == SQUARE_KINDS) for kind in np.unique(SQUARE_KINDS)]
    left = [(colours - _average_neighbours(colours, kind))[kind] for kind in kinds if kind.sum() >= _MIN_TILE_SQUARES]
    return _median_length(np.concatenate(left)) if left else np.inf


def _median_length(differences: Floats) -> float:
    return float(np.sqrt(np.median((differences**2).sum(axis=1))))


def _log_likelihood(differences: Floats, known: NDArray[np.bool_]) -> Floats:
    """Of all squares, where the differences spread as those of the `known` do: t distribution, `(225,)`."""
    own = differences[known]
    spread = own.T @ own / len(own) + np.eye(3) * _MIN_COLOUR_SPREAD**2
    squared = np.einsum("ni,ij,nj->n", differences, np.linalg.inv(spread), differences)
    logs = -0.5 * np.linalg.slogdet(spread)[1] - (_T_DEGREES_OF_FREEDOM + 3) / 2 * np.log1p(
        squared / _T_DEGREES_OF_FREEDOM
    )
    return np.asarray(logs, np.float64)


def _choose_trust(words: Floats, bare: NDArray[np.bool_], tiles: NDArray[np.bool_]) -> float:
    """The share of the words that is right about the known squares, bare ones and tiles counting alike."""

    def loss(share: float) -> float:
        return float(np.logaddexp(0, share * words[bare]).mean() + np.logaddexp(0, -share * words[tiles]).mean())

    return min(_TRUST_FACTORS, key=loss)
