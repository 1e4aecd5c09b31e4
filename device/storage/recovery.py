"""Open the store so that a game can always start; a damaged store is set aside and its readable games are recovered.

A file that cannot be used is never changed: it is renamed, or left in place while the games are kept in memory.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from device.storage.backups import BACKUP_FOLDER, list_backups
from device.storage.checksums import (
    EventRow,
    Tail,
    TailRecord,
    compute_seal,
    find_intact_events,
    find_valid_events,
    is_intact_note,
)
from device.storage.database import MEMORY, decode_text
from device.storage.errors import StoreDamagedError, StoreError, StoreLockedError, to_store_error
from device.storage.store import TABLE_NOTES, GameStore, StoredEvent, StoredPicture
from engine.messages import join_messages, said

_log = logging.getLogger(__name__)

_GAME_COLUMNS = ("id, started, imported, deleted, length, seal",)
_COUNT_EVENTS = "(SELECT max(number) + 1 FROM event WHERE game = id)"
_OLD_GAME_COLUMNS = (f"id, started, 0, 0, {_COUNT_EVENTS}", f"id, started, imported, deleted, {_COUNT_EVENTS}")
"""Columns of the list of games in files without checksums, of versions 1 and 2."""
UNKNOWN_LENGTH = -1
_JPEG_START = b"\xff\xd8\xff"
_COMPANION_SUFFIXES = ("-wal", "-journal", "-shm")


class FallbackStore(GameStore):
    """A store in memory while the table's own cannot be used; when closed, it copies its games there if possible."""

    def __init__(self, own: Path) -> None:
        super().__init__(MEMORY)
        self._own_path = own

    def close(self) -> None:
        """Copy the games to the table's store, oldest first, and close."""
        try:
            if self.games():
                with GameStore(self._own_path) as own:
                    copy_games(self.connection, own)
        except StoreError as error:
            _log.error("what was played in memory is lost: %s", error)
        finally:
            super().close()


def open_store(path: Path) -> tuple[GameStore, str]:
    """Open the store at `path`; return it and a message about what is wrong with it (empty if nothing).

    Raises `StoreLockedError` if another program uses it: both would use the same camera.
    """
    was_empty = _is_empty_file(path)
    try:
        store = GameStore(path)
    except StoreLockedError:
        raise
    except StoreDamagedError as error:
        _log.warning("%s", error)
        return _rescue_store(path)
    except StoreError as error:
        return _open_fallback(path, str(error))
    if was_empty and not store.games() and list_backups(path.parent / BACKUP_FOLDER):
        store.close()  # SQLite takes an empty file for a new one
        return _rescue_store(path)
    damages = [game.damage for game in store.games() if game.damage]
    return store, join_messages(". ", [text for text in (store.lost_tail, *damages) if text])


def _is_empty_file(path: Path) -> bool:
    try:
        return path.stat().st_size == 0
    except OSError:
        return False


def _rescue_store(path: Path) -> tuple[GameStore, str]:
    """Replace a damaged store by a new one with everything that could be read."""
    aside = _find_free_name(path)
    tail_record = TailRecord(Path(f"{path}.tail"))
    tail = tail_record.read()
    try:
        for suffix in ("", *_COMPANION_SUFFIXES):
            if (beside := path.with_name(path.name + suffix)).exists():
                beside.rename(f"{aside}{suffix}")
        tail_record.delete()
        store = GameStore(path)
    except (OSError, StoreError) as error:
        reason = error if isinstance(error, StoreError) else to_store_error(error, str(path))
        return _open_fallback(
            path, said("store-no-new", "{0} is damaged, and no new one can be made ({1})", path, reason)
        )
    copied, incomplete = 0, 1
    try:
        with closing(_open_damaged(aside)) as db, ExitStack() as stack:
            backups = list_backups(path.parent / BACKUP_FOLDER)
            backup = stack.enter_context(closing(_open_damaged(backups[-1]))) if backups else None
            copied, incomplete = copy_games(db, store, tail, backup)
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
        _log.warning("the recovery of %s ended early: %s", aside, error)
    if incomplete:
        text = "{0} was damaged: {1} games were read from it, not all of them whole. It is kept as {2}"
        return store, said("store-rescued-part", text, path.name, copied, aside.name)
    text = "{0} was damaged: {1} games were read from it. It is kept as {2}"
    return store, said("store-rescued", text, path.name, copied, aside.name)


def _open_fallback(path: Path, reason: str) -> tuple[GameStore, str]:
    text = "{0}. Play goes on in memory; unless that is mended by the end, it is lost then"
    return FallbackStore(path), said("store-in-memory", text, reason)


def copy_games(
    source: sqlite3.Connection, target: GameStore, tail: Tail | None = None, backup: sqlite3.Connection | None = None
) -> tuple[int, int]:
    """Copy the games that can be read, oldest first, and what belongs to the table itself.

    `tail`, the end of the newest game, is used if the list of games cannot be read. Games that are missing or
    incomplete are taken from `backup`, as far as it has more of them. Returns how many games were copied, and how many
    are missing or incomplete.
    """
    copied, incomplete = 0, 0
    games = _read_games(source, tail)
    if backup is not None:
        for number, spare in _read_games(backup, None).items():
            games[number] = games[number].complete_from(spare) if number in games else spare
    pictures = _find_picture_rows(source)
    for number, game in sorted(games.items()):
        if not game.rows and game.deleted:
            continue
        is_whole = game.is_whole()
        try:
            if game.rows:
                events = [StoredEvent(at, time_s, json.loads(body)) for at, time_s, body, _ in game.rows]
                shown = _read_pictures(source, pictures.get(number, []), len(events))
                notes = _read_notes(source, number)
                target.add_game(game.started, events, shown, notes, imported=bool(game.imported), damaged=not is_whole)
                copied += 1
        except StoreError as error:
            _log.warning("game %d is not copied: %s", number, error)
            is_whole = False
        incomplete += not is_whole
    _copy_table_data(source, target)
    return copied, incomplete


