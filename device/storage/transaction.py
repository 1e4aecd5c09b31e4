"""Write transactions of the store: all or nothing, and synced at the end."""

from __future__ import annotations

import logging
import sqlite3
import threading

from device.storage.errors import to_store_error

_log = logging.getLogger(__name__)


class Transaction:
    """A transaction under the store's lock: committed and synced at the end, rolled back on an exception."""

    def __init__(self, db: sqlite3.Connection, lock: threading.Lock, path: str) -> None:
        self._db, self._lock, self._path = db, lock, path

    def __enter__(self) -> sqlite3.Connection:
        self._lock.acquire()
        try:
            self._roll_back()
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            self._lock.release()
            raise to_store_error(error, self._path) from error
        return self._db

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        try:
            if error is None:
                self._db.execute("COMMIT")
        except sqlite3.Error as failed:
            raise to_store_error(failed, self._path) from failed
        finally:
            try:
                self._roll_back()
            except sqlite3.Error as failed:
                _log.warning("what was not committed is undone before the next writing: %s", failed)
            finally:
                self._lock.release()
        if isinstance(error, (sqlite3.Error, OverflowError)):
            raise to_store_error(error, self._path) from error

    def _roll_back(self) -> None:
        """Roll back if a transaction is still open; after some errors SQLite has done so itself."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
