"""The pictures of a watched folder that were shown, kept in the notes of the store."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from device.storage.store import TABLE_NOTES, GameStore, StoreError

_log = logging.getLogger(__name__)


class StoredPictureRecord:
    """The pictures of one folder that the table has seen, as a folder camera records them.

    A store that cannot be read or written costs the record, not the game: after a restart pictures are shown again.
    """

    def __init__(self, store: GameStore, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._note_name = f"shown-pictures {folder.absolute()}"

    def load(self) -> dict[str, int]:
        """Return the times of the files that were shown, in ns since 1970, by name; empty without an intact note."""
        try:
            times = json.loads(self._store.read_note(TABLE_NOTES, self._note_name) or "{}")
        except (StoreError, ValueError) as error:
            _log.warning("the pictures shown before are not known: %s", error)
            return {}
        pairs = times.items() if isinstance(times, dict) else ()
        return {name: time for name, time in pairs if type(time) is int}

    def save(self, times: Mapping[str, int]) -> None:
        """Save the times of the files that were shown; those that are no longer in the folder are left out."""
        there = {name: time for name, time in times.items() if (self._folder / name).exists()}
        try:
            self._store.save_note(TABLE_NOTES, self._note_name, json.dumps(there))
        except StoreError as error:
            _log.warning("the pictures shown are not saved: %s", error)
