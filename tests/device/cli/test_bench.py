"""`tilekeeper bench`: figures, and that they are good enough. The bounds are loose, for slow machines."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from device.cli import main
from device.cli.benchmarks.engine import measure_engine


def test_the_figures_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "engine", "--seconds", "0.01"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "plays scored and validated",
        "a game of 25 turns rebuilt from its events",
        "a reading explained",
    ]


def test_sweep_says_before_it_measures_that_it_cannot_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "calibration.evaluation.robustness", None)
    assert main(["bench", "sweep", "--rendered", "1", "--out", str(tmp_path / "out")]) == 2
    assert "pip install '.[train]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_sweep_refuses_to_compare_with_a_file_of_another_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.json").write_text("[1]", encoding="utf-8")
    assert main(["bench", "sweep", "--rendered", "1", "--compare", str(tmp_path / "other.json")]) == 2
    assert "not a sweeps.json" in capsys.readouterr().err


@pytest.mark.slow
def test_sweep_measures_draws_and_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["bench", "sweep", "--rendered", "2", "--only", "table turned", "--out", str(tmp_path)]
    assert main(arguments) == 0
    assert "wrong totals accepted: 0" in capsys.readouterr().out
    assert main([*arguments, "--compare", str(tmp_path / "sweeps.json")]) == 0
    assert "rendered, before | rendered, now" in capsys.readouterr().out
    assert (tmp_path / "sweeps.png").read_bytes().startswith(b"\x89PNG")
    assert "table turned" in (tmp_path / "sweeps.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_vision_bench_prints_the_cost_of_reading(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "vision", "--pictures", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7 and all(float(line.split(": ")[1].split()[0]) > 0 for line in lines)


@pytest.mark.slow
@pytest.mark.serial
def test_the_engine_is_fast_enough() -> None:
    speed = measure_engine(1.0)
    print(f"\n{speed}")
    assert speed.plays_a_second > 20_000
    assert speed.rebuild_ms < 20
    assert speed.explain_ms < 200


@pytest.mark.slow
@pytest.mark.serial
def test_table_bench_measures_the_way_from_the_button_to_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "table", "--turns", "2"]) == 0
    out = capsys.readouterr().out
    assert out.count("button to score on the page") == 3 and "a hand is leaving, 2 turns" in out
    assert "memory of the whole program" in out


@pytest.mark.slow
@pytest.mark.serial
def test_table_bench_draws_its_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = tmp_path / "memory.png"
    assert main(["bench", "table", "--memory", "12", "--plot", str(plot)]) == 0
    assert "memory over 12 turns" in capsys.readouterr().out and plot.read_bytes().startswith(b"\x89PNG")
