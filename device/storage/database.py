"""The SQLite file of the store: its schema, opening and checks, transactions that are synced to disk, and copies.

SQLite runs in write-ahead mode with `synchronous=FULL`, because NORMAL may lose the last commits in a power cut
(https://www.sqlite.org/pragma.html#pragma_synchronous). A thread empties the write-ahead log after each change, because
SQLite drops the end of a damaged log without an error. The owner of a file is the program that plays games with it; it
holds a lock on `FILE.lock`. Other programs, such as `tilekeeper backup`, may open the file at the same time.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import logging
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from device.catalogue import get_text
from device.storage.errors import (
    StoreDamagedError,
    StoreError,
    StoreVersionError,
    make_disk_error,
    make_locked_error,
    make_read_only_error,
    to_store_error,
)
from device.storage.files import COMPANION_SUFFIXES, give_to_folder_owner, sync_folder
from device.system.systemd import keep_alive
from engine.ledger_data import UNREADABLE


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of an SQLite file.

    `file_id` is the base of SQLite's application ids (see `make_file_id`), `version` the version of the schema, and
    `sql` creates it. `checked_tables` are the tables that are checked when a file is opened. `old_versions` are the
    application id and the version of older files, which this program does not read.
    """

    file_id: int
    version: int
    sql: str
    checked_tables: tuple[str, ...]
    old_versions: tuple[tuple[int, int], ...] = ()

    def create(self, db: sqlite3.Connection) -> None:
        """Create the tables in an empty file, in one transaction. Raises `sqlite3.Error`."""
        ids = f"PRAGMA user_version = {self.version}; PRAGMA application_id = {self.make_file_id(self.version)};"
        db.executescript(f"BEGIN IMMEDIATE; {self.sql} {ids} COMMIT;")

    def make_file_id(self, version: int) -> int:
        """Return SQLite's application id for a file of this version.

        Because it includes the version, a damaged version number in the file is detected.
        """
        return self.file_id + version


# The row of a deleted game remains in `game`, so that its number is never used again: browsers may have stored links.
# Checksums: `device.storage.database`. `length` is the number of events of a game.
STORE_SCHEMA = Schema(
    0x546B5300,  # "TkS"
    4,
    """
CREATE TABLE IF NOT EXISTS game (
    id       INTEGER PRIMARY KEY,
    started  REAL NOT NULL,
    imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1)),
    deleted  INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
    length   INTEGER NOT NULL,
    checksum TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS event (
    game     INTEGER NOT NULL REFERENCES game(id),
    number   INTEGER NOT NULL,
    time     REAL NOT NULL,
    body     TEXT NOT NULL,
    checksum TEXT NOT NULL,
    PRIMARY KEY (game, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS picture (
    game   INTEGER NOT NULL,
    number INTEGER NOT NULL,
    kind   TEXT NOT NULL,
    jpeg   BLOB NOT NULL,
    PRIMARY KEY (game, number, kind),
    FOREIGN KEY (game, number) REFERENCES event(game, number)
) STRICT;
CREATE TABLE IF NOT EXISTS note (
    game     INTEGER NOT NULL,
    name     TEXT NOT NULL,
    text     TEXT NOT NULL,
    checksum TEXT NOT NULL,
    PRIMARY KEY (game, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS player (
    name   TEXT PRIMARY KEY,
    colour TEXT NOT NULL DEFAULT '',
    played REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS event_is_never_changed BEFORE UPDATE ON event
    BEGIN SELECT RAISE(ABORT, 'the log only grows'); END;
CREATE TRIGGER IF NOT EXISTS event_is_removed_with_its_game_only BEFORE DELETE ON event
    WHEN NOT EXISTS (SELECT 1 FROM game WHERE id = OLD.game AND deleted)
    BEGIN SELECT RAISE(ABORT, 'the log only grows'); END;
CREATE TRIGGER IF NOT EXISTS deleted_game_gets_no_event BEFORE INSERT ON event
    WHEN EXISTS (SELECT 1 FROM game WHERE id = NEW.game AND deleted)
    BEGIN SELECT RAISE(ABORT, 'the game was deleted'); END;
""",
    ("game", "event", "note", "player"),  # a check of the pictures would take minutes
    ((0, 1), (0, 2), (0x546B0003, 3)),
)


