"""Messages of the session to the players: notices, questions and refusals.

The texts are in the catalogues, with the msgids `message.KEY`. A message is an English text with a key; clients
translate it with the key. The English texts of other messages (of the engine, cameras and files) are in the code
(`engine.messages.make_message`). They are translated in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from device.catalogue import DEFAULT_LANGUAGE, load_catalogue
from engine.errors import NotationError, RulesError, TilekeeperError
from engine.events import QuestionDeferred
from engine.game import Game
from engine.messages import Message, key_of, make_message
from engine.validation.deferred_questions import find_open_questions

PASS_OR_EXCHANGE = "pass-or-exchange"
"""Key of the question \"pass or exchange?\", which the challenge button of the panel answers."""


class Trouble(StrEnum):
    """Subject of a notice, which determines the colour of the status light."""

    NONE = "none"
    BOARD = "board"
    CAMERA = "camera"
    STORE = "store"


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the players.

    `text` is in English; clients translate it to other languages with its key (`engine.messages`).
    """

    text: str
    trouble: Trouble = Trouble.NONE

    @property
    def key(self) -> str:
        """The key of the text in the catalogue, or an empty string if the text has no key."""
        return key_of(self.text)


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


def get_text(key: str, *values: str) -> Message:
    """Return the message with this key; `values` replace its placeholders `{0}`, `{1}` and so on.

    >>> get_text("answer-exchange", "Anna", "3")
    'Anna exchanged 3.'
    """
    return make_message(key, load_catalogue(DEFAULT_LANGUAGE).find_text(f"message.{key}"), *values)


def make_notice(key: str, *values: str, trouble: Trouble = Trouble.NONE) -> Notice:
    """Return a notice with the message that has this key."""
    return Notice(get_text(key, *values), trouble)


def make_question(key: str, *values: str, answers: tuple[str, ...], squares: tuple[int, ...] = ()) -> Question:
    """Return a question with the message that has this key."""
    return Question(get_text(key, *values), answers, squares=squares)


class CommandRefusedError(TilekeeperError):
    """A command that is not possible now; the message gives the reason on one line."""

    @property
    def key(self) -> str:
        """The key of the message, or an empty string if the text has no key."""
        return key_of(str(self))


def make_refusal(key: str, *values: str) -> CommandRefusedError:
    """Return a `CommandRefusedError` with the message that has this key."""
    return CommandRefusedError(format_sentence(get_text(key, *values)))


def format_sentence(text: str) -> str:
    """Return a text as a sentence, with a capital letter and a full stop; a message keeps its key.

    >>> format_sentence("there is no tile on H8")
    'There is no tile on H8.'
    """
    whole = text[:1].upper() + text[1:]
    whole = whole if whole.endswith((".", "?", "!")) else f"{whole}."
    return Message(whole, text.key, text.template, text.values) if isinstance(text, Message) else whole


@contextmanager
def convert_engine_errors() -> Iterator[None]:
    """Convert errors of the engine into `CommandRefusedError`."""
    try:
        yield
    except (NotationError, RulesError) as error:
        raise CommandRefusedError(format_sentence(str(error))) from error


def list_deferred_questions(game: Game) -> tuple[DeferredQuestion, ...]:
    """Return the deferred questions of a game, the oldest question first."""
    return tuple(DeferredQuestion(asked.number, Question.from_event(asked)) for asked in find_open_questions(game))
