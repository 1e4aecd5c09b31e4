"""What can be wrong with a store, in words: from SQLite's errors to what people at a table can do about them."""

from __future__ import annotations

from engine.messages import said


class StoreError(Exception):
    """The store cannot be read or written; the message says what to do next, on one line."""


class FullStore(StoreError):  # noqa: N818 (these are named for what happened)
    """No room is left on the disk."""


class LockedStore(StoreError):  # noqa: N818
    """Another program has the file."""


class DamagedStore(StoreError):  # noqa: N818
    """The file is no store, or no longer one."""


class ReadOnlyStore(StoreError):  # noqa: N818
    """The file or its folder cannot be written, or is not there."""


class NewerStore(StoreError):  # noqa: N818
    """A later version of this program wrote the file."""


class DeletedGame(StoreError):  # noqa: N818
    """The game was deleted: no more is written of it."""


def gone(number: int) -> str:
    """What is said of a game that is not in the store."""
    return said("game-gone", "there is no game {0}: it may have been deleted", number)


def unreadable(number: int, error: Exception) -> str:
    """What is said of a game whose events this version does not understand."""
    text = "game {0} cannot be read by this version ({1}); nothing of it is lost"
    return said("game-unreadable", text, number, error)


def fault_of(error: Exception, path: str) -> StoreError:
    """The fault behind an error of SQLite or of the system."""
    name = getattr(error, "sqlite_errorname", "")
    if name in ("SQLITE_IOERR_LOCK", "SQLITE_IOERR_RDLOCK"):  # so a file that may only be read says it is locked
        name = "SQLITE_READONLY"
    match name.split("_")[1:2]:
        case ["BUSY"] | ["LOCKED"]:
            text = "{0} is in use by another Tilekeeper: end that one, or choose another folder with --data"
            return LockedStore(said("store-locked", text, path))
        case ["FULL"]:
            text = "the disk of {0} is full: delete something; earlier games are safe"
            return FullStore(said("store-full", text, path))
        case ["READONLY"] | ["CANTOPEN"] | ["PERM"]:
            text = "{0} cannot be written: check the folder and its owner, or choose another with --data"
            return ReadOnlyStore(said("store-read-only", text, path))
        case ["NOTADB"] | ["CORRUPT"]:
            text = "{0} is damaged or no Tilekeeper store: move it away, and a new one is made"
            return DamagedStore(said("store-damaged", text, path))
        case ["CONSTRAINT"] if name.endswith("_TRIGGER") and "deleted" in str(error):
            return DeletedGame(said("store-failed", "{0}: {1}", path, error))
        case ["IOERR"]:
            text = "the disk of {0} does not answer as it should: check the card; earlier games are safe"
            return StoreError(said("store-card", text, path))
    if isinstance(error, OSError):
        return ReadOnlyStore(said("store-place", "{0}: {1}: choose another place", path, error.strerror))
    return StoreError(said("store-failed", "{0}: {1}", path, error))
