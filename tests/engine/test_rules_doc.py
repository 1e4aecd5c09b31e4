"""The table in docs/rules.md names every line of the checklist, and tests that exist."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from pathlib import Path

import pytest

from engine.rules import Rules
from tests.support.local_data import RULES_CHECKLIST, needs_rules_checklist

ROOT = Path(__file__).parents[2]
DOC = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:test_|common_)\w+)::(\w+)`", DOC)))


@pytest.mark.parametrize(("module", "test"), NAMED, ids=[test for _, test in NAMED])
def test_the_test_exists(module: str, test: str) -> None:
    [path] = [path for folder in ("engine", "support") for path in (ROOT / "tests" / folder).rglob(f"{module}.py")]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert test in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_switch_of_the_rules_is_there_with_its_source() -> None:
    switches = DOC.partition("## Switches")[2]
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| .+ \| .+ \|$", switches, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"\w+", row)} == {field.name for field in fields(Rules)}


@needs_rules_checklist
def test_every_line_of_the_checklist_is_there() -> None:
    text = RULES_CHECKLIST.read_text(encoding="utf-8")
    wanted = set(re.findall(r"^\| ([A-CE-GP]\d+[av]?) \|", text, re.MULTILINE))
    wanted |= {f"H{number}" for number in re.findall(r"^(\d)\. ", text, re.MULTILINE)}
    found = set(re.findall(r"^\| (\w+) \|", DOC, re.MULTILINE))
    assert len(wanted) > 50 and wanted <= found
