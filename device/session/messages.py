"""Messages of the session to the players; their texts are in the catalogues, with the msgids `message.KEY`.

A message is an English text with a key; clients translate it with the key. The English texts of other messages (of the
engine, cameras and files) are in the code (`engine.messages.make_message`). They are translated in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from device.catalogue import DEFAULT_LANGUAGE, load_catalogue
from device.session.snapshot import Notice, Question, Trouble
from engine.errors import NotationError, RulesError, TilekeeperError
from engine.messages import Message, key_of, make_message


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
