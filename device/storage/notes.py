"""Load notes of the store that contain JSON and may be lost without harm."""

from __future__ import annotations

import json
import logging
from typing import TypeVar

import msgspec

from device.settings import decode_path
from device.storage.store import GameStore, StoreError

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
