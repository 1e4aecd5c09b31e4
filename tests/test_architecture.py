"""The packages: which may import which, that modules have no import cycles, and how long modules and functions are."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]

MAY_IMPORT = {
    "engine": {"engine"},
    "vision": {"vision", "engine"},
    "calibration": {"calibration", "vision", "engine"},
    "web": {"web", "device", "calibration", "vision", "engine"},
    "device": {"device", "calibration", "vision", "engine"},
}
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 60
# Offenders of today: take an entry out with the change that makes it shorter, add none.
LONG_MODULES = {
    "device.session.table_session",
    "vision.rendering.style",
}
LONG_FUNCTIONS = {
    "device.cli.run.serve",
    "vision.rendering.style.random_board_style",
    "vision.rendering.style.random_tile_style",
    "vision.training.networks.write_onnx",
    "web.api.games.build_operations",
    "web.api.live_game._build_command_operations",
    "web.api.live_game._build_query_operations",
    "web.pages.actions.create_blueprint",
    "web.pages.dialogs.create_blueprint",
    "web.pages.history.create_blueprint",
    "web.pages.scoreboard.create_blueprint",
    "web.pages.setup.create_blueprint",
}
MODULES = sorted(path for house in MAY_IMPORT for path in (ROOT / house).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Return the top-level packages that a module imports, at its head or inside a function."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in plain | named}


def name_module(path: Path) -> str:
    """Return the dotted name of a module; a package has the name of its folder."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def find_imports(path: Path, modules: Mapping[str, Path]) -> set[str]:
    """Return the modules among `modules` that a module imports, at any level and under TYPE_CHECKING."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & modules.keys()
            found |= submodules
            if len(submodules) < len(node.names):
                found.add(node.module)
    return found & modules.keys()


def find_cycles(imports: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """Return the sets of modules that import each other, directly or through others."""
    reachable = {name: set(others) for name, others in imports.items()}
    for through in reachable:
        for others in reachable.values():
            if through in others:
                others |= reachable[through]
    cyclic = [name for name, others in reachable.items() if name in others]
    return {
        frozenset(other for other in cyclic if other in reachable[name] and name in reachable[other]) for name in cyclic
    }


def find_long_functions() -> Iterator[str]:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES:
                    yield f"{name_module(path)}.{node.name}"


def test_packages_import_only_those_below() -> None:
    offenders = []
    for path in MODULES:
        relative = path.relative_to(ROOT)
        allowed = MAY_IMPORT[relative.parts[0]]
        if relative.parts[:2] == ("device", "cli"):
            allowed = allowed | {"web"}  # the one place where everything is put together
        offenders += [f"{relative} -> {other}" for other in imported(path) & set(MAY_IMPORT) - allowed]
    assert not offenders


def test_engine_needs_only_the_standard_library() -> None:
    allowed = sys.stdlib_module_names | {"engine"}
    offenders = {name_module(path): imported(path) - allowed for path in sorted((ROOT / "engine").rglob("*.py"))}
    assert {name: others for name, others in offenders.items() if others} == {"engine.lexicon": {"marisa_trie"}}


def test_modules_have_no_import_cycles() -> None:
    modules = {name_module(path): path for path in MODULES}
    assert find_cycles({name: find_imports(path, modules) for name, path in modules.items()}) == set()


def test_find_cycles_finds_indirect_cycle() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert find_cycles(imports) == {frozenset("abc")}


def test_modules_are_short() -> None:
    lengths = {name_module(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name for name, lines in lengths.items() if lines > MAX_MODULE_LINES} - LONG_MODULES == set()


def test_functions_are_short() -> None:
    assert set(find_long_functions()) - LONG_FUNCTIONS == set()