def _copy_table_data(source: sqlite3.Connection, target: GameStore) -> None:
    """Copy the notes of the table and the colours of the players."""
    try:
        for name, text in _read_notes(source, TABLE_NOTES).items():
            target.save_note(TABLE_NOTES, name, text)
        for name, colour in _read_rows(source, "SELECT name, colour FROM player WHERE colour <> ''"):
            target.save_colour(str(name), str(colour))
    except StoreError as error:
        _log.warning("not everything that belongs to the table is copied: %s", error)


def _open_damaged(path: Path) -> sqlite3.Connection:
    # Not read-only: SQLite must be able to bring in what the write-ahead log still has.
    db = sqlite3.connect(path)
    db.text_factory = decode_text
    db.execute("PRAGMA locking_mode = EXCLUSIVE")  # so it needs no file of shared memory
    db.execute("PRAGMA writable_schema = ON")  # so a file that was cut short is read as far as it goes
    return db


@dataclass(frozen=True, slots=True)
class _ReadGame:
    """A game as far as it can be read; games of files without checksums have no `seal`."""

    number: int
    started: float
    imported: int = 0
    deleted: int = 0
    length: int | None = None
    seal: str | None = None
    rows: tuple[EventRow, ...] = ()

    def is_whole(self) -> bool:
        """Return True if these are all events of the game, as far as the file shows it."""
        if self.seal is None:
            return len(self.rows) == self.length
        last = self.rows[-1][3] if self.rows else ""
        seal = compute_seal(self.started, self.imported, len(self.rows), last)
        return self.length == len(self.rows) and self.seal == seal

    def complete_from(self, spare: _ReadGame) -> _ReadGame:
        """Return the game with the events of a backup, if these begin with its own."""
        is_continued = len(spare.rows) >= len(self.rows) and spare.rows[: len(self.rows)] == self.rows
        if self.deleted or not is_continued:
            return self
        return spare if self.length == UNKNOWN_LENGTH else replace(self, rows=spare.rows)


def _read_games(db: sqlite3.Connection, tail: Tail | None) -> dict[int, _ReadGame]:
    """Return the games by number, from the list of games or, if that is unreadable, from the log."""
    games: dict[int, _ReadGame] = {}
    for columns in _GAME_COLUMNS if _has_checksums(db) else _OLD_GAME_COLUMNS:
        rows = _read_rows(db, f"SELECT {columns} FROM game ORDER BY id")
        games |= {row[0]: _ReadGame(*row) for row in rows if isinstance(row[1], float)}
    for order in ("", " DESC"):  # from both ends, as a damaged page stops the query
        for (number,) in _read_rows(db, f"SELECT game FROM event ORDER BY game{order}"):
            if isinstance(number, int):
                length = tail.length if tail and tail.game == number else UNKNOWN_LENGTH
                games.setdefault(number, _ReadGame(number, time.time(), length=length))
    return {number: replace(game, rows=tuple(_read_events(db, number))) for number, game in games.items()}


def _read_events(db: sqlite3.Connection, game: int) -> list[EventRow]:
    """Return a game's events up to the first that is missing or damaged."""
    if _has_checksums(db):
        sql = "SELECT number, time, body, checksum FROM event WHERE game = ? ORDER BY number"
        return find_intact_events(_read_rows(db, sql, game))
    return find_valid_events(
        _read_rows(db, "SELECT number, time, body, '' FROM event WHERE game = ? ORDER BY number", game)
    )


def _has_checksums(db: sqlite3.Connection) -> bool:
    """Return False for files of versions 1 and 2, which have no application id either."""
    return [*_read_rows(db, "PRAGMA application_id")] != [(0,)]


def _read_notes(db: sqlite3.Connection, game: int) -> dict[str, str]:
    """Return the intact notes of a game, such as its clock; those of older files have no checksum and are left out."""
    rows = _read_rows(db, "SELECT game, name, text, checksum FROM note WHERE game = ?", game)
    return {row[1]: row[2] for row in rows if is_intact_note(row)}


def _find_picture_rows(db: sqlite3.Connection) -> dict[int, list[tuple[int, int, str]]]:
    """Return the pictures of each game as (row, event number, kind), read from both ends without the index."""
    found: dict[int, list[tuple[int, int, str]]] = {}
    sql = "SELECT rowid, game, number, kind FROM picture NOT INDEXED ORDER BY rowid"
    rows = {row[0]: row for order in ("", " DESC") for row in _read_rows(db, sql + order)}
    for row, game, number, kind in rows.values():
        found.setdefault(game, []).append((row, number, kind))
    return found


def _read_pictures(db: sqlite3.Connection, rows: list[tuple[int, int, str]], events: int) -> Iterator[StoredPicture]:
    for row, number, kind in rows:
        for (jpeg,) in _read_rows(db, "SELECT jpeg FROM picture NOT INDEXED WHERE rowid = ?", row):
            is_intact = isinstance(number, int) and isinstance(kind, str) and isinstance(jpeg, bytes)
            if is_intact and number < events and jpeg.startswith(_JPEG_START):
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
