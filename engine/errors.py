"""What can go wrong, by whose fault it is. Each is a `ValueError` too; the message quotes the input."""

from __future__ import annotations


class NotationError(ValueError):
    """The text is not written as the notation asks: a square, a word, a tile or an event."""


class UnknownTileSetError(NotationError):
    """No tile set has this name; the message lists those there are."""


class UnknownLayoutError(NotationError):
    """No board layout has this name; the message lists those there are."""


class RulesError(ValueError):
    """The rules in force do not allow it."""
