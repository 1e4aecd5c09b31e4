"""Errors of the store and of archives, with messages that give the remedy."""

from __future__ import annotations

import errno
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from device.catalogue import get_text
from engine.errors import TilekeeperError

_WORKING_SPACE_BYTES = 64 * 1024
"""Minimum free space with which SQLite can open a file: its shared memory has 32 KiB."""

_log = logging.getLogger(__name__)


class StoreError(TilekeeperError):
    """Error for a store that cannot be read or written; the message gives the reason and the remedy."""


class StoreFullError(StoreError):
    """Error for a store that cannot be written because the disk is full."""


class StoreLockedError(StoreError):
    """Error for a file of the store that another program uses."""


class StoreDamagedError(StoreError):
    """Error for a file that is damaged or is not a store."""


class StoreReadOnlyError(StoreError):
    """Error for a file of the store that is read-only, or whose folder is read-only or missing."""


class StoreVersionError(StoreError):
    """Error for a file of the store that was written by a newer or an older version of this program."""


class GameDeletedError(StoreError):
    """Error for a game that was deleted, or is not in the store yet: it gets no events or notes, and is not deleted."""


class ArchiveError(TilekeeperError):
    """Error for a file that cannot be imported, or a game; the message has reason and remedy on one line."""


class GameNotFoundError(ArchiveError):
    """Error for a game that is missing, or that this version cannot read or describe in a file."""


@contextmanager
def log_store_errors(consequence: str) -> Iterator[None]:
    """Log errors of the store in the `with` block, with the text `consequence`, instead of raising them.

    Use this only for data that a game does not need in order to continue.
    """
    try:
        yield
    except StoreError as error:
        _log.warning("%s: %s", consequence, error)


def make_locked_error(path: str) -> StoreLockedError:
    """Return the error for a file that is used by another program."""
    return StoreLockedError(get_text("store-locked", path))


def make_full_error(path: str) -> StoreFullError:
    """Return the error for a file on a disk that is full."""
    return StoreFullError(get_text("store-full", path))


def make_disk_error(path: str) -> StoreError:
    """Return the error for a file on a disk that cannot be read or written, because it is full or damaged."""
    return make_full_error(path) if _is_disk_full(path) else StoreError(get_text("store-card", path))


def make_read_only_error(path: str) -> StoreReadOnlyError:
    """Return the error for a file or folder that cannot be written."""
    return StoreReadOnlyError(get_text("store-read-only", path))


def to_store_error(error: Exception, path: str) -> StoreError:
    """Convert an error of SQLite or of the operating system to a `StoreError`."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return make_full_error(path)
    name = "SQLITE_CORRUPT" if isinstance(error, UnicodeDecodeError) else getattr(error, "sqlite_errorname", "")
    if name in ("SQLITE_IOERR_LOCK", "SQLITE_IOERR_RDLOCK"):  # raised for a file that may only be read
        name = "SQLITE_READONLY"
    match name.split("_")[1:2]:
        case ["BUSY"] | ["LOCKED"]:
            return make_locked_error(path)
        case ["FULL"]:
            return make_full_error(path)
        case ["READONLY"] | ["CANTOPEN"] | ["PERM"]:
            return make_read_only_error(path)
        case ["NOTADB"] | ["CORRUPT"] | ["FORMAT"]:
            return StoreDamagedError(get_text("store-damaged", path))
        case ["ERROR"] if "unsupported file format" in str(error):  # a damaged number in the header
            return StoreDamagedError(get_text("store-damaged", path))
        case ["CONSTRAINT"] if name.endswith("_TRIGGER") and "deleted" in str(error):
            return GameDeletedError(get_text("store-failed", path, error))
        case ["IOERR"]:  # on a full disk, SQLite's shared memory did not fit
            return make_disk_error(path)
    if isinstance(error, OSError):
        return StoreReadOnlyError(get_text("store-place", path, error.strerror))
    return StoreError(get_text("store-failed", path, error))


def _is_disk_full(path: str) -> bool:
    """Return True if the disk has too little space for SQLite to open a file."""
    with suppress(OSError):
        return shutil.disk_usage(Path(path).parent).free < _WORKING_SPACE_BYTES
    return False
