"""The queue of the events that a table still has to send to the hall.

The events themselves are in the store. The queue keeps only the position of the first event that the broker has not
acknowledged. The position is a note in the store, written after each acknowledgement. So after a power cut, events may
be sent twice, but no event is lost, and all are sent in the order of the log.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence

import msgspec

from device.hall.messages import Publication, TableEvent, make_table_log
from device.storage.errors import log_store_errors
from device.storage.notes import load_note
from device.storage.store import TABLE_NOTES, GameStore, StoredEvent, StoredGame

NOTE_NAME = "hall"
LATE_NOTE = "hall-late"
MAX_BATCH = 20
"""Largest number of events that are sent without waiting for an acknowledgement, so that an outage does not fill the
memory."""


class Position(msgspec.Struct, frozen=True):
    """Position of the next event to send: the number of the `game`, and the `number` of the event in the game.

    `store` is the id of the store, and `target` identifies the broker and the table. `time` is the time of the previous
    event, 0 if there is none.
    """

    store: str
    target: str
    game: int
    number: int
    time: float


class LateGames:
    """Earlier games with entries that the hall lacks, such as letters that were entered after the next game had begun.

    They are noted in the store until the broker has acknowledged their last entry. Thread-safe.
    """

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._games = set(load_note(store, TABLE_NOTES, LATE_NOTE, list[int], "they are not sent again") or ())

    def add(self, game: int) -> None:
        """Add a game."""
        with self._lock:
            self._games.add(game)
            self._save()

    def read_next(self) -> tuple[int, Sequence[StoredEvent]]:
        """Return one of the waiting games with its events; without a waiting game, no events. Raises `StoreError`."""
        games = ((game, self._store.read_events(game)) for game in sorted(self._games))
        return next(((game, events) for game, events in games if events), (0, ()))

    def acknowledge(self, event: TableEvent) -> None:
        """Remove the game of an event from the queue, unless the game has later events."""
        with self._lock:
            if event.game in self._games and len(self._store.read_events(event.game)) == event.number + 1:
                self._games.discard(event.game)
                self._save()

    def _save(self) -> None:
        with log_store_errors("games may be sent again, or not at all, after a restart"):
            self._store.save_note(TABLE_NOTES, LATE_NOTE, msgspec.json.encode(sorted(self._games)).decode())


class EventQueue:
    """Queue of stored events that the broker has not acknowledged yet."""

    def __init__(self, store: GameStore, table: str, target: str, late: LateGames | None = None) -> None:
        """Load the position of the next event, or start with the newest game. Raises `StoreError`.

        The queue starts with the newest game if the target is new, or if the store has other games than before. `table`
        is the name of the table, and `target` identifies the broker and the table.
        """
        self._store = store
        self._table = table
        self._late = late or LateGames(store)
        self._position = self._read_position(target)
        self._next_game = 0
        """The store's `next_game_number` when the list of games was last read. If it has increased since, there are new
        games."""
        self._save_position()  # the id of the store must not change if the power fails before the first acknowledgement

    @property
    def store_id(self) -> str:
        """The id of the store, which is part of the messages of the table."""
        return self._position.store

    def _read_position(self, target: str) -> Position:
        """Return the position of the next event to publish to the broker `target`.

        The position gets a new store id if the store was replaced: the numbers of its games may mean other games now.
        """
        newest = self._find_newest_game()
        try:
            position = msgspec.json.decode(self._store.read_note(TABLE_NOTES, NOTE_NAME) or "", type=Position)
        except msgspec.DecodeError:
            return Position(secrets.token_hex(8), target, newest, 0, 0.0)
        if position.number and not self._has_event(position):
            new_store = secrets.token_hex(8)
            if not self._is_deleted(position.game):  # the games of a rescued store have other numbers
                return Position(new_store, target, newest, 0, 0.0)
            position = Position(new_store, position.target, position.game, 0, 0.0)
        return position if position.target == target else Position(position.store, target, newest, 0, 0.0)

    def _is_deleted(self, game: int) -> bool:
        """Return True if the store had a game with this number, but has no events of it."""
        return game < self._store.next_game_number and not self._store.read_events(game)

    def _find_newest_game(self) -> int:
        """Return the number of the newest game that was started at this table, or of the next game if there is none."""
        return next((game.id for game in self._list_own_games()), self._store.next_game_number)

    def _list_own_games(self) -> list[StoredGame]:
        """Return the games that were started at this table, the newest first."""
        return [game for game in self._store.list_games() if not game.imported]

    def _has_event(self, position: Position) -> bool:
        """Return True if the store has the event before `position`, the last one that the broker has acknowledged.

        Its time is compared, too: a store that was rescued from a damaged file may have lost the event, or may have
        another game with the same number.
        """
        return any(
            event.number == position.number - 1 and event.time == position.time
            for event in self._store.read_events(position.game)
        )

    def read_batch(self) -> list[Publication]:
        """Return the messages of the next events of one game, at most `MAX_BATCH`, and of its log.

        There are none if all are acknowledged. An earlier game with late entries is sent whole. Raises `StoreError`.
        """
        events = self._store.read_events(self._position.game)
        if not events and self._is_deleted(self._position.game):
            self._go_back_from_deleted_game()
            events = self._store.read_events(self._position.game)
        position, next_game = self._position, self._store.next_game_number
        if batch := events[position.number : position.number + MAX_BATCH]:
            return self._make_batch(position.game, batch)
        if next_game > self._next_game:  # a list of all games is read only after a game was added
            games = [game.id for game in self._list_own_games() if game.id > position.game]
            if games:
                return self._make_batch(min(games), self._store.read_events(min(games))[:MAX_BATCH])
            self._next_game = next_game
        late = self._make_batch(*self._late.read_next())
        return [msgspec.structs.replace(one, retain=False) for one in late]  # the broker keeps the newest game

    def _make_batch(self, game: int, events: Sequence[StoredEvent]) -> list[Publication]:
        """Return the messages of events, and of the log of their game."""
        messages = (
            TableEvent(
                table=self._table, store=self.store_id, game=game, number=one.number, time=one.time, event=one.body
            )
            for one in events
        )
        return [*(one.publication for one in messages), *self.read_log(game)]

    def _go_back_from_deleted_game(self) -> None:
        """Start the game before again if the players deleted a game: they may have continued the game before it.

        The hall skips the events that it already has.
        """
        earlier = [game.id for game in self._list_own_games() if game.id < self._position.game]
        if earlier:
            self._position = msgspec.structs.replace(self._position, game=max(earlier), number=0, time=0.0)

    def read_log(self, game: int | None = None) -> list[Publication]:
        """Return the message with the whole log of a game; none if the log is empty. Raises `StoreError`.

        If `game` is None, it is the game of the next event to send.
        """
        game = self._position.game if game is None else game
        events = self._store.read_events(game)
        return [make_table_log(self._table, self.store_id, game, events).publication] if events else []

    def acknowledge(self, event: TableEvent) -> None:
        """Move the position behind `event`, because the broker has acknowledged it and all earlier events."""
        self._late.acknowledge(event)
        if event.game >= self._position.game:
            self._position = msgspec.structs.replace(
                self._position, game=event.game, number=event.number + 1, time=event.time
            )
            self._save_position()

    def _save_position(self) -> None:
        """Save the position. Errors are only logged, so that a table with a full disk can still report this fault."""
        with log_store_errors("events may be sent again after a restart"):
            self._store.save_note(TABLE_NOTES, NOTE_NAME, msgspec.json.encode(self._position).decode())
