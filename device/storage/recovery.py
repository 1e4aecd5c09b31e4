"""Opening of the store so that a game can always be started, recovery of a damaged store, and restore of a backup.

The contents of a damaged or replaced file are never changed: its readable games, or those of the backup, are copied to
a new store, which then gets its name. A copy that was interrupted begins again at the next start. If there can be no
new store, games are kept in memory.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar

from device.catalogue import get_text
from device.storage.backups import BACKUP_FOLDER, list_backups
from device.storage.database import (
    SELECT_EVENTS,
    SELECT_GAMES,
    UNREADABLE_BODY,
    EventRow,
    check_is_complete,
    decode_text,
    fill_gaps,
    is_intact,
    list_intact_rows,
    lock_beside,
    open_read_only,
    remove_database,
)
from device.storage.errors import (
    StoreDamagedError,
    StoreError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreVersionError,
    log_store_errors,
    to_store_error,
)
from device.storage.fallback import FallbackStore
from device.storage.files import (
    find_unusable_file,
    give_to_folder_owner,
    make_dated_path,
    move_store,
    sync_folder,
)
from device.storage.store import TABLE_NOTES, GameStore, StoredEvent, StoredGame, StoredPicture
from engine.messages import join_messages

_log = logging.getLogger(__name__)

Value = TypeVar("Value")
Aside = TypeVar("Aside")

_JPEG_START = b"\xff\xd8\xff"


def open_store(path: Path, report_progress: Callable[[], object] = lambda: None) -> tuple[GameStore, str]:
    """Open the store at `path`. Return it, and a message about its faults (empty if there are none).

    - If the file is damaged, a new store with its readable games is returned.
    - If the file cannot be opened for another reason, a store in memory is returned.
    - If the file is missing although there are backups, a new store is returned; the message names the last backup.

    `report_progress` is called for each game of a damaged store, because the rescue of many pictures takes minutes.
    Raises `StoreLockedError` if another program uses the store. A store in memory would not help then, because the
    other program also uses the camera.
    """
    size = _find_size(path)
    if size in (0, 1):  # to SQLite this is a new database, but the games of a store may be lost
        return _rescue_store(path, report_progress)
    try:
        store = GameStore(path)
    except StoreLockedError:
        raise
    except StoreDamagedError as error:
        _log.warning("%s", error)
        return _rescue_store(path, report_progress)
    except StoreError as error:
        return FallbackStore(path), get_text("store-in-memory", error)
    if size is None and (backups := list_backups(path.parent / BACKUP_FOLDER)):
        return store, get_text("store-was-missing", path, backups[-1])
    return store, join_messages(" ", [game.damage for game in store.list_games() if game.damage])


def find_refused_file(path: Path) -> Path | None:
    """Return `path` if the store there can never be used: one of another version, or one that may not be read.

    Such a file is not changed. The owner may rename it to begin a new store.
    """
    try:
        open_for_reading(path).close()
    except StoreVersionError:
        return path
    except StoreError as error:
        _log.warning("%s", error)
    return find_unusable_file(path)


def open_for_reading(path: Path) -> GameStore:
    """Open a store to which nothing will be added, even if it cannot be written. Raises `StoreError`."""
    try:
        return GameStore(path, is_owner=False)
    except StoreReadOnlyError:
        return GameStore(path, is_owner=False, is_read_only=True)


def _find_size(path: Path) -> int | None:
    """Return the size of a file in bytes; None if it is missing, also for a link to a file that is missing."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def _rescue_store(path: Path, report_progress: Callable[[], object]) -> tuple[GameStore, str]:
    """Replace a damaged store, or use a store in memory until this is possible. Return the store, and a message."""
    try:
        return _replace_store(path, report_progress)
    except StoreLockedError:
        raise
    except StoreError as error:
        store = FallbackStore(path, open_file=lambda: _replace_store(path, report_progress)[0])
        return store, get_text("store-in-memory", get_text("store-no-new", path, error))


def _replace_store(path: Path, report_progress: Callable[[], object]) -> tuple[GameStore, str]:
    """Replace a damaged store by a new one with all games that can be read. Return it, and a message.

    Raises `StoreError`; the damaged file then keeps its name.
    """
    try:
        aside, count = replace_store(path, lambda part: _copy_damaged(path, part, report_progress), set_damaged_aside)
    except OSError as error:
        raise to_store_error(error, str(path)) from error
    key = "store-rescued-part" if count.incomplete else "store-rescued"
    return GameStore(path), get_text(key, path.name, count.copied, aside.name)


