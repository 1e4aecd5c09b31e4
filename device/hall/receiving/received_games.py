"""Storage of the games that the hall has received, in an SQLite file: each event once, in the order of the table's log.

A table sends an event again after an outage, and its whole log after each connection. A table whose backup was restored
sends different events with the same numbers; the events that arrive last replace the earlier ones.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from device.catalogue import get_text
from device.hall.receiving.event import Result
from device.hall.receiving.hall_schema import (
    HALL_SCHEMA,
    EventRow,
    GameRow,
    find_damages,
    seal_game,
    write_total,
)
from device.storage.checksums import compute_checksum
from device.storage.database import Database
from device.storage.errors import StoreDamagedError, to_store_error
from device.storage.stored_game import StoredEvent
from engine.errors import TilekeeperError

_log = logging.getLogger(__name__)

MAX_TABLE_GAMES = 2000
"""Largest number of games that are kept of one table: enough for five games a week over almost eight years."""
MAX_TABLE_BYTES = 50_000_000
"""Largest size of the events of one table, in bytes. A game has 5 kB; a long one with many corrections, 50 kB."""
MAX_GAME_BYTES = 1_000_000
"""Largest size of the events of one game, in bytes. It equals the largest size of a message, because a `TableLog`
contains all events of a game."""
_EVENT_OVERHEAD_BYTES = 40
"""Size that is counted for each event in addition to its text, in bytes, because each row of the file needs space."""

_FIND_GAME = "SELECT id FROM game WHERE place = ? AND store = ? AND number = ? ORDER BY id DESC LIMIT 1"
_FIND_START = """
SELECT game.id FROM game JOIN event ON event.game = game.id AND event.number = 0
    WHERE place = ? AND started = ? AND body = ?
"""
_FIND_OTHER_PLACE = """
SELECT game.id, place FROM game JOIN event ON event.game = game.id AND event.number = 0
    WHERE store = ? AND started = ? AND body = ?
"""
_ADD_GAME = """
INSERT INTO game (id, place, store, number, started)
    SELECT 1 + max(coalesce((SELECT max(id) FROM game), 0), coalesce((SELECT max(game) FROM result), 0)), ?, ?, ?, ?
    RETURNING id
"""  # a result may be left of a lost game

_EVENT_BYTES = f"coalesce(sum(length(CAST(event.body AS BLOB)) + {_EVENT_OVERHEAD_BYTES}), 0)"
_SUM_GAMES = f"""
SELECT game.id, {_EVENT_BYTES} FROM game JOIN event ON event.game = game.id WHERE place = ? GROUP BY game.id
"""
_SUM_EVENTS = f"SELECT {_EVENT_BYTES} FROM event WHERE game = ?"


class MissingEventsError(TilekeeperError):
    """Error for received events if the file lacks earlier events of the game; the table's `TableLog` has them."""


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
    store: str = ""


