"""Storage of the games that the hall has received, in an SQLite file: the newest log of each.

A table sends the log of a game again after each event and each connection. Each row has a checksum, and `total` the
numbers of rows, so that damage is detected.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from device.catalogue import get_text
from device.hall.receiving.event import Result
from device.storage.database import Database, Schema, add_checksum, is_intact
from device.storage.errors import StoreDamagedError, to_store_error
from device.storage.store import StoredEvent
from engine.errors import TilekeeperError

_log = logging.getLogger(__name__)
Value = TypeVar("Value")

MAX_TABLE_GAMES = 2000
"""Largest number of games that are kept of one table: enough for five games a week over almost eight years."""
MAX_TABLE_BYTES = 50_000_000
"""Size of the games of one table, in bytes, at which no further game is kept. A game has 5 kB; a long one with many
corrections, 50 kB."""
MAX_GAME_BYTES = 1_000_000
"""Largest size of the events of one game, in bytes. It equals the largest size of a message, because a `TableLog`
contains all events of a game."""
CHECKED_TABLES = {"game": "id, place, number, started, store, events", "note": "name, text"}
"""The columns of each table whose rows have a checksum; the first one is the key."""
RESULT_NOTE = "result-"
"""Beginning of the name of the note with the result of a game. Its game may have been lost by damage."""
HALL_SCHEMA = Schema(
    0x546B4800,  # "TkH"
    5,
    """