def _copy_damaged(path: Path, target: Path, report_progress: Callable[[], object]) -> CopyCount:
    """Copy all games that can be read in a damaged store or a backup to a new store. Raises `StoreError`."""
    with GameStore(target, is_owner=False) as store:
        try:
            with closing(open_damaged(path)) as db, _open_newest_backup(path.parent / BACKUP_FOLDER) as backup:
                return copy_games(db, store, backup, report_progress)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            _log.warning("the recovery of %s ended early: %s", path, error)
            return CopyCount(len(store.list_games()), incomplete=1)


@contextmanager
def _open_newest_backup(folder: Path) -> Iterator[sqlite3.Connection | None]:
    """Open the newest backup in which events can be read; the result is None if there is no such backup.

    The card may have damaged the newest backup together with the store. Older backups may be of an earlier store, which
    gave other numbers to its games, so only one backup is used.
    """
    for path in reversed(list_backups(folder)):
        try:
            backup = open_read_only(path)
        except sqlite3.Error as error:
            _log.warning("the backup %s is not used: %s", path, error)
            continue
        with closing(backup):
            backup.execute("PRAGMA writable_schema = ON")  # as in `open_damaged`
            if [*read_rows(backup, "SELECT 1 FROM event LIMIT 1")]:
                yield backup
                return
    yield None


@dataclass(frozen=True, slots=True)
class CopyCount:
    """Number of games that were copied, and of games that are missing or incomplete in the copy."""

    copied: int
    incomplete: int


def copy_games(
    source: sqlite3.Connection,
    target: GameStore,
    backup: sqlite3.Connection | None = None,
    report_progress: Callable[[], object] = lambda: None,
) -> CopyCount:
    """Copy the readable games, oldest first, and the data that belongs to no game (notes, colours of players).

    Events missing in `source` are taken from the store `backup`; those that are still missing become unreadable
    entries. `report_progress` is called for each game. Raises `StoreError` if the copy cannot be written.
    """
    games = _read_games(source)
    copied, incomplete = 0, int(not games)  # what followed the backup is not known
    for number, spare in _read_games(backup).items() if backup is not None else ():
        games[number] = games[number].complete_from(spare) if number in games else spare
    picture_rows = _find_picture_rows(source)
    for number, game in sorted(games.items()):
        if game.deleted or not (game.rows or game.length):
            continue
        report_progress()
        is_whole = game.is_whole
        try:
            if game.rows:
                events = [StoredEvent(at, time_s, json.loads(body)) for at, time_s, body in game.list_all_rows()]
                target.add_game(
                    game.started,
                    events,
                    _read_pictures(source, picture_rows.get(number, []), len(events)),
                    _read_notes(source, number),
                    imported=bool(game.imported),
                )
                copied += 1
        except StoreError as error:
            if isinstance(error.__cause__, sqlite3.OperationalError | None):  # a fault of the new file's disk
                raise
            _log.warning("game %d is not copied: %s", number, error)
            is_whole = False
        incomplete += not is_whole
    _copy_table_data(source, target)
    return CopyCount(copied, incomplete)


def _copy_table_data(source: sqlite3.Connection, target: GameStore) -> None:
    """Copy the data that belongs to no game: the notes stored under `TABLE_NOTES`, and the colours of players."""
    with log_store_errors("not everything that belongs to the table is copied"):
        for name, text in _read_notes(source, TABLE_NOTES).items():
            target.save_note(TABLE_NOTES, name, text)
        for name, colour in read_rows(source, "SELECT name, colour FROM player WHERE colour <> ''"):
            target.save_colour(str(name), str(colour))


def set_damaged_aside(path: Path) -> Path:
    """Rename a damaged store; return the new path. Raises `OSError`."""
    aside = make_dated_path(path.with_name(f"{path.name}.damaged"))
    move_store(path, aside, keeps_name=True)
    return aside


