"""The root of all exceptions of Tilekeeper, and the exceptions of the game.

The exceptions of the game are `ValueError`s too; their messages quote the input.
"""

from __future__ import annotations


class TilekeeperError(Exception):
    """Any error that Tilekeeper raises by a class of its own."""


class NotationError(TilekeeperError, ValueError):
    """The text is not written as the notation asks: a square, a word, a tile or an event."""


class UnknownTileSetError(NotationError):
    """No tile set has this name; the message lists those there are."""


class UnknownLayoutError(NotationError):
    """No board layout has this name; the message lists those there are."""


class RulesError(TilekeeperError, ValueError):
    """The rules in force do not allow it."""
