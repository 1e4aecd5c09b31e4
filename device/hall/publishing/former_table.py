"""Removal of what a broker keeps of a table for Home Assistant, after the table got another name or broker, or none."""

from __future__ import annotations

import logging

import msgspec

from device.hall.broker_task import RECONNECT_DELAYS_S, BrokerTask
from device.settings import HallSettings
from device.storage.notes import load_note
from device.storage.store import TABLE_NOTES, GameStore

_log = logging.getLogger(__name__)

_NOTE_NAME = "home-assistant-table"
"""Name of the store's note with the settings under which Home Assistant knows the table; empty if it does not."""


def read_known_table(store: GameStore) -> HallSettings | None:
    """Return the settings under which Home Assistant knows this table, or None."""
    return load_note(
        store, TABLE_NOTES, _NOTE_NAME, HallSettings, "Home Assistant may show a former name of this table"
    )


def save_known_table(store: GameStore, settings: HallSettings | None) -> None:
    """Save the settings under which Home Assistant knows this table; None if it does not. Raises `StoreError`."""
    if read_known_table(store) != settings:
        text = msgspec.json.encode(settings, enc_hook=str).decode() if settings else ""
        store.save_note(TABLE_NOTES, _NOTE_NAME, text)


def remove_former_table(former: HallSettings, settings: HallSettings) -> None:
    """Remove what the broker of the settings `former` keeps of the table, except what it keeps for `settings`.

    At the same broker, the user of `settings` is used, because the former one may be gone. Raises `BrokerLostError`,
    `BrokerRefusedError`.
    """
    from device.hall.connection import BrokerConnection
    from device.hall.publishing.home_assistant import make_removal_messages

    is_same_broker = (former.host, former.port) == (settings.host, settings.port)
    has_left = not (is_same_broker and former.table == settings.table)
    if not has_left and settings.home_assistant:
        return
    connection = BrokerConnection(settings if is_same_broker else former, f"{former.table}-former")
    try:
        connection.publish(make_removal_messages(former.table, has_left=has_left))
        connection.wait_for_acknowledgement()
    finally:
        connection.close()


class FormerTableRemoval(BrokerTask):
    """The task of a table that has left its hall: it removes what the former broker keeps of it for Home Assistant.

    If the broker cannot be reached, the task ends after some attempts; the next start of the table tries again.
    """

    def __init__(self, store: GameStore, former: HallSettings) -> None:
        super().__init__(_log.warning)
        self._store = store
        self._former = former
        self._attempts_left = len(RECONNECT_DELAYS_S)
        self._start()

    def _describe_refusal(self, error: Exception) -> str:
        return f"Home Assistant may still show the table {self._former.table}: {error}"

    def _use_broker(self) -> None:
        self._attempts_left -= 1
        if not self._attempts_left:
            self._closing.set()
        remove_former_table(self._former, HallSettings())
        save_known_table(self._store, None)
        self._closing.set()
