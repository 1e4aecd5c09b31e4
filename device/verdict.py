"""What the table makes of an explanation: which events count, and what is said to the people. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from engine.events import Event, Passed
from engine.explain import Explained
from engine.game import Game

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


def judge(game: Game, explained: Explained) -> Verdict:
    """Decide what a button press was: what the engine explains, a pass, or nothing yet."""
    question, best = explained.question or "", explained.best
    nothing: tuple[Event, ...] = (Passed(game.to_move),)
    likely = [one for one in explained.explanations if one.likelihood >= WORTH_ASKING] or [best]
    answers = {one.text: one.events or (() if one.waits else nothing) for one in likely}
    if best.leftover and not best.events and not best.waits and question:
        answers = {question: (), **answers}
    return Verdict(question, tuple(answers.items()) if question else ((best.text, best.events or nothing),))
