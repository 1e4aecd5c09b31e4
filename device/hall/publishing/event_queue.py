"""The queue of the events that a table still has to send to the hall.

The events themselves are in the store. The queue keeps only how many events of each game the broker has acknowledged,
in a note that is written after each acknowledgement. So after a power cut, events may be sent twice, but no event is
lost, and those of a game are sent in the order of its log.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import msgspec

from device.hall.messages import Publication, TableEvent, make_table_log
from device.storage.errors import log_store_errors
from device.storage.notes import load_note
from device.storage.store import TABLE_NOTES, GameStore, StoredEvent

NOTE_NAME = "hall"
MAX_BATCH = 20
"""Largest number of events that are sent without waiting for an acknowledgement, so that an outage does not fill the
memory."""


class SentEvents(msgspec.Struct, frozen=True):
    """What the broker has acknowledged: `counts` has the number of events of each game that was started at this table.

    `store` is the id of the store, and `target` identifies the broker and the table. `last` is the event that was
    acknowledged last, as (game, number, time in seconds since 1970), or None.
    """

    store: str
    target: str
    counts: Mapping[int, int]
    last: tuple[int, int, float] | None = None


class EventQueue:
    """Queue of stored events that the broker has not acknowledged yet."""

    def __init__(self, store: GameStore, table: str, target: str) -> None:
        """Load what was acknowledged before, or start with the newest game. Raises `StoreError`.

        The queue starts with the newest game if the target is new, or if the store has other games than before. `table`
        is the name of the table, and `target` identifies the broker and the table.
        """
        self._store = store
        self._table = table
        self._sent = self._load_sent(target)
        self._save()  # the id of the store must not change if the power fails before the first acknowledgement

    @property
    def store_id(self) -> str:
        """The id of the store, which is part of the messages of the table."""
        return self._sent.store

    def _load_sent(self, target: str) -> SentEvents:
        """Return what the broker `target` has acknowledged.

        The store gets a new id if it was replaced: the numbers of its games may mean other games now.
        """
        lengths = self._store.find_own_lengths()
        begun = lengths | {max(lengths, default=0): 0}
        sent = load_note(self._store, TABLE_NOTES, NOTE_NAME, SentEvents, "the newest game is sent again")
        if sent is None or not self._is_in_store(sent.last):
            return SentEvents(secrets.token_hex(8), target, begun)
        return sent if sent.target == target else SentEvents(sent.store, target, begun)

    def _is_in_store(self, last: tuple[int, int, float] | None) -> bool:
        """Return True if the store has the event `last`, or had it in a game that the players have deleted.

        Its time is compared, too: a store that was rescued from a damaged file may have lost the event, or may have
        another game with the same number.
        """
        if last is None:
            return True
        game, number, time = last
        events = self._store.read_events(game)
        is_deleted = not events and game < self._store.next_game_number
        return is_deleted or any((event.number, event.time) == (number, time) for event in events)

    def read_batch(self) -> list[Publication]:
        """Return the messages of the next events of one game, at most `MAX_BATCH`, and of its log.

        There are none if all are acknowledged. Raises `StoreError`.
        """
        lengths = self._store.find_own_lengths()
        for game in sorted(game for game, length in lengths.items() if length > self._count_sent(game)):
            start = self._count_sent(game)
            if events := self._store.read_events(game)[start : start + MAX_BATCH]:
                log = self._make_log(game, is_newest=game == max(lengths))
                return [*(self._make_event(game, one).publication for one in events), log]
        return []

    def read_log(self) -> list[Publication]:
        """Return the message with the whole log of the newest game; none without a game. Raises `StoreError`."""
        newest = max(self._store.find_own_lengths(), default=None)
        return [] if newest is None else [self._make_log(newest, is_newest=True)]

    def _count_sent(self, game: int) -> int:
        return self._sent.counts.get(game, 0)

    def _make_event(self, game: int, event: StoredEvent) -> TableEvent:
        return TableEvent(
            table=self._table, store=self.store_id, game=game, number=event.number, time=event.time, event=event.body
        )

    def _make_log(self, game: int, *, is_newest: bool) -> Publication:
        """Return the message with the whole log of a game. The broker keeps only that of the newest game."""
        log = make_table_log(self._table, self.store_id, game, self._store.read_events(game))
        return msgspec.structs.replace(log.publication, retain=is_newest)

    def acknowledge(self, event: TableEvent) -> None:
        """Note that the broker has acknowledged `event` and all earlier events of its game."""
        counts = {**self._sent.counts, event.game: event.number + 1}
        last = event.game, event.number, event.time
        self._sent = SentEvents(self._sent.store, self._sent.target, counts, last)
        self._save()

    def _save(self) -> None:
        """Save what was acknowledged. Errors are only logged, so that a table with a full disk can report this."""
        with log_store_errors("events may be sent again after a restart"):
            self._store.save_note(TABLE_NOTES, NOTE_NAME, msgspec.json.encode(self._sent).decode())
