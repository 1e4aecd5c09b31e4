"""The base class of all exceptions of Tilekeeper, and the exceptions of the game.

The exceptions of the game are also `ValueError`s. Their messages quote the input.
"""

from __future__ import annotations


class TilekeeperError(Exception):
    """Base of all exception classes of Tilekeeper."""


class NotationError(TilekeeperError, ValueError):
    """Error for an invalid notation of a square, a word, a tile or an event."""


class UnknownTileSetError(NotationError):
    """Error for an unknown name of a tile set. The message lists the available tile sets."""


class UnknownLayoutError(NotationError):
    """Error for an unknown name of a board layout. The message lists the available layouts."""


class RulesError(TilekeeperError, ValueError):
    """Error for an event or a setting that the rules do not allow."""
