"""Open the store so that a game can always start; a damaged store is set aside and its readable games are recovered.

A file that cannot be used is never changed: it is renamed, or left in place while the games are kept in memory.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from device.storage.errors import StoreDamagedError, StoreError, StoreLockedError, to_store_error
from device.storage.store import TABLE_NOTES, GameStore, StoredEvent, StoredPicture
from engine.messages import said

_log = logging.getLogger(__name__)

_COMPANION_SUFFIXES = ("-wal", "-journal", "-shm")


class FallbackStore(GameStore):
    """A store in memory while the table's own cannot be used; when closed, it copies its games there if possible."""

    def __init__(self, own: Path) -> None:
        super().__init__(":memory:")
        self._own_path = own

    def close(self) -> None:
        """Copy the games to the table's store, oldest first, and close."""
        try:
            if games := self.games():
                with GameStore(self._own_path) as own:
                    for game in reversed(games):
                        pictures = (
                            StoredPicture(number, kind, jpeg)
                            for number, kind in self.pictures(game.id)
                            if (jpeg := self.picture(game.id, number, kind)) is not None
                        )
                        notes = self.read_game_notes(game.id)
                        own.add_game(game.started, self.events(game.id), pictures, notes, imported=game.imported)
                    _copy_table_data(own, self.read_game_notes(TABLE_NOTES), self.players())
        except StoreError as error:
            _log.error("what was played in memory is lost: %s", error)
        finally:
            super().close()


def open_store(path: Path) -> tuple[GameStore, str]:
    """Open the store at `path`; return it and a message about what is wrong with it (empty if nothing).

    Raises `StoreLockedError` if another program uses it: both would use the same camera.
    """
    try:
        return GameStore(path), ""
    except StoreLockedError:
        raise
    except StoreDamagedError as error:
        _log.warning("%s", error)
        return _rescue_store(path)
    except StoreError as error:
        return _open_fallback(path, str(error))


def _rescue_store(path: Path) -> tuple[GameStore, str]:
    """Replace a damaged store by a new one with everything that could be read."""
    aside = _find_free_name(path)
    try:
        for end in ("", *_COMPANION_SUFFIXES):
            if (beside := path.with_name(path.name + end)).exists():
                beside.rename(f"{aside}{end}")
        store = GameStore(path)
    except (OSError, StoreError) as error:
        reason = error if isinstance(error, StoreError) else to_store_error(error, str(path))
        return _open_fallback(
            path, said("store-no-new", "{0} is damaged, and no new one can be made ({1})", path, reason)
        )
    kept, lost = _copy_readable_games(store, aside)
    if lost:
        text = "{0} was damaged: {1} games were read from it, not all of them whole. It is kept as {2}"
        return store, said("store-rescued-part", text, path.name, kept, aside.name)
    text = "{0} was damaged: {1} games were read from it. It is kept as {2}"
    return store, said("store-rescued", text, path.name, kept, aside.name)


def _open_fallback(path: Path, reason: str) -> tuple[GameStore, str]:
    text = "{0}. Play goes on in memory; unless that is mended by the end, it is lost then"
    return FallbackStore(path), said("store-in-memory", text, reason)


def _copy_readable_games(store: GameStore, damaged: Path) -> tuple[int, int]:
    """Copy the readable games; return how many were copied and how many are missing or incomplete."""
    kept, lost = 0, 0
    try:
        with closing(_open_damaged(damaged)) as db:
            for found in _find_readable_games(db):
                try:
                    store.add_game(found.started, found.events, found.pictures, found.notes, imported=found.imported)
                    kept, lost = kept + 1, lost + (not found.is_complete)
                except StoreError as error:
                    _log.warning("a game of %s is not taken over: %s", damaged, error)
                    lost += 1
            _copy_table_data(store, _read_notes(db, TABLE_NOTES), _read_rows(db, "SELECT name, colour FROM player"))
    except (sqlite3.Error, OSError) as error:
        _log.warning("the rescue of %s ended early: %s", damaged, error)
        lost += 1
    return kept, lost


def _copy_table_data(store: GameStore, notes: Mapping[str, str], players: Iterable[tuple[str, str]]) -> None:
    """Copy the notes of the table and the players' colours."""
    try:
        for name, text in notes.items():
            store.save_note(TABLE_NOTES, name, text)
        for name, colour in players:
            if colour:
                store.save_colour(name, colour)
    except StoreError as error:
        _log.warning("of the table itself not all is taken over: %s", error)


@dataclass(frozen=True, slots=True, eq=False)
class _RecoveredGame:
    """The readable part of a game: its events up to the first unreadable one, and if these are all."""

    events: list[StoredEvent]
    pictures: Iterator[StoredPicture]
    notes: Mapping[str, str]
    started: float
    imported: bool
    is_complete: bool


