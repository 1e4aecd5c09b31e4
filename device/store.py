"""The store: every game as a log of events that only grows, and a picture of the board for each turn.

The log is the only truth: totals, board and whose turn it is follow from it, and undo is one more event. SQLite keeps
it in write-ahead mode with `synchronous=FULL`, because NORMAL may lose the last commits when the plug is pulled
(https://www.sqlite.org/pragma.html#pragma_synchronous). What `append` returned from is on disk.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VERSION = 1

SCHEMA = """
CREATE TABLE game (
    id      INTEGER PRIMARY KEY,
    started REAL NOT NULL
) STRICT;
CREATE TABLE event (
    game   INTEGER NOT NULL REFERENCES game(id),
    number INTEGER NOT NULL,
    time   REAL NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (game, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE picture (
    game   INTEGER NOT NULL,
    number INTEGER NOT NULL,
    kind   TEXT NOT NULL,
    jpeg   BLOB NOT NULL,
    PRIMARY KEY (game, number, kind),
    FOREIGN KEY (game, number) REFERENCES event(game, number)
) STRICT;
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
    BEGIN SELECT RAISE(ABORT, 'the log only grows'); END;
CREATE TRIGGER event_is_never_removed BEFORE DELETE ON event
    WHEN EXISTS (SELECT 1 FROM game WHERE id = OLD.game)
    BEGIN SELECT RAISE(ABORT, 'the log only grows'); END;
"""

_INSERT_EVENT = "INSERT INTO event (game, number, time, body) VALUES (?, ?, ?, ?)"

Body = Mapping[str, Any]
"""An event as plain JSON values."""


class StoreError(Exception):
    """The store cannot be read or written; the message says what to do next, on one line."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One entry of a game's log: its number in the game (from 0), seconds since 1970, and what happened."""

    number: int
    time: float
    body: Body


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game as the store lists it: its number, when it began (seconds since 1970), and its first event."""

    id: int
    started: float
    first: Body


class GameStore:
    """Many games in one SQLite file. Safe to use from several threads; two programs cannot open one file."""

    def __init__(self, path: Path | str, *, clock: Callable[[], float] = time.time) -> None:
        """Open or make the file; `":memory:"` keeps nothing. Raises `StoreError`."""
        self._clock = clock
        self._lock = threading.Lock()
        self.path = str(path)
        try:
            self._db = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None, timeout=2.0)
        except sqlite3.Error as error:
            raise StoreError(f"cannot open the games in {path}: {error}; choose another folder with --data") from error
        try:
            self._prepare()
        except sqlite3.Error as error:
            self._db.close()
            raise StoreError(_in_words(error, self.path)) from error
        except StoreError:
            self._db.close()
            raise

    def __repr__(self) -> str:
        return f"<GameStore {self.path}>"

    def __enter__(self) -> GameStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; nothing is lost that `append` returned from."""
        with self._lock:
            self._db.close()

    def begin(self, first: Body) -> int:
        """Begin a game with its first event, and give its number."""
        with self._writing() as db:
            now = self._clock()
            (game,) = db.execute("INSERT INTO game (started) VALUES (?) RETURNING id", (now,)).fetchone()
            db.execute(_INSERT_EVENT, (game, 0, now, _dumps(first)))
            return int(game)

    def append(
        self, game: int, bodies: Sequence[Body], pictures: Mapping[str, bytes] | None = None
    ) -> tuple[StoredEvent, ...]:
        """Add events to a game's log, all or none, and return when they are on disk.

        `pictures` (a kind such as `photo` or `board`, and a JPEG) go with the last of them.
        """
        with self._writing() as db:
            (next_number,) = db.execute(
                "SELECT coalesce(max(number) + 1, 0) FROM event WHERE game = ?", (game,)
            ).fetchone()
            now = self._clock()
            events = tuple(StoredEvent(next_number + i, now, body) for i, body in enumerate(bodies))
            db.executemany(_INSERT_EVENT, [(game, e.number, e.time, _dumps(e.body)) for e in events])
            if events and pictures:
                db.executemany(
                    "INSERT INTO picture (game, number, kind, jpeg) VALUES (?, ?, ?, ?)",
                    [(game, events[-1].number, kind, jpeg) for kind, jpeg in pictures.items()],
                )
            return events

    def games(self) -> tuple[StoredGame, ...]:
        """All games, the newest first."""
        sql = "SELECT id, started, body FROM game JOIN event ON game = id AND number = 0 ORDER BY id DESC"
        return tuple(StoredGame(game, started, json.loads(body)) for game, started, body in self._read(sql))

    def events(self, game: int) -> tuple[StoredEvent, ...]:
        """The log of a game, in order."""
        rows = self._read("SELECT number, time, body FROM event WHERE game = ? ORDER BY number", game)
        return tuple(StoredEvent(number, at, json.loads(body)) for number, at, body in rows)

    def picture(self, game: int, number: int, kind: str) -> bytes | None:
        """The JPEG that went with an event, or None."""
        sql = "SELECT jpeg FROM picture WHERE game = ? AND number = ? AND kind = ?"
        rows = self._read(sql, game, number, kind)
        return bytes(rows[0][0]) if rows else None

    def _prepare(self) -> None:
        db = self._db
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise StoreError(f"{self.path} was written by a newer Tilekeeper: install that one, or move the file away")
        db.execute("BEGIN IMMEDIATE")  # takes the file for this program, and proves that it can be written
        try:
            if version == 0:
                for statement in _statements(SCHEMA):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {VERSION}")
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise

    def _writing(self) -> _Transaction:
        return _Transaction(self._db, self._lock, self.path)

    def _read(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._db.execute(sql, values).fetchall()
        except OverflowError:  # a number larger than SQLite's: nothing has it
            return []
        except sqlite3.Error as error:
            raise StoreError(_in_words(error, self.path)) from error


class _Transaction:
    """One transaction under the store's lock: committed and synced at its end, or undone by an exception."""

    def __init__(self, db: sqlite3.Connection, lock: threading.Lock, path: str) -> None:
        self._db, self._lock, self._path = db, lock, path

    def __enter__(self) -> sqlite3.Connection:
        self._lock.acquire()
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            self._lock.release()
            raise StoreError(_in_words(error, self._path)) from error
        return self._db

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        try:
            if error is None:
                self._db.execute("COMMIT")
        except sqlite3.Error as failed:
            raise StoreError(_in_words(failed, self._path)) from failed
        finally:
            if self._db.in_transaction:  # SQLite itself has rolled back after some errors
                self._db.execute("ROLLBACK")
            self._lock.release()
        if isinstance(error, sqlite3.Error):
            raise StoreError(_in_words(error, self._path)) from error


def _dumps(body: Body) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _statements(script: str) -> list[str]:
    """The statements of an SQL script (`executescript` would commit by itself)."""
    found, rest = [], ""
    for line in script.splitlines(keepends=True):
        rest += line
        if sqlite3.complete_statement(rest):
            found.append(rest)
            rest = ""
    return found


def _in_words(error: sqlite3.Error, path: str) -> str:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_BUSY") or name.startswith("SQLITE_LOCKED"):
        return f"{path} is in use by another Tilekeeper: end that one, or choose another folder with --data"
    if name.startswith("SQLITE_FULL"):
        return f"the disk of {path} is full: delete something; earlier games are safe"
    if name.startswith("SQLITE_READONLY") or name.startswith("SQLITE_CANTOPEN"):
        return f"{path} cannot be written: check the folder and its owner, or choose another with --data"
    if name.startswith("SQLITE_NOTADB") or name.startswith("SQLITE_CORRUPT"):
        return f"{path} is damaged or no Tilekeeper store: move it away, and a new one is made"
    return f"{path}: {error}"
