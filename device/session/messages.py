"""Messages of the session to the players: notices, refusals, and questions with their answers.

A message is an English text with a key, with which clients find the translation in the catalogues (msgid
`message.KEY`). The English texts are in a catalogue, too (`device.catalogue.get_text`); those of `engine`, `vision` and
`calibration` are also in the code (`engine.messages.make_message`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from device.catalogue import get_text
from engine.errors import NotationError, RulesError, TilekeeperError
from engine.messages import Message, key_of, values_of
from engine.validation import Finding, Reason

_FILE_NAME = re.compile(r"\S*\w[./]\w")

WHO_CHALLENGED, WHO_PAYS = "who-challenged", "who-challenged-pays"
"""Keys of the question "who has challenged?" after a challenge of a valid play. With `WHO_CHALLENGED`, the challenger
loses the next turn; with `WHO_PAYS`, the challenger loses points."""
_PICTURE_ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "board-cut-left": "take-left",
        "board-cut-top": "take-top",
        "board-cut-right": "take-right",
        "board-cut-bottom": "take-bottom",
        "board-small": "take-closer",
    }
)
"""Advice for taking another picture, by the problem of the last picture; both are keys of messages."""
STORY_KEYS = ("play-became", "play-gone")
"""Keys of the questions how a recorded play has changed."""
OLD_TILE_KEYS = (f"asked-{Reason.OLD_TILE_DIFFERS}", f"asked-{Reason.PASS_UNSURE}", "tile-lost", *STORY_KEYS)
"""Keys of the questions about recorded tiles, which are asked once for each square."""
START_FROM_HERE = f"asked-{Reason.BOARD_ALREADY_FULL}"
"""Key of the question whether the game starts from the position in the first picture."""
PICTURE_ANSWERS = ("answer-look-again", "answer-read-again")
"""Keys of the answer *Look again* in questions of the inference and of the validation. After these answers, the board
is read again."""
NOT_READ_IN_TIME = "not-read-in-time"
"""Key of the question whether to wait for the reading of a turn that takes long."""
PASS_OR_EXCHANGE = "pass-or-exchange"
"""Key of the question \"passed, exchanged, or a mistake?\", which the challenge button of the panel answers."""
PASS_OR_MISTAKE = "pass-or-mistake"
"""Key of the question \"passed, or pressed by mistake?\", which is asked if the player may not exchange tiles."""
CHALLENGE_KEYS = ("good-words", "good-words-listed", "good-words-unlisted")
"""Keys of the questions whether the words of a challenged play are valid. The clocks are stopped until the answer."""
PASS_KEYS = (PASS_OR_EXCHANGE, PASS_OR_MISTAKE)
"""Keys of the questions about a turn without new tiles (`Question.is_about_pass`)."""


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
    """A question for the players. The answer `chosen` is in effect until the players choose another one.

    - `squares` (`row * 15 + column`): the squares of the question.
    - `symbols`: for each answer, the symbols on these squares (a lower-case letter is a blank, `.` an empty square).
      Empty if the question is not about tiles.
    - `picture`: name of a picture of these squares in the photograph, or an empty string.
    - `can_defer`: True if the players may answer later.
    - `can_look_again`: True if they may have the board read again, and none of the answers does this.
    """

    text: str
    answers: tuple[str, ...]
    chosen: int = 0
    squares: tuple[int, ...] = ()
    symbols: tuple[tuple[str, ...], ...] = ()
    picture: str = ""
    can_defer: bool = False
    can_look_again: bool = False
    id: int = 0
    """Number that identifies a question in all games."""

    @property
    def key(self) -> str:
        """The key of the text in the catalogue, or an empty string if the text has no key."""
        return key_of(self.text)

    @property
    def is_about_pass(self) -> bool:
        """True if the question is about a turn without new tiles, which is recorded as a pass until the answer."""
        return self.key in PASS_KEYS

    @property
    def is_about_start(self) -> bool:
        """True if the question is whether the game starts from the position in the first picture."""
        return self.key == START_FROM_HERE

    @property
    def offers_exchange(self) -> bool:
        """True if an answer to the question about a pass is an exchange."""
        return self.key == PASS_OR_EXCHANGE

    @property
    def offers_wait(self) -> bool:
        """True if the question is about a turn that was not read in time.

        Its first answer is to wait for the reading, its second answer is to enter the turn.
        """
        return self.key == NOT_READ_IN_TIME


@dataclass(frozen=True, slots=True)
class DeferredQuestion:
    """A question that the players answer later, with the number that identifies it in the game."""

    number: int
    question: Question


def make_notice(key: str, *values: str, trouble: Trouble = Trouble.NONE) -> Notice:
    """Return a notice with the message `key`; `values` replace its placeholders."""
    return Notice(get_text(key, *values), trouble)


def make_question(key: str, *values: str, answers: tuple[str, ...], squares: tuple[int, ...] = ()) -> Question:
    """Return a question with the message `key`; `values` replace its placeholders."""
    return Question(get_text(key, *values), answers, squares=squares)


class CommandRefusedError(TilekeeperError):
    """Error for a command that is refused in the current state of the game; the message is the reason."""

    @property
    def key(self) -> str:
        """The key of the message, or an empty string if the text has no key."""
        return key_of(str(self))


def make_refusal(key: str, *values: str) -> CommandRefusedError:
    """Return a `CommandRefusedError` with the message `key`; `values` replace its placeholders."""
    return CommandRefusedError(format_sentence(get_text(key, *values)))


def format_sentence(text: str) -> str:
    """Return a text as a sentence, with a capital letter and a full stop; a `Message` keeps its key.

    A name of a file at the beginning stays as it is.

    >>> format_sentence("there is no tile on H8"), format_sentence("games.db was damaged")
    ('There is no tile on H8.', 'games.db was damaged.')
    """
    sentence = text if _FILE_NAME.match(text) else text[:1].upper() + text[1:]
    if not sentence.endswith((".", "?", "!")):
        sentence += "."
    return Message(sentence, text.key, text.template, text.values) if isinstance(text, Message) else sentence


@contextmanager
def convert_engine_errors() -> Iterator[None]:
    """Convert errors of the engine that the `with` block raises into `CommandRefusedError`."""
    try:
        yield
    except (NotationError, RulesError) as error:
        raise CommandRefusedError(format_sentence(str(error))) from error


def make_finding_notice(finding: Finding) -> Notice:
    """Return the notice about a finding of the validation."""
    return Notice(get_text(f"noted-{finding.reason}", *finding.values), Trouble.BOARD)


def find_picture_advice(problems: Iterable[str]) -> str:
    """Return the key of the advice for the first of the `problems` that has one, or an empty string.

    A problem may also be part of another message ("No board was found. The board is cut off at the top ...").
    """
    keys = [key_of(part) for problem in problems for part in (problem, *values_of(problem))]
    return next((_PICTURE_ADVICE[key] for key in keys if key in _PICTURE_ADVICE), "")
