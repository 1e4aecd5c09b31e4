"""The houses, and who may know whom: device and web -> calibration -> vision -> engine, never back."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

MAY_IMPORT = {
    "engine": {"engine"},
    "vision": {"vision", "engine"},
    "calibration": {"calibration", "vision", "engine"},
    "web": {"web", "device", "calibration", "vision", "engine"},
    "device": {"device", "calibration", "vision", "engine"},
}
MODULES = sorted(path for house in MAY_IMPORT for path in (ROOT / house).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The top-level packages that a module imports, at its head or inside a function."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in plain | named}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_house_looks_back(path: Path) -> None:
    relative = path.relative_to(ROOT)
    allowed = MAY_IMPORT[relative.parts[0]]
    if relative.parts[:2] == ("device", "cli"):
        allowed = allowed | {"web"}  # the one place where everything is put together
    assert imported(path) & set(MAY_IMPORT) <= allowed


@pytest.mark.parametrize("path", sorted((ROOT / "engine").rglob("*.py")), ids=lambda path: path.name)
def test_the_engine_needs_only_the_standard_library(path: Path) -> None:
    others = imported(path) - sys.stdlib_module_names - {"engine"}
    assert others <= ({"marisa_trie"} if path == ROOT / "engine" / "lexicon.py" else set())
