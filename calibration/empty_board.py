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

from engine.reading import BLANK, EMPTY, HIDDEN, SIZE, BoardReading, SquareReading
from vision.geometry import Floats
from vision.recognition.blank_by_colour import KIND

SQUARES: Final = SIZE * SIZE
_FORGETS: Final = 8
"""A square's colour is the mean of about so many pictures, the newest counting most."""
_ENOUGH_BARE: Final = 12
_ENOUGH_TILES: Final = 4
"""Squares of a sort that it takes to know how they look in a picture."""
_SEEN: Final = 0.2
_BARE: Final = 0.97
_TILE: Final = 0.9
"""A square is known to be in sight, bare or a tile by these probabilities."""
_IN_DOUBT: Final = 0.003
_MOST: Final = 4.0
"""Nats that a colour may count for or against a tile."""
_TRUST: Final = (0.0, 0.25, 0.5, 1.0)
"""What a colour's word is worth in a picture: as much as it is right about the squares that are known."""
_REACH: Final = 3.0
"""Squares within which neighbours count nearly alike."""
_LEAST_SPREAD: Final = 0.02
_FREEDOM: Final = 4.0
"""Degrees of freedom of the t distribution of colours: shadows and worn squares are no rarity."""
_ANOTHER: Final = 1.25
"""How much further bare squares may be from their own past than from their neighbours of their kind: this is another
board."""
_PLACES: Final = np.indices((SIZE, SIZE)).reshape(2, -1).T.astype(np.float64)
_NEAR: Final = 1 / (((_PLACES[:, None] - _PLACES[None]) ** 2).sum(axis=2) + _REACH**2) * (1 - np.eye(SQUARES))


@dataclass(frozen=True, slots=True, eq=False)
class BareBoard:
    """What is known of a board's bare squares; immutable."""

    colours: Floats
    """`(225, 3)` logarithms of colours, all in the light of the first picture."""
    times: NDArray[np.int64]
    """`(225,)`: how often each square was seen bare."""

    @classmethod
    def unknown(cls) -> BareBoard:
        """Nothing is known yet."""
        return cls(np.zeros((SQUARES, 3)), np.zeros(SQUARES, np.int64))

    def turned(self, quarter_turns: int) -> BareBoard:
        """The board turned by quarters anticlockwise."""
        colours = np.rot90(self.colours.reshape(SIZE, SIZE, 3), quarter_turns).reshape(SQUARES, 3)
        times = np.rot90(self.times.reshape(SIZE, SIZE), quarter_turns).reshape(SQUARES)
        return replace(self, colours=colours, times=times)

    def with_picture(self, colours: Floats, bare: NDArray[np.bool_]) -> BareBoard:
        """Learn the colours `(225, 3)` of the squares that are known to be `bare` in a picture.

        A board that looks otherwise than it did (another board) is learnt from the beginning.
        """
        board = self._facing(colours, bare)
        known = bare & (board.times > 0)
        if known.sum() < _ENOUGH_BARE or board._strange(colours, known):
            board, change = BareBoard.unknown(), np.zeros(3)
        else:
            change = _mean_nearby(colours - board.colours, known)
        share = 1 / np.minimum(board.times + 1, _FORGETS)
        taught = board.colours + (colours - change - board.colours) * share[:, None]
        return BareBoard(np.where(bare[:, None], taught, board.colours), board.times + bare)

    def likes_tiles(self, colours: Floats, reading: BoardReading) -> Floats:
        """How much rather each square shows a tile than itself bare: `(225,)` nats, 0 where nobody can say."""
        chances = _Chances.of(reading)
        board = self._facing(colours, chances.bare)
        bare, tiles = chances.bare & (board.times > 0), chances.tiles
        nothing = np.zeros(SQUARES)
        if bare.sum() < _ENOUGH_BARE or tiles.sum() < _ENOUGH_TILES or board._strange(colours, bare):
            return nothing
        change = colours - board.colours
        as_bare = _log_likelihood(change - _mean_nearby(change, bare), bare)
        as_tile = _log_likelihood(colours - _mean_nearby(colours, tiles), tiles)
        words = np.where(board.times > 0, np.clip(as_tile - as_bare, -_MOST, _MOST), 0.0)
        return np.asarray(words * _trust(words, bare, tiles), np.float64)

    def _facing(self, colours: Floats, bare: NDArray[np.bool_]) -> BareBoard:
        """The board as it is turned in a picture: people begin a game from any side."""
        ways = [self, *(self.turned(quarter) for quarter in (1, 2, 3))]
        if not self.times.any():
            return self
        spreads = [way._spread(colours, bare & (way.times > 0)) for way in ways]
        # As it was unless another way is clearly better: most boards look nearly alike from all sides.
        return ways[int(np.argmin(spreads))] if min(spreads) < 0.8 * spreads[0] else self

    def _spread(self, colours: Floats, known: NDArray[np.bool_]) -> float:
        """How far a picture's bare squares are from what is known of them, light apart."""
        if known.sum() < _ENOUGH_BARE:
            return np.inf
        change = colours - self.colours
        return _usual_length((change - _mean_nearby(change, known))[known])

    def _strange(self, colours: Floats, known: NDArray[np.bool_]) -> bool:
        """Whether a picture is of another board than this: its squares are no likelier to look as they did."""
        return self._spread(colours, known) > _ANOTHER * _spread_of_kinds(colours, known)


