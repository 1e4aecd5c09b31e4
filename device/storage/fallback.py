"""The store in memory that the table uses while the file of its store cannot be written.

If the games of the file can be read, they are copied to memory, so that an unfinished game can be continued. Changes
are saved in the file as soon as it can be written.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from device.storage.database import MEMORY, STORE_SCHEMA, open_read_only
from device.storage.errors import StoreDamagedError, StoreError, StoreFullError
from device.storage.store import TABLE_NOTES, EventBody, GameStore, Pictures, StoredEvent, StoredGame, StoredPicture

_log = logging.getLogger(__name__)

RETRY_INTERVAL_S = 60.0
"""Shortest time between two attempts to write the file, in seconds.

Attempts are rare, because a failing disk can take seconds to answer.
"""


@dataclass(frozen=True, slots=True)
class _SavedGame:
    """A game that is saved in the file: its number there, and the number of its events there (0 for no game)."""

    number: int = 0
    length: int = 0


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
        self._saved: dict[int, _SavedGame] = {}
        """The saved games by their number in memory."""
        self._unsaved_notes: set[tuple[int, str]] = set()
        """The game numbers (in memory) and names of the notes that have changed since they were saved."""
        self._unsaved_player_changes: list[Callable[[GameStore], None]] = []
        """Functions that make the changes of the list of players in the file, oldest first."""
        try:
            self._load_games()
        except (sqlite3.Error, OSError, StoreError) as error:
            _log.warning("the games in %s cannot be read: %s", own_path, error)

    def add_game(
        self,
        started: float,
        events: Sequence[StoredEvent],
        pictures: Iterable[StoredPicture],
        notes: Mapping[str, str] | None = None,
        *,
        imported: bool = True,
    ) -> int:
        """Add a game; see `GameStore.add_game`. `begin_game` calls this method, too."""
        game = super().add_game(started, events, pictures, notes, imported=imported)
        self._save_changes()
        return game

    def append_events(
        self,
        game: int,
        bodies: Sequence[EventBody],
        pictures: Pictures | None = None,
        notes: Mapping[str, str] | None = None,
    ) -> tuple[StoredEvent, ...]:
        """Append events to a game; see `GameStore.append_events`."""
        events = super().append_events(game, bodies, pictures, notes)
        with self._file_lock:
            self._unsaved_notes.update((game, name) for name in notes or {})
        self._save_changes()
        return events

    def delete_game(self, game: int) -> None:
        """Delete a game also in the file. Raises `StoreError` if this fails, because the game would return."""
        with self._file_lock:
            if self._find_saved(game).length:
                file_store = self._get_file_store()
                if number := self._find_in_file(file_store, game):
                    file_store.delete_game(number)
        super().delete_game(game)

    def delete_pictures(self) -> None:
        """Delete all pictures also in the file. Raises `StoreError` if this fails; then no picture is deleted."""
        with self._file_lock:
            self._get_file_store().delete_pictures()
            super().delete_pictures()

    def save_note(self, game: int, name: str, text: str) -> None:
        """Save a note; see `GameStore.save_note`."""
        super().save_note(game, name, text)
        with self._file_lock:
            self._unsaved_notes.add((game, name))
        self._save_changes()

    def save_colour(self, name: str, colour: str) -> None:
        """Save a player's colour; see `GameStore.save_colour`."""
        super().save_colour(name, colour)
        self._save_player_change(lambda file_store: file_store.save_colour(name, colour))

    def rename_player(self, before: str, after: str) -> None:
        """Rename a player in the list of players; see `GameStore.rename_player`."""
        super().rename_player(before, after)
        self._save_player_change(lambda file_store: file_store.rename_player(before, after))

    def close(self) -> None:
        """Save the changes in the file, then close this store."""
        self._next_attempt = float("-inf")
        self._save_changes()
        if self._find_unsaved_games():
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
        self._saved = {game.id: _SavedGame(game.id, game.length) for game in self.list_games()}

    def _get_file_store(self) -> GameStore:
        """Return the store in the file; open it if it is not open yet. Raises `StoreError`."""
        self._file_store = self._file_store or self._open_file()
        return self._file_store

    def _find_unsaved_games(self) -> list[StoredGame]:
        """Return the games with events that are not in the file, oldest first."""
        return [game for game in reversed(self.list_games()) if game.length > self._find_saved(game.id).length]

    def _find_saved(self, game: int) -> _SavedGame:
        return self._saved.get(game, _SavedGame())

    def _find_in_file(self, file_store: GameStore, game: int) -> int:
        """Return the number of a game in `file_store`, the store in the file; 0 if its saved events are not there.

        The game has another number if the file was damaged and its games have been copied to a new file.
        """
        saved = self._find_saved(game)
        if not saved.length:
            return 0
        events = self.read_events(game)[: saved.length]
        if file_store.read_events(saved.number) == events:
            return saved.number
        same_length = [found.id for found in file_store.list_games() if found.length == saved.length]
        number = next((number for number in same_length if file_store.read_events(number) == events), 0)
        if number:
            self._saved[game] = _SavedGame(number, saved.length)
        return number

    def _save_player_change(self, change: Callable[[GameStore], None]) -> None:
        """Save a change of the list of players, which `change` makes in the file."""
        with self._file_lock:
            self._unsaved_player_changes.append(change)
        self._save_changes()

    def _save_changes(self) -> None:
        """Save all changes in the file, unless the last attempt failed recently."""
        with self._file_lock:
            if not (self._find_unsaved_games() or self._unsaved_notes or self._unsaved_player_changes):
                return
            if self._now() < self._next_attempt:
                return
            try:
                file_store = self._get_file_store()
                for game in self._find_unsaved_games():
                    self._save_game(file_store, game)
                self._save_unsaved_notes(file_store)
                while self._unsaved_player_changes:
                    self._unsaved_player_changes[0](file_store)
                    del self._unsaved_player_changes[0]
            except StoreError as error:
                self._next_attempt = self._now() + RETRY_INTERVAL_S
                _log.warning("the games in memory are not saved: %s", error)
                return

    def _save_game(self, file_store: GameStore, game: StoredGame) -> None:
        """Save the new events of a game in `file_store`, the store in the file. Raises `StoreError`.

        On a full disk, there may be room for the events only.
        """
        try:
            self._copy_to_file(file_store, game)
        except (StoreFullError, StoreDamagedError) as error:
            self._copy_to_file(file_store, game, has_pictures=False)
            self.picture_problem = str(error)

    def _copy_to_file(self, file_store: GameStore, game: StoredGame, *, has_pictures: bool = True) -> None:
        events = self.read_events(game.id)
        number, saved = self._find_in_file(file_store, game.id), self._find_saved(game.id).length
        pictures = self._read_pictures(game.id, saved if number else 0) if has_pictures else ()
        if number:
            file_store.add_events(number, events[saved:], pictures)
        else:  # it is new, or another program has changed it: then it is saved as a further game
            notes = self.read_game_notes(game.id)
            number = file_store.add_game(game.started, events, pictures, notes, imported=game.imported)
        self._saved[game.id] = _SavedGame(number, len(events))

    def _read_pictures(self, game: int, first: int) -> Iterator[StoredPicture]:
        """Yield the pictures of a game's events from the number `first` on."""
        for event, kind in self.list_pictures(game):
            if event >= first and (jpeg := self.read_picture(game, event, kind)):
                yield StoredPicture(event, kind, jpeg)

    def _save_unsaved_notes(self, file_store: GameStore) -> None:
        """Save the changed notes in `file_store`, the store in the file. Raises `StoreError`.

        A note of a game that was deleted, or that another program has changed in the file, is not saved.
        """
        for game, name in sorted(self._unsaved_notes):
            text = self.read_note(game, name)
            if text is not None and game == TABLE_NOTES:
                file_store.save_note(TABLE_NOTES, name, text)
            elif text is not None and (number := self._find_in_file(file_store, game)):
                file_store.save_note(number, name, text)
            self._unsaved_notes.remove((game, name))
