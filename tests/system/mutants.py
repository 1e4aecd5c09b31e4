"""Mutation testing: change one expression or statement of the product at a time, and see whether a test fails.

Mutants are drawn evenly over the code lines that one of the changes below can alter, from all packages but
`vision/training` and `calibration/evaluation`. Each runs in a copy of the checkout with the fast tests that import its
module, the most direct ones first: those named after the module, then those that import the fewest modules. Each result
is one line of JSON; the same command goes on where an interrupted one ended. Results that are there so far are an even
share of all, so a run that ends early still says something:

python -m tests.system.mutants /tmp/now.jsonl --count 300 --seed 1 --until 50
python -m tests.system.mutants /tmp/before.jsonl --root OLD_CHECKOUT
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import cache_from_source
from itertools import accumulate
from pathlib import Path
from typing import Any

from tests.support.modules import build_import_graph, find_imports, find_modules
from tests.system.measure_code import WORKSHOPS

LIMIT_S = 90
"""Processor time for the tests of one mutant. Beyond it the mutant is killed if they need at most half without it."""
MAX_FILES = 6
"""Number of test files that a mutant runs with: the most direct ones."""
PYTEST_OPTIONS = ("-q", "-n", "0", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")
PASSED, TIMED_OUT = 0, -signal.SIGXCPU
GOLDEN_RATIO = 0.6180339887
_OPPOSITES: dict[type[ast.AST], Any] = {
    ast.Eq: ast.NotEq, ast.Lt: ast.LtE, ast.Gt: ast.GtE, ast.Is: ast.IsNot, ast.In: ast.NotIn,
    ast.Add: ast.Sub, ast.Mult: ast.FloorDiv, ast.BitOr: ast.BitAnd, ast.And: ast.Or,
}  # fmt: skip
_SERVER = """
import json, os, resource, signal, sys
import cryptography.hazmat.primitives.asymmetric.ec, cv2, flask, hypothesis, msgspec, numpy, onnxruntime, PIL.Image
import pytest, schemathesis, tomlkit, uvicorn
for line in sys.stdin:
    limit_s, words = json.loads(line)
    child = os.fork()
    if not child:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 1))
        for descriptor in (1, 2):
            os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        status = pytest.main(words)
        sys.stdout.flush()
        os._exit(status)  # without waiting for threads that tests have left
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        os.killpg(child, signal.SIGKILL)  # programs that tests have left
    except ProcessLookupError:
        pass
    print(status, flush=True)
