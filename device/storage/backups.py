"""Automatic backups: after each game the store is copied without its pictures; the last ten backups are kept.

A backup with games that the store has lost is kept, too.
"""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from device.catalogue import get_text
from device.storage.database import open_read_only
from device.storage.errors import StoreError, StoreVersionError, to_store_error
from device.storage.files import give_to_folder_owner
from device.storage.store import GameStore

_log = logging.getLogger(__name__)

MAX_BACKUPS = 10
BACKUP_FOLDER = "backups"
"""Name of the folder of the backups, in the folder of the store."""
_LIST_STARTS = "SELECT started FROM game WHERE EXISTS (SELECT 1 FROM event WHERE game = game.id)"
_NAME = re.compile(r"games-(\d{6,})\.db")


def list_backups(folder: Path) -> list[Path]:
    """Return the paths of the backups in a folder, oldest first.

    The file names contain numbers instead of dates, because the clock of a table may be wrong.
    """
    return sorted((path for path in folder.glob("games-*.db") if _NAME.fullmatch(path.name)), key=_read_number)


def make_backup(store: GameStore, folder: Path) -> Path:
    """Write a new backup, keep the last `MAX_BACKUPS` and delete older backups. Raises `StoreError`.

    An older backup is not deleted if it has a game that the store does not have: the card may have lost the store.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        give_to_folder_owner(folder)
        earlier = list_backups(folder)
        number = _read_number(earlier[-1]) + 1 if earlier else 1
        path = folder / f"games-{number:06}.db"
        store.copy_to(path, pictures=False)
        give_to_folder_owner(path)
        starts = {game.started for game in store.list_games()}
        for old in earlier[: -(MAX_BACKUPS - 1)]:
            if _read_starts(old) <= starts:
                old.unlink(missing_ok=True)
    except OSError as error:
        raise to_store_error(error, str(folder)) from error
    return path


def _read_number(backup: Path) -> int:
    return int(backup.stem.removeprefix("games-"))


def _read_starts(backup: Path) -> set[float]:
    """Return the start times (seconds since 1970) of the games in a backup; none if the backup cannot be read.

    The row of a deleted game remains, but without events.
    """
    try:
        with closing(open_read_only(backup)) as db:
            return {started for (started,) in db.execute(_LIST_STARTS)}
    except sqlite3.Error as error:
        _log.warning("an old backup cannot be read: %s", error)
        return set()


def delete_from_backups(started: float, imported: bool, folder: Path) -> None:
    """Delete the game that started at the time `started` (seconds since 1970) from all backups in a folder.

    Its number does not identify a game: a new or recovered store may give it to another game. A game and its copy that
    was imported from a ZIP file have the same start: `imported` says which one is deleted. If a backup cannot be
    changed, raises `StoreError` after deleting the game from all other backups.
    """
    failure: StoreError | None = None
    for path in list_backups(folder):
        try:
            _delete_from_backup(path, started, imported)
        except StoreVersionError:
            pass  # a file of another version has no game of this store
        except StoreError as error:
            failure = error
    if failure:
        raise failure


def _delete_from_backup(path: Path, started: float, imported: bool) -> None:
    with GameStore(path, is_owner=False) as backup:
        for stored in backup.list_games():
            if (stored.started, stored.imported) == (started, imported):
                backup.delete_game(stored.id)


class BackupTask:
    """Task that makes backups in a thread named `backup`, so that no turn has to wait for them.

    Use the task in a `with` statement. A game that is deleted in the store is also deleted in the backups.
    """

    def __init__(self, store: GameStore, folder: Path, report: Callable[[str], None] = lambda _: None) -> None:
        """Start the thread; `report` is called with a message for the first of several failures in a row."""
        self._store = store
        self._folder = folder
        self._report = report
        self._has_failed = False
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="backup")
        store.delete_listeners.append(self._request_deletion)

    def __enter__(self) -> BackupTask:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.delete_listeners.remove(self._request_deletion)
        self._worker.shutdown()

    def request(self) -> None:
        """Queue a backup for the thread. If several backups in a row fail, only the first failure is reported."""
        self._worker.submit(self._run, lambda: make_backup(self._store, self._folder))

    def _request_deletion(self, started: float, imported: bool) -> None:
        self._worker.submit(self._run, lambda: delete_from_backups(started, imported, self._folder))

    def _run(self, work: Callable[[], object]) -> None:
        try:
            work()
        except StoreError as error:
            _log.warning("the backups are not up to date: %s", error)
            if not self._has_failed:
                self._report(get_text("backup-failed", error))
            self._has_failed = True
        else:
            self._has_failed = False
