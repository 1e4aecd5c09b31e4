"""The held-out fonts, and the measurement of readings in them."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from engine.reading import EMPTY, HIDDEN, SquareReading
from tests.support.local_data import PHOTOS_DIR, needs_photos
from tests.system.unseen_faces import (
    BoardResult,
    compare_squares,
    describe_results,
    draw_board,
    find_font,
    load_held_out_fonts,
    main,
    measure_calibration_error,
    read_faces,
)
from vision.recognition.reader import BoardReader
from vision.rendering.fonts import packaged_fonts
from vision.training.font_list import ListedFont


def test_held_out_fonts_are_eighty_families_of_six_classes() -> None:
    fonts = load_held_out_fonts()
    assert len({font.family for font in fonts}) == len(fonts) >= 60
    kinds = Counter(font.kind for font in fonts)
    assert set(kinds) == {"serif", "slab", "script", "stencil", "handwritten", "display"} and min(kinds.values()) >= 9


def test_font_file_that_differs_from_the_list_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ttf").write_bytes(b"font")
    font = ListedFont("serif", "A", "fonts-a", "1", "a.ttf", hashlib.sha256(b"font").hexdigest())
    assert find_font(font, tmp_path) == tmp_path / "a.ttf"
    (tmp_path / "a.ttf").write_bytes(b"another")
    with pytest.raises(ValueError, match="fonts-a"):
        find_font(font, tmp_path)


def test_calibration_error_is_the_mean_difference_of_confidence_and_accuracy() -> None:
    right = np.arange(1500) % 4 != 0
    assert measure_calibration_error(np.full(1500, 0.75), right) == pytest.approx(0)
    assert measure_calibration_error(np.full(1500, 0.95), right) == pytest.approx(0.2)


def test_report_counts_wrong_letters_that_are_called_certain() -> None:
    result = BoardResult("serif", np.array([0.995, 0.995, 0.6]), np.array([True, False, False]))
    assert "| serif | 3 | 33.33 % | 1 of 2 |" in describe_results("serif", [result], np.random.default_rng(0))


def test_squares_read_as_empty_count_only_if_they_are_surely_wrong() -> None:
    pairs = [
        ("A", {EMPTY: 0.995}),
        (EMPTY, {EMPTY: 1.0}),
        ("A", {EMPTY: 0.9}),
        (EMPTY, {"L": 0.6}),
        ("A", {HIDDEN: 1.0}),
    ]
    result = compare_squares("serif", [(truth, SquareReading(tuple(p.items()))) for truth, p in pairs])
    assert result.confused == ("A>.",)
    assert result.p.tolist() == [0.6] and result.right.tolist() == [False]


def test_report_of_boards_without_tiles_has_no_shares() -> None:
    result = compare_squares("deluxe", [(EMPTY, SquareReading(((EMPTY, 1.0),)))])
    assert describe_results("deluxe", [result], np.random.default_rng(0)) == "| deluxe | 0 | - | - | - | 0 |"


@pytest.mark.slow
@needs_photos
def test_photographs_are_read_with_calibrated_confidence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--photos", str(PHOTOS_DIR / "jheidel")]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| all photographs"))
    _, _, _, right, wrong, error, squares, _ = (cell.strip() for cell in row.split("|"))
    assert float(right.split()[0]) > 99 and wrong.startswith("0 of") and squares == "0"
    assert float(error.split()[0]) < 2


def test_board_in_a_face_is_drawn_and_read() -> None:
    font = ListedFont("stencil", "A", "fonts-a", "1", "", "")
    scene = draw_board(np.random.default_rng(1), font, packaged_fonts()[0], is_dark=True)
    result = read_faces(BoardReader(), scene, "stencil")
    assert len(result.p) == len(result.right) > 30 and result.right.mean() > 0.5
