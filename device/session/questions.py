"""The open question of a turn, and the deferred questions, as values for the page, the panel and the API."""

from __future__ import annotations

from dataclasses import dataclass

from engine.events import QuestionDeferred
from engine.game import Game
from engine.messages import key_of
from engine.validation.deferred_questions import find_open_questions

PASS_OR_EXCHANGE = "pass-or-exchange"
"""Key of the question \"pass or exchange?\", which the challenge button of the panel answers."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question for the players; the answer `chosen` is in effect until the players choose another answer.

    `squares` (`row * 15 + column`) are the squares of the question. `symbols` has, for each answer, the symbol of each
    of these squares (a lower-case letter is a blank, `.` an empty square). `symbols` is empty if the question is not
    about tiles. `picture` is the name of a picture that shows these squares in the photograph, empty if there is none.
    `can_defer` is True if the players may answer later, and `can_look_again` if they may let the board be read again.
    """

    text: str
    answers: tuple[str, ...]
    chosen: int = 0
    squares: tuple[int, ...] = ()
    symbols: tuple[tuple[str, ...], ...] = ()
    picture: str = ""
    can_defer: bool = False
    can_look_again: bool = False

    @classmethod
    def from_event(cls, deferred: QuestionDeferred) -> Question:
        """Return a question that was deferred."""
        return cls(deferred.text, deferred.texts, deferred.chosen, deferred.squares)

    @property
    def key(self) -> str:
        """The key of the text in the catalogue, or an empty string if the text has no key."""
        return key_of(self.text)


@dataclass(frozen=True, slots=True)
class DeferredQuestion:
    """A question that the players answer later, with its number in the game."""

    number: int
    question: Question


def list_deferred_questions(game: Game) -> tuple[DeferredQuestion, ...]:
    """Return the deferred questions of a game, the oldest question first."""
    return tuple(DeferredQuestion(asked.number, Question.from_event(asked)) for asked in find_open_questions(game))
