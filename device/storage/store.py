"""The store: an append-only log of events for each game, and a picture of the board for each turn.

The log is the only source of truth: totals, board and turn are computed from it, and undo is one more event. SQLite
runs in write-ahead mode with `synchronous=FULL`, because NORMAL may lose the last commits in a power cut
(https://www.sqlite.org/pragma.html#pragma_synchronous). When `append` returns, the events are on disk. The store also
has notes (texts that are overwritten, such as the running clock), the players' colours, and pictures, of which old ones
may be deleted.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from device.storage.errors import (
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreTooNewError,
    describe_missing_game,
    to_store_error,
)
from device.storage.schema import SCHEMA_VERSION, migrate
from device.storage.transaction import Transaction
from engine.messages import said

__all__ = ["TABLE_NOTES", "GameStore", "StoreError", "StoredEvent", "StoredGame", "StoredPicture"]

_log = logging.getLogger(__name__)

MAX_PICTURE_BYTES = 4_000_000
"""Largest picture that is stored, in bytes."""
MAX_STORE_BYTES = 4 * 2**30
"""Size of the store, in bytes, above which pictures of the oldest games are deleted when a game starts."""

TABLE_NOTES = 0
"""Game number of the notes that belong to the table itself."""

_LOG_TABLES = ("game", "event")
_INSERT_EVENT = "INSERT INTO event (game, number, time, body) VALUES (?, ?, ?, ?)"
_INSERT_PICTURE = "INSERT INTO picture (game, number, kind, jpeg) VALUES (?, ?, ?, ?)"
_INSERT_NOTE = "INSERT OR REPLACE INTO note (game, name, text) VALUES (?, ?, ?)"
_UPSERT_PLAYER = """
INSERT INTO player (name, played) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET played = max(played, excluded.played)
"""

EventBody = Mapping[str, Any]
"""An event as JSON values."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event in a game's log: its number in the game (from 0), its time in seconds since 1970, and its body."""

    number: int
    time: float
    body: EventBody


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game in the list of the store: its number, start time (seconds since 1970), first event and number of events.

    `imported` games came from a file: they are not resumed at this table.
    """

    id: int
    started: float
    first: EventBody
    length: int
    imported: bool = False


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A picture of an event (by its number in the game), its kind (`board`, `photo`) and its bytes."""

    number: int
    kind: str
    jpeg: bytes


