"""Save which pictures a folder camera has already returned, so that they are not returned again after a restart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from device.storage.errors import log_store_errors
from device.storage.notes import load_note
from device.storage.store import TABLE_NOTES, GameStore


class StoredPictureRecord:
    """A note of the store that records which pictures a `FolderCamera` has returned from its folder.

    Errors of the store are only logged. If the note is lost, the camera returns the same pictures again after a
    restart.
    """

    def __init__(self, store: GameStore, folder: Path) -> None:
        self._store = store
        self._folder = folder
        # SQLite refuses names of folders that are not UTF-8.
        self._note_name = f"shown-pictures {folder.absolute()}".encode(errors="backslashreplace").decode()

    def load(self) -> dict[str, int]:
        """Return the recorded modification times (ns since 1970) by file name; empty if there is no valid note."""
        warning = "the pictures shown before are not known"
        return load_note(self._store, TABLE_NOTES, self._note_name, dict[str, int], warning) or {}

    def save(self, times: Mapping[str, int]) -> None:
        """Save the modification times of the returned pictures, except those of files that no longer exist."""
        existing = {name: time for name, time in times.items() if (self._folder / name).exists()}
        with log_store_errors("the pictures shown are not saved"):
            self._store.save_note(TABLE_NOTES, self._note_name, json.dumps(existing))
