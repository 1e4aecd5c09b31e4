"""The store in memory that the table uses while the file of its store cannot be written.

If the games of the file can be read, they are copied to memory, so that an unfinished game can be continued. Changes
are saved in the file as soon as it can be written.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from device.storage.database import MEMORY, STORE_SCHEMA, open_read_only
from device.storage.errors import StoreDamagedError, StoreError, StoreFullError
from device.storage.store import TABLE_NOTES, Change, GameStore, StoredPicture

_log = logging.getLogger(__name__)

RETRY_INTERVAL_S = 60.0
"""Shortest time between two attempts to write the file, in seconds.

Attempts are rare, because a failing disk can take seconds to answer.
"""


class FallbackStore(GameStore):
    """A store in memory for the games of a file that cannot be written.

    After each change, and when the store is closed, it tries to save the changes in the file, which `open_file` opens.
    On a full disk, the events are saved without their pictures. The notes of `save_notes` are not saved, because they
    can be computed again. `now` is a clock in seconds.
    """

    def __init__(
        self,
        own_path: Path,
        now: Callable[[], float] = time.monotonic,
        open_file: Callable[[], GameStore] | None = None,
    ) -> None:
        super().__init__(MEMORY)
        self._own_path = own_path
        self._now = now
        self._open_file = open_file or (lambda: GameStore(own_path))
        self._next_attempt = float("-inf")
        self._file_lock = threading.Lock()
        """Held while the file is written: turns, imports and comments come from different threads."""
        self._file_store: GameStore | None = None
        """The store in the file, as soon as it could be opened."""
        self._saved: dict[int, tuple[int, int]] = {}
        """By number in memory, the games that are in the file: their number there, and their number of events there."""
        self._changes: dict[Change, None] = {}
        """The changes that are not in the file, oldest first; several equal ones are saved as one."""
        try:
            self._load_games()
        except (sqlite3.Error, OSError, StoreError) as error:
            _log.warning("the games in %s cannot be read: %s", own_path, error)

    def delete_game(self, game: int) -> None:
        """Delete a game also in the file. Raises `StoreError` if this fails, because the game would return."""
        with self._file_lock:
            if game in self._saved:
                file_store = self._get_file_store()
                if number := self._find_in_file(file_store, game):
                    file_store.delete_game(number)
        super().delete_game(game)

    def delete_pictures(self) -> None:
        """Delete all pictures also in the file. Raises `StoreError` if this fails; then no picture is deleted."""
        with self._file_lock:
            self._get_file_store().delete_pictures()
            super().delete_pictures()

    def close(self) -> None:
        """Save the changes in the file, then close this store."""
        self._next_attempt = float("-inf")
        self._save_changes()
        if self._changes:
            _log.error("what was played in memory is lost")
        if self._file_store:
            self._file_store.close()
        super().close()

    def _load_games(self) -> None:
        """Copy all games of the file without their pictures, which may be larger than the memory."""
        if not self._own_path.is_file():
            return
        with closing(open_read_only(self._own_path)) as source, self._database.transaction() as db:
            if source.execute("PRAGMA user_version").fetchone() != (STORE_SCHEMA.version,):
                return  # only this version's columns are known
            for table in STORE_SCHEMA.checked_tables:
                names = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]
                columns, marks = ", ".join(names), ", ".join("?" for _ in names)
                rows = source.execute(f"SELECT {columns} FROM {table}").fetchall()
                db.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)
        self._check_games()
        self._saved = {game.id: (game.id, game.length) for game in self.list_games()}

    def _get_file_store(self) -> GameStore:
        """Return the store in the file; open it if it is not open yet. Raises `StoreError`."""
        self._file_store = self._file_store or self._open_file()
        return self._file_store

    def _find_in_file(self, file_store: GameStore, game: int) -> int:
        """Return the number of a game in `file_store`, the store in the file; 0 if its saved events are not there.

        The game has another number if the file was damaged and its games have been copied to a new file.
        """
        if game not in self._saved:
            return 0
        saved, length = self._saved[game]
        events = self.read_events(game)[:length]
        others = [found.id for found in file_store.list_games() if found.length == length]
        number = next((number for number in (saved, *others) if file_store.read_events(number) == events), 0)
        if number:
            self._saved[game] = number, length
        return number

    def _handle_change(self, *changes: Change) -> None:
        with self._file_lock:
            self._changes.update(dict.fromkeys(changes))
        self._save_changes()

    def _save_changes(self) -> None:
        """Save all changes in the file, unless the last attempt failed recently."""
        with self._file_lock:
            if not self._changes or self._now() < self._next_attempt:
                return
            try:
                file_store = self._get_file_store()
                for change in tuple(self._changes):
                    self._save_change(file_store, change)
                    del self._changes[change]
            except StoreError as error:
                self._next_attempt = self._now() + RETRY_INTERVAL_S
                _log.warning("the games in memory are not saved: %s", error)

    def _save_change(self, file_store: GameStore, change: Change) -> None:
        """Save a change in `file_store`, the store in the file. Raises `StoreError`.

        A note of a game that was deleted, or that another program has changed in the file, is not saved.
        """
        match change:
            case "events", int(game):
                self._save_events(file_store, game)
            case "note", int(game), str(name):
                number = game if game == TABLE_NOTES else self._find_in_file(file_store, game)
                if (text := self.read_note(game, name)) is not None and (number or game == TABLE_NOTES):
                    file_store.save_note(number, name, text)
            case "colour", str(name), str(colour):
                file_store.save_colour(name, colour)
            case "name", str(before), str(after):
                file_store.rename_player(before, after)

    def _save_events(self, file_store: GameStore, game: int) -> None:
        """Save the new events of a game. On a full disk, there may be room for the events only. Raises `StoreError`."""
        try:
            self._copy_to_file(file_store, game)
        except (StoreFullError, StoreDamagedError) as error:
            self._copy_to_file(file_store, game, has_pictures=False)
            self.picture_problem = str(error)

    def _copy_to_file(self, file_store: GameStore, game: int, *, has_pictures: bool = True) -> None:
        events = self.read_events(game)
        if not events:  # it was deleted
            return
        number, (_, length) = self._find_in_file(file_store, game), self._saved.get(game, (0, 0))
        pictures = self._read_pictures(game, length if number else 0) if has_pictures else ()
        if number:
            file_store.add_events(number, events[length:], pictures)
        else:  # it is new, or another program has changed it: then it is saved as a further game
            stored = next(one for one in self.list_games() if one.id == game)
            notes = self.read_game_notes(game)
            number = file_store.add_game(stored.started, events, pictures, notes, imported=stored.imported)
        self._saved[game] = number, len(events)

    def _read_pictures(self, game: int, first: int) -> Iterator[StoredPicture]:
        """Yield the pictures of a game's events from the number `first` on."""
        for event, kind in self.list_pictures(game):
            if event >= first and (jpeg := self.read_picture(game, event, kind)):
                yield StoredPicture(event, kind, jpeg)
