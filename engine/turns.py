"""Turns: what a player did, worked out by the rules, with its words and its score."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.board import Board
from engine.plays import Placement, Play
from engine.scoring import PlayScore, Status, WordScore


class TurnKind(StrEnum):
    """What a turn was."""

    PLAY = "play"
    EXCHANGE = "exchange"
    PASS = "pass"
    WITHDRAWN = "withdrawn"  # a play was taken back, challenged or not
    CHALLENGE = "challenge"  # a play was challenged in vain
    RECYCLED = "recycled"  # a tile of the board taken for one of the rack; the turn goes on
    BLANK_TAKEN = "blank-taken"  # a blank of the board taken for its letter; the turn goes on
    ENDRACK = "endrack"  # unplayed letters
    TIME = "time"  # overtime


CLOSING_KINDS = frozenset({TurnKind.ENDRACK, TurnKind.TIME})
"""The lines that the end of a game writes; they come after all others."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of the score sheet.

    `total` is the player's total after it, `board` the board after it. `at` and `word` are in GCG notation.
    `drawn_count` tiles were taken from the bag. `target` is the number of the play that was withdrawn or
    challenged, `by` who challenged. `computed_score` is the score by the rules if a
    person has corrected it.
    `stands` is False for a play that was taken back later.
    """

    number: int
    player: int
    kind: TurnKind
    score: int
    total: int
    board: Board
    ledger_index: int
    play: Play | None = None
    play_score: PlayScore | None = None
    at: str | None = None
    word: str | None = None
    status: Status = Status.VALID
    tiles: tuple[str, ...] = ()
    count: int = 0
    drawn_count: int = 0
    target: int | None = None
    by: int | None = None
    computed_score: int | None = None
    stands: bool = True

    @property
    def words(self) -> tuple[WordScore, ...]:
        """The words the play formed or altered, the main word first."""
        return self.play_score.words if self.play_score else ()

    @property
    def bonus(self) -> int:
        """The premium for a bingo within the score."""
        return self.play_score.bonus if self.play_score else 0

    @property
    def placements(self) -> tuple[Placement, ...]:
        """The newly covered squares and their tiles."""
        return self.play.tiles if self.play else ()
