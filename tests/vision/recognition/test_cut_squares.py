"""Squares that the edge of the picture cuts off: no letter is read on them."""

from __future__ import annotations

import numpy as np

from vision.geometry import estimate_board_pose, grid_corners
from vision.recognition.cut_squares import hide_cut_squares
from vision.recognition.views import EMPTY_KIND, HIDDEN_KIND, TILE_KIND

SIDE_PX = 40


def find_hidden_squares(top_px: float) -> set[int]:
    """Return the rows with hidden squares of a board seen from above, whose upper edge is at `top_px`."""
    corners = grid_corners() * SIDE_PX + [100, top_px]
    kinds_p = np.zeros((15, 15, 3), np.float32)
    kinds_p[:, :, TILE_KIND] = 1
    hidden = hide_cut_squares(kinds_p, estimate_board_pose(corners, (800, 640)), (800, 640))
    assert not hidden[:, :, EMPTY_KIND].any()
    return {row for row in range(15) if hidden[row, :, HIDDEN_KIND].all()}


def test_hide_cut_squares_half_outside() -> None:
    assert find_hidden_squares(40 + SIDE_PX / 2) == {14}


def test_hide_cut_squares_with_edge_in_margin_of_letter() -> None:
    assert find_hidden_squares(40 + SIDE_PX / 20) == set()


def test_hide_cut_squares_above_the_picture() -> None:
    assert find_hidden_squares(-SIDE_PX / 2) == {0}
