"""Restore of a backup: the store is replaced by a copy of the backup, and the replaced store is kept.

The backup may be older than the store. So the games of which it lacks events are listed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from device.catalogue import get_text
from device.storage.database import lock_beside, open_read_only, remove_database
from device.storage.errors import StoreDamagedError, StoreError, to_store_error
from device.storage.files import COMPANION_SUFFIXES, give_to_folder_owner, make_dated_path, sync_folder
from device.storage.recovery import open_for_reading
from device.storage.store import GameStore
from device.storage.stored_game import StoredEvent, StoredGame


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
    part = path.with_name(f"{path.name}.part")
    lock = lock_beside(str(path))
    try:
        remove_database(part)
        _copy_store(backup, part)
        with GameStore(part, is_owner=False) as copy:
            newer = _find_newer_games(path, copy)
            count = len(copy.list_games())
        if not count:
            raise StoreDamagedError(get_text("store-damaged", backup))
        aside = _keep_aside(path)
        part.replace(path)
        give_to_folder_owner(path)
        sync_folder(path.parent)
    except OSError as error:
        raise to_store_error(error, str(path)) from error
    finally:
        remove_database(part)
        os.close(lock)
    return Restoration(count, aside, newer)


def _copy_store(source: Path, target: Path) -> None:
    """Copy the store `source` to a new file. Raises `StoreError`, which names the file that cannot be used."""
    used = source
    try:
        with closing(open_read_only(source)) as db:
            db.execute("PRAGMA schema_version").fetchone()  # the first read: SQLite opens files late
            used = target
            with closing(sqlite3.connect(target)) as copy:
                db.backup(copy)
    except sqlite3.Error as error:
        raise to_store_error(error, str(used)) from error


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


def _keep_aside(path: Path) -> Path | None:
    """Move a store to a new folder, and return the folder; None if there is no store. Raises `OSError`.

    If possible, the main file has both names until it is replaced, so that a power cut leaves the store complete.
    """
    if not path.exists():
        return None
    folder = make_dated_path(path.with_name("replaced"))
    folder.mkdir(mode=0o750)
    give_to_folder_owner(folder)
    for suffix in COMPANION_SUFFIXES:
        if (beside := path.with_name(path.name + suffix)).exists():
            beside.rename(folder / beside.name)
    try:
        os.link(path, folder / path.name)
    except OSError:  # a file system without hard links
        path.rename(folder / path.name)
    sync_folder(folder)
    return folder
