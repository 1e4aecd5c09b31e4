"""Errors of the store and of archives, with messages that give the remedy."""

from __future__ import annotations

import errno

from engine.errors import TilekeeperError
from engine.messages import make_message


class StoreError(TilekeeperError):
    """A failure to read or write the store; the message gives the reason and the remedy."""


class StoreFullError(StoreError):
    """A failure to write the store because the disk is full."""


class StoreLockedError(StoreError):
    """A file of the store that another program uses."""


class StoreDamagedError(StoreError):
    """A file that is damaged or is not a store."""


class StoreReadOnlyError(StoreError):
    """A file of the store that is read-only, or whose folder is read-only or missing."""


class StoreTooNewError(StoreError):
    """A file of the store that was written by a newer version of this program."""


class GameDeletedError(StoreError):
    """A deleted game, for which no further events can be saved."""


class ArchiveError(TilekeeperError):
    """A file that cannot be imported, or a missing game; the message gives the reason and the remedy on one line."""


def describe_missing_game(number: int) -> str:
    """Return the message for a game that is not in the store."""
    return make_message("game-gone", "there is no game {0}: it may have been deleted", number)


def describe_damaged_game(number: int, intact: int) -> str:
    """Return the message for a damaged game; only its first `intact` events can be read."""
    text = (
        "game {0} is damaged, and only the first {1} of its events can be read. Export what is left, or delete the game"
    )
    return make_message("game-damaged", text, number, intact)


def describe_lost_tail(number: int, length: int, recorded: int) -> str:
    """Return the message for a game that has only `length` of the `recorded` events that were written."""
    text = "the last events of game {0} are lost: {1} of {2} are left. Check the totals and the memory card"
    return make_message("store-tail-lost", text, number, length, recorded)


def describe_unreadable_game(number: int, error: Exception) -> str:
    """Return the message for a game that this version of the program cannot read."""
    text = "this version cannot read game {0} ({1}). Nothing is lost: update Tilekeeper"
    return make_message("game-unreadable", text, number, error)


def make_locked_error(path: str) -> StoreLockedError:
    """Return the error for a file that is used by another program."""
    text = "{0} is in use by another Tilekeeper: stop that one, or choose another folder with --data"
    return StoreLockedError(make_message("store-locked", text, path))


def make_full_error(path: str) -> StoreFullError:
    """Return the error for a file on a disk that is full."""
    text = "the disk with {0} is full: delete something. Earlier games are safe"
    return StoreFullError(make_message("store-full", text, path))


def make_read_only_error(path: str) -> StoreReadOnlyError:
    """Return the error for a file or folder that cannot be written."""
    text = "{0} cannot be written: check the folder and its owner, or choose another with --data"
    return StoreReadOnlyError(make_message("store-read-only", text, path))


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
            text = "{0} is damaged or not a file of Tilekeeper: rename it, and a new one will be created"
            return StoreDamagedError(make_message("store-damaged", text, path))
        case ["CONSTRAINT"] if name.endswith("_TRIGGER") and "deleted" in str(error):
            return GameDeletedError(make_message("store-failed", "{0}: {1}", path, error))
        case ["IOERR"]:
            text = "the disk with {0} does not work properly: check the memory card. Earlier games are safe"
            return StoreError(make_message("store-card", text, path))
    if isinstance(error, OSError):
        return StoreReadOnlyError(make_message("store-place", "{0}: {1}: choose another folder", path, error.strerror))
    return StoreError(make_message("store-failed", "{0}: {1}", path, error))
