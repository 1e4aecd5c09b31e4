"""Count the instructions of the table's work on an emulated Cortex-A72.

    python -m tests.system.instructions prepare      # once: Debian's Python and the wheels for 64-bit ARM, 160 MB
    python -m tests.system.instructions              # all work, some minutes
    python -m tests.system.instructions idle-second decode-frame
    TILEKEEPER_PHOTOS=~/photos python -m tests.system.instructions photographs      # 40 photographs, half an hour

`prepare` needs Debian with `qemu-user` and `gcc`, and the network. The files are in the folder that the environment
variable `TILEKEEPER_ARM64` names (default `~/.cache/tilekeeper/arm64`).
"""

from __future__ import annotations

import argparse
import sys

from tests.system.instructions.emulator import Emulator, find_obstacle
from tests.system.instructions.workloads import PHOTOGRAPHS, WORKLOADS


def main() -> int:
    """Prepare the emulator, or count and print the instructions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", nargs="*", help=f"prepare, photographs, start, {', '.join(WORKLOADS)}")
    work = parser.parse_args().work or [*WORKLOADS, "start"]
    emulator = Emulator()
    if work == ["prepare"]:
        emulator.prepare()
        return 0
    if obstacle := find_obstacle():
        print(obstacle, file=sys.stderr)
        return 2
    for name in work:
        special = {"start": emulator.count_start, PHOTOGRAPHS: emulator.count_photographs}
        count = special[name]() if name in special else emulator.count_work(name)
        print(f"{name}: {count / 1e6:,.0f} million instructions", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
