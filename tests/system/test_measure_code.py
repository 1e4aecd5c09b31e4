"""The figures of `python -m tests.system.measure_code`, on a small product."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tests.system import measure_code


def test_examples_of_measure_code_run() -> None:
    result = doctest.testmod(measure_code)
    assert result.attempted > 0 and result.failed == 0


def test_code_is_counted_by_folder_and_by_what_the_table_reaches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = {
        "device/cli/run.py": '"""Run."""\n\nfrom engine import board\n\n\ndef run() -> None:\n    board.show(1)\n',
        "engine/board.py": "def show(a):\n    # not typed\n    return a\n",
        "vision/training/train.py": "SEED = 1\n",
        "tests/test_run.py": "import device\n",
    }
    for name, source in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source, encoding="utf-8")
    measure_code.main([str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert "product: 6 code lines, 3 modules" in lines
    assert "without vision/training and calibration/evaluation: 5 code lines" in lines
    assert "reached from device.cli.run: 5 code lines, 2 modules" in lines
    assert "tests: 1 code lines" in lines
    assert "longest module: device.cli.run, 7 lines" in lines
    assert "functions with types: 50.0%" in lines
