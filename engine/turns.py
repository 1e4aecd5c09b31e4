"""Turns: the lines of the score sheet, with the words and the score that the rules give them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.board import Board
from engine.plays import Placement, Play
from engine.scoring import PlayScore, Status, WordScore


class TurnKind(StrEnum):
    """The kind of a turn."""

    PLAY = "play"
    EXCHANGE = "exchange"
    PASS = "pass"
    WITHDRAWN = "withdrawn"  # a play was taken back, after a challenge or by its player
    CHALLENGE = "challenge"  # a challenge failed
    RECYCLED = "recycled"  # a tile of the board was exchanged for one of the rack; the player's turn goes on
    BLANK_TAKEN = "blank-taken"  # a blank of the board was taken for its letter; the player's turn goes on
    ENDRACK = "endrack"  # points for unplayed letters
    TIME = "time"  # points for overtime


CLOSING_KINDS = frozenset({TurnKind.ENDRACK, TurnKind.TIME})
"""Lines that the end of a game adds; they come after all others."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of the score sheet.

    `number` counts from 0; `ledger_index` is the index of its event in the ledger. `score` and `total` are points,
    `total` and `board` are those after the turn. `at` and `word` are the play in GCG notation, `status` its defects.
    `count` tiles were exchanged, `drawn_count` were taken from the bag. `tiles` are letters that were exchanged or
    left unplayed. `target` is the number of the play that was withdrawn or challenged, `by` the challenger.
    `computed_score` is the score by the rules if a player corrected it. `stands` is False for a play that was
    withdrawn later.
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
        """The words that the play formed or altered, the main word first."""
        return self.play_score.words if self.play_score else ()

    @property
    def bonus(self) -> int:
        """The bingo bonus in the score."""
        return self.play_score.bonus if self.play_score else 0

    @property
    def placements(self) -> tuple[Placement, ...]:
        """The newly covered squares and their tiles."""
        return self.play.tiles if self.play else ()