class GameStore:
    """Games in one SQLite file. Thread-safe; only one program can open the file."""

    def __init__(
        self, path: Path | str, *, clock: Callable[[], float] = time.time, max_bytes: int = MAX_STORE_BYTES
    ) -> None:
        """Open or create the file; `":memory:"` keeps nothing. Raises `StoreError`."""
        self._clock = clock
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self.path = str(path)
        try:
            is_new = self.path != ":memory:" and not Path(path).exists()
            self._db = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None, timeout=2.0)
        except (sqlite3.Error, OSError) as error:
            raise to_store_error(error, self.path) from error
        try:
            self._prepare_database()
            if is_new:
                sync_folder(Path(path).parent)
        except (sqlite3.Error, OSError) as error:
            self._db.close()
            raise to_store_error(error, self.path) from error
        except BaseException:
            self._db.close()
            raise

    def __repr__(self) -> str:
        return f"<GameStore {self.path}>"

    def __enter__(self) -> GameStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    # The log

    @property
    def next_game_number(self) -> int:
        """The number of the next game; known even while the disk cannot be read."""
        return self._last_game_number + 1

    def begin_game(self, first: EventBody) -> int:
        """Start a game with its first event, remember its players, and return its number."""
        with self._open_transaction() as db:
            now = self._clock()
            game = self._insert_game(db, now, first, imported=False)
            db.execute(_INSERT_EVENT, (game, 0, now, _encode_body(first)))
        self._last_game_number = game
        self._delete_old_pictures()
        return game

    def append(
        self, game: int, bodies: Sequence[EventBody], pictures: Mapping[str, bytes] | None = None
    ) -> tuple[StoredEvent, ...]:
        """Append events to a game's log, all or none; when it returns they are on disk.

        `pictures` (a JPEG by kind, such as `photo` or `board`) belong to the last of them; if the disk is full, the
        events are saved without them.
        """
        kept = {kind: jpeg for kind, jpeg in (pictures or {}).items() if len(jpeg) <= MAX_PICTURE_BYTES}
        if pictures and len(kept) < len(pictures):
            _log.warning("a picture of more than %d bytes is not kept", MAX_PICTURE_BYTES)
        try:
            return self._append_events(game, bodies, kept)
        except (StoreFullError, StoreDamagedError) as error:
            if not kept:
                raise
            _log.warning("the turn is kept without its picture: %s", error)
            return self._append_events(game, bodies, {})

    def games(self) -> tuple[StoredGame, ...]:
        """Return all games, newest first."""
        sql = """
            SELECT id, started, body, (SELECT max(number) + 1 FROM event WHERE game = id), imported
            FROM game JOIN event ON event.game = id AND number = 0 WHERE NOT deleted ORDER BY id DESC
        """
        return tuple(
            StoredGame(game, started, json.loads(body), length, bool(imported))
            for game, started, body, length, imported in self._fetch_rows(sql)
        )

    def events(self, game: int) -> tuple[StoredEvent, ...]:
        """Return the log of a game, in order; empty if there is no such game."""
        rows = self._fetch_rows("SELECT number, time, body FROM event WHERE game = ? ORDER BY number", game)
        return tuple(StoredEvent(number, at, json.loads(body)) for number, at, body in rows)

    def delete_game(self, game: int) -> None:
        """Delete a game with its pictures and notes; its number is not used again. Raises `StoreError`."""
        with self._open_transaction() as db:
            if db.execute("UPDATE game SET deleted = 1 WHERE id = ? AND NOT deleted", (game,)).rowcount == 0:
                raise StoreError(describe_missing_game(game))
            for table in ("picture", "event", "note"):
                db.execute(f"DELETE FROM {table} WHERE game = ?", (game,))
        self._fetch_rows("PRAGMA wal_checkpoint(TRUNCATE)")  # what is left of it in the write-ahead log goes too

    def add_game(
        self,
        started: float,
        events: Sequence[StoredEvent],
        pictures: Iterable[StoredPicture],
        notes: Mapping[str, str] | None = None,
        *,
        imported: bool = True,
    ) -> int:
        """Add a complete game from a file, all or nothing, and return its number; its times are kept."""
        with self._open_transaction() as db:
            game = self._insert_game(db, started, events[0].body, imported=imported)
            db.executemany(_INSERT_EVENT, ((game, e.number, e.time, _encode_body(e.body)) for e in events))
            db.executemany(_INSERT_PICTURE, ((game, p.number, p.kind, p.jpeg) for p in pictures))
            db.executemany(_INSERT_NOTE, ((game, name, text) for name, text in (notes or {}).items()))
        self._last_game_number = game
        return game

    # Pictures

    def picture(self, game: int, number: int, kind: str) -> bytes | None:
        """Return the JPEG of an event, or None; also if it cannot be read, since no turn depends on it."""
        sql = "SELECT jpeg FROM picture WHERE game = ? AND number = ? AND kind = ?"
        try:
            rows = self._fetch_rows(sql, game, number, kind)
        except StoreError as error:
            _log.warning("picture %d-%d is not shown: %s", game, number, error)
            return None
        return bytes(rows[0][0]) if rows else None

    def pictures(self, game: int) -> tuple[tuple[int, str], ...]:
        """Return the pictures of a game as (event number, kind), in order."""
        rows = self._fetch_rows("SELECT number, kind FROM picture WHERE game = ? ORDER BY number, kind", game)
        return tuple((number, kind) for number, kind in rows)

    # Notes and players

    def save_note(self, game: int, name: str, text: str) -> None:
        """Save a text under a name, replacing the one before; `TABLE_NOTES` is the table itself. On disk at return."""
        with self._open_transaction() as db:
            db.execute(_INSERT_NOTE, (game, name, text))

    def read_note(self, game: int, name: str) -> str | None:
        """Return the text saved last under a name, or None."""
        rows = self._fetch_rows("SELECT text FROM note WHERE game = ? AND name = ?", game, name)
        return str(rows[0][0]) if rows else None

    def read_game_notes(self, game: int) -> dict[str, str]:
        """Return all notes of a game, or of `TABLE_NOTES`, by name."""
        return dict(self._fetch_rows("SELECT name, text FROM note WHERE game = ?", game))

    def save_notes(self, name: str, texts: Mapping[int, str]) -> None:
        """Save texts of several games under one name, all or none. On disk at return.

        Games that were deleted meanwhile are skipped.
        """
        with self._open_transaction() as db:
            rows = ((game, name, text, game) for game, text in texts.items())
            db.executemany(
                "INSERT OR REPLACE INTO note (game, name, text)"
                " SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM event WHERE game = ?)",
                rows,
            )

    def read_notes_by_game(self, name: str) -> dict[int, str]:
        """Return the texts saved last under a name, by game."""
        return dict(self._fetch_rows("SELECT game, text FROM note WHERE name = ?", name))

    def players(self) -> tuple[tuple[str, str], ...]:
        """Return all players and their colours (empty: none chosen), most recent first."""
        rows = self._fetch_rows("SELECT name, colour FROM player ORDER BY played DESC, name")
        return tuple((name, colour) for name, colour in rows)

    def save_colour(self, name: str, colour: str) -> None:
        """Save a player's colour for future games."""
        with self._open_transaction() as db:
            (played,) = db.execute("SELECT coalesce(max(played), 0.0) FROM player").fetchone()
            db.execute(_UPSERT_PLAYER, (name, played))
            db.execute("UPDATE player SET colour = ? WHERE name = ?", (colour, name))

    # All of it

    def backup(self, path: Path) -> None:
        """Copy the whole store into a new file while it is in use. Raises `StoreError`, also if `path` exists."""
        part = path.with_name(f"{path.name}.part")
        try:
            if path.exists():
                raise StoreError(said("file-exists", "{0} exists already: name another file", path))
            part.unlink(missing_ok=True)
            copy = sqlite3.connect(part)
            try:
                self._db.backup(copy, pages=256, sleep=0.01)  # in between, turns are written, and copied too
            finally:
                copy.close()
            with part.open("rb+") as written:
                os.fsync(written.fileno())
            part.replace(path)
            sync_folder(path.parent)
        except (sqlite3.Error, OSError) as error:
            part.unlink(missing_ok=True)
            raise to_store_error(error, str(path)) from error

    # Inside

    def _prepare_database(self) -> None:
        db = self._db
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA secure_delete = ON")  # a deleted game cannot be read from the card
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA_VERSION:
            text = "{0} was written by a newer Tilekeeper: install that one, or move the file away"
            raise StoreTooNewError(said("store-newer", text, self.path))
        db.execute("BEGIN IMMEDIATE")  # takes the file for this program, and proves that it can be written
        try:
            if version < SCHEMA_VERSION:
                migrate(db, version)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # SQLite itself has rolled back after some errors
                db.execute("ROLLBACK")
            raise
        for table in _LOG_TABLES:  # not the pictures: they would take minutes
            (found,) = db.execute(f"PRAGMA quick_check({table})").fetchone()
            if found != "ok":
                text = "{0} is damaged ({1}): move it away, and a new one is made"
                raise StoreDamagedError(said("store-broken", text, self.path, found))
        (self._last_game_number,) = db.execute("SELECT coalesce(max(id), 0) FROM game").fetchone()

    def _insert_game(self, db: sqlite3.Connection, started: float, first: EventBody, *, imported: bool) -> int:
        sql = "INSERT INTO game (started, imported) VALUES (?, ?) RETURNING id"
        (game,) = db.execute(sql, (started, int(imported))).fetchone()
        db.executemany(_UPSERT_PLAYER, [(name, started) for name in first.get("players", ()) if isinstance(name, str)])
        return int(game)

    def _append_events(
        self, game: int, bodies: Sequence[EventBody], pictures: Mapping[str, bytes]
    ) -> tuple[StoredEvent, ...]:
        with self._open_transaction() as db:
            (next_number,) = db.execute(
                "SELECT coalesce(max(number) + 1, 0) FROM event WHERE game = ?", (game,)
            ).fetchone()
            now = self._clock()
            events = tuple(StoredEvent(next_number + i, now, body) for i, body in enumerate(bodies))
            db.executemany(_INSERT_EVENT, [(game, e.number, e.time, _encode_body(e.body)) for e in events])
            if events:
                last = events[-1].number
                db.executemany(_INSERT_PICTURE, [(game, last, kind, jpeg) for kind, jpeg in pictures.items()])
            return events

    def _delete_old_pictures(self) -> None:
        """Delete pictures of the oldest games while the store is too large."""
        used = "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count"
        used += ", pragma_page_size"
        try:
            while self._fetch_rows(used)[0][0] > self._max_bytes:
                with self._open_transaction() as db:
                    oldest = "DELETE FROM picture WHERE game = (SELECT min(game) FROM picture)"
                    if db.execute(oldest).rowcount == 0:
                        return
        except StoreError as error:  # the game has begun all the same
            _log.warning("old pictures are still there: %s", error)

    def _open_transaction(self) -> Transaction:
        return Transaction(self._db, self._lock, self.path)

    def _fetch_rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._db.execute(sql, values).fetchall()
        except OverflowError:  # a number larger than SQLite's: nothing has it
            return []
        except sqlite3.Error as error:
            raise to_store_error(error, self.path) from error


def _encode_body(body: EventBody) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that the name of a new file survives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