def replace_store(path: Path, fill: Callable[[Path], Value], set_aside: Callable[[Path], Aside]) -> tuple[Aside, Value]:
    """Replace a store by a new one. Return the results of `set_aside`, which moves the old store, and of `fill`.

    `fill` writes the new store to the path that it gets. The old one keeps its name until the new one is complete, so
    that a power cut loses nothing. Raises `OSError`, `StoreError`.
    """
    part = path.with_name(f"{path.name}.part")
    lock = lock_beside(str(path))
    try:
        remove_database(part)
        result = fill(part)
        check_is_complete(part)
        aside = set_aside(path)
        part.replace(path)
        sync_folder(path.parent)
    finally:
        remove_database(part)
        os.close(lock)
    return aside, result


def open_damaged(path: Path) -> sqlite3.Connection:
    """Open a damaged SQLite file for reading. Raises `sqlite3.Error`, `UnicodeDecodeError`."""
    # The file is opened for writing, so that SQLite can apply the write-ahead log.
    db = sqlite3.connect(path)
    db.text_factory = decode_text
    db.execute("PRAGMA locking_mode = EXCLUSIVE")  # then SQLite needs no shared-memory file
    db.execute("PRAGMA writable_schema = ON")  # then SQLite can read the beginning of a truncated file
    return db


@dataclass(frozen=True, slots=True)
class _ReadGame:
    """The readable part of a game in a damaged store.

    `length` is the number of events, from the list of games; None if it cannot be read there.
    """

    number: int
    started: float
    imported: int = 0
    deleted: int = 0
    length: int | None = None
    rows: tuple[EventRow, ...] = ()

    @property
    def is_whole(self) -> bool:
        """True if all events of the game could be read."""
        return self.length == len(self.rows)

    def list_all_rows(self) -> list[EventRow]:
        """Return all events of the game, with an unreadable one in place of each that is missing.

        If the number of events is not known, the last one may be missing.
        """
        known_end = max((number + 1 for number, _, _ in self.rows), default=0)
        if self.length is None:
            return [*fill_gaps(self.rows, known_end), (known_end, 0.0, UNREADABLE_BODY)]
        return fill_gaps(self.rows, self.length)

    def complete_from(self, spare: _ReadGame) -> _ReadGame:
        """Return this game, completed with the events of its backup `spare`.

        A deleted game is returned unchanged. The same applies if the backup has another event with the same number, or
        no event in common: it is then not a backup of this game.
        """
        mine, theirs = ({row[0]: row for row in game.rows} for game in (self, spare))
        shared = mine.keys() & theirs.keys()
        if self.deleted or any(mine[number] != theirs[number] for number in shared) or (mine and not shared):
            return self
        rows = tuple(sorted({**theirs, **mine}.values()))
        if self.length is None:
            return replace(spare, rows=rows, length=spare.length if len(theirs) >= len(mine) else None)
        return replace(self, rows=tuple(row for row in rows if row[0] < self.length))


def _read_games(db: sqlite3.Connection) -> dict[int, _ReadGame]:
    """Return the readable part of each game, by the number of the game.

    A game that is missing in the list of games is found by its events.
    """
    games: dict[int, _ReadGame] = {}
    for row in read_rows(db, f"{SELECT_GAMES} ORDER BY id"):
        if is_intact(row):
            games[row[0]] = _ReadGame(*row[:-1])
    for order in ("", " DESC"):  # from both ends, because a damaged page stops the query
        for (number,) in read_rows(db, f"SELECT game FROM event ORDER BY game{order}"):
            if isinstance(number, int):
                games.setdefault(number, _ReadGame(number, time.time()))
    return {number: replace(game, rows=tuple(_read_events(db, number))) for number, game in games.items()}


def _read_events(db: sqlite3.Connection, game: int) -> list[EventRow]:
    """Return the events of a game that are not damaged."""
    return sorted(
        {row for order in ("", " DESC") for row in list_intact_rows(read_rows(db, SELECT_EVENTS + order, game))}
    )


def _read_notes(db: sqlite3.Connection, game: int) -> dict[str, str]:
    """Return the texts of the intact notes of a game (or of the table, with `TABLE_NOTES` as the game) by name."""
    rows = read_rows(db, "SELECT game, name, text, checksum FROM note WHERE game = ?", game)
    return {row[1]: row[2] for row in rows if is_intact(row)}