def read_schema(db: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    """Return the name and the SQL statement of each table and trigger."""
    return frozenset(db.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


_log = logging.getLogger(__name__)

MEMORY = ":memory:"
"""Path that stands for a database in memory."""
BUSY_TIMEOUT_S = 5.0
"""Longest time to wait while another program writes to the file, in seconds."""


class Database:
    """An SQLite file with a schema, by default that of the store. Several threads may use the same `Database`."""

    def __init__(
        self, path: Path | str, *, is_owner: bool, schema: Schema = STORE_SCHEMA, is_read_only: bool = False
    ) -> None:
        """Open or create the file, and check its structure. Raises `StoreError`.

        If `is_owner` is True and another program already owns the file, `StoreLockedError` is raised. If `is_read_only`
        is True, the file is not created.
        """
        self.path = str(path)
        self._schema = schema
        self._lock = threading.RLock()
        self._log_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._lock_file = -1
        self._file_id: tuple[int, int] | None = None
        try:
            is_new = self.path != MEMORY and not Path(path).exists()
            if is_owner and self.path != MEMORY:
                self._lock_file = lock_beside(self.path)
            self.connection = open_read_only(Path(path)) if is_read_only else self._connect()
        except (sqlite3.Error, OSError) as error:
            self._unlock()
            raise to_store_error(error, self.path) from error
        try:
            self.connection.text_factory = decode_text
            self._check_version()
            if not is_read_only:
                self._prepare()
            self._check_structure()
            if is_new:
                give_to_folder_owner(*(Path(f"{path}{suffix}") for suffix in ("", *COMPANION_SUFFIXES)))
                sync_folder(Path(path).parent)
            self._file_id = _identify_file(self.path)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            self.close()
            raise to_store_error(error, self.path) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file, and release its lock."""
        self._log_thread.shutdown(cancel_futures=True)  # SQLite empties the log when it closes the file
        with self._lock:
            self.connection.close()
            self._unlock()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the `with` block in a transaction; commit and sync to disk at its end, or roll back on an exception.

        The block gets the SQLite connection. Raises `StoreError`.
        """
        with self._lock:
            self._check_file()
            try:
                self._roll_back()
                self.connection.execute("BEGIN IMMEDIATE")
                yield self.connection
                self.connection.execute("COMMIT")
                self._empty_log_later()
            except (sqlite3.Error, OverflowError) as error:
                raise to_store_error(error, self.path) from error
            finally:
                try:
                    self._roll_back()
                except sqlite3.Error as error:
                    _log.warning("what was not committed is rolled back before the next transaction: %s", error)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the SQLite connection to the `with` block, for several queries in a row. Raises `StoreError`."""
        try:
            with self._lock:
                yield self.connection
        except sqlite3.Error as error:
            raise to_store_error(error, self.path) from error

    def fetch_rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows of a query. Raises `StoreError`."""
        try:
            with self.reading() as db:
                return db.execute(sql, values).fetchall()
        except OverflowError:  # no row can contain a number larger than SQLite's largest integer
            return []

    def truncate_write_ahead_log(self) -> None:
        """Empty the write-ahead log, because it may still contain deleted data. Raises `StoreError`."""
        self.fetch_rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def _empty_log_later(self) -> None:
        """Let the thread empty the write-ahead log; this needs two more syncs, for which players do not wait."""
        if self.path != MEMORY:
            with suppress(RuntimeError):  # the file is being closed
                self._log_thread.submit(self._empty_log)

    def _empty_log(self) -> None:
        """Empty the write-ahead log, unless another program reads the file; then the next change tries again.

        Errors are only logged: the change itself is on disk.
        """
        with self._lock:
            try:
                self.connection.execute("PRAGMA busy_timeout = 0")
                self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error as error:
                _log.warning("the write-ahead log of %s is not emptied yet: %s", self.path, error)
            finally:
                self.connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1000:.0f}")

    def copy_to(self, path: Path, *, pictures: bool = True) -> None:
        """Copy the database, which may be in use, to a new file; leave out pictures if `pictures` is False.

        Raises `StoreError`, also if `path` exists.
        """
        part = Path(f"{path}.part")
        try:
            if path.exists():
                raise StoreError(get_text("file-exists", path))
            remove_database(part)
            if pictures:
                with closing(sqlite3.connect(part)) as copy:
                    # including concurrent writes
                    self.connection.backup(copy, pages=256, sleep=0.01, progress=lambda *_: keep_alive())
            else:
                self._copy_without_pictures(part)
            check_is_complete(part)
            with part.open("rb+") as written:
                os.fsync(written.fileno())
            part.replace(path)
            sync_folder(path.parent)
        except (sqlite3.Error, OSError) as error:
            raise to_store_error(error, str(path)) from error
        finally:
            remove_database(part)

    def _copy_without_pictures(self, path: Path) -> None:
        """Copy all tables except the pictures, which are ten times as large as all other tables together."""
        Database(path, is_owner=False, schema=self._schema).close()  # creates the tables
        with self._lock:
            self.connection.execute("ATTACH ? AS copy", (str(path),))
            try:
                self.connection.execute("BEGIN")
                for table in self._schema.checked_tables:
                    self.connection.execute(f"INSERT INTO copy.{table} SELECT * FROM main.{table}")
                self.connection.execute("COMMIT")
            finally:
                self._roll_back()
                self.connection.execute("DETACH copy")

    def _prepare(self) -> None:
        """Configure the connection, and create the tables in a new file. Raises SQLite errors."""
        db = self.connection
        for pragma in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "foreign_keys = ON",
            "secure_delete = ON",  # a deleted game cannot be read from the card
        ):
            db.execute(f"PRAGMA {pragma}")
        if db.execute("PRAGMA user_version").fetchone() == (self._schema.version,):
            db.executescript("BEGIN IMMEDIATE; ROLLBACK;")  # proves that the file can be written
        else:
            self._schema.create(db)

    def _check_structure(self) -> None:
        """Check the tables of the file. Raises `StoreDamagedError` and SQLite errors."""
        db = self.connection
        if read_schema(db) != _read_new_schema(self._schema):
            raise self._make_damage_error("its list of tables")
        for table in self._schema.checked_tables:
            (found,) = db.execute(f"PRAGMA integrity_check({table})").fetchone()
            if found != "ok":
                raise self._make_damage_error(found)

    def _check_file(self) -> None:
        """Raise `StoreError` if the file was deleted or replaced: what is written to the open file would be lost."""
        if self._file_id and _identify_file(self.path) != self._file_id:
            raise StoreError(get_text("store-deleted", self.path))

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, check_same_thread=False, isolation_level=None, timeout=BUSY_TIMEOUT_S)

    def _check_version(self) -> None:
        """Check the version of the file; that of a new file is 0. Raises `StoreError` and SQLite errors."""
        (version,) = self.connection.execute("PRAGMA user_version").fetchone()
        (file_id,) = self.connection.execute("PRAGMA application_id").fetchone()
        if (file_id, version) in self._schema.old_versions:
            raise StoreVersionError(get_text("store-older", self.path))
        if (file_id, version) != (0, 0) and file_id != self._schema.make_file_id(version):
            raise self._make_damage_error(f"its version {version}")
        if version > self._schema.version:
            raise StoreVersionError(get_text("store-newer", self.path))

    def _make_damage_error(self, what: str) -> StoreDamagedError:
        return StoreDamagedError(get_text("store-broken", self.path, what))

    def _roll_back(self) -> None:
        """Roll back the open transaction, if there is one; after some errors SQLite has already rolled back."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def _unlock(self) -> None:
        if self._lock_file >= 0:
            os.close(self._lock_file)
            self._lock_file = -1


def lock_beside(path: str) -> int:
    """Lock the file `PATH.lock` for this program and return the file descriptor. Raises `StoreError`."""
    lock = Path(f"{path}.lock")
    is_new = not os.path.lexists(lock)
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        if is_new:
            give_to_folder_owner(lock)
    except OSError as error:
        is_own_fault = not is_new and error.errno != errno.EROFS  # not that of the whole folder
        raise make_read_only_error(str(lock) if is_own_fault else path) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise make_locked_error(path) from None
    return handle


def check_is_complete(path: Path) -> None:
    """Raise `StoreError` if a closed file lacks changes that are only in its write-ahead log.

    SQLite moves them to the file when it closes it, but reports no error of the disk.
    """
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise make_disk_error(str(path))


def remove_database(path: Path) -> None:
    """Remove an incomplete copy and the files that SQLite has created with it; errors are ignored."""
    for suffix in ("", *COMPANION_SUFFIXES):
        with suppress(OSError):
            Path(f"{path}{suffix}").unlink()


def _identify_file(path: str) -> tuple[int, int] | None:
    """Return the device and the inode of a file, or None if there is no file."""
    try:
        state = Path(path).stat()
    except OSError:
        return None
    return state.st_dev, state.st_ino


def decode_text(data: bytes) -> str:
    """Decode a text from the database. Invalid bytes are replaced; the checksum shows the damage later."""
    return data.decode(errors="replace")


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open a file that cannot be written. Raises `sqlite3.Error`.

    If its folder cannot be written either, SQLite cannot create the index of the write-ahead log. So there are three
    cases:

    - With an empty log, or without a log, the file is opened as a file that does not change (`immutable`).
    - A log with an index is read as usual.
    - A log without an index is read without locks, with an index in memory. This is safe, because a program that was
      writing to the file would have created the index.
    """
    log, index = (path.with_name(f"{path.name}-{suffix}") for suffix in ("wal", "shm"))
    uri = f"{path.absolute().as_uri()}?mode=ro"
    if not log.exists() or log.stat().st_size == 0:
        return _connect_read_only(f"{uri}&immutable=1")
    if index.exists():
        return _connect_read_only(uri)
    db = _connect_read_only(f"{uri}&vfs=unix-none")
    db.execute("PRAGMA locking_mode = EXCLUSIVE")  # then SQLite has the index in memory
    return db


