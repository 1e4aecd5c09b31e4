"""The ledger of a game in the store."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from device.catalogue import get_text
from device.storage.errors import GameDeletedError, StoreError
from device.storage.store import EventBody, GameStore, Pictures, StoredEvent
from engine.errors import NotationError, RulesError
from engine.events import GameStarted, read_start, to_json
from engine.game import Game
from engine.ledger import Entry, Ledger
from engine.ledger_data import read_entry, write_entry

UNREADABLE_GAME_ERRORS = (
    NotationError,
    RulesError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Exceptions that invalid entries may raise. There are many, because the engine does not check types."""


def read_ledger(bodies: Iterable[EventBody]) -> Ledger:
    """Return the ledger of a game from its stored data: the start of the game, and the entries.

    Raises one of `UNREADABLE_GAME_ERRORS` for invalid data.
    """
    rows = iter(bodies)
    first = next(rows, None)
    if first is None:
        raise RulesError(get_text("no-beginning"))
    return Ledger(read_start(first), tuple(read_entry(number, body) for number, body in enumerate(rows, 1)))


def write_ledger(ledger: Ledger) -> list[EventBody]:
    """Return the data of a ledger, which `read_ledger` reads."""
    return [to_json(ledger.setup), *map(write_entry, ledger.entries)]


@dataclass(slots=True)
class _UnsavedGroup:
    """Entries that are not on disk yet, with their pictures (by number and kind), and the notes that belong to them."""

    entries: tuple[Entry, ...]
    pictures: Pictures = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)


class GameLog:
    """A game with its ledger in the store.

    If entries cannot be saved, they are kept in memory, and saved together with the next entries.
    """

    def __init__(self, store: GameStore, number: int, ledger: Ledger) -> None:
        self._store = store
        self.number = number
        """The game's number in the store."""
        self.ledger = ledger
        """The entries of the game, those that are not saved yet included."""
        self._unsaved_start: EventBody | None = None
        self._unsaved: list[_UnsavedGroup] = []
        self._earlier_logs: tuple[GameLog, ...] = ()

    @classmethod
    def begin_game(cls, store: GameStore, started: GameStarted, before: GameLog | None = None) -> tuple[GameLog, str]:
        """Start a game. Return its log, and an error message if the game could not be saved (otherwise empty).

        Unsaved entries of the previous game, `before`, are saved first. Raises `RulesError`, `NotationError` if the
        start is invalid.
        """
        earlier = before._find_unsaved_logs() if before else ()
        unsaved_games = sum(log._unsaved_start is not None for log in earlier)
        log = cls(store, store.next_game_number + unsaved_games, Ledger(started))
        _ = log.game  # raises for an invalid start
        log._unsaved_start, log._earlier_logs = to_json(started), earlier
        return log, log.save()

    @classmethod
    def load(cls, store: GameStore, number: int) -> GameLog | None:
        """Return the log of a game, or None if the store does not have it. Raises `UNREADABLE_GAME_ERRORS`."""
        events = store.read_events(number)
        if not events:
            return None
        log = cls(store, number, read_ledger(event.body for event in events))
        _ = log.game
        return log

    @classmethod
    def load_newest(cls, store: GameStore, *, before: int | None = None) -> GameLog | None:
        """Return the log of the newest game that was started at this table (not imported), or None if there is none.

        If `before` is given, only games with a smaller number are considered. Raises `StoreError` if the game cannot be
        read.
        """
        games = (game for game in store.list_games() if not game.imported)
        newest = next((game for game in games if before is None or game.id < before), None)
        if newest is None:
            return None
        try:
            return cls.load(store, newest.id)
        except UNREADABLE_GAME_ERRORS as error:
            raise StoreError(newest.damage or get_text("game-unreadable", newest.id, error)) from error

    @property
    def game(self) -> Game:
        """The game that follows from the ledger."""
        return self.ledger.game

    @property
    def length(self) -> int:
        """Number of rows of the game in the store: its start, and its entries."""
        return 1 + len(self.ledger.entries)

    @property
    def can_undo(self) -> bool:
        """True if there is a command that can be undone."""
        return self.ledger.last_group is not None

    @property
    def can_redo(self) -> bool:
        """True if there is a command that can be redone."""
        return self.ledger.undone_group is not None

    def append(self, ledger: Ledger, pictures: Pictures | None = None, notes: Mapping[str, str] | None = None) -> str:
        """Continue with `ledger`, which has further entries, and save these entries.

        `pictures` are the pictures of the new entries. `notes` of the game are saved together with the entries. Return
        an error message if the entries could not be saved, otherwise an empty string.
        """
        added = ledger.entries[len(self.ledger.entries) :]
        self.ledger = ledger
        if added:
            self._unsaved.append(_UnsavedGroup(added, pictures or {}, notes or {}))
        return self.save()

    def append_saved(self, ledger: Ledger) -> None:
        """Save the new entries of `ledger`, and continue with it. Raises `StoreError`; the log is then unchanged.

        This is for a game that is not at the table. Its log is not kept, so it cannot save the entries later, as after
        `append`.
        """
        added = ledger.entries[len(self.ledger.entries) :]
        self._store.append_events(self.number, list(map(write_entry, added)))
        self.ledger = ledger

    @property
    def has_unsaved(self) -> bool:
        """True if entries of this game or of an earlier game could not be saved yet."""
        return bool(self._find_unsaved_logs())

    def save(self) -> str:
        """Save the unsaved entries, oldest game first; return an error message, or an empty string on success."""
        self._store.delete_discarded_games()
        logs = self._find_unsaved_logs()
        try:
            for log in logs:
                log._write_unsaved()
        except StoreError as error:
            return str(error)
        finally:
            for log in logs:
                log._export_unsaved()
        self._earlier_logs = ()
        return ""

    def discard(self) -> str:
        """Delete this game, which was begun by mistake; if the store cannot be written, it is deleted later.

        Return the reason if it is not deleted yet, otherwise an empty string.
        """
        self._unsaved.clear()
        if self._unsaved_start is not None:  # it is not in the store
            self._unsaved_start = None
            return ""
        self._export_unsaved()
        return self._store.discard_game(self.number)

    def _find_unsaved_logs(self) -> tuple[GameLog, ...]:
        """Return the logs of the games with unsaved entries, in the order in which the games were started."""
        logs = (*self._earlier_logs, self)
        return tuple(log for log in logs if log._unsaved_start is not None or log._unsaved)

    def _export_unsaved(self) -> None:
        """Let exported files contain the unsaved entries of this game, if it is in the store, with the present time."""
        if self._unsaved_start is None:
            bodies = [write_entry(entry) for group in self._unsaved for entry in group.entries]
            now, first = time.time(), self.length - len(bodies)
            events = tuple(StoredEvent(number, now, body) for number, body in enumerate(bodies, first))
            self._store.unsaved_events[self.number] = events

    def _write_unsaved(self) -> None:
        """Save the unsaved entries of this game. Raises `StoreError`."""
        try:
            if self._unsaved_start is not None:
                self.number = self._store.begin_game(self._unsaved_start)
                self._unsaved_start = None
            while self._unsaved:
                group = self._unsaved[0]
                bodies: Sequence[EventBody] = list(map(write_entry, group.entries))
                self._store.append_events(self.number, bodies, group.pictures, group.notes)
                del self._unsaved[0]
        except GameDeletedError:
            self._unsaved.clear()