def _find_readable_games(db: sqlite3.Connection) -> Iterator[_RecoveredGame]:
    """Yield the games of a damaged store that are at least partly readable."""
    pictures = _find_picture_rows(db)
    for number, started, imported in _list_games(db):
        events, whole = _read_events(db, number)
        if events:
            shown = _read_pictures(db, pictures.get(number, []), len(events))
            yield _RecoveredGame(events, shown, _read_notes(db, number), started, imported, whole)


def _read_notes(db: sqlite3.Connection, game: int) -> dict[str, str]:
    """Return the notes of a game, such as its clock; empty for files of version 1."""
    rows = _read_rows(db, "SELECT name, text FROM note WHERE game = ?", game)
    return {name: text for name, text in rows if isinstance(name, str) and isinstance(text, str)}


def _open_damaged(path: Path) -> sqlite3.Connection:
    # Not read-only: SQLite must be able to bring in what the write-ahead log still has.
    db = sqlite3.connect(path)
    db.execute("PRAGMA locking_mode = EXCLUSIVE")  # so it needs no file of shared memory
    db.execute("PRAGMA writable_schema = ON")  # so a file that was cut short is read as far as it goes
    return db


def _list_games(db: sqlite3.Connection) -> list[tuple[int, float, bool]]:
    """Return the games by number, from the list of games or, if that is unreadable, from the log and the pictures."""
    for columns in ("id, started, imported", "id, started, 0"):  # the second for files of version 1
        try:
            where = " WHERE NOT deleted" if "imported" in columns else ""
            return [(n, at, bool(i)) for n, at, i in db.execute(f"SELECT {columns} FROM game{where} ORDER BY id")]
        except sqlite3.Error as error:
            _log.info("games of the damaged store: %s", error)
    numbers: set[int] = set()
    for sql in ("SELECT game FROM event ORDER BY game", "SELECT game FROM event ORDER BY game DESC"):
        numbers |= {number for (number,) in _read_rows(db, sql)}
    return [(number, time.time(), False) for number in sorted(numbers)]


def _read_events(db: sqlite3.Connection, game: int) -> tuple[list[StoredEvent], bool]:
    """Return a game's events up to the first gap, and True if these are all."""
    try:
        (expected,) = db.execute("SELECT max(number) + 1 FROM event WHERE game = ?", (game,)).fetchone()
    except sqlite3.Error:
        expected = -1
    events: list[StoredEvent] = []
    sql = "SELECT number, time, body FROM event WHERE game = ? ORDER BY number"
    for number, at, body in _read_rows(db, sql, game):
        try:
            decoded = json.loads(body)
        except (TypeError, ValueError):
            break
        if number != len(events) or not isinstance(decoded, dict) or not isinstance(at, float):
            break
        events.append(StoredEvent(number, at, decoded))
    return events, len(events) == expected


def _find_picture_rows(db: sqlite3.Connection) -> dict[int, list[tuple[int, int, str]]]:
    """Return the pictures of each game as (row, event number, kind), read from both ends without the index."""
    rows = {
        row: (game, number, kind)
        for order in ("", " DESC")
        for row, game, number, kind in _read_rows(
            db, f"SELECT rowid, game, number, kind FROM picture NOT INDEXED ORDER BY rowid{order}"
        )
    }
    found: dict[int, list[tuple[int, int, str]]] = {}
    for row, (game, number, kind) in sorted(rows.items()):
        found.setdefault(game, []).append((row, number, kind))
    return found


def _read_pictures(db: sqlite3.Connection, rows: list[tuple[int, int, str]], events: int) -> Iterator[StoredPicture]:
    for row, number, kind in rows:
        for (jpeg,) in _read_rows(db, "SELECT jpeg FROM picture NOT INDEXED WHERE rowid = ?", row):
            if number < events and isinstance(jpeg, bytes) and jpeg.startswith(b"\xff\xd8\xff"):
                yield StoredPicture(number, kind, jpeg)


def _read_rows(db: sqlite3.Connection, sql: str, *values: object) -> Iterator[tuple[Any, ...]]:
    """Yield the rows up to the first unreadable one."""
    try:
        yield from db.execute(sql, values)
    except sqlite3.Error as error:
        _log.info("the damaged store: %s", error)


def _find_free_name(path: Path) -> Path:
    """Return an unused file name beside `path`."""
    stem = f"{path.name}.damaged-{time.strftime('%Y%m%d')}"
    numbered = (path.with_name(stem if n == 0 else f"{stem}-{n}") for n in range(10_000))
    return next(name for name in numbered if not os.path.lexists(name))
