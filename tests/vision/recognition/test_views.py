"""Crops of the tops of tiles."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from engine.reading import BOARD_SIZE
from engine.tiles import load_tile_set
from vision.geometry import Image, estimate_board_pose
from vision.recognition.letters import LetterNet, normalise_contrast
from vision.recognition.views import (
    CROP_SIDE_PX,
    MAX_POSE_OFFSET,
    TOPS_MARGIN_SQUARES,
    TOPS_PX_PER_SQUARE,
    TilePoses,
    cut_square_crops,
    rectify_tops,
)
from vision.rendering.simulated_table import SimulatedTable

CELLS = [(7, 3 + i) for i in range(8)] + [(0, 0), (14, 14)]


@pytest.fixture(scope="module")
def view() -> Image:
    table = SimulatedTable(seed=6, tilt=25, values=load_tile_set("en").values)
    table.lay_tiles(dict(zip(CELLS, "PREMIUMSAK", strict=True)))
    scene = table.photograph()
    return rectify_tops(scene.image, estimate_board_pose(scene.corners, (scene.image.shape[1], scene.image.shape[0])))


def seen_turned(view: Image, cell: tuple[int, int], degrees: float) -> Image:
    """A view turned clockwise about the middle of one square."""
    y, x = ((np.array(cell) + 0.5 + TOPS_MARGIN_SQUARES) * TOPS_PX_PER_SQUARE - 0.5).tolist()
    matrix = cv2.getRotationMatrix2D((x, y), -degrees, 1.0)
    turned = cv2.warpAffine(view, matrix, view.shape[::-1], borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(turned, np.uint8)


def test_crops_are_evened_by_the_median_and_the_contrast_of_their_inner_part(view: Image) -> None:
    cut = cut_square_crops(view, CELLS)
    usual, edge = normalise_contrast(cut), CROP_SIDE_PX // 6
    grey = cut.astype(np.float64)
    inner = grey[:, edge:-edge, edge:-edge]
    expected = (grey - np.median(inner, axis=(1, 2), keepdims=True)) / (2 * inner.std(axis=(1, 2), keepdims=True) + 12)
    assert np.allclose(usual[:, 0], np.clip(expected, -3, 3), atol=1e-5)


def test_a_crop_is_a_square_and_a_little_around_it() -> None:
    numbered = (
        np.arange(BOARD_SIZE * BOARD_SIZE, dtype=np.uint8)
        .reshape(BOARD_SIZE, BOARD_SIZE)
        .repeat(TOPS_PX_PER_SQUARE, axis=0)
        .repeat(TOPS_PX_PER_SQUARE, axis=1)
    )
    first, last = cut_square_crops(np.pad(numbered, TOPS_PX_PER_SQUARE // 2, mode="edge"), [(3, 4), (14, 14)])
    more = (CROP_SIDE_PX - TOPS_PX_PER_SQUARE) // 2
    assert (first[more:-more, more:-more] == 3 * BOARD_SIZE + 4).all()
    assert first[0, CROP_SIDE_PX // 2] == 2 * BOARD_SIZE + 4
    assert (last[more:, more:] == BOARD_SIZE * BOARD_SIZE - 1).all()


def test_one_tile_is_moved_and_the_others_stay_and_none_goes_far(view: Image) -> None:
    tiles = TilePoses.at_centres(view, CELLS).shift_tiles(np.array([2]), np.array([[0.7, -0.1, 2]]))
    assert tiles.poses[2].tolist() == [MAX_POSE_OFFSET[0], -0.1, MAX_POSE_OFFSET[2]]
    assert not np.delete(tiles.poses, 2, axis=0).any()


def test_a_crop_that_is_moved_by_whole_pixels_is_cut_where_it_is_moved_to(view: Image) -> None:
    moved = (
        TilePoses.at_centres(view, [(7, 5)])
        .shift_tiles(np.array([0]), np.array([[4 / TOPS_PX_PER_SQUARE, -2 / TOPS_PX_PER_SQUARE, 0]]))
        .cut_crops()[0]
    )
    assert np.abs(moved.astype(int) - TilePoses.at_centres(view, [(7, 5)]).cut_crops(offset_px=(-2, 4))[0]).max() <= 1


def test_a_crop_is_turned_about_the_middle_of_its_tile(view: Image) -> None:
    lies = np.array([[0, 0, np.deg2rad(12)]])
    straight = TilePoses.at_centres(view, [(7, 5)]).cut_crops()[0].astype(int)
    again = TilePoses(seen_turned(view, (7, 5), 12), [(7, 5)], lies).cut_crops()[0]
    inner = slice(CROP_SIDE_PX // 6, -CROP_SIDE_PX // 6)
    assert np.abs(straight - again)[inner, inner].mean() < 0.2 * straight[inner, inner].std()


def test_no_straight_crop_reaches_beyond_the_view(view: Image) -> None:
    corner = TilePoses.at_centres(view, [(0, 0), (14, 14)])
    first, last = corner.cut_crops(offset_px=(-50, -50))[0], corner.cut_crops(offset_px=(50, 50))[1]
    assert (first == view[:CROP_SIDE_PX, :CROP_SIDE_PX]).all()
    assert (last == view[-CROP_SIDE_PX:, -CROP_SIDE_PX:]).all()


def test_a_slanting_crop_at_the_edge_goes_on_as_the_view_ends(view: Image) -> None:
    grey = np.full_like(view, 90)
    corners = TilePoses(grey, [(0, 0), (14, 14)], np.array([[-0.3, -0.3, 0.3], [0.3, 0.3, 0.3]]))
    assert (corners.cut_crops(offset_px=(2, 2)) == 90).all()


def test_a_crop_that_slants_is_moved_along_its_own_sides(view: Image) -> None:
    slanting = TilePoses(view, [(7, 5)], np.array([[0, 0, np.deg2rad(30)]]))
    moved = slanting.shift_tiles(np.array([0]), np.array([[0.2, 0, 0]]))
    assert np.allclose(moved.poses, [[0.2 * np.cos(np.deg2rad(30)), 0.1, np.deg2rad(30)]])
    further = slanting.cut_crops()[0][:, 6:].astype(int)  # 5.6 pixels to the right
    assert np.abs(moved.cut_crops()[0][:, :-6] - further).mean() < 0.2 * further.std()


@pytest.mark.parametrize("pixels", [(5, 0), (0, -5), (-4, 4)])
def test_the_network_finds_the_tiles_that_lie_beside_their_crops(view: Image, pixels: tuple[int, int]) -> None:
    net = LetterNet()
    at_rest, _ = net.recentre_tiles(TilePoses.at_centres(view, CELLS), net.predict(cut_square_crops(view, CELLS)))
    beside = TilePoses.at_centres(np.roll(view, pixels, axis=(1, 0)), CELLS)
    found, looks = net.recentre_tiles(beside, net.predict(beside.cut_crops()))
    further = (found.poses - at_rest.poses)[:, :2] * TOPS_PX_PER_SQUARE
    assert np.abs(further - pixels).max() <= 2.5
    assert [net.classes[k] for k in looks.letters.argmax(axis=1)] == list("PREMIUMSAK")


@pytest.mark.parametrize("degrees", [-15, 8, 15])
def test_the_network_straightens_tiles_that_slant_on_their_squares(view: Image, degrees: float) -> None:
    net, read, missed = LetterNet(), "", []
    for cell in CELLS:
        spots = TilePoses.at_centres(seen_turned(view, cell, degrees), [cell])
        found, looks = net.recentre_tiles(spots, net.predict(spots.cut_crops()))
        missed.append(abs(np.rad2deg(found.poses[0, 2]) - degrees))
        read += net.classes[int(looks.letters[0].argmax())]
    assert read == "PREMIUMSAK"
    assert np.median(missed) < 4


def test_bare_squares_stay_where_they_are(view: Image) -> None:
    net, bare = LetterNet(), [(1, 2), (3, 3), (7, 1), (6, 4)]
    tiles, looks = net.recentre_tiles(TilePoses.at_centres(view, bare), net.predict(cut_square_crops(view, bare)))
    assert not tiles.poses.any()
    assert looks.letters.argmax(axis=1).tolist() == [0] * len(bare)
