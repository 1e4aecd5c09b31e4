"""A table with a page, and programs that use its interface."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.api_table import House, Program, house


@pytest.fixture
def table(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as table:
        yield table


@pytest.fixture
def program(table: House) -> Program:
    return Program(table.app)


@pytest.fixture
def paired(table: House) -> Program:
    program = Program(table.app)
    program.pair(table.code)
    return program
