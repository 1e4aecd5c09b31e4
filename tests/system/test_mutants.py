"""The mutants of `python -m tests.system.mutants`, on a small product."""

from __future__ import annotations

import doctest
import json
import subprocess
from pathlib import Path

import pytest

from tests.system import mutants

BOARD = b'''"""The board."""

def is_inside(x: int, size: int = 15) -> bool:
    """Return True if x is on the board."""
    if not x:
        return True
    return 0 <= x < size
'''
TEST = """from engine.board import is_inside

def test_inside():
    assert is_inside(0) and is_inside(14) and not is_inside(15) and not is_inside(-1)
"""


def test_examples_of_mutants_run() -> None:
    result = doctest.testmod(mutants)
    assert result.attempted > 0 and result.failed == 0


def test_each_mutant_is_another_program() -> None:
    found = list(mutants.find_mutants("engine/board.py", BOARD))
    changed = {mutant.apply(BOARD) for mutant in found}
    assert len(changed) == len(found) == 9 and BOARD not in changed
    assert {"negated condition", "boolean", "comparison", "return value", "constant"} == {m.kind for m in found}
    for source in changed:
        compile(source, "mutant", "exec")


def test_same_seed_draws_the_same_mutants_and_a_prefix_has_all_packages() -> None:
    root = Path(__file__).parents[2]
    drawn = mutants.draw_mutants(root, 60, 1)
    assert drawn == mutants.draw_mutants(root, 60, 1) and len(drawn) == 60
    assert {"engine", "vision", "device", "web"} <= {mutant.path.partition("/")[0] for mutant in drawn[:20]}


def test_results_are_written_and_continued(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout = tmp_path / "checkout"
    files = {
        "engine/__init__.py": b"",
        "engine/board.py": BOARD,
        "tests/test_board.py": TEST.encode(),
        "pytest.ini": b"[pytest]\npythonpath = .\n",
    }
    for name, source in files.items():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_bytes(source)
    subprocess.run(["git", "init", "-q", checkout], check=True)
    subprocess.run(["git", "add", "."], cwd=checkout, check=True)
    out = tmp_path / "results.jsonl"
    for until in ("1", "4"):
        mutants.main([str(out), "--root", str(checkout), "--count", "4", "--until", until])
    results = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(results) == 4 and {result["outcome"] for result in results} <= {"killed", "survived"}
    assert any(result["by"] == "tests/test_board.py::test_inside" for result in results)
    assert "all " in capsys.readouterr().out
    assert (checkout / "engine/board.py").read_bytes() == BOARD
