"""The package by itself: its example, and a reading without the packages above it."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import vision

READ_ALONE = """
import sys
for name in ("calibration", "device", "web"):
    sys.modules[name] = None  # importing it raises ImportError
from vision import BoardReader
from vision.rendering.simulated_table import SimulatedTable

table = SimulatedTable(seed=3, tilt=12, turn=4)
table.lay_tiles({(7, 5 + i): letter for i, letter in enumerate("QUARTZ")})
reading = BoardReader().read(table.photograph().image, list("AQRTUZ"))
print("".join(reading.board.rows()[7]))
"""


def test_example_of_the_package_is_true() -> None:
    result = doctest.testmod(vision)
    assert result.attempted > 0 and result.failed == 0


def test_board_is_read_without_the_packages_above() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", READ_ALONE], cwd=root, stdout=subprocess.PIPE, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == ".....QUARTZ....."[:15]