def _connect_read_only(uri: str) -> sqlite3.Connection:
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    db.text_factory = decode_text
    return db


@cache
def _read_new_schema(schema: Schema) -> frozenset[tuple[str, str]]:
    """Return the tables and triggers that a new file has, as pairs of a name and an SQL statement."""
    with closing(sqlite3.connect(MEMORY, isolation_level=None)) as db:
        schema.create(db)
        return read_schema(db)


CHECKSUM_DIGITS = 32
"""Number of hexadecimal digits of a checksum, which is the first 128 bits of a SHA-256."""

EventRow = tuple[int, float, str]
"""An event as a row of the database: number, time (seconds since 1970) and body (JSON)."""


def compute_checksum(*parts: object) -> str:
    """Return a checksum over the `repr` of the given values.

    >>> compute_checksum("", 0, 1.5, "{}") == compute_checksum("", 0, 1.5, "{ }")
    False
    """
    return hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()[:CHECKSUM_DIGITS]


def add_checksum(*row: object) -> tuple[object, ...]:
    """Return a row of the database with its checksum at the end."""
    return (*row, compute_checksum(*row))


def is_intact(row: Sequence[object]) -> bool:
    """Return True if the checksum at the end of a row is correct."""
    return row[-1] == compute_checksum(*row[:-1])


