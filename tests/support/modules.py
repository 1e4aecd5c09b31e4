"""The modules of the product, and which of them import each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

PACKAGES = ("engine", "vision", "calibration", "device", "web")


def find_modules(root: Path) -> dict[str, Path]:
    """Return the modules of the product by their dotted names."""
    paths = sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def build_import_graph(modules: Mapping[str, Path]) -> dict[str, set[str]]:
    """Return the modules that each module imports, also inside functions and under TYPE_CHECKING."""
    return {name: set(find_imports(path, modules)) - {name} for name, path in modules.items()}


def find_imports(path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    """Yield which of the modules a file imports, also inside functions and under TYPE_CHECKING."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in modules or node.module in modules:
                    yield inner if inner in modules else node.module
