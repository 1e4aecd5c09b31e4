"""The base class of all exceptions of Tilekeeper, and the exceptions of the game.

The exceptions of the game are also `ValueError`s. Their messages quote the input.
"""

from __future__ import annotations

import errno
from typing import TypeGuard

_READ_FAULTS = (errno.EIO, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE)


class TilekeeperError(Exception):
    """Base of all exception classes of Tilekeeper."""


def is_read_fault(error: Exception) -> TypeGuard[OSError]:
    """Return True if a file could not be read because of its disk, its permissions, or a lack of handles.

    The file itself is not damaged, and may be read a moment later, so it must be kept.
    """
    return isinstance(error, OSError) and error.errno in _READ_FAULTS


class NotationError(TilekeeperError, ValueError):
    """Error for an invalid notation of a square, a word, a tile or an event."""


class UnknownTileSetError(NotationError):
    """Error for an unknown name of a tile set. The message lists the available tile sets."""


class UnknownLayoutError(NotationError):
    """Error for an unknown name of a board layout. The message lists the available layouts."""


class RulesError(TilekeeperError, ValueError):
    """Error for an event or a setting that the rules do not allow."""
