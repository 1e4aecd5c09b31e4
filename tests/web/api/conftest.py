"""A table with a page, and programs that use its interface."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.api_table import Program, WebTable, open_web_table


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    with open_web_table(tmp_path) as table:
        yield table


@pytest.fixture
def program(table: WebTable) -> Program:
    return Program(table.app)


@pytest.fixture
def paired(table: WebTable) -> Program:
    program = Program(table.app)
    program.pair(table.code)
    return program
