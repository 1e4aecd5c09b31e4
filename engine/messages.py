"""Messages to the players: English texts with a key, by which the page and the voice translate them."""

from __future__ import annotations

from collections.abc import Sequence


class Said(str):
    """An English text with its `key` in the catalogues, the `template` and the `values` filled into it.

    It is a `str`, so it can be used untranslated. `template` is the English text with `{0}`, `{1}` ... for the values,
    which may themselves be messages. A message without a key has the same template in every language.
    """

    __slots__ = ("key", "template", "values")

    key: str
    template: str
    values: tuple[str, ...]

    def __new__(cls, text: str, key: str = "", template: str = "", values: tuple[str, ...] = ()) -> Said:
        """Create the message from its English `text` and the parts it was formatted from."""
        self = super().__new__(cls, text)
        self.key, self.template, self.values = key, template, values
        return self

    def __str__(self) -> str:
        """Return the message itself, so that `str(error)` keeps key and values."""
        return self


def said(key: str, english: str, *values: object) -> Said:
    """Return a message: the template `english` filled with `values`, and the key of its translations.

    >>> said("no-tile-on", "there is no tile on {0}", "H8")
    'there is no tile on H8'
    """
    texts = tuple(map(str, values))
    return Said(english.format(*texts), key, english, texts)


def key_of(text: str) -> str:
    """Return the key of a message; empty for a plain string."""
    return text.key if isinstance(text, Said) else ""


def values_of(text: str) -> tuple[str, ...]:
    """Return the values of a message; empty if it has no key."""
    return text.values if isinstance(text, Said) and text.key else ()


def join_messages(separator: str, texts: Sequence[str]) -> Said:
    """Return several messages joined as one; each is translated by itself."""
    return Said(separator.join(texts), "", separator.join(["{}"] * len(texts)), tuple(texts))


def format_list(names: Sequence[str]) -> str:
    """Return the names as an enumeration with `and` before the last.

    >>> format_list(["A1", "A2", "A3"])
    'A1, A2 and A3'
    """
    return said("and", "{0} and {1}", ", ".join(names[:-1]), names[-1]) if len(names) > 1 else "".join(names)
