"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSES = ("engine", "vision", "calibration", "device", "web")
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for house in HOUSES
    for path in (ROOT / house).rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name.removesuffix(".__init__")))
    assert result.attempted > 0 and result.failed == 0
