"""Cache of game summaries, so that pages do not replay finished games.

A summary is a note of its game (`GameStore.save_note`) and can always be computed again from the log. It is valid for
the number of events that it was made from and for the version of the code that made it.
"""

from __future__ import annotations

import json
import logging
import threading
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import engine
from device.storage.event_history import replay_log
from device.storage.statistics import GameSummary, PlaySummary, SeatSummary, summarise_game
from device.storage.store import GameStore, StoredGame, StoreError
from engine.errors import NotationError, RulesError
from engine.events import from_json

_log = logging.getLogger(__name__)

NOTE_NAME = "sum"


@dataclass(frozen=True, slots=True)
class GameStanding:
    """Standing of a game: totals in seat order, the winners' seats, and its summary if it has ended."""

    totals: tuple[int, ...]
    winners: tuple[int, ...] = ()
    sum: GameSummary | None = None


class SummaryCache:
    """Standings of the games of a store. Thread-safe."""

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._saved_notes: dict[int, str] | None = None
        self._standings: dict[int, tuple[int, GameStanding | None]] = {}
        self._unsaved: set[int] = set()

    def get_standing(self, stored: StoredGame) -> GameStanding | None:
        """Return the standing of a game; None if this version cannot read it. Raises `StoreError`."""
        with self._lock:
            if self._saved_notes is None:
                self._saved_notes = self._store.read_notes_by_game(NOTE_NAME)
            length, standing = self._standings.get(stored.id) or _decode_note(
                stored, self._saved_notes.get(stored.id, "")
            )
        if length == stored.length:
            return standing
        standing = _compute_standing(stored, self._store)
        with self._lock:
            self._standings[stored.id] = stored.length, standing
            self._unsaved.add(stored.id)
        return standing

    def save(self) -> None:
        """Save the standings computed since the last call."""
        with self._lock:
            fresh = {
                number: _encode_note(*self._standings[number]) for number in self._unsaved & self._standings.keys()
            }
            self._unsaved.clear()
        try:
            if fresh:
                self._store.save_notes(NOTE_NAME, fresh)
        except StoreError as error:  # they will be worked out anew
            _log.warning("sums of games are not kept: %s", error)

    def discard(self, number: int) -> None:
        """Forget a deleted game."""
        with self._lock:
            self._standings.pop(number, None)


def _compute_standing(stored: StoredGame, store: GameStore) -> GameStanding | None:
    try:
        game = replay_log(from_json(event.body) for event in store.events(stored.id))
    except (NotationError, RulesError):
        return None
    outcome = game.outcome
    if outcome is None:
        return GameStanding(game.totals)
    return GameStanding(outcome.totals, outcome.winners, summarise_game(stored.id, stored.started, game))


@cache
def _compute_code_checksum() -> int:
    """Return a checksum of the scoring code, which invalidates summaries of other versions."""
    files = [Path(__file__).with_name("statistics.py"), *sorted(Path(engine.__path__[0]).rglob("*.py"))]
    made = 0
    for file in files:
        made = zlib.crc32(file.read_bytes(), made)
    return made


def _encode_note(length: int, standing: GameStanding | None) -> str:
    return json.dumps(
        {"maker": _compute_code_checksum(), "length": length, "standing": standing and asdict(standing)},
        separators=(",", ":"),
    )


def _decode_note(stored: StoredGame, text: str) -> tuple[int, GameStanding | None]:
    """Return the number of events a note was made from and its standing; 0 for an invalid note."""
    try:
        told = json.loads(text)
        if told["maker"] != _compute_code_checksum():
            return 0, None
        found = told["standing"]
        if found is None:
            return told["length"], None
        total = _decode_summary(found["sum"], stored) if found["sum"] else None
        return told["length"], GameStanding(tuple(found["totals"]), tuple(found["winners"]), total)
    except (ValueError, KeyError, TypeError):
        return 0, None


def _decode_summary(found: Mapping[str, Any], stored: StoredGame) -> GameSummary:
    seats = [
        SeatSummary(**{**seat, "best": PlaySummary(**seat["best"]) if seat["best"] else None})
        for seat in found["seats"]
    ]
    return GameSummary(stored.id, stored.started, found["tile_set"], tuple(seats))
