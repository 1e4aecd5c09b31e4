"""Messages of the session to the players. Their texts are in the catalogues, under `message.KEY`.

A message is English until a client translates it by its key. Messages of the engine, of cameras, files and disks are
written where they arise (`engine.messages.said`), and translated in the same way.
"""

from __future__ import annotations

from device.catalogue import DEFAULT_LANGUAGE, load_catalogue
from device.session.snapshot import Notice, Question, Trouble
from engine.errors import TilekeeperError
from engine.messages import Said, key_of, said


def get_text(key: str, *values: str) -> Said:
    """Return the message with this key, its `{0}`, `{1}` filled in.

    >>> get_text("answer-exchange", "Anna", "3")
    'Anna exchanged 3.'
    """
    return said(key, load_catalogue(DEFAULT_LANGUAGE).find_text(f"message.{key}"), *values)


def make_notice(key: str, *values: str, trouble: Trouble = Trouble.NONE) -> Notice:
    """Return a notice with the text of a key."""
    return Notice(get_text(key, *values), trouble)


def make_question(key: str, *values: str, answers: tuple[str, ...], squares: tuple[int, ...] = ()) -> Question:
    """Return a question with the text of a key."""
    return Question(get_text(key, *values), answers, squares=squares)


class CommandRefusedError(TilekeeperError):
    """A command that is not possible now. The message gives the reason on one line."""

    @property
    def key(self) -> str:
        """The key of the message; empty for a text that has none."""
        return key_of(str(self))


def make_refusal(key: str, *values: str) -> CommandRefusedError:
    """Return the refusal with the text of a key."""
    return CommandRefusedError(format_sentence(get_text(key, *values)))


def format_sentence(text: str) -> str:
    """Return the text with a capital and a full stop, still as a message if it is one.

    >>> format_sentence("there is no tile on H8")
    'There is no tile on H8.'
    """
    whole = text[:1].upper() + text[1:]
    whole = whole if whole.endswith((".", "?", "!")) else f"{whole}."
    return Said(whole, text.key, text.template, text.values) if isinstance(text, Said) else whole
