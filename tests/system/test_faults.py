"""Faults at some of the system calls of an evening; `python -m tests.system.faults` lets every call fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler: sudo apt install gcc")
def test_nothing_is_lost_without_a_word_when_calls_of_the_system_fail() -> None:
    command = [sys.executable, "-m", "tests.system.faults", "--sample", "120", "--seed", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "faults are possible" in done.stdout and "failures 0" in done.stdout