CREATE TABLE game (
    id        INTEGER PRIMARY KEY,
    place     TEXT NOT NULL,    -- name of the table
    number    INTEGER NOT NULL, -- the game's number in the table's store
    started   REAL NOT NULL,    -- time of event 0
    store     TEXT NOT NULL,    -- id of the table's store
    events    TEXT NOT NULL,    -- list of times and bodies
    checksum  TEXT NOT NULL
) STRICT;
CREATE INDEX game_of_place ON game (place, store, number);
CREATE INDEX game_of_start ON game (started);
CREATE TABLE note (name TEXT PRIMARY KEY, text TEXT NOT NULL, checksum TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE total (
    games    INTEGER PRIMARY KEY,   -- the only row
    notes    INTEGER NOT NULL,
    checksum TEXT NOT NULL
) STRICT;
""",
    ("game", "note", "total"),
    ((0x546B4801, 1), (0x546B4802, 2), (0x546B4800, 3), (0x546B4800, 4)),
)
_COUNT_ROWS = "SELECT (SELECT count(*) FROM game), (SELECT count(*) FROM note)"
_SELECT_GAMES = "SELECT id, place, number, started, store"
_FIND_START = f"""
{_SELECT_GAMES}, events FROM game WHERE started = ?1 AND (place = ?2 OR store = ?3) ORDER BY place <> ?2
"""
_FIND_NEXT_ID = f"""
SELECT 1 + max(coalesce((SELECT max(id) FROM game), 0), coalesce(
    (SELECT max(CAST(substr(name, {len(RESULT_NOTE) + 1}) AS INTEGER)) FROM note WHERE name GLOB '{RESULT_NOTE}*'), 0))
"""
_SUM_TABLE = "SELECT count(*), coalesce(sum(length(events)), 0) FROM game WHERE place = ?"


def find_damages(db: sqlite3.Connection) -> Iterator[str]:
    """Yield a description of each damage in a file. Raises `sqlite3.Error`."""
    ((found,),) = db.execute("PRAGMA integrity_check(1)")
    if found != "ok":
        yield found
    totals = db.execute("SELECT * FROM total").fetchall() or [add_checksum(0, 0)]
    if totals != [add_checksum(*db.execute(_COUNT_ROWS).fetchone())]:
        yield "rows are missing"
    for table in CHECKED_TABLES:
        yield from (f"{table} {row[0]}" for row in db.execute(f"SELECT * FROM {table}") if not is_intact(row))


class OtherTableError(TilekeeperError):
    """Error for a game that a table has sent, but that belongs to another table, which is online."""


class TableFullError(TilekeeperError):
    """Error if the games of a table exceed a limit of the hall. The events stored before are kept."""


@dataclass(frozen=True, slots=True)
class ReceivedGame:
    """A game of a table: its id in the hall, its number in the `store` of the table, and the time of its first event.

    The time is in seconds since 1970.
    """

    id: int
    table: str
    number: int
    started: float
    store: str


class ReceivedGames:
    """The file with the received games; thread-safe. All methods may raise `StoreError`."""

    def __init__(self, path: Path | str, *, is_owner: bool = True) -> None:
        """Open or create the file. Raises `StoreDamagedError` if anything in the file is damaged.

        If `is_owner` is False, the file is not locked.
        """
        self._database = Database(path, is_owner=is_owner, schema=HALL_SCHEMA)
        try:
            self._check(self._database.connection)
        except BaseException:
            self._database.close()
            raise

    def _check(self, db: sqlite3.Connection) -> None:
        """Check the file for damage. Raises `StoreDamagedError`."""
        path = self._database.path
        try:
            damages = list(find_damages(db))
        except sqlite3.Error as error:
            raise to_store_error(error, path) from error
        if damages:
            _log.warning("%s is damaged: %s", path, "; ".join(damages[:10]))
            raise StoreDamagedError(get_text("store-broken", path, damages[0]))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def add_log(
        self,
        table: str,
        store: str,
        number: int,
        events: Sequence[StoredEvent],
        is_online: Callable[[str], bool] = lambda _: False,
    ) -> ReceivedGame | None:
        """Store the events of a game from its first one; return the game, or None if nothing was new.

        An old log, which has only the beginning of the stored events, changes nothing; other events replace them, as
        after a backup of the table was restored. `number` is the number of the game in `store`, the table's store. If
        this store has sent the game under another name of the table, the game changes to the name `table`, unless
        `is_online` returns True for the other name: then it is the name of another device. Raises `OtherTableError`,
        `TableFullError`.
        """
        with self.transaction() as db:
            found, stored = self._find_game(db, table, store, events[0])
            if found and found.table != table and is_online(found.table):
                raise OtherTableError(f"the game of another table, {found.table}")
            is_new = stored[: len(events)] != list(events)
            game = ReceivedGame(found.id if found else _find_next_id(db), table, number, events[0].time, store)
            if game == found and not is_new:
                return None
            text = _encode_events(events if is_new else stored)
            if is_new:
                _check_room(db, table, len(text), is_new_game=found is None)
            db.execute("REPLACE INTO game VALUES (?, ?, ?, ?, ?, ?, ?)", add_checksum(*astuple(game), text))
        return game

    def _find_game(
        self, db: sqlite3.Connection, table: str, store: str, first: StoredEvent
    ) -> tuple[ReceivedGame | None, list[StoredEvent]]:
        """Return the game that begins with the event `first` (None if there is none), and its events.

        A table that has another name, or another store after damage, sends its last game again with the old start.
        """
        rows = db.execute(_FIND_START, (first.time, table, store))
        games = ((ReceivedGame(*row[:-1]), _decode_events(row[-1])) for row in rows)
        return next((one for one in games if one[1][:1] == [first]), (None, []))

    def list_games(self) -> list[ReceivedGame]:
        """Return all games, in the order of their start."""
        sql = f"{_SELECT_GAMES} FROM game ORDER BY started, id"
        return [ReceivedGame(*row) for row in self._database.fetch_rows(sql)]

    def find_game(self, table: str, number: int, store: str) -> ReceivedGame | None:
        """Return the game of a table by its number in the table's store, the one received last, or None."""
        sql = f"{_SELECT_GAMES} FROM game WHERE place = ? AND number = ? AND store = ? ORDER BY id DESC LIMIT 1"
        rows = self._database.fetch_rows(sql, table, number, store)
        return ReceivedGame(*rows[0]) if rows else None

    def read_events(self, game: int) -> list[StoredEvent]:
        """Return the events of a game, in order."""
        rows = self._database.fetch_rows("SELECT events FROM game WHERE id = ?", game)
        return _decode_events(rows[0][0]) if rows else []

    def save_result(self, game: int, result: Result | None) -> None:
        """Save the result of a game, or delete it if `result` is None."""
        if result:
            self.save_note(f"{RESULT_NOTE}{game}", result)
        else:
            with self.transaction() as db:
                db.execute("DELETE FROM note WHERE name = ?", (f"{RESULT_NOTE}{game}",))

    def list_results(self) -> list[Result]:
        """Return all results."""
        rows = self._database.fetch_rows(f"SELECT text FROM note WHERE name GLOB '{RESULT_NOTE}*'")
        return [msgspec.json.decode(text, type=Result) for (text,) in rows]

    def save_note(self, name: str, value: object) -> None:
        """Save a value of the hall (such as its event) as JSON, in place of an earlier one with this name."""
        row = add_checksum(name, msgspec.json.encode(value).decode())
        if [row] != self._database.fetch_rows("SELECT * FROM note WHERE name = ?", name):
            self.add_row("note", row)

    def read_note(self, name: str, kind: type[Value], missing: Value) -> Value:
        """Return the value with this name; without one, return `missing`."""
        rows = self._database.fetch_rows("SELECT text FROM note WHERE name = ?", name)
        return msgspec.json.decode(rows[0][0], type=kind) if rows else missing

    def add_row(self, table: str, row: Sequence[object]) -> None:
        """Add a row with its checksum to one of the `CHECKED_TABLES`, or replace the one with the same key."""
        with self.transaction() as db:
            db.execute(f"REPLACE INTO {table} VALUES ({', '.join('?' * len(row))})", tuple(row))

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Return a context manager; all changes in its block are saved, or none. It also counts the rows again."""
        with self._database.reading() as db:
            if db.in_transaction:  # this thread has begun it
                yield db
                return
            with self._database.transaction():
                before = db.total_changes
                yield db
                if db.total_changes > before:
                    db.execute("DELETE FROM total")
                    db.execute("INSERT INTO total VALUES (?, ?, ?)", add_checksum(*db.execute(_COUNT_ROWS).fetchone()))


def _find_next_id(db: sqlite3.Connection) -> int:
    return int(db.execute(_FIND_NEXT_ID).fetchone()[0])


def _check_room(db: sqlite3.Connection, table: str, size: int, *, is_new_game: bool) -> None:
    """Raise `TableFullError` if a game of `size` bytes exceeds a limit of the hall."""
    count, total = db.execute(_SUM_TABLE, (table,)).fetchone() if is_new_game else (0, 0)
    if size > MAX_GAME_BYTES or count >= MAX_TABLE_GAMES or total >= MAX_TABLE_BYTES:
        raise TableFullError(get_text("hall-table-full", table, MAX_TABLE_GAMES, MAX_TABLE_BYTES // 1_000_000))


def _encode_events(events: Sequence[StoredEvent]) -> str:
    pairs = [(event.time, event.body) for event in events]
    return json.dumps(pairs, ensure_ascii=False, separators=(",", ":"))


def _decode_events(text: str) -> list[StoredEvent]:
    return [StoredEvent(number, time, body) for number, (time, body) in enumerate(json.loads(text))]
