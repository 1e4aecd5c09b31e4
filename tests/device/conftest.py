"""A table of text with a session on it, and a panel of mock pins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

from device.panel.lights import PanelStatus
from device.panel.panel import Panel
from device.session.commands.games import StartGame
from device.session.table_session import TableSession
from device.storage.store import GameStore
from tests.support.panels import PINS, PanelTime, Wires, hardware, orders
from tests.support.shared_networks import shared_networks as shared_networks
from tests.support.text_table import STARTED, WORDS, TextTable
from tests.support.thread_guard import thread_guard as thread_guard
from tests.support.waiting import PATIENCE_S


@pytest.fixture
def table() -> TextTable:
    return TextTable()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


@pytest.fixture
def session(table: TextTable, path: Path) -> Iterator[TableSession]:
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        yield session


@pytest.fixture
def playing(session: TableSession) -> TableSession:
    session.submit(StartGame(STARTED)).result(PATIENCE_S)
    return session


@pytest.fixture
def factory() -> Iterator[MockFactory]:
    factory = MockFactory(pin_class=MockPWMPin)
    yield factory
    factory.reset()


@pytest.fixture
def panel_time() -> PanelTime:
    return PanelTime()


@pytest.fixture
def panel(playing: TableSession, factory: MockFactory, panel_time: PanelTime) -> Iterator[Panel]:
    with Panel(playing, orders(), hardware(factory), panel_time.clock, panel_time) as panel:
        yield panel


@pytest.fixture
def wires(factory: MockFactory, panel: Panel, panel_time: PanelTime) -> Wires:
    assert panel.view.status is PanelStatus.READY
    return Wires(factory, PINS, panel_time)
