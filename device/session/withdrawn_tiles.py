"""The tiles of withdrawn plays that the players must remove, and how a reading shows that they are gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.board import Square
from engine.game import Game
from engine.inference.evidence import is_consistent
from engine.reading import BLANK, EMPTY, HIDDEN, BoardReading, SquareReading
from engine.rules import ChallengeRule
from engine.state import TurnKind
from engine.tiles import Tile

MIN_EMPTY_PROBABILITY = 0.5
"""Limit for the probability that a square is empty; above it, a tile that must be removed counts as removed."""
MIN_LETTER_PROBABILITY = 0.9
"""Minimum probability of another letter on the square of a tile that must be removed for it to be one of a new play."""
MAX_MISREAD_PROBABILITY = 0.02
"""Maximum probability of that other letter in the last reading of the tile before its withdrawal.

If it was higher, the other letter may be the tile itself, misread.
"""


@dataclass(frozen=True, slots=True)
class WithdrawnTile:
    """A tile of a withdrawn play that the players must remove from its square.

    `read` is the last reading of the square before the withdrawal; None if there was none. It shows if the camera
    misreads the tile, whose letter the players may have corrected.
    """

    square: Square
    tile: Tile
    read: SquareReading | None

    def is_shown(self, reading: BoardReading) -> bool:
        """Return True if a reading shows this tile, perhaps with the same wrong letter as before the withdrawal."""
        symbol = reading.squares[self.square].symbol
        is_as_before = self.read is not None and self.read.is_tile and symbol == self.read.symbol
        return is_as_before or is_consistent(symbol, self.tile)

    def is_replaced(self, reading: BoardReading) -> bool:
        """Return True if a reading clearly shows another tile on the square, which must be one of a new play.

        The reading must show a letter, because a blank may be any tile under glare. And the last reading before the
        withdrawal must have shown this tile right, and nearly excluded that letter: otherwise the letter may be this
        tile, misread.
        """
        now = reading.squares[self.square]
        is_letter = now.symbol not in (EMPTY, HIDDEN, BLANK) and now.confidence > MIN_LETTER_PROBABILITY
        is_read_well = (
            self.read is not None
            and is_consistent(self.read.symbol, self.tile)
            and self.read.probability(now.symbol) < MAX_MISREAD_PROBABILITY
        )
        return is_letter and is_read_well and not self.is_shown(reading)


WithdrawnPlay = tuple[WithdrawnTile, ...]
"""The tiles of one withdrawn play that the players must remove."""


def add_withdrawn_plays(
    plays: Sequence[WithdrawnPlay], before: Game, after: Game, reading: BoardReading | None
) -> tuple[WithdrawnPlay, ...]:
    """Return the plays whose tiles must be removed: `plays`, and those that were withdrawn between two games.

    `reading` is the last reading before the withdrawal, if there was one. Some tiles need not be removed: those of a
    play that its own player has taken back, because this player takes the tiles, too; and those on whose squares
    another tile is recorded by now.
    """
    game = after
    known = {turn.ref for turn in before.turns if not turn.stands}
    is_void = game.rules.challenge is ChallengeRule.VOID
    lines = [turn for turn in game.turns if turn.kind is TurnKind.WITHDRAWN and (turn.by is not None or is_void)]
    withdrawn = [game.turns[line.target] for line in lines if line.target is not None]
    added = [
        tuple(
            WithdrawnTile(square, tile, reading.squares[square] if reading else None)
            for square, tile in turn.placements
            if game.board[square] is None
        )
        for turn in withdrawn
        if turn.ref not in known
    ]
    added_squares = {tile.square for play in added for tile in play}
    recorded = {square: tile for turn in game.turns if not turn.stands for square, tile in turn.placements}
    kept = [
        tuple(
            replace(tile, tile=recorded.get(tile.square, tile.tile))  # it may have been corrected since
            for tile in play
            if tile.square not in added_squares and game.board[tile.square] is None
        )
        for play in plays
    ]
    return tuple(play for play in (*kept, *added) if play)


def find_remaining_plays(plays: Sequence[WithdrawnPlay], reading: BoardReading) -> tuple[WithdrawnPlay, ...]:
    """Return the withdrawn plays whose tiles are not gone in a reading."""
    return tuple(play for play in plays if not is_cleared(play, reading))


def is_cleared(play: WithdrawnPlay, reading: BoardReading) -> bool:
    """Return True if the tiles of a withdrawn play are gone: their squares are empty, or show the tiles of a new play.

    A new play may have the same letter on some of the squares, and a withdrawn tile may be misread. So the play is
    cleared if more squares show another letter than show the withdrawn tile.
    """
    is_empty = all(reading.squares[tile.square].probability(EMPTY) > MIN_EMPTY_PROBABILITY for tile in play)
    replaced_count = sum(tile.is_replaced(reading) for tile in play)
    return is_empty or replaced_count > sum(tile.is_shown(reading) for tile in play)