class ReceivedGames:
    """The file with the received games; thread-safe. All methods may raise `StoreError`."""

    def __init__(self, path: Path | str, *, is_owner: bool = True) -> None:
        """Open or create the file. Raises `StoreDamagedError` if anything in the file is damaged.

        If `is_owner` is False, the file is not locked.
        """
        self._sizes: dict[str, dict[int, int]] = {}
        """The sizes in bytes of the stored games, by table and by id of the game."""
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

    def add_events(
        self,
        table: str,
        store: str,
        number: int,
        events: Sequence[StoredEvent],
        is_online: Callable[[str], bool] = lambda _: False,
    ) -> ReceivedGame | None:
        """Add consecutive events of a game; return the game, or None if all events were stored already.

        If an event differs from the stored event with the same number, it replaces the stored event and all stored
        events after it. A different first event (number 0) begins another game. `number` is the number of the game in
        `store`, the table's store. If this store has sent the game under another name of the table, the game changes to
        the name `table`, unless `is_online` returns True for the other name: then it is the name of another device.
        Raises `MissingEventsError`, `OtherTableError`, `TableFullError`.
        """
        with self._transaction() as db:
            is_moved = not events[0].number and self._move_game(db, table, store, events[0], is_online)
            sizes = self._read_sizes(db, table)
            game = self._find_game(db, table, store, number, events[0])
            if game is None:
                raise MissingEventsError
            is_changed = self._write_new_events(db, game, events)
            seal_game(db, game)  # also after a change of its number
            if not is_changed and not is_moved:
                return None
            ((size,),) = db.execute(_SUM_EVENTS, (game,))
            _check_size(table, sizes, game, size)
            (started,) = db.execute("SELECT started FROM game WHERE id = ?", (game,)).fetchone()
        sizes[game] = size
        return ReceivedGame(game, table, number, started, store)

    def list_games(self) -> list[ReceivedGame]:
        """Return all games, in the order of their start."""
        rows = self._fetch("SELECT id, place, number, started, store FROM game ORDER BY started, id")
        return [ReceivedGame(*row) for row in rows]

    def find_game(self, table: str, number: int, store: str = "") -> ReceivedGame | None:
        """Return the game of a table by its number in the table's store `store`, or None if there is no such game.

        An empty `store` stands for any store of the table. If several games match, return the one received last.
        """
        sql = """SELECT id, place, number, started, store FROM game
            WHERE place = ?1 AND number = ?2 AND ?3 IN ('', store) ORDER BY id DESC LIMIT 1"""
        rows = self._fetch(sql, table, number, store)
        return ReceivedGame(*rows[0]) if rows else None

    def read_events(self, game: int) -> list[StoredEvent]:
        """Return the events of a game, in order."""
        rows = self._fetch("SELECT number, time, body FROM event WHERE game = ? ORDER BY number", game)
        return [StoredEvent(number, time, json.loads(body)) for number, time, body in rows]

    def save_result(self, game: int, result: Result | None) -> None:
        """Save the result of a game, or delete it if `result` is None."""
        with self._transaction() as db:
            db.execute("DELETE FROM result WHERE game = ?", (game,))
            if result:
                body = msgspec.json.encode(result).decode()
                db.execute("INSERT INTO result VALUES (?, ?, ?)", (game, body, compute_checksum(game, body)))

    def add_game(self, row: GameRow, events: Sequence[EventRow]) -> None:
        """Add a game from another file of a hall, and keep its id."""
        with self._transaction() as db:
            db.execute("INSERT INTO game (id, place, store, number, started) VALUES (?, ?, ?, ?, ?)", row)
            db.executemany(
                "INSERT INTO event (game, number, time, body) VALUES (?, ?, ?, ?)", [(row[0], *one) for one in events]
            )
            seal_game(db, row[0])

    def list_results(self) -> list[Result]:
        """Return all results."""
        return [msgspec.json.decode(body, type=Result) for (body,) in self._fetch("SELECT body FROM result")]

    def save_note(self, name: str, text: str) -> None:
        """Save a note of the hall (such as its pairings) under a name, in place of an earlier note with this name."""
        with self._transaction() as db:
            row = (name, text, compute_checksum(name, text))
            db.execute("INSERT OR REPLACE INTO note (name, text, checksum) VALUES (?, ?, ?)", row)

    def read_note(self, name: str) -> str | None:
        """Return the text with this name, or None."""
        rows = self._fetch("SELECT text FROM note WHERE name = ?", name)
        return rows[0][0] if rows else None

    def _read_sizes(self, db: sqlite3.Connection, table: str) -> dict[int, int]:
        """Return the sizes of the games of a table, by id; only the first call computes them from the file."""
        if table not in self._sizes:
            self._sizes[table] = dict(db.execute(_SUM_GAMES, (table,)))
        return self._sizes[table]

    def _move_game(
        self, db: sqlite3.Connection, table: str, store: str, first: StoredEvent, is_online: Callable[[str], bool]
    ) -> bool:
        """Let the game that begins with `first` belong to `table`; return True if it was a game of another name.

        A table with a new name sends its last game again. Raises `OtherTableError`.
        """
        start = first.time, _encode(first)
        if db.execute(_FIND_START, (table, *start)).fetchone():
            return False
        row = db.execute(_FIND_OTHER_PLACE, (store, *start)).fetchone()
        if row is None:
            return False
        game, place = row
        if is_online(place):
            raise OtherTableError(f"the game of another table, {place}")
        db.execute("UPDATE game SET place = ? WHERE id = ?", (table, game))
        self._sizes.clear()
        return True

    def _find_game(self, db: sqlite3.Connection, table: str, store: str, number: int, first: StoredEvent) -> int | None:
        """Return the id of the game to which the event `first` belongs; for a new event with the number 0, add a game.

        Return None if earlier events of the game are missing.
        """
        if first.number:
            row = db.execute(_FIND_GAME, (table, store, number)).fetchone()
            return int(row[0]) if row else None
        row = db.execute(_FIND_START, (table, first.time, _encode(first))).fetchone()
        if row:  # the game has another number after the rescue of a damaged store
            db.execute("UPDATE game SET store = ?, number = ? WHERE id = ?", (store, number, row[0]))
            return int(row[0])
        return int(db.execute(_ADD_GAME, (table, store, number, first.time)).fetchone()[0])

    def _write_new_events(self, db: sqlite3.Connection, game: int, events: Sequence[StoredEvent]) -> bool:
        """Write the events that are new or different. Return False if there are none. Raises `MissingEventsError`."""
        stored = dict(db.execute("SELECT number, body FROM event WHERE game = ?", (game,)).fetchall())
        is_new = [stored.get(event.number) != _encode(event) for event in events]
        if not any(is_new):
            return False
        new_events = events[is_new.index(True) :]  # the first new event replaces all stored events after it
        first = new_events[0].number
        if first > len(stored):
            raise MissingEventsError
        db.execute("DELETE FROM event WHERE game = ? AND number >= ?", (game, first))
        db.executemany(
            "INSERT INTO event (game, number, time, body) VALUES (?, ?, ?, ?)",
            [(game, event.number, event.time, _encode(event)) for event in new_events],
        )
        return True

    def _fetch(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return self._database.fetch_rows(sql, *values)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._database.transaction() as db:
            before = db.total_changes
            yield db
            if db.total_changes > before:
                write_total(db)


def _check_size(table: str, sizes: Mapping[int, int], game: int, size: int) -> None:
    """Raise `TableFullError` if a game has grown to `size` bytes and a limit of the hall is exceeded.

    `sizes` are the sizes of the table's games by id, before the change.
    """
    if size <= sizes.get(game, 0):
        return
    other_sizes = [other_size for other, other_size in sizes.items() if other != game]
    table_bytes = size + sum(other_sizes)
    if size > MAX_GAME_BYTES or len(other_sizes) >= MAX_TABLE_GAMES or table_bytes > MAX_TABLE_BYTES:
        raise TableFullError(get_text("hall-table-full", table, MAX_TABLE_GAMES, MAX_TABLE_BYTES // 1_000_000))


def _encode(event: StoredEvent) -> str:
    return json.dumps(event.body, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
