"""Instructions on an emulated Cortex-A72: no work of the table grows by more than a tenth unnoticed."""

from __future__ import annotations

import pytest

from tests.system.instructions.emulator import Emulator, find_obstacle
from tests.system.instructions.workloads import WORKLOADS

MILLIONS = {"idle-second": 10, "decode-preview": 23, "known-board-first": 89, "find-and-read-first": 398}
"""Millions of instructions when they were counted last, with the libraries of `emulator.WHEELS`."""
START_MILLIONS = 2840
"""Millions of instructions of the start, from the first instruction to the first page."""
MAX_GROWTH = 1.1

pytestmark = [
    pytest.mark.slow,
    pytest.mark.serial,
    pytest.mark.skipif(bool(find_obstacle()), reason=find_obstacle()),
]


@pytest.mark.parametrize("name", MILLIONS)
def test_work_takes_no_more_instructions_than_before(name: str) -> None:
    assert name in WORKLOADS
    assert Emulator().count_work(name) / 1e6 <= MAX_GROWTH * MILLIONS[name]


def test_start_takes_no_more_instructions_than_before() -> None:
    assert Emulator().count_start() / 1e6 <= MAX_GROWTH * START_MILLIONS
