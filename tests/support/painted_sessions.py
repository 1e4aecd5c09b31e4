"""Fixtures of a session in fast time over a painted table, for test modules that import one or both of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from device.session.table_session import TableSession
from tests.support.fast_time import fast_clock
from tests.support.sessions import open_fast_session
from tests.support.text_table import PaintedTable


@pytest.fixture
def table() -> PaintedTable:
    return PaintedTable(fast_clock)


@pytest.fixture
def session(table: PaintedTable, tmp_path: Path) -> Iterator[TableSession]:
    with open_fast_session(table, tmp_path / "games.db") as session:
        yield session
