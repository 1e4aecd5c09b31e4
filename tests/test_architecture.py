"""The packages: which may import which, that modules have no import cycles, and how long modules and functions are."""

from __future__ import annotations

import ast
import sys
from graphlib import TopologicalSorter
from pathlib import Path

from tests.support.modules import build_import_graph, find_modules

ROOT = Path(__file__).parents[1]
MAX_MODULE_LINES = 700
MAX_FUNCTION_LINES = 60

MAY_IMPORT = {
    "engine": {"engine"},
    "vision": {"vision", "engine"},
    "calibration": {"calibration", "vision", "engine"},
    "web": {"web", "device", "calibration", "vision", "engine"},
    "device": {"device", "calibration", "vision", "engine"},
}
MODULES = find_modules(ROOT)


def imported(path: Path) -> set[str]:
    """Return the top-level packages that a module imports, at its head or inside a function."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in plain | named}


def test_packages_import_only_those_below() -> None:
    offenders = []
    for path in MODULES.values():
        relative = path.relative_to(ROOT)
        allowed = MAY_IMPORT[relative.parts[0]]
        if relative.parts[:2] == ("device", "cli"):
            allowed = allowed | {"web"}  # the one place where everything is put together
        offenders += [f"{relative} -> {other}" for other in imported(path) & set(MAY_IMPORT) - allowed]
    assert not offenders


def test_engine_needs_only_the_standard_library() -> None:
    allowed = sys.stdlib_module_names | {"engine"}
    engine = {name: path for name, path in MODULES.items() if name.split(".")[0] == "engine"}
    offenders = {name: imported(path) - allowed for name, path in engine.items()}
    assert {name: others for name, others in offenders.items() if others} == {"engine.lexicon": {"marisa_trie"}}


def test_modules_have_no_import_cycles() -> None:
    TopologicalSorter(build_import_graph(MODULES)).prepare()  # raises CycleError, which names the modules of a cycle


def test_modules_are_short() -> None:
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    assert {name for name, lines in lengths.items() if lines > MAX_MODULE_LINES} == set()


def test_functions_are_short() -> None:
    assert [
        f"{name}.{node.name}"
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= MAX_FUNCTION_LINES
    ] == []
