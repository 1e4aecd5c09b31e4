"""Power cuts in the middle of a game: the real session and store, killed again and again; nothing confirmed is lost.

    python -m tests.system.power_cut kill --runs 1000      SIGKILL at a random instant
    python -m tests.system.power_cut drop --cuts 2000      the disk forgets what was not synced (needs strace)
    python -m tests.system.power_cut whole --runs 20       SIGKILL of `tilekeeper run` itself

`kill`: each run is a process that goes on with the game it finds, without being asked anything, and plays it on with a
chess clock until it is killed. It sends what it confirmed, that is what page and lights show, through a pipe; the
next one must find all of it, with the totals of the record and the clock right to ten seconds. Runs are forked from one
process that has imported everything; `whole` measures the start of the real program, with networks and page.

`drop`: a killed process loses nothing that it has written, a power cut does. So a game is played under strace, and for
cuts at every system call the files are put together as a disk may have them then: all that was synced, and of what
was written since a random part, in sectors of 512 bytes, none of it, or all. Each must open with every confirmed turn.
A file is taken to be on disk by its name once it or its folder was synced, which is what ext4 does.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from tests.system.power_cut.drop import drop_often, traced_game
from tests.system.power_cut.kill import kill_often
from tests.system.power_cut.played import MESSAGES_FILE, TURNS, play_on
from tests.system.power_cut.whole import whole_program

CLOCK_S = 11.0
"""The clock may be wrong by so much after a restart."""


def _report(name: str, figures: dict[str, object], faults: list[str]) -> int:
    print(f"{name}: " + ", ".join(f"{what} {value}" for what, value in figures.items()))
    for fault in faults[:10]:
        print(f"  FAULT {fault}")
    return 1 if faults else 0


def _spread(values: list[float]) -> str:
    if len(values) < 2:
        return "none"
    p99 = statistics.quantiles(values, n=100, method="inclusive")[98]
    return f"median {statistics.median(values):.3f} s, p99 {p99:.3f} s, longest {max(values):.3f} s"


def main(arguments: list[str]) -> int:
    """Run one of the three, print what came of it; 1 where anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kill", "drop", "whole", "play"])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--cuts", type=int, default=2000)
    parser.add_argument("--turns", type=int, default=len(TURNS) + 8)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(arguments)
    if args.what == "play":
        with (args.folder / MESSAGES_FILE).open("ab", buffering=0) as file:
            play_on(args.folder, lambda message: file.write(json.dumps(message).encode() + b"\n"), args.turns)
        return 0
    with tempfile.TemporaryDirectory(dir=args.folder) as made:
        folder = Path(made)
        if args.what == "kill":
            kills = kill_often(folder, args.runs, args.seed)
            figures = {"runs": kills.runs, "turns confirmed": kills.confirmed, "games": kills.games,
                       "turns kept without a confirmation": kills.unconfirmed_kept,
                       "restart to ready": _spread(kills.ready_s), "clock off by": _spread(kills.clock_s)}  # fmt: skip
            count = len([s for s in kills.clock_s if s > CLOCK_S])
            late = [f"{count} clocks were wrong by more than {CLOCK_S:.0f} seconds"]
            late = late if any(s > CLOCK_S for s in kills.clock_s) else []
            return _report("kill", figures, kills.faults + late)
        if args.what == "whole":
            ready = whole_program(folder, args.runs, args.seed)
            return _report("whole", {"starts": len(ready), "ready": _spread(ready)}, [])
        (folder / "data").mkdir()
        calls = traced_game(folder / "data", args.turns)
        drops = drop_often(calls, folder / "cut", args.cuts, args.seed)
        return _report("drop", {"system calls": drops.calls, "cuts": drops.cuts,
                                "with more than was confirmed": drops.kept_more}, drops.faults)  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
