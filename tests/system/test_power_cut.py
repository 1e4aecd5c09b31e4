"""Power cuts, a few of them; `python -m tests.system.power_cut` makes any number."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.power_cut.drop import Disk

ROOT = Path(__file__).parents[2]


def cut(*words: str) -> str:
    command = [sys.executable, "-m", "tests.system.power_cut", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.serial
def test_nothing_confirmed_is_lost_to_a_kill_and_the_game_goes_on_by_itself() -> None:
    assert "runs 40," in cut("kill", "--runs", "40")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed: sudo apt install strace")
def test_nothing_confirmed_is_lost_when_the_disk_forgets_what_was_not_synced() -> None:
    tried = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip("this system lets nobody trace a program")
    assert "cuts 300," in cut("drop", "--cuts", "300")


@pytest.mark.slow
def test_whole_program_is_ready_again_without_a_hand() -> None:
    assert "starts 3," in cut("whole", "--runs", "3")


def test_disk_keeps_what_was_synced_and_any_part_of_the_rest() -> None:
    disk = Disk()
    disk.waiting = [(0, b"a" * 1024)]
    assert disk.after_cut(random.Random(1), 0.0) is None
    disk.sync()
    disk.waiting = [(512, b"b" * 1024), (256, None)]
    assert disk.after_cut(random.Random(1), 0.0) == b"a" * 1024
    assert disk.after_cut(random.Random(1), 1.0) == b"a" * 256
    disk.waiting.pop()
    torn = {disk.after_cut(random.Random(seed), 0.5) for seed in range(40)}
    assert torn == {b"a" * 1024, b"a" * 512 + b"b" * 512, b"a" * 1024 + b"b" * 512, b"a" * 512 + b"b" * 1024}
