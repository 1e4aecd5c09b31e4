"""From corners of squares, seen one by one, to one grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.support.examples import try_examples
from vision.detection.lattice import fit_lattice, refit_lattice
from vision.geometry import Floats, grid_corners, homography, project

MARGIN = 2.5
ALIGNED = np.array([[1.0, 0, MARGIN - 0.5], [0, 1.0, MARGIN - 0.5], [0, 0, 1.0]])


def seen_cells(quad: Floats, noise: float = 0.0, wrong: float = 0.0, seed: int = 0) -> NDArray[np.float32]:
    """Return the output of a network if the true grid's corners are at `quad`, in coordinates of the assumed board."""
    rng = np.random.default_rng(seed)
    to_cells = ALIGNED @ homography(quad)
    index = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), axis=-1)
    at = project(np.linalg.inv(to_cells), index)
    corner = project(to_cells, np.clip(np.round(at), 0, 15))
    offset = corner - index + rng.normal(0, noise, index.shape)
    astray = rng.random((20, 20)) < wrong
    offset[astray] = rng.uniform(-0.5, 0.5, (int(astray.sum()), 2))
    inside = (np.abs(at - 7.5) < 8).all(axis=2)
    log_error = np.where((np.abs(at - 7.5) < 8).all(axis=2), np.log(0.05), 1.0)
    return np.stack([offset[..., 0], offset[..., 1], log_error, np.where(inside, 4.0, -4.0)]).astype(np.float32)


def fitted_corners(cells: NDArray[np.float32]) -> Floats:
    fit = fit_lattice(cells, MARGIN)
    assert fit is not None
    return project(np.linalg.inv(ALIGNED) @ fit.to_cells, grid_corners())


@try_examples(25)
@given(st.lists(st.floats(-0.7, 0.7), min_size=8, max_size=8))
def test_corners_seen_without_error_give_the_grid(moves: list[float]) -> None:
    quad = grid_corners() + np.array(moves).reshape(4, 2)
    assert np.abs(fitted_corners(seen_cells(quad)) - quad).max() < 0.02


@pytest.mark.parametrize("shift", [(1, 0), (0, -1), (2, 1), (-2, 2)])
def test_grid_that_is_whole_squares_off_is_corrected(shift: tuple[int, int]) -> None:
    quad = grid_corners() + np.array(shift) + 0.1
    assert np.abs(fitted_corners(seen_cells(quad)) - quad).max() < 0.02


@try_examples(10)
@given(st.integers(0, 2**32))
def test_noise_averages_out_and_strays_do_not_count(seed: int) -> None:
    quad = grid_corners() + 0.2
    found = fitted_corners(seen_cells(quad, noise=0.04, wrong=0.2, seed=seed))
    assert np.linalg.norm(found - quad, axis=1).mean() < 0.06


def test_nothing_sure_is_no_grid() -> None:
    cells = seen_cells(grid_corners())
    cells[2] = 1.0
    assert fit_lattice(cells, MARGIN) is None


def test_corners_on_one_line_are_no_grid() -> None:
    offset_down = np.broadcast_to(9.5 - np.arange(20.0)[:, None], (20, 20))
    cells = np.stack([np.zeros((20, 20)), offset_down, np.full((20, 20), -4.0), np.full((20, 20), 3.0)])
    assert fit_lattice(cells.astype(np.float32), MARGIN) is None


def test_corners_that_are_not_trusted_do_not_pull_the_grid() -> None:
    quad = grid_corners() + 0.05
    cells = seen_cells(quad)
    cells[1, 5:15, 5:15] -= 0.12  # tops of tiles in the middle, standing behind their squares
    fit = fit_lattice(cells, MARGIN)
    assert fit is not None
    trust = np.ones((16, 16))
    trust[2:14, 2:14] = 0.001
    again = refit_lattice(cells, fit.to_cells, trust)
    assert again is not None
    assert np.abs(project(np.linalg.inv(ALIGNED) @ again, grid_corners()) - quad).max() < 0.02
