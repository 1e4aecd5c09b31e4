"""Import of game files, with notices about the turns that the rules do not allow.

An import asks no questions. The problems of a file are stored as notices with the game, so that everyone who opens the
game later sees them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import BinaryIO

from device.session.messages import make_finding_notice
from device.storage.archive import import_gcg, import_zip, list_gcg_problems, load_ledger
from device.storage.store import GameStore
from engine.ledger import Ledger, Note, Source
from engine.limits import MAX_GCG_BYTES
from engine.messages import read_message, write_message
from engine.validation import Proposal, validate_turn

NOTE_NAME = "import"
"""Name of a game's note (`GameStore.save_note`) that contains the notices of the game's import."""
MAX_NOTICES = 200
"""Largest number of notices that are stored with a game."""


def import_game(store: GameStore, file: BinaryIO) -> int:
    """Import a ZIP or GCG file with its notices, and return the number of the game in the store.

    Raises `ArchiveError` if the file cannot be read completely, and `StoreError`.
    """
    is_zip = file.read(2) == b"PK"
    file.seek(0)
    problems: tuple[str, ...] = ()
    if is_zip:
        number = import_zip(store, file)
    else:
        data = file.read(MAX_GCG_BYTES + 1)
        number = import_gcg(store, data)
        problems = list_gcg_problems(data)
    notices = (problems or _list_findings(load_ledger(store, number)))[:MAX_NOTICES]
    if notices:
        store.save_note(number, NOTE_NAME, json.dumps(list(map(write_message, notices)), ensure_ascii=False))
    return number


def list_import_notices(store: GameStore, number: int) -> tuple[str, ...]:
    """Return the notices of a game's import, in the order of the turns. Raises `StoreError`."""
    try:
        return tuple(map(read_message, json.loads(store.read_note(number, NOTE_NAME) or "[]")))
    except (ValueError, TypeError):
        return ()


def _list_findings(ledger: Ledger) -> tuple[str, ...]:
    """Return a message for each problem that the validation finds in the turns of an imported game."""
    found: list[str] = []
    before = Ledger(ledger.setup)
    for entry in ledger.in_effect:
        steps = tuple(step for step in ledger.get_steps(entry) if not isinstance(step, Note))
        result = validate_turn(Proposal(replace(before.game, entry=entry.number), steps, Source.IMPORT))
        found += (make_finding_notice(finding).text for finding in result.notices)
        before = before.add(replace(entry, alternatives=(steps,), chosen=0))
    return tuple(found)
