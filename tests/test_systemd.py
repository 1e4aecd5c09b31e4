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


MODULES = {
    "video4linux": "videodev",
    "media": "mc",
    "drm": "drm",
    "alsa": "snd",
    "i2c": "i2c_dev",
    "spi": "spidev",
}
"""Class of devices in /proc/devices -> the module that registers it; `gpiochip` and `dma_heap` are in the kernel."""


def test_devices_that_are_plugged_in_later_are_allowed_from_the_start() -> None:
    text = UNIT.read_text(encoding="utf-8")
    classes = set(re.findall(r"^DeviceAllow=char-(\w+)", text, re.MULTILINE)) - {"gpiochip", "dma_heap"}
    for key in ("Wants", "After"):
        loaded = set(re.findall(r"modprobe@(\w+)\.service", " ".join(re.findall(rf"^{key}=(.*)", text, re.MULTILINE))))
        assert loaded == {MODULES[name] for name in classes}, key


def test_settings_file_can_be_written() -> None:
    lines = UNIT.read_text(encoding="utf-8").splitlines()
    assert {"ProtectSystem=strict", "ReadWritePaths=-/etc/tilekeeper"} <= set(lines)


def test_machine_that_hangs_starts_again() -> None:
    """Kernels of Raspberry Pi OS refuse more than 15 s, and systemd then uses no watchdog at all."""
    limit = re.search(r"^RuntimeWatchdogSec=(\d+)s$", (UNIT.parent / "tilekeeper.watchdog").read_text(), re.MULTILINE)
    assert limit is not None and int(limit[1]) <= 15
