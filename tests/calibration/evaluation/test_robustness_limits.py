"""The levels of a disturbance at which letters are lost, and the comparison with an earlier measurement."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from calibration.evaluation.robustness import LevelResult, find_limits, format_limits, load_curves
from calibration.evaluation.samples import DISTURBANCES, Disturbance
from tests.support.local_data import ROOT

BLUR = next(d for d in DISTURBANCES if d.name == "blur")
EXPOSURE = next(d for d in DISTURBANCES if d.name == "exposure")


def make_levels(*letters: tuple[float, float]) -> list[LevelResult]:
    return [LevelResult(level, 10, share, 1.0, 0, 0.0, 0.0, ()) for level, share in letters]


def test_limit_is_interpolated_between_levels() -> None:
    assert find_limits(BLUR, make_levels((0, 1.0), (0.1, 1.0), (0.2, 0.98))) == pytest.approx((0.15,))


def test_limit_is_beyond_the_last_good_level() -> None:
    assert find_limits(BLUR, make_levels((0, 1.0), (0.1, 0.98), (0.2, 0.99), (0.3, 0.5))) == pytest.approx((0.2,))


def test_disturbance_without_a_bad_level_has_no_limit() -> None:
    assert find_limits(BLUR, make_levels((0, 1.0), (0.1, 0.99))) == ()


def test_disturbance_in_two_directions_has_two_limits() -> None:
    levels = make_levels((-2, 0.9), (-1, 1.0), (0, 1.0), (1, 1.0), (2, 0.98))
    assert find_limits(EXPOSURE, levels) == pytest.approx((-1.1, 1.5))


def test_reader_that_fails_without_disturbance_is_at_its_limit() -> None:
    assert find_limits(BLUR, make_levels((0, 0.98), (0.1, 0.99))) == (0,)


def test_table_has_the_limits_before_and_now() -> None:
    before: list[tuple[Disturbance, list[LevelResult]]] = [(BLUR, make_levels((0, 1.0), (0.1, 0.98)))]
    now = [(BLUR, make_levels((0, 1.0), (0.1, 1.0)))]
    assert "| blur (sigma in squares) | 0.05 |" in format_limits({"photographs": before})
    table = format_limits({"photographs": now}, {"photographs": before})
    assert "photographs, before | photographs, now" in table and "| blur (sigma in squares) | 0.05 | none |" in table


def test_curves_are_loaded_from_the_file_of_a_measurement(tmp_path: Path) -> None:
    level = LevelResult(0.03, 10, 0.9, 1.0, 4, 0.5, 0.25, ("picture-3",))
    found = {"unit": "sigma in squares", "levels": [asdict(level)]}
    file = tmp_path / "sweeps.json"
    file.write_text(json.dumps({"rendered": {"blur": found, "a former disturbance": found}}), encoding="utf-8")
    assert load_curves(file) == {"rendered": [(BLUR, [level])]}


def test_stored_measurement_has_limits_on_photographs() -> None:
    curves = load_curves(ROOT / "tests" / "data" / "sweeps.json")
    limits = {disturbance.name: find_limits(disturbance, levels) for disturbance, levels in curves["photographs"]}
    assert limits["size"][0] < 12 and limits["camera leaned"][0] > 50 and limits["low light"] == ()
