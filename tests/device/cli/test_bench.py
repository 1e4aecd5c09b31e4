"""`tilekeeper bench`: figures, and that they are good enough. The bounds are loose, for slow machines."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from device.cli import bench, main
from device.cli.bench.engine import measure_engine
from device.cli.bench.pi import Tallied, Tally, Work, reckoned
from vision.recognition.letters import LetterNet
from vision.recognition.tile_crops import SIDE


def test_the_figures_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    bench.configure(parser)
    assert bench.run(parser.parse_args(["engine", "--seconds", "0.01"])) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "plays scored and validated",
        "a game of 25 turns rebuilt from its events",
        "a reading explained",
    ]


def test_sweep_says_before_it_measures_that_it_cannot_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "calibration.evaluation.robustness_chart", None)
    assert main(["bench", "sweep", "--rendered", "1", "--out", str(tmp_path / "out")]) == 2
    assert "pip install '.[train]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_sweep_measures_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "sweep", "--rendered", "2", "--only", "table turned", "--out", str(tmp_path)]) == 0
    assert "wrong totals accepted: 0" in capsys.readouterr().out
    assert (tmp_path / "sweeps.png").read_bytes().startswith(b"\x89PNG")
    assert "table turned" in (tmp_path / "sweeps.json").read_text(encoding="utf-8")


def test_networks_count_what_they_multiply() -> None:
    tally = Tally()
    net = LetterNet(net=partial(Tallied, tally=tally))
    net.look(np.zeros((3, SIDE, SIDE), np.uint8))
    three = tally.multiplications
    net.look(np.zeros((1, SIDE, SIDE), np.uint8))
    assert tally.multiplications == three * 4 / 3 > 4_000_000
    assert tally.seconds > 0


def test_a_raspberry_pi_takes_longer_the_more_there_is_to_do_and_the_older_it_is() -> None:
    little, much = (reckoned(Work(1e9, seconds), rate=40e9) for seconds in (0.01, 0.03))
    for name in little:
        (least, most), (_, more) = little[name], much[name]
        assert 0 < least < most < more
    assert much["5"] < much["4 (1.8 GHz)"] < much["3 B+ (1.4 GHz)"] < much["Zero 2 W (1.0 GHz)"]
    # 1e9 multiplications of networks, and of matrices in the 0.01 s of the rest 0.4e9, at 9.5e9 a second at most.
    assert little["4 (1.8 GHz)"][0] == pytest.approx(1.4 / 9.5, rel=0.01)


@pytest.mark.slow
def test_vision_bench_says_what_reading_costs_here_and_on_a_raspberry_pi(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "vision", "--pictures", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(float(line.split(": ")[1].split()[0]) > 0 for line in lines[:7])
    assert [line.split(":")[0] for line in lines[7:]] == [
        f"reckoned for a Raspberry Pi {name}" for name in ("Zero 2 W (1.0 GHz)", "3 B+ (1.4 GHz)", "4 (1.8 GHz)", "5")
    ]


@pytest.mark.slow
def test_the_engine_is_fast_enough() -> None:
    speed = measure_engine(1.0)
    print(f"\n{speed}")
    assert speed.plays_a_second > 20_000
    assert speed.rebuild_ms < 20
    assert speed.explain_ms < 200


@pytest.mark.slow
def test_table_bench_measures_the_way_from_the_button_to_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "table", "--turns", "2"]) == 0
    out = capsys.readouterr().out
    assert "button to score on the page, 2 turns" in out and "memory of the whole program" in out


@pytest.mark.slow
def test_table_bench_draws_its_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = tmp_path / "memory.png"
    assert main(["bench", "table", "--memory", "12", "--plot", str(plot)]) == 0
    assert "memory over 12 turns" in capsys.readouterr().out and plot.read_bytes().startswith(b"\x89PNG")
