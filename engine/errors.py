"""The root of all exceptions of Tilekeeper, and the exceptions of the game.

The exceptions of the game are `ValueError`s too; their messages quote the input.
"""

from __future__ import annotations


class TilekeeperError(Exception):
    """Base of all exception classes of Tilekeeper."""


class NotationError(TilekeeperError, ValueError):
    """Invalid notation of a square, a word, a tile or an event."""


class UnknownTileSetError(NotationError):
    """Unknown name of a tile set; the message lists the known ones."""


class UnknownLayoutError(NotationError):
    """Unknown name of a board layout; the message lists the known ones."""


class RulesError(TilekeeperError, ValueError):
    """An event or a setting that the rules do not allow."""
