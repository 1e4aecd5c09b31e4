"""A fault at every system call of an evening: each call fails once, or from then on, and the program starts again.

    python -m tests.system.faults                   all calls: start, turns, undo, new game, pairing, backup, restore
    python -m tests.system.faults --sample 300      some of them, chosen by --seed

A program plays a short evening (`evening.py`) in a copy of a folder with a game, a paired phone and a backup. One call
of the C library on a file of this folder (`preload.c`) fails with EIO, ENOSPC or EROFS, or writes only a part; once, or
from then on. Then the program is killed, and started again on a disk without faults. The start must show the page
within 5 s, with all that was confirmed, unless a step had announced that it could not be saved; with no total that
never was, with all phones still paired, and without a traceback. With a limited memory, in 20 steps, the program may
fail, but what it has confirmed is there afterwards.

Needs a C compiler. The programs are forked from one process that has imported everything.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import json
import os
import random
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.system.faults.evening import Send, Step, look, play_evening, prepare, restore
from web.i18n import languages

LIBRARY = "TILEKEEPER_FAULTS"
"""Environment variable that is set in the process with the library."""
SHORT_WRITE = -1
KINDS = {"EIO": errno.EIO, "ENOSPC": errno.ENOSPC, "EROFS": errno.EROFS, "short write": SHORT_WRITE}
LONGEST_S = 60.0
LONGEST_START_S = 5.0
MEMORY_STEP_BYTES, MEMORY_STEPS = 8 << 20, 20


@dataclass(frozen=True)
class Fault:
    """One fault: what is done, the number of the call that fails, how, and whether all later ones fail, too."""

    work: Callable[[Path, Send], None]
    at: int
    kind: str
    lasts: bool

    @property
    def is_end(self) -> bool:
        """True if the program is killed after the step in which the fault begins, and not at the end of the evening."""
        return self.lasts and self.at % 2 == 0

    def __str__(self) -> str:
        return f"{self.work.__name__}, call {self.at}, {self.kind}, {'from then on' if self.lasts else 'once'}"


@dataclass
class Result:
    """What came of many faults."""

    tried: Counter[str] = field(default_factory=Counter)
    hit: Counter[str] = field(default_factory=Counter)
    announced: Counter[str] = field(default_factory=Counter)
    slowest_start_s: float = 0.0
    failures: list[str] = field(default_factory=list)


class _EndError(Exception):
    """The program ends here."""


class Harness:
    """Runs the works in forked processes, in a folder that is made anew each time."""

    def __init__(self, folder: Path) -> None:
        self._library = ctypes.CDLL(None)
        self._data, self._model = folder / "data", folder / "model"
        self._data.mkdir()
        languages()  # loaded once, for all programs
        self.run(prepare)
        shutil.copytree(self._data, self._model)
        self.before = self._look()

    def count_calls(self, work: Callable[[Path, Send], None]) -> int:
        """Return the number of system calls of a work."""
        self._reset()
        return max(step["calls"] for step in self.run(work) if "calls" in step)

    def try_fault(self, fault: Fault, result: Result) -> None:
        """Let a fault happen, start again, and note what came of it."""
        name = f"{fault.kind} {'from then on' if fault.lasts else 'once'}"
        self._reset()
        arm = partial(self._library.fault_arm, fault.at, KINDS[fault.kind], int(fault.lasts))
        steps = self.run(fault.work, arm, is_end=fault.is_end)
        result.tried[name] += 1
        result.hit[name] += any(step.get("hits") for step in steps)
        self._compare(name, str(fault), steps, result)

    def try_memory(self, more: int, result: Result) -> None:
        """Play the evening with so many bytes more of address space than the process has now.

        The program may fail then, and say so; what it has confirmed must be there afterwards.
        """

        def limit() -> None:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, resource.RLIM_INFINITY))

        self._reset()
        name = f"memory limited ({MEMORY_STEPS} steps)"
        steps = self.run(play_evening, limit)
        result.tried[name] += 1
        result.hit[name] += any("error" in step or "traceback" in step for step in steps)
        tolerated = [step for step in steps if not step.keys() & {"error", "traceback"}]
        self._compare(name, f"{name}: +{more >> 20} MB", tolerated, result)

    def run(
        self, work: Callable[[Path, Send], None], arm: Callable[[], object] = lambda: None, *, is_end: bool = False
    ) -> list[Step]:
        """Run a work in a process of its own, which is killed at its end; return what it has told.

        `arm` is called before; if `is_end` is True, the first step with a fault is the last one.
        """
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            self._live(work, arm, into, is_end=is_end)
        os.close(into)
        received, due = b"", time.monotonic() + LONGEST_S
        with os.fdopen(out, "rb", buffering=0) as pipe:
            while select.select([pipe], [], [], max(0.0, due - time.monotonic()))[0] and (more := pipe.read(1 << 16)):
                received += more
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        steps: list[Step] = [json.loads(line) for line in received.splitlines()]
        return steps if steps and steps[-1].get("done") else [*steps, {"error": "the program hung or crashed"}]

    def _live(self, work: Callable[[Path, Send], None], arm: Callable[[], object], into: int, *, is_end: bool) -> None:
        def send(step: Step) -> None:
            os.write(into, json.dumps(step).encode() + b"\n")
            if is_end and "step" in step and self._library.fault_hits():
                raise _EndError

        self._library.fault_watch(str(self._data).encode())
        arm()
        try:
            work(self._data, send)
        except _EndError:
            pass
        except BaseException as error:
            send({"error": repr(error)})
        send({"calls": self._library.fault_calls(), "hits": self._library.fault_hits()})
        send({"done": True})
        os._exit(0)

    def _reset(self) -> None:
        shutil.rmtree(self._data)
        shutil.copytree(self._model, self._data)

    def _look(self) -> list[Step]:
        return self.run(look)

    def _compare(self, name: str, fault: str, steps: list[Step], result: Result) -> None:
        """Compare what a start finds with what the steps have confirmed."""
        found = self._look()
        problems = [f"{step[key]}" for step in steps for key in ("error", "traceback") if key in step]
        problems += [f"afterwards: {step[key]}" for step in found for key in ("error", "traceback") if key in step]
        told = [step for step in steps if "step" in step]
        known = [step for step in (*self.before, *steps) if "step" in step]
        there = next((step for step in found if "step" in step), None)
        page = next((step for step in found if "page" in step), None)
        if there is None or page is None:
            problems.append("no page afterwards")
        else:
            result.slowest_start_s = max(result.slowest_start_s, page["seconds"])
            if page["page"] != 200 or page["seconds"] > LONGEST_START_S:
                problems.append(f"page {page['page']} after {page['seconds']:.1f} s")
            if there["turns"] not in [step["turns"] for step in known]:
                problems.append(f"a game that never was: {there['turns']}")
            last = (told or known)[-1]
            if there["turns"] != last["turns"]:
                if last["announced"]:
                    result.announced[name] += 1
                else:
                    problems.append(
                        f"lost without a word: {last['turns']} after {last['step']}, {there['turns']} is there"
                    )
            problems += self._find_unpaired(steps, page["paired"])
        result.failures += [f"{fault}: {problem}" for problem in problems]

    def _find_unpaired(self, steps: list[Step], paired: list[str]) -> list[str]:
        """Return a sentence about each phone that is no longer paired, although nothing was said."""
        if any(step.get("told") for step in steps):
            return []
        wanted = {phone for step in (*self.before, *steps) for phone in step.get("paired", ())}
        return [f"{len(wanted - set(paired))} phones are not paired any more"] if wanted - set(paired) else []


def list_faults(harness: Harness) -> list[Fault]:
    """Return the faults at every call."""
    return [
        Fault(work, at, kind, lasts)
        for work in (play_evening, restore)
        for at in range(1, harness.count_calls(work) + 1)
        for kind in KINDS
        for lasts in (False, True)
    ]


def measure(sample: int, seed: int, memory_steps: int) -> Result:
    """Try every fault, or `sample` of them, and the limits of memory."""
    result = Result()
    with tempfile.TemporaryDirectory() as made:
        harness = Harness(Path(made).resolve())
        faults = list_faults(harness)
        print(f"{len(faults)} faults are possible", flush=True)
        chosen = random.Random(seed).sample(faults, sample) if 0 < sample < len(faults) else faults
        for number, fault in enumerate(chosen, 1):
            harness.try_fault(fault, result)
            if number % 500 == 0:
                print(f"{number} tried, {len(result.failures)} failures", flush=True)
        for step in range(1, memory_steps + 1):
            harness.try_memory(step * MEMORY_STEP_BYTES, result)
    return result


def main(arguments: list[str]) -> int:
    """Try the faults, and print what came of them; 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory-steps", type=int, default=MEMORY_STEPS)
    args = parser.parse_args(arguments)
    if LIBRARY not in os.environ:
        return _run_with_library(arguments)
    result = measure(args.sample, args.seed, args.memory_steps)
    for kind, tried in result.tried.items():
        print(f"{kind}: {tried} tried, {result.hit[kind]} hit, {result.announced[kind]} announced losses")
    print(f"slowest start {result.slowest_start_s:.2f} s, failures {len(result.failures)}")
    for failure in result.failures[:40]:
        print(f"  FAULT {failure}")
    return 1 if result.failures else 0


def _run_with_library(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as made:
        library = Path(made) / "faults.so"
        source = Path(__file__).with_name("preload.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        environment = {**os.environ, LIBRARY: "1", "LD_PRELOAD": str(library)}
        command = [sys.executable, "-m", "tests.system.faults", *arguments]
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
