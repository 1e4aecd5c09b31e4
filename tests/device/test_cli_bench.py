"""`tilekeeper bench engine`: figures, and that they are good enough. The bounds are loose, for slow machines."""

from __future__ import annotations

import argparse

import pytest

from device.cli import bench
from device.cli.bench.engine import measure_engine


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


@pytest.mark.slow
def test_the_engine_is_fast_enough() -> None:
    speed = measure_engine(1.0)
    print(f"\n{speed}")
    assert speed.plays_a_second > 20_000
    assert speed.rebuild_ms < 20
    assert speed.explain_ms < 200
