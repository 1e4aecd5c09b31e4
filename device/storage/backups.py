"""Copies of all games without pictures: automatic backups, and files that the owner saves and loads on the page.

After each game the store is copied. The last ten backups are kept, and so is a backup with games that the store has
lost.
"""

from __future__ import annotations

import logging
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import IO

from device.catalogue import get_text
from device.storage.database import open_read_only
from device.storage.errors import StoreError, StoreVersionError, to_store_error
from device.storage.files import give_to_folder_owner
from device.storage.store import GameStore, StoredGame

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


_PART_BYTES = 64 * 1024


def copy_games_to_file(store: GameStore) -> Iterator[bytes]:
    """Return the parts of a file with all games, without pictures. Raises `StoreError`."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "games.db"
            store.copy_to(path, pictures=False)
            copy = path.open("rb")  # the folder is deleted now, the content when the file is closed
    except OSError as error:
        raise to_store_error(error, tempfile.gettempdir()) from error
    return _read_parts(copy)


def _read_parts(copy: IO[bytes]) -> Iterator[bytes]:
    with copy:
        while part := copy.read(_PART_BYTES):
            yield part


def add_missing_games(store: GameStore, data: bytes) -> int:
    """Add the games of a file that the store does not have, oldest first, as imported games; return their number.

    A game is missing if there is none with the same start time and players. Raises `StoreError` for a file that is no
    store of this version; games that were added before an error of the disk stay.
    """
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "games.db"
            path.write_bytes(data)
            with GameStore(path, is_owner=False) as source:
                return _add_games(source, store)
    except OSError as error:
        raise to_store_error(error, tempfile.gettempdir()) from error


def _add_games(source: GameStore, store: GameStore) -> int:
    """Add the games and colours of `source` that `store` lacks; return the number of these games.

    The games are added without pictures. A game without events is left out.
    """
    known = set(map(_identify, store.list_games()))
    oldest_first = reversed(source.list_games())  # so that the numbers follow the order in which they were played
    missing = [game for game in oldest_first if _identify(game) not in known and game.length]
    for game in missing:
        store.add_game(game.started, source.read_events(game.id), pictures=(), notes=source.read_game_notes(game.id))
    for name, colour in source.list_players():
        if colour and name not in dict(store.list_players()):
            store.save_colour(name, colour)
    return len(missing)


def _identify(game: StoredGame) -> tuple[float, tuple[str, ...]]:
    return game.started, game.players
