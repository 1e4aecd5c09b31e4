"""The reliability table: what it counts, and that it finds confidences that are too high."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.evaluation.reliability import (
    SquarePrediction,
    bin_predictions,
    compute_calibration_error,
    draw_chart,
    format_report,
    list_predictions,
)
from tests.support.own_tiles import reading_of


def squares(confidence: float, right: int, wrong: int) -> list[SquarePrediction]:
    return [SquarePrediction(confidence, k < right, False) for k in range(right + wrong)]


def test_a_square_counts_by_what_it_was_called_and_a_hidden_one_not_at_all() -> None:
    reading = reading_of({0: {"A": 0.8, "B": 0.2}, 1: {"A": 0.8, "B": 0.2}, 2: {"#": 0.9, "A": 0.1}})
    told = list(list_predictions(reading, ["A", "B", "A", *["."] * 222]))
    assert len(told) == 224
    assert [(c.confidence, c.is_right, c.is_empty) for c in told[:2]] == [(0.8, True, False), (0.8, False, False)]
    assert all(c.is_empty and c.is_right for c in told[2:])


def test_confidences_that_come_true_have_no_error() -> None:
    honest = [*squares(0.9, 90, 10), *squares(0.6, 60, 40)]
    assert compute_calibration_error(bin_predictions(honest)) == pytest.approx(0)


def test_confidences_that_are_too_high_are_found_out() -> None:
    boastful = squares(0.99, 80, 20)
    assert compute_calibration_error(bin_predictions(boastful)) == pytest.approx(0.19)
    assert "20 wrong" in format_report("boastful", boastful)


def test_the_tables_of_photographs_and_of_drawn_pictures_are_drawn_together(tmp_path: Path) -> None:
    photographs, both = tmp_path / "photographs.png", tmp_path / "both.png"
    draw_chart({"photographs": bin_predictions(squares(0.9, 90, 10))}, photographs)
    draw_chart(
        {"photographs": bin_predictions(squares(0.9, 90, 10)), "drawn": bin_predictions(squares(0.6, 60, 40))}, both
    )
    one, two = (cv2.imread(str(path)) for path in (photographs, both))
    assert one is not None
    assert two is not None
    assert np.ptp(one) > 0
    assert (one != two).any()
