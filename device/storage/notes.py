"""Notes of the store that contain JSON and may be lost without harm."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from device.settings import decode_path
from device.storage.errors import StoreError, log_store_errors
from device.storage.store import TABLE_NOTES, GameStore

_log = logging.getLogger(__name__)

Value = TypeVar("Value")


def load_note(store: GameStore, game: int, name: str, kind: type[Value], warning: str) -> Value | None:
    """Return the value of the type `kind` that a note contains as JSON; None if there is no such note.

    A note with another content counts as missing, and so does each note if the store cannot be read. In both cases,
    the sentence `warning` is logged with the reason.
    """
    try:
        text = store.read_note(game, name)
        # `msgspec.json` refuses names of files that are not UTF-8.
        return msgspec.convert(json.loads(text), kind, str_keys=True, dec_hook=decode_path) if text else None
    except (StoreError, ValueError, msgspec.ValidationError) as error:
        _log.warning("%s: %s", warning, error)
        return None


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
