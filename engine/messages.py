"""Texts for people that are written in English here and can be said in other languages by whoever shows them."""

from __future__ import annotations

from collections.abc import Sequence


class Said(str):
    """A text in English, the `key` of the same in the language files, and the `values` that stand in both.

    It is the English text wherever nobody asks for more. `template` is that text with `{0}`, `{1}` for the values;
    values may be texts of this kind themselves. A text without a key has the same template in every language.
    """

    __slots__ = ("key", "template", "values")

    key: str
    template: str
    values: tuple[str, ...]

    def __new__(cls, text: str, key: str = "", template: str = "", values: tuple[str, ...] = ()) -> Said:
        """The text as it stands in English, and what it was made of."""
        self = super().__new__(cls, text)
        self.key, self.template, self.values = key, template, values
        return self

    def __str__(self) -> str:
        """Itself, so that an error that is raised with it gives it back whole."""
        return self


def said(key: str, english: str, *values: object) -> Said:
    """A text of this key.

    >>> said("no-tile-on", "there is no tile on {0}", "H8")
    'there is no tile on H8'
    """
    texts = tuple(map(str, values))
    return Said(english.format(*texts), key, english, texts)


def key_of(text: str) -> str:
    """The key of a text; empty where it has none."""
    return text.key if isinstance(text, Said) else ""


def values_of(text: str) -> tuple[str, ...]:
    """The values that stand in a text; none where it has no key."""
    return text.values if isinstance(text, Said) and text.key else ()


def join_messages(separator: str, texts: Sequence[str]) -> Said:
    """Several texts as one."""
    return Said(separator.join(texts), "", separator.join(["{}"] * len(texts)), tuple(texts))


def format_list(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> format_list(["A1", "A2", "A3"])
    'A1, A2 and A3'
    """
    return said("and", "{0} and {1}", ", ".join(names[:-1]), names[-1]) if len(names) > 1 else "".join(names)
