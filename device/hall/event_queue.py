"""The store as the queue of events for the hall: the position after the last event that the broker acknowledged.

The position is a note in the store, written after the acknowledgement. After a power cut, events may be sent twice, but
none is lost, and they are sent in the order of the log.
"""

from __future__ import annotations

import secrets

import msgspec

from device.hall.messages import Publication, publish_events
from device.storage.store import TABLE_NOTES, GameStore

NOTE_NAME = "hall"
MAX_BATCH = 20
"""Largest number of events that are sent before an acknowledgement; the memory needed does not depend on an outage."""


class Position(msgspec.Struct, frozen=True):
    """The next event to send, by game and number, the id of the store, and the broker and table (`target`)."""

    store: str
    target: str
    game: int
    number: int


class EventQueue:
    """The events of the store that `target` has not acknowledged yet."""

    def __init__(self, store: GameStore, table: str, target: str) -> None:
        """Read the position; a new target gets the newest game. Raises `StoreError`."""
        self._store = store
        self._table = table
        self._position = self._read_position(target)
        self._save_position()  # the id of the store must not change if the power fails before the first acknowledgement

    def _read_position(self, target: str) -> Position:
        newest = next((game.id for game in self._store.games() if not game.imported), self._store.next_game_number)
        try:
            position = msgspec.json.decode(self._store.read_note(TABLE_NOTES, NOTE_NAME) or "", type=Position)
        except msgspec.DecodeError:
            return Position(secrets.token_hex(8), target, newest, 0)
        return position if position.target == target else Position(position.store, target, newest, 0)

    def read_batch(self) -> list[Publication]:
        """Return the next events, up to `MAX_BATCH` and of one game; empty if all are acknowledged.

        Raises `StoreError`.
        """
        position = self._position
        games = sorted(game.id for game in self._store.games() if not game.imported and game.id >= position.game)
        for game in games:
            first = position.number if game == position.game else 0
            if events := self._store.events(game)[first : first + MAX_BATCH]:
                return publish_events(self._table, position.store, game, events)
        return []

    def acknowledge(self, game: int, number: int) -> None:
        """Save that the event `number` of a game, and all events before it, have arrived. Raises `StoreError`."""
        self._position = msgspec.structs.replace(self._position, game=game, number=number + 1)
        self._save_position()

    def _save_position(self) -> None:
        self._store.save_note(TABLE_NOTES, NOTE_NAME, msgspec.json.encode(self._position).decode())
