"""A Raspberry Pi whose table is in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from device.cameras.base import Image
from tests.support.ports import find_free_port
from tests.support.raspberry_pi import RaspberryPi
from vision.rendering.simulated_table import SimulatedTable


@pytest.fixture(scope="module")
def view() -> Image:
    """A board with a few words, from above."""
    table = SimulatedTable(3)
    words = {(7, 4 + i): letter for i, letter in enumerate("QUARTZ")} | {(3 + i, 6): s for i, s in enumerate("PLAY")}
    table.lay_tiles(words | {(7, 6): "A"})
    return table.photograph().image


@pytest.fixture
def port() -> int:
    """A port of this machine that is free."""
    return find_free_port()


@pytest.fixture
def pi(tmp_path: Path, view: Image, port: int) -> RaspberryPi:
    return RaspberryPi(tmp_path, view, port)
