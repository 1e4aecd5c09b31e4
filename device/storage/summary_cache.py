"""Sums of the games in a store, kept beside their logs: no page plays a game through again that was summed up before.

A sum is a note of its game (`GameStore.note`), and nothing depends on it: the log is the truth. It counts for the
length of the log that it was made of, and for the program that made it.
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
from device.storage.statistics import GameSum, PlaySum, SeatSum, sum_up
from device.storage.store import GameStore, StoredGame, StoreError
from engine.errors import NotationError, RulesError
from engine.events import from_json
from engine.game import Game

_log = logging.getLogger(__name__)

NOTE = "sum"


@dataclass(frozen=True, slots=True)
class Standing:
    """How a game stands or ended: totals in seat order, the winners by number, and its sum if it has ended."""

    totals: tuple[int, ...]
    winners: tuple[int, ...] = ()
    sum: GameSum | None = None


class Sums:
    """How each game of a store stands, for several threads."""

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._noted: dict[int, str] | None = None
        self._known: dict[int, tuple[int, Standing | None]] = {}
        self._fresh: set[int] = set()

    def of(self, stored: StoredGame) -> Standing | None:
        """How a game stands; None where this version cannot read it. Raises `StoreError`."""
        with self._lock:
            if self._noted is None:
                self._noted = self._store.notes(NOTE)
            length, standing = self._known.get(stored.id) or _from_note(stored, self._noted.get(stored.id, ""))
        if length == stored.length:
            return standing
        standing = _stands(stored, self._store)
        with self._lock:
            self._known[stored.id] = stored.length, standing
            self._fresh.add(stored.id)
        return standing

    def keep(self) -> None:
        """Note what was worked out since the last time."""
        with self._lock:
            fresh = {number: _note(*self._known[number]) for number in self._fresh & self._known.keys()}
            self._fresh.clear()
        try:
            if fresh:
                self._store.note_all(NOTE, fresh)
        except StoreError as error:  # they will be worked out anew
            _log.warning("sums of games are not kept: %s", error)

    def forget(self, number: int) -> None:
        """The game was deleted."""
        with self._lock:
            self._known.pop(number, None)


def _stands(stored: StoredGame, store: GameStore) -> Standing | None:
    try:
        game = Game.from_events(from_json(event.body) for event in store.events(stored.id))
    except (NotationError, RulesError):
        return None
    outcome = game.outcome
    if outcome is None:
        return Standing(game.totals)
    return Standing(outcome.totals, outcome.winners, sum_up(stored.id, stored.started, game))


@cache
def _maker() -> int:
    """A number that is another one as soon as another program works out the sums."""
    files = [Path(__file__).with_name("statistics.py"), *sorted(Path(engine.__path__[0]).rglob("*.py"))]
    made = 0
    for file in files:
        made = zlib.crc32(file.read_bytes(), made)
    return made


def _note(length: int, standing: Standing | None) -> str:
    return json.dumps(
        {"maker": _maker(), "length": length, "standing": standing and asdict(standing)}, separators=(",", ":")
    )


def _from_note(stored: StoredGame, text: str) -> tuple[int, Standing | None]:
    """The length of the log that a note was made of, and what it says; length 0 for one that says nothing now."""
    try:
        told = json.loads(text)
        if told["maker"] != _maker():
            return 0, None
        found = told["standing"]
        if found is None:
            return told["length"], None
        total = _sum_from(found["sum"], stored) if found["sum"] else None
        return told["length"], Standing(tuple(found["totals"]), tuple(found["winners"]), total)
    except (ValueError, KeyError, TypeError):
        return 0, None


def _sum_from(found: Mapping[str, Any], stored: StoredGame) -> GameSum:
    seats = [SeatSum(**{**seat, "best": PlaySum(**seat["best"]) if seat["best"] else None}) for seat in found["seats"]]
    return GameSum(stored.id, stored.started, found["tile_set"], tuple(seats))
