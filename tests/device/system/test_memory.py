"""The heap of the program: what pictures needed goes back to the system."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from device.system.process import MAX_ARENAS, OWN_MAPPING_BYTES

UNIT = Path(__file__).parents[3] / "systemd" / "tilekeeper.service"
PROGRAM = """
import re, sys
from device.system.process import limit_heap

def read_memory() -> int:
    return int(re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024

if sys.argv[1] == "limited":
    limit_heap()
picture = b"x" * 20_000_000
del picture
before = read_memory()
crops = [b"x" * 1_000_000 for _ in range(100)]
last = crops.pop()
crops.clear()
print(read_memory() - before)
"""


def measure_rest(how: str) -> int:
    """Return the bytes that stay after large and small pictures, of which the last small one is kept."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these parameters")
def test_memory_of_pictures_goes_back_to_the_system() -> None:
    assert measure_rest("limited") < 5_000_000 < 50_000_000 < measure_rest("unlimited")


def test_unit_has_the_same_limits_as_the_program() -> None:
    found = dict(re.findall(r"(MALLOC_\w+)=(\d+)", UNIT.read_text(encoding="utf-8")))
    size = str(OWN_MAPPING_BYTES)
    assert found == {
        "MALLOC_ARENA_MAX": str(MAX_ARENAS), "MALLOC_MMAP_THRESHOLD_": size, "MALLOC_TRIM_THRESHOLD_": size
    }  # fmt: skip
