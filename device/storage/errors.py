"""What can be wrong with a store, in words: from SQLite's errors to what people at a table can do about them."""

from __future__ import annotations

from engine.errors import TilekeeperError
from engine.messages import said


class StoreError(TilekeeperError):
    """The store cannot be read or written; the message says what to do next, on one line."""


class StoreFullError(StoreError):
    """No room is left on the disk."""


class StoreLockedError(StoreError):
    """Another program has the file."""


class StoreDamagedError(StoreError):
    """The file is no store, or no longer one."""


class StoreReadOnlyError(StoreError):
    """The file or its folder cannot be written, or is not there."""


class StoreTooNewError(StoreError):
    """A later version of this program wrote the file."""


class GameDeletedError(StoreError):
    """The game was deleted: no more is written of it."""


def describe_missing_game(number: int) -> str:
    """What is said of a game that is not in the store."""
    return said("game-gone", "there is no game {0}: it may have been deleted", number)


def describe_unreadable_game(number: int, error: Exception) -> str:
    """What is said of a game whose events this version does not understand."""
    text = "game {0} cannot be read by this version ({1}); nothing of it is lost"
    return said("game-unreadable", text, number, error)


def to_store_error(error: Exception, path: str) -> StoreError:
    """The fault behind an error of SQLite or of the system."""
    name = getattr(error, "sqlite_errorname", "")
    if name in ("SQLITE_IOERR_LOCK", "SQLITE_IOERR_RDLOCK"):  # so a file that may only be read says it is locked
        name = "SQLITE_READONLY"
    match name.split("_")[1:2]:
        case ["BUSY"] | ["LOCKED"]:
            text = "{0} is in use by another Tilekeeper: end that one, or choose another folder with --data"
            return StoreLockedError(said("store-locked", text, path))
        case ["FULL"]:
            text = "the disk of {0} is full: delete something; earlier games are safe"
            return StoreFullError(said("store-full", text, path))
        case ["READONLY"] | ["CANTOPEN"] | ["PERM"]:
            text = "{0} cannot be written: check the folder and its owner, or choose another with --data"
            return StoreReadOnlyError(said("store-read-only", text, path))
        case ["NOTADB"] | ["CORRUPT"]:
            text = "{0} is damaged or no Tilekeeper store: move it away, and a new one is made"
            return StoreDamagedError(said("store-damaged", text, path))
        case ["CONSTRAINT"] if name.endswith("_TRIGGER") and "deleted" in str(error):
            return GameDeletedError(said("store-failed", "{0}: {1}", path, error))
        case ["IOERR"]:
            text = "the disk of {0} does not answer as it should: check the card; earlier games are safe"
            return StoreError(said("store-card", text, path))
    if isinstance(error, OSError):
        return StoreReadOnlyError(said("store-place", "{0}: {1}: choose another place", path, error.strerror))
    return StoreError(said("store-failed", "{0}: {1}", path, error))
