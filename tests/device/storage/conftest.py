"""Two stores, and a game with two pictures in the first one."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from device.storage.archive import make_ledger
from device.storage.game_log import write_ledger
from device.storage.store import GameStore
from engine.ledger import Ledger
from tests.support.archives import GAME, Members, export_to_memory, make_jpeg


@pytest.fixture
def store(tmp_path: Path) -> Iterator[GameStore]:
    with GameStore(tmp_path / "games.db", clock=lambda: 1_700_000_000.25) as store:
        yield store


@pytest.fixture
def other(tmp_path: Path) -> Iterator[GameStore]:
    """Another, empty store."""
    with GameStore(tmp_path / "other.db") as store:
        yield store


@pytest.fixture
def number(store: GameStore) -> int:
    """Number of a game in `store`, with an undo and a redo."""
    *entries, last = make_ledger(GAME).entries
    ledger = Ledger(GAME.start_event, tuple(entries)).undo().redo().record([last.alternatives], source=last.source)
    start, *bodies = write_ledger(ledger)
    number = store.begin_game(start)
    for body in bodies[:-1]:
        store.append_events(number, [body])
    store.append_events(number, bodies[-1:], {len(bodies): {"board": make_jpeg(), "photo": make_jpeg(60)}})
    return number


@pytest.fixture
def members(store: GameStore, number: int) -> Members:
    """Files in the ZIP file of the game in `store`."""
    with zipfile.ZipFile(export_to_memory(store, number)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}
