"""Measure the code: lines by folder, what `tilekeeper run` reaches by imports, modules, functions, types.

A code line is one that is not blank and not only a comment or docstring.

python -m tests.system.measure_code
python -m tests.system.measure_code OLD_CHECKOUT
"""

from __future__ import annotations

import argparse
import ast
import io
import statistics
import sys
import tokenize
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from tests.support.modules import build_import_graph, find_modules

START = "device.cli.run"
WORKSHOPS = ("vision/training", "calibration/evaluation")
"""Folders that make and judge the networks; the table needs none of them, so the product is also counted without."""
_LAYOUT_TOKENS = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip
Function = ast.FunctionDef | ast.AsyncFunctionDef


def count_code_lines(source: str) -> int:
    """Return the number of lines of a module that are not blank and not only a comment or docstring.

    >>> count_code_lines('x = 1  # one\\n\\n# two\\ndef f():\\n    "Return nothing."\\n    return None\\n')
    3
    """
    texts = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in _LAYOUT_TOKENS
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(code - texts)


def find_reachable(start: str, imports: Mapping[str, Collection[str]]) -> set[str]:
    """Return the modules that importing `start` and calling its functions may load, their packages included.

    >>> sorted(find_reachable("a.b", {"a": set(), "a.b": {"c"}, "c": {"d"}, "d": set(), "e": {"a"}}))
    ['a', 'a.b', 'c', 'd']
    """
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in imports and name not in reached:
            reached.add(name)
            waiting += [name.rpartition(".")[0], *imports[name]]
    return reached


def find_functions(tree: ast.AST) -> Iterator[Function]:
    """Yield the functions and methods of a module."""
    yield from (node for node in ast.walk(tree) if isinstance(node, Function))


def is_typed(function: Function) -> bool:
    """Return True if the result and all parameters but `self` and `cls` have types."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    packed = [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    parameters = [argument for argument in named if argument.arg not in ("self", "cls")] + packed
    return function.returns is not None and all(argument.annotation for argument in parameters)


def name_folder(path: Path) -> str:
    """Return the folder of a module for the report, at most two levels deep.

    >>> name_folder(Path("web/pages/history.py")), name_folder(Path("engine/gcg/write.py"))
    ('web/pages', 'engine/gcg')
    """
    return "/".join(path.parent.parts[:2])


def print_folders(root: Path, modules: Mapping[str, Path], code: Mapping[str, int]) -> None:
    """Print the code lines and modules of each folder, and of the product with and without `WORKSHOPS`."""
    lines, counts = Counter[str](), Counter[str]()
    for name, path in modules.items():
        folder = name_folder(path.relative_to(root))
        lines[folder] += code[name]
        counts[folder] += 1
    for folder in sorted(lines):
        print(f"{folder:<24}{lines[folder]:>7} code lines {counts[folder]:>4} modules")
    apart = sum(lines[folder] for folder in WORKSHOPS)
    print(f"product: {lines.total()} code lines, {counts.total()} modules")
    print(f"without {' and '.join(WORKSHOPS)}: {lines.total() - apart} code lines")


def print_functions(trees: Collection[ast.AST]) -> None:
    """Print how long the functions are, from `def` to the last line, and how many have types."""
    functions = [function for tree in trees for function in find_functions(tree)]
    lengths = [(function.end_lineno or function.lineno) - function.lineno + 1 for function in functions]
    percentile = statistics.quantiles(lengths, n=20)[-1]
    typed = sum(map(is_typed, functions)) / len(functions)
    print(
        f"functions: {len(functions)}, median {statistics.median(lengths):.0f} lines, 95th percentile {percentile:.0f}"
    )
    print(f"functions with types: {typed:.1%}")


def main(words: Sequence[str]) -> int:
    """Print the figures of a checkout."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).parents[2], help="default: this checkout")
    root = parser.parse_args(words).root
    modules = find_modules(root)
    sources = {name: path.read_text(encoding="utf-8") for name, path in modules.items()}
    code = {name: count_code_lines(source) for name, source in sources.items()}
    print_folders(root, modules, code)
    reached = find_reachable(START, build_import_graph(modules))
    print(f"reached from {START}: {sum(code[name] for name in reached)} code lines, {len(reached)} modules")
    tests = sum(count_code_lines(path.read_text(encoding="utf-8")) for path in (root / "tests").rglob("*.py"))
    print(f"tests: {tests} code lines")
    longest = max(sources, key=lambda name: len(sources[name].splitlines()))
    print(f"longest module: {longest}, {len(sources[longest].splitlines())} lines")
    print_functions([ast.parse(source) for source in sources.values()])
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
