"""The board before the camera: homographies, rectified views, pose, and planes above the board."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.geometry import (
    BoardPose,
    Floats,
    estimate_board_pose,
    grid_corners,
    homography,
    project,
    rectify,
    rectify_area,
    square_side,
)

SIZE = (1600, 1200)
CENTRE = np.array([(SIZE[0] - 1) / 2, (SIZE[1] - 1) / 2])


def photographed(
    points: Floats, tilt: float, azimuth: float, focal: float, stretch: float, distance: float = 26
) -> Floats:
    """Board points (x, y, height in squares) as a camera sees them that looks at the middle of the board."""
    p = np.asarray(points, np.float64) - [7.5, 7.5, 0.0]
    p = p * [1.0, stretch, -1.0]
    a, t = np.radians(azimuth), np.radians(tilt)
    about = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    lean = np.array([[1, 0, 0], [0, np.cos(t), -np.sin(t)], [0, np.sin(t), np.cos(t)]])
    seen = p @ (lean @ about).T + [0, 0, distance]
    return np.asarray(seen[:, :2] / seen[:, 2:] * focal + CENTRE)


def grid(height: float) -> Floats:
    return np.column_stack([grid_corners(), np.full(4, height)])


def test_a_homography_carries_the_grid_to_its_corners() -> None:
    corners = np.array([[100.0, 50.0], [900.0, 80.0], [950.0, 700.0], [60.0, 650.0]])
    assert np.allclose(project(homography(corners), grid_corners()), corners, atol=1e-6)


def test_the_side_of_a_square_is_the_mean_of_the_sides() -> None:
    assert square_side(np.array([[0.0, 0.0], [300.0, 0.0], [300.0, 600.0], [0.0, 600.0]])) == 30.0


@given(st.floats(5, 50), st.floats(0, 360), st.floats(0.97, 1.1))
def test_tile_tops_stand_where_the_pose_says(tilt: float, azimuth: float, stretch: float) -> None:
    focal = 0.8 * max(SIZE)
    pose = estimate_board_pose(photographed(grid(0.0), tilt, azimuth, focal, stretch), SIZE)
    tops = photographed(grid(0.25), tilt, azimuth, focal, stretch)
    off = np.linalg.norm(project(pose.plane_homography(0.25), grid_corners()) - tops, axis=1).max()
    assert off < 0.06 * square_side(tops)


def measure_tilt(pose: BoardPose) -> float:
    """Return the angle in degrees between the board's normal and the ray from the camera to the board's centre."""
    middle, step = np.array([7.5, 7.5]), 1e-3
    above = project(np.linalg.inv(pose.homography), project(pose.plane_homography(step), middle))
    return float(np.degrees(np.arctan(np.linalg.norm(above - middle) / step)))


def test_tilt_follows_from_an_oblique_view() -> None:
    corners = photographed(grid(0.0), 40, 0, 0.8 * max(SIZE), 1.0)
    assert measure_tilt(estimate_board_pose(corners, SIZE)) == pytest.approx(40, abs=3)


def test_the_plane_at_no_height_is_the_board() -> None:
    corners = photographed(grid(0.0), 35, 100, 1300.0, 1.05)
    pose = estimate_board_pose(corners, SIZE)
    assert np.allclose(project(pose.plane_homography(0.0), grid_corners()), corners, atol=1e-6)


def test_rectifying_puts_each_square_in_its_place() -> None:
    image = np.zeros((300, 300, 3), np.uint8)
    image[40:60, 80:100] = 255  # row 2, column 4 of squares of 20 pixels
    corners = np.array([[-0.5, -0.5], [299.5, -0.5], [299.5, 299.5], [-0.5, 299.5]])
    view = rectify(image, homography(corners), 10, margin=1)
    assert view.shape == (170, 170, 3)
    assert (view[32:38, 52:58] == 255).all()
    assert view[:29].max() == 0
    assert view[42:].max() == 0


def test_a_fine_picture_is_shrunk_before_it_is_sampled() -> None:
    stripes = np.zeros((1500, 1500), np.uint8)
    stripes[:, ::2] = 255
    corners = np.array([[-0.5, -0.5], [1499.5, -0.5], [1499.5, 1499.5], [-0.5, 1499.5]])
    view = rectify(stripes, homography(corners), 10)
    assert abs(float(view.mean()) - 127.5) < 2
    assert float(view.std()) < 20


def test_rectify_area_is_a_part_of_the_whole_view() -> None:
    image = np.random.default_rng(1).integers(0, 256, (500, 600, 3), np.uint8)
    pose = homography(np.array([[100.0, 50.0], [520.0, 60.0], [560.0, 450.0], [80.0, 440.0]]))
    whole = rectify(image, pose, 20, margin=1)
    part = rectify_area(image, pose, 20, (4.0, -1.0), (9.0, 3.0))
    assert np.array_equal(part, whole[:80, 100:200])


def test_corners_far_outside_the_picture_cost_no_more_memory_than_others() -> None:
    corners = np.array([[-500.0, -500.0], [9e6, -500.0], [9e6, 9e6], [-500.0, 9e6]])
    view = rectify(np.full((60, 80, 3), 7, np.uint8), homography(corners), 16)
    assert view.shape == (240, 240, 3)
    assert (view == 7).all()


@pytest.mark.parametrize("side", [45.3, 91.7, 180.0])
@pytest.mark.parametrize("odd", [0, 1])
def test_a_picture_however_fine_is_not_shifted(side: float, odd: int) -> None:
    width, height = round(17 * side) + odd, round(16.5 * side) + odd
    ramp = np.add.outer(np.linspace(0, 110, height), np.linspace(0, 140, width))
    origin = np.array([0.8 * side, 0.6 * side])
    view = rectify(np.round(ramp).astype(np.uint8), homography(origin + grid_corners(15 * side)), 10)
    # The middle of a pixel of the view lies so far into the picture, where the ramp is known.
    x, y = origin[:, None] + (np.arange(150) + 0.5) / 10 * side
    expected = np.add.outer(110 * y / (height - 1), 140 * x / (width - 1))
    assert np.abs(view - expected).max() < 1.6
    assert abs((view - expected).mean()) < 0.4


def test_far_square_seen_from_the_side_keeps_its_contrast() -> None:
    corners = np.array([[200, 60], [760, 60], [960, 500], [0, 500]], float)
    fine, often = 96, 4  # pixels a square as it was printed, dark stripes a square
    stripes = (np.arange(15 * fine) * 2 * often // fine % 2 * 200 + 20).astype(np.uint8)
    board = np.ascontiguousarray(np.broadcast_to(stripes[:, None], (15 * fine, 15 * fine)))
    four_times = np.diag([4.0, 4.0, 1.0]) @ homography(corners) @ np.diag([1 / fine, 1 / fine, 1.0])
    picture = cv2.resize(cv2.warpPerspective(board, four_times, (3840, 2240)), (960, 560), interpolation=cv2.INTER_AREA)
    view = rectify(np.asarray(picture, np.uint8), homography(corners), 16)
    assert view[4:12, 60:180].astype(float).std(axis=0).mean() > 50
