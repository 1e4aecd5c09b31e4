"""What can be wrong with a store, in words: from SQLite's errors to what people at a table can do about them."""

from __future__ import annotations


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


def fault_of(error: Exception, path: str) -> StoreError:
    """The fault behind an error of SQLite or of the system."""
    name = getattr(error, "sqlite_errorname", "")
    if name in ("SQLITE_IOERR_LOCK", "SQLITE_IOERR_RDLOCK"):  # so a file that may only be read says it is locked
        name = "SQLITE_READONLY"
    match name.split("_")[1:2]:
        case ["BUSY"] | ["LOCKED"]:
            return LockedStore(
                f"{path} is in use by another Tilekeeper: end that one, or choose another folder with --data"
            )
        case ["FULL"]:
            return FullStore(f"the disk of {path} is full: delete something; earlier games are safe")
        case ["READONLY"] | ["CANTOPEN"] | ["PERM"]:
            return ReadOnlyStore(
                f"{path} cannot be written: check the folder and its owner, or choose another with --data"
            )
        case ["NOTADB"] | ["CORRUPT"]:
            return DamagedStore(f"{path} is damaged or no Tilekeeper store: move it away, and a new one is made")
        case ["CONSTRAINT"] if name.endswith("_TRIGGER") and "deleted" in str(error):
            return DeletedGame(f"{path}: {error}")
        case ["IOERR"]:
            return StoreError(
                f"the disk of {path} does not answer as it should: check the card; earlier games are safe"
            )
    if isinstance(error, OSError):
        return ReadOnlyStore(f"{path}: {error.strerror}: choose another place")
    return StoreError(f"{path}: {error}")
