"""What the table makes of an explanation: which events count, and what is said to the people. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.events import Event, Passed, PlayMade
from engine.explain import Explained
from engine.game import Game
from engine.reading import BoardReading


@dataclass(frozen=True, slots=True)
class Verdict:
    """`events` to be appended, none when it is no turn; `question` to the people, empty when all is clear."""

    events: tuple[Event, ...]
    question: str


def judge(game: Game, reading: BoardReading, explained: Explained) -> Verdict:
    """Decide what a button press was: what the engine explains, a pass, or nothing yet."""
    if name := _still_lying(game, explained.events):
        return Verdict((), f"The tiles that {name} must take back still lie there")
    events = explained.events or _nothing_added(game, reading, explained)
    question = explained.question or ("" if events else explained.best.text)
    return Verdict(events, question)


def _nothing_added(game: Game, reading: BoardReading, explained: Explained) -> tuple[Event, ...]:
    """A pass, unless tiles lie there that belong to no play, or old ones are gone."""
    loose = any(square.is_tile and game.board[at] is None for at, square in enumerate(reading.squares))
    return () if loose or explained.best.missing or explained.best.moved else (Passed(game.to_move),)


def _still_lying(game: Game, events: Sequence[Event]) -> str:
    """Whose play was challenged off and still lies there, as if the next player had made it; empty: nobody's."""
    last = game.turns[-1] if game.turns else None
    if last is None or last.by is None or last.target is None:
        return ""
    off = game.turns[last.target].play
    again = any(isinstance(event, PlayMade) and event.play == off for event in events)
    return game.players[last.player] if again else ""