UNREADABLE_BODY = json.dumps(dict(UNREADABLE), separators=(",", ":"))
"""The body of the event in place of one that is lost."""
SELECT_EVENTS = "SELECT game, number, time, body, checksum FROM event WHERE game = ? ORDER BY number"
SELECT_GAMES = "SELECT id, started, imported, deleted, length, checksum FROM game"


def list_intact_rows(rows: Iterable[tuple[Any, ...]]) -> list[EventRow]:
    """Return those of the rows of `SELECT_EVENTS` that have a correct checksum."""
    return [(number, time, body) for _, number, time, body, _ in filter(is_intact, rows)]


def fill_gaps(rows: Iterable[EventRow], length: int) -> list[EventRow]:
    """Return the events of a game from 0 to `length`, with an unreadable event in place of each that is missing."""
    known = {row[0]: row for row in rows}
    return [known.get(number, (number, 0.0, UNREADABLE_BODY)) for number in range(length)]


def read_event_rows(db: sqlite3.Connection, game: int) -> list[EventRow]:
    """Return the events of a game, with an unreadable event in place of each damaged one. Raises `sqlite3.Error`."""
    length = find_length(db, game)  # first: another program may add an event between the two queries
    return fill_gaps(list_intact_rows(db.execute(SELECT_EVENTS, (game,))), length)


def find_length(db: sqlite3.Connection, game: int) -> int:
    """Return the number of events of a game, even if its row in the list of games is damaged.

    Raises `sqlite3.Error`.
    """
    row = db.execute(f"{SELECT_GAMES} WHERE id = ?", (game,)).fetchone()
    if row and is_intact(row):
        return int(row[4])
    (length,) = db.execute("SELECT coalesce(max(number) + 1, 0) FROM event WHERE game = ?", (game,)).fetchone()
    return int(length)


def find_damaged_games(db: sqlite3.Connection) -> dict[int, int]:
    """Return, for each damaged game, the number of its events that can be read. Raises `sqlite3.Error`."""
    damaged = {}
    for row in db.execute(SELECT_GAMES).fetchall():
        rows = read_event_rows(db, row[0])
        readable = sum(body != UNREADABLE_BODY for _, _, body in rows)
        if readable < len(rows) or not is_intact(row):
            damaged[row[0]] = readable
            _log.warning("game %d is damaged: %d of %d events can be read", row[0], readable, len(rows))
    return damaged


def has_orphans(db: sqlite3.Connection) -> bool:
    """Return True if there are events of a game that is not in the list of games. Raises `sqlite3.Error`."""
    return db.execute("SELECT 1 FROM event WHERE game NOT IN (SELECT id FROM game) LIMIT 1").fetchone() is not None
