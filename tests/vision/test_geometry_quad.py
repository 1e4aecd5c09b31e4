"""The four corners of a board, and homographies fitted to many points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.corner_errors import corner_error
from vision.geometry import (
    Floats,
    are_convex,
    as_quad,
    fit_homography,
    grid_corners,
    homography,
    is_convex,
    order_corners,
    project,
    rotate_quad,
)


@st.composite
def quads(draw: st.DrawFn) -> Floats:
    """A board turned by any angle and seen somewhat from the side."""
    a = draw(st.floats(-np.pi, np.pi))
    nudge = np.array(draw(st.lists(st.floats(-40, 40), min_size=8, max_size=8))).reshape(4, 2)
    spin = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    return (grid_corners() - 7.5) @ spin.T * 20 + nudge + 400


@given(st.permutations(range(4)), quads())
def test_corners_in_any_order_become_the_same_clockwise_quad(order: list[int], quad: Floats) -> None:
    ordered = order_corners(quad[order])
    assert is_convex(ordered)
    assert ordered[0].sum() == quad.sum(axis=1).min()
    assert sorted(map(tuple, ordered)) == sorted(map(tuple, quad))


@given(st.lists(quads(), min_size=1, max_size=5))
def test_many_quads_are_ordered_and_judged_as_each_by_itself(many: list[Floats]) -> None:
    together = order_corners(np.stack(many)[:, [2, 0, 3, 1]])
    assert np.array_equal(together, [order_corners(quad) for quad in many])
    flipped = np.stack([*many, *(quad[::-1] for quad in many)])
    assert are_convex(flipped).tolist() == [is_convex(quad) for quad in flipped]


def test_a_mirrored_or_crossed_quad_is_not_a_view_of_a_board() -> None:
    assert is_convex(grid_corners())
    assert not is_convex(grid_corners()[::-1])
    assert not is_convex(grid_corners()[[0, 2, 1, 3]])


@given(quads())
def test_four_quarter_turns_are_none(quad: Floats) -> None:
    assert np.array_equal(rotate_quad(rotate_quad(quad, 1), 3), quad)


@given(quads(), st.integers(0, 3))
def test_the_corner_error_is_in_squares_and_ignores_which_way_is_up(quad: Floats, turns: int) -> None:
    side = np.linalg.norm(quad - np.roll(quad, -1, axis=0), axis=1).mean() / 15
    assert corner_error(rotate_quad(quad, turns) + np.array([0, side]), quad) == pytest.approx(1.0)


@given(quads())
def test_a_fit_over_the_lattice_is_the_homography(quad: Floats) -> None:
    H = homography(quad)
    lattice = np.stack(np.meshgrid(np.arange(16.0), np.arange(16.0)), axis=-1).reshape(-1, 2)
    fitted = fit_homography(lattice, project(H, lattice), np.ones(256))
    assert np.allclose(project(fitted, lattice), project(H, lattice), atol=1e-3)


def test_a_point_without_weight_does_not_count() -> None:
    lattice = np.stack(np.meshgrid(np.arange(4.0), np.arange(4.0)), axis=-1).reshape(-1, 2)
    seen, weights = lattice * 10, np.ones(16)
    seen[5] += 99
    weights[5] = 0
    assert np.allclose(project(fit_homography(lattice, seen, weights), lattice), lattice * 10)


def test_three_points_make_no_homography() -> None:
    with pytest.raises(ValueError, match="four points"):
        fit_homography(np.zeros((8, 2)), np.zeros((8, 2)), np.array([1.0, 1, 1, 0, 0, 0, 0, 0]))


@pytest.mark.parametrize("corners", [[[0, 0]] * 3, "abcd", [[0, 0], [1, 0], [1, float("nan")], [0, 1]]])
def test_points_that_are_not_four_corners_are_refused(corners: object) -> None:
    with pytest.raises(ValueError):
        as_quad(corners)