@dataclass(frozen=True, slots=True, eq=False)
class _Chances:
    """Which squares a reading is sure of."""

    bare: NDArray[np.bool_]
    tiles: NDArray[np.bool_]
    """Tiles with a letter: a blank is what is asked for."""

    @classmethod
    def of(cls, reading: BoardReading) -> _Chances:
        empty, blank, hidden = (np.array([s.probability(x) for s in reading.squares]) for x in (EMPTY, BLANK, HIDDEN))
        seen = hidden < _SEEN
        return cls(seen & (empty > _BARE), seen & (1 - empty - blank - hidden > _TILE))


def settled(reading: BoardReading, words: Floats) -> BoardReading:
    """The reading with blank and bare weighed anew where that was in doubt, by `words` from `likes_tiles`."""
    squares = list(reading.squares)
    for at in np.flatnonzero(words).tolist():
        if in_doubt(squares[at]):
            squares[at] = _weighed(squares[at], float(words[at]))
    return BoardReading(tuple(squares))


def in_doubt(square: SquareReading) -> bool:
    """Whether a square shows no print and may be a blank or nothing."""
    empty, blank = square.probability(EMPTY), square.probability(BLANK)
    return empty + blank > 0.5 and min(empty, blank) > _IN_DOUBT and square.probability(HIDDEN) < _SEEN


def _weighed(square: SquareReading, word: float) -> SquareReading:
    chances = dict(square.candidates)
    both = chances[EMPTY] + chances[BLANK]
    odds = chances[BLANK] / chances[EMPTY] * float(np.exp(word))
    chances |= {EMPTY: both / (1 + odds), BLANK: both * odds / (1 + odds)}
    return SquareReading(tuple(sorted(chances.items(), key=lambda item: -item[1])))


def _mean_nearby(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """The mean of `known` squares' values as seen from each square, itself left out: `(225, 3)`."""
    weight = _NEAR[:, known]
    return np.asarray(weight @ values[known] / weight.sum(axis=1, keepdims=True), np.float64)


def _spread_of_kinds(colours: Floats, known: NDArray[np.bool_]) -> float:
    """How far squares are from their neighbours of their kind."""
    kinds = [known & (kind == KIND) for kind in np.unique(KIND)]
    left = [(colours - _mean_nearby(colours, kind))[kind] for kind in kinds if kind.sum() >= _ENOUGH_TILES]
    return _usual_length(np.concatenate(left)) if left else np.inf


def _usual_length(differences: Floats) -> float:
    return float(np.sqrt(np.median((differences**2).sum(axis=1))))


def _log_likelihood(differences: Floats, known: NDArray[np.bool_]) -> Floats:
    """Of all squares, where the differences spread as those of the `known` do: t distribution, `(225,)`."""
    own = differences[known]
    spread = own.T @ own / len(own) + np.eye(3) * _LEAST_SPREAD**2
    squared = np.einsum("ni,ij,nj->n", differences, np.linalg.inv(spread), differences)
    logs = -0.5 * np.linalg.slogdet(spread)[1] - (_FREEDOM + 3) / 2 * np.log1p(squared / _FREEDOM)
    return np.asarray(logs, np.float64)


def _trust(words: Floats, bare: NDArray[np.bool_], tiles: NDArray[np.bool_]) -> float:
    """The share of the words that is right about the known squares, bare ones and tiles counting alike."""

    def loss(share: float) -> float:
        return float(np.logaddexp(0, share * words[bare]).mean() + np.logaddexp(0, -share * words[tiles]).mean())

    return min(_TRUST, key=loss)
