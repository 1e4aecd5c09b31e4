"""Follow one turn from the button to the page: modules entered, changes of module and package, calls.

    python -m tests.system.trace_turn
    python tests/system/trace_turn.py --root OLD_CHECKOUT

Plays the first turns of `tilekeeper bench table` (simulated camera, real networks, store, panel and page) and records
every call of a function of the product between the edge of the button and the message on the page's event stream.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType

PACKAGES = ("engine", "vision", "calibration", "device", "web")
BENCH_PACKAGES = ("device.cli.benchmarks", "device.cli.bench")
"""Folders of the benchmarks; the second one in checkouts before they left the wheel."""


@dataclass
class TurnTrace:
    """The calls of one turn, by thread, in order: each the dotted name of the module that was entered."""

    calls: int = 0
    functions: set[str] = field(default_factory=set)
    path: dict[int, list[str]] = field(default_factory=dict)

    @property
    def modules(self) -> set[str]:
        """The product's modules that were entered; the benchmark itself is not counted."""
        return {name for names in self.path.values() for name in names}

    def count_changes(self, depth: int | None = None) -> int:
        """Return how often control passed to another module; with `depth` 1, to another package."""
        return sum(
            one.split(".")[:depth] != other.split(".")[:depth]
            for names in self.path.values()
            for one, other in pairwise(names)
        )


class TurnTracer:
    """Records calls while it is switched on; stands in for the clock of the benchmark, which marks the turns."""

    def __init__(self, root: Path) -> None:
        self._prefix = f"{root.resolve()}/"
        self._names: dict[str, str] = {}
        self._trace: TurnTrace | None = None
        self.turns: list[TurnTrace] = []

    def install(self) -> None:
        """Trace every thread that starts from now on, and this one."""
        threading.setprofile(self._record)
        sys.setprofile(self._record)

    def process_time(self) -> float:
        """Begin a turn, or end it: the benchmark asks for the processor's time at both."""
        if self._trace is None:
            self._trace = TurnTrace()
        else:
            self.turns.append(self._trace)
            self._trace = None
        return time.process_time()

    def __getattr__(self, name: str) -> object:
        return getattr(time, name)

    def _record(self, frame: FrameType, event: str, _: object) -> None:
        trace = self._trace
        if trace is None or event != "call":
            return
        if name := self._find_module(frame.f_code.co_filename):
            trace.calls += 1
            trace.functions.add(f"{name}.{frame.f_code.co_qualname}")
            trace.path.setdefault(threading.get_ident(), []).append(name)

    def _find_module(self, path: str) -> str:
        """Return the dotted name of a module of the product; empty for templates, libraries and the benchmark."""
        if path not in self._names:
            inner = path.removeprefix(self._prefix).removesuffix(".py").replace("/", ".")
            is_module = path.startswith(self._prefix) and path.endswith(".py")
            is_product = is_module and inner.split(".")[0] in PACKAGES and not inner.startswith(BENCH_PACKAGES)
            self._names[path] = inner if is_product else ""
        return self._names[path]


def main(arguments: Sequence[str]) -> int:
    """Print the figures of each turn and their medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--modules", action="store_true", help="list the modules of the last turn")
    args = parser.parse_args(arguments)
    sys.path.insert(0, str(args.root.resolve()))
    folder = next(name for name in BENCH_PACKAGES if (args.root / name.replace(".", "/")).is_dir())
    bench = importlib.import_module(f"{folder}.table")
    tracer = TurnTracer(args.root)
    bench.time = tracer  # type: ignore[attr-defined]
    tracer.install()
    with tempfile.TemporaryDirectory() as folder:
        bench.measure_table(args.turns, Path(folder))
    rows = [
        (len(turn.modules), len(turn.functions), turn.calls, turn.count_changes(), turn.count_changes(1))
        for turn in tracer.turns[: args.turns]
    ]
    print("modules, functions, calls, module changes, package changes")
    for row in [*rows, tuple(int(statistics.median(column)) for column in zip(*rows, strict=True))]:
        print(", ".join(map(str, row)))
    if args.modules:
        print("\n".join(sorted(tracer.turns[args.turns - 1].modules)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
