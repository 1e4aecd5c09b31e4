"""The width of edges in a picture of the board, and from which width a picture is blurred."""

from __future__ import annotations

import tracemalloc

import cv2
import numpy as np
import pytest

from vision.focus import is_blurred, measure_edge_width
from vision.geometry import Image, grid_corners

SQUARE_PX = 60


def draw_board(blur: float) -> Image:
    """Return a chequered board, `(900, 900) uint8`, blurred with a sigma of `blur` squares."""
    board = np.array(40 + 160 * np.kron(np.indices((15, 15)).sum(0) % 2, np.ones((SQUARE_PX, SQUARE_PX))), np.uint8)
    return np.asarray(cv2.GaussianBlur(board, (0, 0), blur * SQUARE_PX), np.uint8) if blur else board


@pytest.mark.parametrize("blur", [0.0, 0.03, 0.06, 0.1])
def test_edges_of_a_blurred_board_are_wider(blur: float) -> None:
    # The steepest slope of a step that a Gaussian blurs is step / (sigma * sqrt(2 pi)).
    expected = max(2.0, blur * SQUARE_PX * np.sqrt(2 * np.pi))
    assert measure_edge_width(draw_board(blur)) == pytest.approx(expected, rel=0.15)


def test_focus_of_a_board_without_edges_is_unknown() -> None:
    assert measure_edge_width(np.full((600, 600), 90, np.uint8)) is None


@pytest.mark.parametrize(("blur", "blurred"), [(0.0, False), (0.03, False), (0.1, True)])
def test_picture_with_wide_edges_is_blurred(blur: float, blurred: bool) -> None:
    picture = cv2.cvtColor(draw_board(blur), cv2.COLOR_GRAY2BGR)
    corners = grid_corners(15 * SQUARE_PX)
    assert is_blurred(np.asarray(picture, np.uint8), corners) is blurred


def test_corners_far_outside_the_picture_take_no_memory() -> None:
    tracemalloc.start()
    try:
        assert is_blurred(np.full((60, 80, 3), 90, np.uint8), grid_corners(60_000.0) - 30_000) is False
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
