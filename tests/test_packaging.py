"""What is installed: every file that the program reads is in the wheel, and it runs from there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSES = ("engine", "vision", "calibration", "device", "web")
NOT_READ = {".py", ".pyc", ".md"}

GAME = "#player1 A Ann\n#player2 B Bob\n>A: HORN 8F HORN +14 14\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: what an earlier build left in the checkout must not get into it."""
    folder, source = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("source")
    for house in HOUSES:
        shutil.copytree(ROOT / house, source / house, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source)]
    subprocess.run(pip, check=True, stdin=subprocess.DEVNULL)
    return next(folder.glob("tilekeeper-*.whl"))


@pytest.mark.slow
def test_the_wheel_has_every_file_that_the_program_reads(wheel: Path) -> None:
    wanted = {
        path.relative_to(ROOT).as_posix()
        for house in HOUSES
        for path in (ROOT / house).rglob("*")
        if path.is_file() and path.suffix not in NOT_READ
    }
    assert "engine/data/lexicon/en.marisa" in wanted
    assert wanted <= set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.slow
def test_the_program_runs_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    game = tmp_path / "game.gcg"
    game.write_text(GAME, encoding="utf-8")
    code = f"from device.cli import main; raise SystemExit(main(['score', {str(game)!r}, '--json']))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert '"score": 14' in done.stdout
