"""Measure the code: lines, what `tilekeeper run` reaches by imports, long modules and functions, import cycles.

python -m tests.system.measure_code
python -m tests.system.measure_code --root OLD_CHECKOUT --start device.cli.run
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PACKAGES = ("engine", "vision", "calibration", "device", "web")
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 60
_LAYOUT_TOKENS = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def find_modules(root: Path) -> dict[str, Path]:
    """Return the modules of the product by their dotted names."""
    paths = sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def count_code_lines(source: str) -> int:
    """Return the number of lines that hold code: no docstrings, comments or blank lines.

    >>> count_code_lines('x = 1  # one\\n\\n# two\\ndef f():\\n    "Return nothing."\\n    return None\\n')
    3
    """
    tree = ast.parse(source)
    texts = {
        line
        for node in ast.walk(tree)
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


def find_imports(tree: ast.AST, modules: Mapping[str, Path], *, type_checking: bool) -> Iterator[str]:
    """Yield the product's modules that a module imports, at its head or inside a function.

    Imports under `if TYPE_CHECKING` count only if `type_checking`.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test) and not type_checking:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in modules or node.module in modules:
                    yield inner if inner in modules else node.module
        else:
            yield from find_imports(node, modules, type_checking=type_checking)


def find_reachable(start: str, modules: Mapping[str, Path]) -> set[str]:
    """Return the modules that importing `start` and running its functions may load, their packages included."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in modules:
            continue
        reached.add(name)
        if "." in name:
            waiting.append(name.rpartition(".")[0])
        tree = ast.parse(modules[name].read_text(encoding="utf-8"))
        waiting += find_imports(tree, modules, type_checking=False)
    return reached


def find_long_functions(modules: Mapping[str, Path]) -> list[tuple[int, str]]:
    """Return the functions above the limit: lines from `def` to the end, and where."""
    return sorted(
        (
            (length, f"{name}.{node.name}")
            for name, path in modules.items()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > MAX_FUNCTION_LINES
        ),
        reverse=True,
    )


def build_import_graph(modules: Mapping[str, Path]) -> dict[str, set[str]]:
    """Return the modules that each module imports, at any level and under TYPE_CHECKING."""
    return {
        name: set(find_imports(ast.parse(path.read_text(encoding="utf-8")), modules, type_checking=True)) - {name}
        for name, path in modules.items()
    }


def find_cycles(imports: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """Return the sets of modules that import each other, directly or through others.

    >>> [sorted(cycle) for cycle in find_cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})]
    [['a', 'b', 'c']]
    """
    reachable = {name: set(others) for name, others in imports.items()}
    for through in reachable:
        for others in reachable.values():
            if through in others:
                others |= reachable[through]
    cyclic = [name for name, others in reachable.items() if name in others]
    return {
        frozenset(other for other in cyclic if other in reachable[name] and name in reachable[other]) for name in cyclic
    }


def main(words: Sequence[str]) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--start", default="device.cli.run")
    args = parser.parse_args(words)
    modules = find_modules(args.root)
    sources = {name: path.read_text(encoding="utf-8") for name, path in modules.items()}
    code = {name: count_code_lines(source) for name, source in sources.items()}
    lines = {name: len(source.splitlines()) for name, source in sources.items()}
    reached = find_reachable(args.start, modules)
    for package in PACKAGES:
        names = [name for name in modules if name.split(".")[0] == package]
        total = sum(lines[name] for name in names)
        print(f"{package}: {len(names)} modules, {total} lines, {sum(code[name] for name in names)} of code")
    print(
        f"reached by imports from {args.start}: {len(reached)} modules, {sum(lines[n] for n in reached)} lines, "
        f"{sum(code[n] for n in reached)} of code"
    )
    for name in sorted(lines, key=lambda name: -lines[name]):
        if lines[name] > MAX_MODULE_LINES:
            print(f"long module: {name}, {lines[name]} lines")
    for length, name in find_long_functions(modules):
        print(f"long function: {name}, {length} lines")
    for cycle in sorted(map(sorted, find_cycles(build_import_graph(modules)))):
        print(f"import cycle: {' <-> '.join(cycle)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
