"""What the table makes of an explanation: which events count, and what is said to the people. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.events import Event, Passed, PlayMade
from engine.explain import Explained
from engine.game import Game
from engine.reading import BoardReading

WORTH_ASKING = 0.01
"""Explanations less likely than this are not offered."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is taken to have happened, and what else it may have been.

    `question` is for the people, empty when all is clear. `answers` are sentences, each with the events that it stands
    for; the first is what counts until somebody chooses. Its events are none where it is no turn yet.
    """

    question: str
    answers: tuple[tuple[str, tuple[Event, ...]], ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """The events to be appended now."""
        return self.answers[0][1]


def judge(game: Game, reading: BoardReading, explained: Explained) -> Verdict:
    """Decide what a button press was: what the engine explains, a pass, or nothing yet."""
    if name := _must_take_back(game, reading, explained.events):
        text = f"The tiles that {name} must take back still lie there"
        return Verdict(text, ((text, ()),))
    question = explained.question or ""
    nothing: tuple[Event, ...] = (Passed(game.to_move),)
    answers = {one.text: one.events or nothing for one in explained.explanations if one.likelihood >= WORTH_ASKING}
    best = explained.best
    if best.leftover and not best.events and question:
        answers = {question: (), **answers}
    first = next(iter(answers), best.text)
    return Verdict(question, tuple(answers.items()) if question else ((first, best.events or nothing),))


def _must_take_back(game: Game, reading: BoardReading, events: Sequence[Event]) -> str:
    """Whose play was challenged off and still lies there; empty: nobody's.

    The engine may take it for the next player's play.
    """
    last = game.turns[-1] if game.turns else None
    off = game.turns[last.target].play if last and last.by is not None and last.target is not None else None
    if last is None or off is None:
        return ""
    again = any(isinstance(event, PlayMade) and event.play == off for event in events)
    untouched = not events and all(reading.squares[square].is_tile for square in off.squares)
    return game.players[last.player] if again or untouched else ""
