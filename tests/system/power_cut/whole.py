"""`whole`: the real program, with networks and page, is killed and started again."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from tests.system.power_cut import ROOT


def whole_program(folder: Path, runs: int, seed: int) -> list[float]:
    """Start `tilekeeper run`, kill it, start it again; the seconds from each start until a page is served."""
    chance = random.Random(seed)
    pictures = folder / "pictures"
    pictures.mkdir()
    seconds = []
    command = [sys.executable, "-c", "from device.cli import main; raise SystemExit(main())", "run"]
    command += ["--camera", f"folder:{pictures}", "--port", "0", "--host", "127.0.0.1", "--data", str(folder)]
    for _ in range(runs):
        began = time.monotonic()
        program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
        assert program.stdout is not None
        lines = []
        for line in program.stdout:
            lines.append(line)
            if found := re.match(r"The page is up: (\S+)", line):
                with urllib.request.urlopen(found[1], timeout=10) as response:
                    response.read()
                seconds.append(time.monotonic() - began)
                break
        else:
            raise SystemExit(f"it did not start: {''.join(lines)}")
        time.sleep(chance.uniform(0, 0.5))
        program.kill()
        program.wait()
        program.stdout.close()
    return seconds
