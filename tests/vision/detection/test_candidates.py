"""Quads that may be boards, from outputs of the finder made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.detection.candidates import propose_quads

SIDE = 64


def answer(corners: list[tuple[int, int]], on_grid: NDArray[np.bool_]) -> NDArray[np.float32]:
    """The finder's answer `(4, 64, 64)`: sure of the corners (x, y) and of the cells on the grid."""
    cells = np.zeros((4, SIDE, SIDE), np.float32)
    cells[0], cells[3] = -6, np.where(on_grid, 6, -6)
    for x, y in corners:
        cells[0, y, x] = 1
    return cells


def farthest(quad: NDArray[np.float64], corners: list[tuple[int, int]]) -> float:
    """Return the largest distance of a quad's corners from the true ones, in cells."""
    return max(min(float(np.hypot(*(one - corner))) for one in quad) for corner in np.array(corners))


def test_a_grid_that_tiles_part_in_two_is_still_one_board() -> None:
    corners = [(6, 6), (57, 5), (58, 58), (5, 58)]
    on_grid = np.zeros((SIDE, SIDE), np.bool_)
    on_grid[6:59, 6:59] = True
    on_grid[:40, 38:40] = on_grid[38:40, :40] = False
    quads = propose_quads(answer(corners, on_grid))
    assert min(farthest(quad, corners) for quad in quads) < 1


@pytest.mark.parametrize("peaks", range(5))
def test_a_patch_of_grid_is_a_quad_however_few_corners_are_seen(peaks: int) -> None:
    corners = [(6, 6), (57, 6), (57, 57), (6, 57)]
    on_grid = np.zeros((SIDE, SIDE), np.bool_)
    on_grid[6:58, 6:58] = True
    quads = propose_quads(answer(corners[:peaks], on_grid))
    assert min(farthest(quad, corners) for quad in quads) < 1


def test_a_corner_under_a_hand_is_not_looked_for_beyond_the_picture() -> None:
    corners = [(8, 4), (60, 4), (60, 56), (8, 56)]
    on_grid = np.zeros((SIDE, SIDE), np.bool_)
    on_grid[4:57, 8:61] = True
    on_grid[np.add.outer(np.arange(SIDE), np.arange(SIDE)) < 44] = False  # an arm over the top left
    quads = propose_quads(answer(corners[1:], on_grid))
    within = [quad for quad in quads if quad.min() > -2 and quad.max() < SIDE + 2]
    assert within == quads
    assert min(farthest(quad, corners) for quad in quads) < 1
