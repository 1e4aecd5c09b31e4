"""Messages to the players: English texts with a key to their translations.

The web page and the speech output translate the messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class Message(str):
    """A message: an English text with its `key` in the catalogues of translations.

    The message is a `str`, so it can be used without translation. `template` is the English text with the placeholders
    `{0}`, `{1}` ... for the `values`. A value may itself be a message. A message without a key has the same template
    in every language.
    """

    __slots__ = ("key", "template", "values")

    key: str
    template: str
    values: tuple[str, ...]

    def __new__(cls, text: str, key: str = "", template: str = "", values: tuple[str, ...] = ()) -> Message:
        """Create a message from the complete English `text`, its key, its template and its values."""
        self = super().__new__(cls, text)
        self.key, self.template, self.values = key, template, values
        return self

    def __str__(self) -> str:
        """Return the message itself. Therefore `str(error)` still has the key and the values of the message."""
        return self


def make_message(key: str, english: str, *values: object) -> Message:
    """Return a message from an English template and its values. `key` identifies the translations of the template.

    >>> make_message("no-tile-on", "There is no tile on {0}.", "H8")
    'There is no tile on H8.'
    """
    texts = tuple(map(_make_encodable, values))
    return Message(english.format(*texts), key, english, texts)


def _make_encodable(value: object) -> str:
    """Return a value as text, with escapes for the bytes of a file name that are not valid UTF-8.

    >>> _make_encodable(b"caf\\xe9.txt".decode(errors="surrogateescape"))
    'caf\\\\udce9.txt'
    """
    text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace").decode()
    return text


def key_of(text: str) -> str:
    """Return the key of a message, or an empty string for a plain string."""
    return text.key if isinstance(text, Message) else ""


def values_of(text: str) -> tuple[str, ...]:
    """Return the values of a message, or an empty tuple for a plain string or a message without a key."""
    return text.values if isinstance(text, Message) and text.key else ()


def join_messages(separator: str, texts: Sequence[str]) -> Message:
    """Join several messages to one message. Each part is translated separately."""
    return Message(separator.join(texts), "", separator.join(["{}"] * len(texts)), tuple(texts))


def replace_values(text: str, new_values: Mapping[str, str]) -> str:
    """Return a message in which values are replaced, for example the names of players.

    `new_values` has the new value for each old one. A value may itself be a message, whose values are replaced, too.
    A text without values is returned unchanged.

    >>> replace_values(make_message("passed", "{0} passed", "Anna"), {"Anna": "Zoë"})
    'Zoë passed'
    """
    if not isinstance(text, Message):
        return text
    values = tuple(
        replace_values(value, new_values) if isinstance(value, Message) else new_values.get(value, value)
        for value in text.values
    )
    return text if values == text.values else Message(text.template.format(*values), text.key, text.template, values)


def format_list(names: Sequence[str]) -> str:
    """Return names as a text with commas between the names and `and` before the last name.

    >>> format_list(["A1", "A2", "A3"])
    'A1, A2 and A3'
    """
    return make_message("and", "{0} and {1}", ", ".join(names[:-1]), names[-1]) if len(names) > 1 else "".join(names)


def write_message(text: str) -> object:
    """Return a message as plain data for JSON, with its key, template and values. A plain string is returned as it is.

    >>> write_message(make_message("no-tile-on", "There is no tile on {0}.", "H8"))
    ['There is no tile on H8.', 'no-tile-on', 'There is no tile on {0}.', 'H8']
    """
    if not isinstance(text, Message):
        return text
    return [str.__str__(text), text.key, text.template, *map(write_message, text.values)]


def read_message(data: object) -> str:
    """Return the message from the data of `write_message`. Raises `TypeError`, `ValueError` for other data."""
    if isinstance(data, str):
        return data
    if not isinstance(data, list):
        raise TypeError(f"{data!r} is no message")
    text, key, template, *values = data
    return Message(str(text), str(key), str(template), tuple(map(read_message, values)))
