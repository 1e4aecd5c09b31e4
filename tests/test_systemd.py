"""The unit file: systemd understands it, and what it leaves open is little."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

UNIT = Path(__file__).parents[1] / "systemd" / "tilekeeper.service"
pytestmark = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit with a program that is installed on every machine."""
    path = tmp_path / UNIT.name
    path.write_text(re.sub(r"ExecStart=\S+", "ExecStart=/bin/true", UNIT.read_text(encoding="utf-8")), encoding="utf-8")
    return path


def test_systemd_finds_nothing_wrong_with_the_unit(unit: Path) -> None:
    said = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert UNIT.name not in said.stderr


def test_exposure_stays_low(unit: Path) -> None:
    said = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", unit], capture_output=True, text=True, check=False
    )
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", said.stdout)
    assert exposure is not None, said.stdout + said.stderr
    assert float(exposure[1]) < 1.8


def test_everything_that_stays_open_is_explained(unit: Path) -> None:
    said = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", unit], capture_output=True, text=True, check=False
    )
    opened = re.findall(r"^✗ (\w+)=(?:~(\w+|\(.*?\)))?", said.stdout, re.MULTILINE)
    assert opened, said.stdout + said.stderr
    explained = UNIT.read_text(encoding="utf-8").partition("What stays open")[2]
    for directive, what in opened:
        for name in re.findall(r"\w+", what) or [directive]:
            assert name in explained or f"AF_{name}" in explained, f"{directive}={what}"


def test_the_watchdog_is_on_and_the_table_comes_back_by_itself() -> None:
    lines = UNIT.read_text(encoding="utf-8").splitlines()
    assert {"Type=notify", "WatchdogSec=30", "Restart=always"} <= set(lines)
