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