def _find_picture_rows(db: sqlite3.Connection) -> dict[int, list[tuple[int, int, str]]]:
    """Return the pictures of each game as (row id, event number, kind).

    A query stops at a damaged page. So the table of pictures is read from both ends, and without its index.
    """
    found: dict[int, list[tuple[int, int, str]]] = {}
    sql = "SELECT rowid, game, number, kind FROM picture NOT INDEXED ORDER BY rowid"
    rows = {row[0]: row for order in ("", " DESC") for row in read_rows(db, sql + order)}
    for row, game, number, kind in rows.values():
        found.setdefault(game, []).append((row, number, kind))
    return found


def _read_pictures(
    db: sqlite3.Connection, rows: list[tuple[int, int, str]], event_count: int
) -> Iterator[StoredPicture]:
    for row, number, kind in rows:
        for (jpeg,) in read_rows(db, "SELECT jpeg FROM picture NOT INDEXED WHERE rowid = ?", row):
            has_types = isinstance(number, int) and isinstance(kind, str) and isinstance(jpeg, bytes)
            if has_types and number < event_count and jpeg.startswith(_JPEG_START):
                yield StoredPicture(number, kind, jpeg)


def read_rows(db: sqlite3.Connection, sql: str, *values: object) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query, up to the first one that cannot be read."""
    try:
        yield from db.execute(sql, values)
    except sqlite3.Error as error:
        _log.info("the damaged store: %s", error)


@dataclass(frozen=True, slots=True)
class NewerGame:
    """A game with events that the backup does not have. The first `restored` of its events are in the backup."""

    game: StoredGame
    restored: int


@dataclass(frozen=True, slots=True)
class Restoration:
    """Result of a restore: the number of games in the backup, and what was there before.

    `aside` is the folder with the replaced store, or None if there was no store. `newer` are the games of the replaced
    store of which the backup lacks events, or None if the replaced store cannot be read.
    """

    count: int
    aside: Path | None
    newer: tuple[NewerGame, ...] | None


def restore_backup(backup: Path, path: Path) -> Restoration:
    """Replace the store at `path` by a copy of the store `backup`. The replaced store is moved to a folder beside it.

    Raises `StoreError`, and `StoreDamagedError` if `backup` is damaged, is no store or has no games. The store at
    `path` is then unchanged.
    """
    try:
        aside, (count, newer) = replace_store(path, lambda part: _copy_backup(backup, part, path), _keep_replaced)
        give_to_folder_owner(path)
    except OSError as error:
        raise to_store_error(error, str(path)) from error
    return Restoration(count, aside, newer)


def _copy_backup(backup: Path, part: Path, path: Path) -> tuple[int, tuple[NewerGame, ...] | None]:
    """Copy a backup. Return the number of its games, and the games of the store at `path` of which it lacks events."""
    with GameStore(backup, is_owner=False, is_read_only=True) as source:
        source.copy_to(part)
    with GameStore(part, is_owner=False) as copy:
        if count := len(copy.list_games()):
            return count, _find_newer_games(path, copy)
    raise StoreDamagedError(get_text("store-damaged", backup))


def _find_newer_games(path: Path, backup: GameStore) -> tuple[NewerGame, ...] | None:
    """Return the games of the store at `path` of which the backup lacks events; None if the store cannot be read.

    The start of a game identifies it, because another store may give its number to another game. A game and its
    imported copies have the same start: the one with the most equal events counts.
    """
    if not path.exists():
        return ()
    stored = backup.list_games()
    newer = []
    try:
        with open_for_reading(path) as store:
            for game in store.list_games():
                events = store.read_events(game.id)
                copies = [backup.read_events(other.id) for other in stored if other.started == game.started]
                restored = max((_count_equal_events(events, copied) for copied in copies), default=0)
                if restored < game.length:
                    newer.append(NewerGame(game, restored))
    except StoreError:
        return None
    return tuple(newer)


def _count_equal_events(events: Sequence[StoredEvent], copied: Sequence[StoredEvent]) -> int:
    """Return how many events at the beginning of a game are the same in its copy."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(events, copied, strict=False)))


def _keep_replaced(path: Path) -> Path | None:
    """Move a store to a new folder, and return the folder; None if there is no store. Raises `OSError`."""
    if not path.exists():
        return None
    folder = make_dated_path(path.with_name("replaced"))
    folder.mkdir(mode=0o750)
    give_to_folder_owner(folder)
    move_store(path, folder / path.name, keeps_name=True)
    sync_folder(folder)
    return folder
