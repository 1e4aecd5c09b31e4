"""A session over a painted table, in time that the test moves, and fixtures for test modules that import them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from device.session.background.auto_turns import AutoTurnConfig
from device.session.commands.base import TableCommand
from device.session.commands.games import StartGame
from device.session.snapshot import TableSnapshot
from device.session.table_session import SessionConfig, TableSession
from device.storage.store import GameStore
from engine.lexicon import WordList
from tests.support.stepped_time import STEP_S, SteppedTime, pass_time
from tests.support.text_table import STARTED, WORDS, PaintedTable
from tests.support.waiting import PATIENCE_S

MAX_PASSED_S = 60.0
"""Longest time, in seconds of the clock, in which what a test waits for must happen."""


@dataclass(frozen=True)
class SteppedTable:
    """A session with a game of Anna and Ben over a painted table. Its clock stands still between two calls."""

    session: TableSession
    table: PaintedTable
    time: SteppedTime

    def lay(self, *words: tuple[str, int, int, bool]) -> None:
        """Place words on the board; this is one movement."""
        self.table.lay(*words)

    def lay_until_read(self, *words: tuple[str, int, int, bool]) -> None:
        """Place words on the board, and wait until they have been read in advance and the board counts as at rest."""
        reads = self.table.reads
        self.lay(*words)
        self.until(lambda: self.table.reads > reads)
        self.rest(0.4)

    def rest(self, seconds: float) -> TableSnapshot:
        """Let nothing move for some seconds of the clock, and return the snapshot."""
        pass_time(self.time, self.session, seconds)
        return self.session.state

    def until(self, condition: Callable[[], object]) -> float:
        """Let time pass until `condition()` is true; return the seconds of the clock."""
        begun = self.time.clock()
        while not condition():
            passed = self.time.clock() - begun
            assert passed < MAX_PASSED_S, f"not so within {passed:.0f} s of the clock"
            pass_time(self.time, self.session, STEP_S)
        return self.time.clock() - begun

    def submit(self, command: TableCommand, seat: int | None = None) -> TableSnapshot:
        """Run a command, and return the snapshot after it; the clock moves while the command waits for it."""
        return self.time.finish(self.session.submit(command, seat=seat))


@contextmanager
def open_stepped_table(
    kind: type[PaintedTable] = PaintedTable,
    path: Path | str = ":memory:",
    *,
    words: WordList | None = WORDS,
    auto_turns: AutoTurnConfig | None = None,
) -> Iterator[SteppedTable]:
    """Open a session over a table of the class `kind`, with a store at `path`."""
    time = SteppedTime()
    table = kind(time.clock)
    config = SessionConfig(auto_turns=auto_turns)
    with (
        GameStore(path) as store,
        TableSession(table, table, store, words, config=config, clock=time.clock, closing=time) as session,
    ):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        stepped = SteppedTable(session, table, time)
        stepped.rest(1.0)  # so that the empty board has been at rest
        yield stepped


@pytest.fixture
def stepped() -> Iterator[SteppedTable]:
    with open_stepped_table() as stepped:
        yield stepped


@pytest.fixture
def session(stepped: SteppedTable) -> TableSession:
    return stepped.session


@pytest.fixture
def table(stepped: SteppedTable) -> PaintedTable:
    return stepped.table
