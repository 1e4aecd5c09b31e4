"""One explanation of a reading: the events, the game after them, and the squares in doubt."""

from __future__ import annotations

from dataclasses import dataclass

from engine.events import Event
from engine.game import Game
from engine.scoring import Status
from engine.squares import Square


@dataclass(frozen=True, slots=True)
class Explanation:
    """One way to explain a reading.

    `events` are to be pushed to the game, which is then `game`; empty if nothing was added. `likelihood` (0..1) is
    relative to the other explanations of the same reading; their sum is at most 1.

    `leftover_squares` hold a tile that belongs to no play; `status` gives the defects of these tiles as one play.
    `missing_squares` hold an old tile that is not seen, `misread_squares` an old tile that is clearly read as another
    one, and `moved_tiles` pairs the square of an old tile with the one where it is seen now (rule 5 forbids all
    three). `unsure_squares` hold a new tile whose letter is in doubt. `covered_squares` at the end of a play are
    hidden: the word may be longer. `is_waiting` is True while tiles that must be taken back (rule 8) are still on the
    board: the next turn has not begun.
    """

    events: tuple[Event, ...]
    likelihood: float
    text: str
    game: Game
    leftover_squares: tuple[Square, ...] = ()
    missing_squares: tuple[Square, ...] = ()
    misread_squares: tuple[Square, ...] = ()
    moved_tiles: tuple[tuple[Square, Square], ...] = ()
    unsure_squares: tuple[Square, ...] = ()
    covered_squares: tuple[Square, ...] = ()
    status: Status = Status.VALID
    is_waiting: bool = False