"""
OPERATORS = _OPPOSITES | {new: old for old, new in _OPPOSITES.items()} | {ast.Div: ast.Mult, ast.Mod: ast.Mult}


@dataclass(frozen=True)
class Mutant:
    """One change of the source: of the file at `path`, the bytes from `start` to `end` become `after`."""

    path: str
    line: int
    kind: str
    start: int
    end: int
    before: str
    after: str

    def apply(self, source: bytes) -> bytes:
        """Return the changed source."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def walk_code(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that a change can alter: no annotations and docstrings, and not what is inside an f-string.

    Python 3.11 does not know where the parts of an f-string are.
    """
    children: Iterable[ast.AST] = ast.iter_child_nodes(node)
    match node:
        case ast.Expr(ast.Constant()) | ast.arg() | ast.JoinedStr() | ast.Subscript(ast.Name("Literal")):
            return
        case ast.If(ast.Name("TYPE_CHECKING")) | ast.If(ast.Compare(ast.Name("__name__"))):
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            children = [*node.decorator_list, node.args, *node.body]
        case ast.AnnAssign():
            children = [node.value] if node.value else []
    yield node
    for child in children:
        yield from walk_code(child)


def find_changes(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    """Yield the changes of one node: the kind, the node that is replaced, and the source that replaces it."""
    match node:
        case ast.Expr() | ast.Raise() | ast.Delete() | ast.AugAssign() | ast.Continue() | ast.Break():
            yield "removed statement", node, "pass"
        case ast.Assign([ast.Attribute() | ast.Subscript()]):
            yield "removed statement", node, "pass"
        case ast.Return(ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "return value", node, "return None"
        case ast.If(test) | ast.While(test) | ast.IfExp(test):
            yield "negated condition", test, f"(not ({ast.unparse(test)}))"
        case ast.comprehension(ifs=tests):
            yield from (("negated condition", test, f"(not ({ast.unparse(test)}))") for test in tests)
        case ast.UnaryOp(ast.Not(), operand):
            yield "negated condition", node, f"({ast.unparse(operand)})"
        case ast.Compare(left, operators, values):
            for index, operator in enumerate(operators):
                others = [*operators[:index], OPERATORS[type(operator)](), *operators[index + 1 :]]
                yield "comparison", node, f"({ast.unparse(ast.Compare(left, others, values))})"
        case ast.BoolOp(operator, values):
            yield "boolean", node, f"({ast.unparse(ast.BoolOp(OPERATORS[type(operator)](), values))})"
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
            yield "arithmetic", node, f"({ast.unparse(ast.BinOp(left, OPERATORS[type(operator)](), right))})"
        case ast.Constant(bool(value)):
            yield "boolean", node, repr(not value)
        case ast.Constant(int(value) | float(value)):
            yield "constant", node, f"({value + 1!r})"
        case ast.Constant(str(value)):
            yield "constant", node, f"({value + 'x'!r})"


def find_mutants(path: str, source: bytes) -> Iterator[Mutant]:
    """Yield all mutants of a file.

    >>> [mutant.after for mutant in find_mutants("a.py", b"def f(a: int = 1) -> bool:\\n    return a < 3\\n")]
    ['(2)', 'return None', '(a <= 3)', '(4)']
    """
    starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
    for node in walk_code(ast.parse(source)):
        for kind, old, after in find_changes(node):
            assert old.end_lineno is not None and old.end_col_offset is not None
            start, end = starts[old.lineno - 1] + old.col_offset, starts[old.end_lineno - 1] + old.end_col_offset
            yield Mutant(path, old.lineno, kind, start, end, source[start:end].decode(), after)


def draw_mutants(root: Path, count: int, seed: int) -> list[Mutant]:
    """Return mutants of the product that are spread evenly over its lines, and so are the first of them.

    Each of `count` equal parts of the lines gives one: first a line, then a kind of change, then one of this kind.
    """
    lines: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for path in find_modules(root).values():
        name = path.relative_to(root).as_posix()
        if not name.startswith(WORKSHOPS):
            for mutant in find_mutants(name, path.read_bytes()):
                lines[name, mutant.line].append(mutant)
    choices = [lines[place] for place in sorted(lines)]
    rng = random.Random(seed)
    parts = [choices[len(choices) * i // count : len(choices) * (i + 1) // count] for i in range(count)]
    drawn = [_draw_mutant(rng.choice(part), rng) for part in parts]
    first = rng.random()
    return [drawn[i] for i in sorted(range(count), key=lambda i: (first + i * GOLDEN_RATIO) % 1)]


def _draw_mutant(mutants: Sequence[Mutant], rng: random.Random) -> Mutant:
    kind = rng.choice(sorted({mutant.kind for mutant in mutants}))
    return rng.choice([mutant for mutant in mutants if mutant.kind == kind])


def choose_tests(
    module: str, imports: Mapping[str, Collection[str]], graph: Mapping[str, Collection[str]]
) -> list[str]:
    """Return the test files for a module, the most direct one first.

    They are those that import the module. If there is none, they are those that are named after it, and those that
    import a module which imports it.

    Args:
        module: a module of the product
        imports: the test files with the modules that each imports
        graph: the modules with those that each imports

    >>> tests = {"tests/test_a.py": {"engine.board", "engine.game"}, "tests/test_board.py": {"engine.game"}}
    >>> choose_tests("engine.board", tests, {})
    ['tests/test_a.py']
    >>> choose_tests("engine.turn", tests, {"engine.game": {"engine.turn"}})
    ['tests/test_board.py', 'tests/test_a.py']
    """
    name = module.rpartition(".")[2].strip("_")
    users = {user for user, used in graph.items() if module in used}
    found = [path for path in imports if module in imports[path]] or [
        path for path in imports if name in Path(path).stem or users & set(imports[path])
    ]
    return sorted(found, key=lambda path: (Path(path).stem != f"test_{name}", len(imports[path]), path))


class Workplace:
    """A copy of a checkout in which files may be changed, and a process that runs its tests.

    The process has loaded what most tests need and forks for each run: loading took longer than the tests.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = folder / "checkout"
        self._output = folder / "output.txt"
        names = subprocess.check_output(["git", "ls-files", "-z"], cwd=root, text=True).split("\0")
        for name in filter(None, names):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, self.root / name)
        if (shared := root.resolve().parent / "shared").exists():
            (folder / "shared").symlink_to(shared)
        command = [sys.executable, "-c", _SERVER, str(self._output)]
        self._server = subprocess.Popen(command, cwd=self.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run_tests(self, names: Sequence[str], limit_s: int = LIMIT_S) -> tuple[int, list[str]]:
        """Return the exit status of pytest and the names of the tests or files that failed.

        A run that computes for longer than `limit_s` ends with `TIMED_OUT`. A test that hangs fails.
        """
        assert self._server.stdin and self._server.stdout
        self._server.stdin.write(json.dumps([limit_s, [*PYTEST_OPTIONS, *names]]).encode() + b"\n")
        self._server.stdin.flush()
        status = int(self._server.stdout.readline())
        output = self._output.read_text(encoding="utf-8", errors="replace")
        return status, re.findall(r"^(?:FAILED|ERROR) ([^\s\[]+)", output, re.MULTILINE)

    def run_mutant(self, mutant: Mutant, tests: Sequence[str]) -> dict[str, Any]:
        """Return what the test files say to a mutant."""
        path = self.root / mutant.path
        source = path.read_bytes()
        started = time.monotonic()
        self._write(path, mutant.apply(source))
        try:
            status, failed = self.run_tests(["-x", *tests])
        finally:
            self._write(path, source)
        outcome = {PASSED: "survived", TIMED_OUT: "timed out"}.get(status, "killed")
        if outcome == "timed out":
            outcome = "killed" if self.run_tests(tests, LIMIT_S // 2)[0] == PASSED else "not decided"
        return {
            "outcome": outcome,
            "seconds": round(time.monotonic() - started, 1),
            "by": failed[0] if failed else None,
        }

    @staticmethod
    def _write(path: Path, source: bytes) -> None:
        path.write_bytes(source)
        Path(cache_from_source(str(path))).unlink(missing_ok=True)  # it may have the same second and size

    def close(self) -> None:
        """End the process."""
        self._server.communicate()


def calculate_interval(share: float, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of `count` after Wilson.

    >>> [round(bound, 3) for bound in calculate_interval(0.8, 100)]
    [0.711, 0.867]
    """
    z = 1.96
    middle, width = share + z * z / (2 * count), z * (share * (1 - share) / count + (z / count) ** 2 / 4) ** 0.5
    return (middle - width) / (1 + z * z / count), (middle + width) / (1 + z * z / count)


def describe_results(results: Collection[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the share of killed mutants of each package and of all."""
    for package in [*sorted({result["path"].partition("/")[0] for result in results}), ""]:
        outcomes = Counter(result["outcome"] for result in results if result["path"].startswith(package))
        killed, decided = outcomes["killed"], outcomes["killed"] + outcomes["survived"]
        if decided:
            low, high = calculate_interval(killed / decided, decided)
            yield (
                f"{package or 'all':<12}{killed:>4} of {decided:>4} killed: {killed / decided:.1%} "
                f"({low:.1%} to {high:.1%}); not decided {outcomes['not decided']}"
            )


def run_mutants(place: Workplace, out: Path, mutants: Sequence[Mutant]) -> list[dict[str, Any]]:
    """Run the mutants that `out` does not have yet; return the results of all."""
    results = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] if out.exists() else []
    modules = find_modules(place.root)
    names = {path.relative_to(place.root).as_posix(): name for name, path in modules.items()}
    graph = build_import_graph(modules)
    imports = {
        path.relative_to(place.root).as_posix(): set(find_imports(path, modules))
        for path in sorted((place.root / "tests").rglob("test_*.py"))
    }
    for mutant in mutants[len(results) :]:
        tests = choose_tests(names[mutant.path], imports, graph)[:MAX_FILES]
        found = place.run_mutant(mutant, tests) if tests else {"outcome": "survived"}
        results.append({**asdict(mutant), "tests": tests, **found})
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(results[-1], ensure_ascii=False) + "\n")
        print(f"{len(results):>4} {found['outcome']:<12}{mutant.path}:{mutant.line} {mutant.kind}", flush=True)
    return results


def find_broken_tests(place: Workplace, results: Collection[Mapping[str, Any]]) -> list[str]:
    """Return the tests that failed with a mutant and fail without one, too."""
    tests = sorted({result["by"] for result in results if result.get("by")})
    return place.run_tests(tests, len(tests) * LIMIT_S)[1] if tests else []


def main(words: Sequence[str]) -> int:
    """Run the mutants and print the shares that were killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="file of results; one that exists is continued")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2], help="default: this checkout")
    parser.add_argument("--count", type=int, default=300, help="default: 300")
    parser.add_argument("--until", type=int, help="end after this number of them")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    options = parser.parse_args(words)
    mutants = draw_mutants(options.root, options.count, options.seed)[: options.until]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        place = Workplace(options.root, Path(folder))
        results = run_mutants(place, options.out, mutants)
        broken = find_broken_tests(place, results)
        place.close()
    print(*describe_results(results), sep="\n")
    print(*(f"fails without a mutant, too: {name}" for name in broken), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
