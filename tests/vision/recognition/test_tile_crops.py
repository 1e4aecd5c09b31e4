"""Where the tops of tiles are cut out of a picture."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from engine.reading import SIZE
from engine.tiles import tile_set
from vision.geometry import Image, board_pose
from vision.recognition.letters import LetterNet, evened
from vision.recognition.tile_crops import FARTHEST, MARGIN, SCALE, SIDE, Spots, crops, tops_view
from vision.rendering.simulated_table import SimulatedTable

CELLS = [(7, 3 + i) for i in range(8)] + [(0, 0), (14, 14)]


@pytest.fixture(scope="module")
def view() -> Image:
    table = SimulatedTable(seed=6, tilt=25, values=tile_set("en").values)
    table.lay_tiles(dict(zip(CELLS, "PREMIUMSAK", strict=True)))
    scene = table.photograph()
    return tops_view(scene.image, board_pose(scene.corners, (scene.image.shape[1], scene.image.shape[0])))


def seen_turned(view: Image, cell: tuple[int, int], degrees: float) -> Image:
    """A view turned clockwise about the middle of one square."""
    y, x = ((np.array(cell) + 0.5 + MARGIN) * SCALE - 0.5).tolist()
    matrix = cv2.getRotationMatrix2D((x, y), -degrees, 1.0)
    turned = cv2.warpAffine(view, matrix, view.shape[::-1], borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(turned, np.uint8)


def test_crops_are_evened_by_the_median_and_the_contrast_of_their_inner_part(view: Image) -> None:
    cut = crops(view, CELLS)
    usual, edge = evened(cut), SIDE // 6
    grey = cut.astype(np.float64)
    inner = grey[:, edge:-edge, edge:-edge]
    expected = (grey - np.median(inner, axis=(1, 2), keepdims=True)) / (2 * inner.std(axis=(1, 2), keepdims=True) + 12)
    assert np.allclose(usual[:, 0], np.clip(expected, -3, 3), atol=1e-5)


def test_a_crop_is_a_square_and_a_little_around_it() -> None:
    numbered = np.arange(SIZE * SIZE, dtype=np.uint8).reshape(SIZE, SIZE).repeat(SCALE, axis=0).repeat(SCALE, axis=1)
    first, last = crops(np.pad(numbered, SCALE // 2, mode="edge"), [(3, 4), (14, 14)])
    more = (SIDE - SCALE) // 2
    assert (first[more:-more, more:-more] == 3 * SIZE + 4).all()
    assert first[0, SIDE // 2] == 2 * SIZE + 4
    assert (last[more:, more:] == SIZE * SIZE - 1).all()


def test_one_tile_is_moved_and_the_others_stay_and_none_goes_far(view: Image) -> None:
    tiles = Spots.on(view, CELLS).moved(np.array([2]), np.array([[0.7, -0.1, 2]]))
    assert tiles.lies[2].tolist() == [FARTHEST[0], -0.1, FARTHEST[2]]
    assert not np.delete(tiles.lies, 2, axis=0).any()


def test_a_crop_that_is_moved_by_whole_pixels_is_cut_where_it_is_moved_to(view: Image) -> None:
    moved = Spots.on(view, [(7, 5)]).moved(np.array([0]), np.array([[4 / SCALE, -2 / SCALE, 0]])).crops()[0]
    assert np.abs(moved.astype(int) - Spots.on(view, [(7, 5)]).crops(beside=(-2, 4))[0]).max() <= 1


def test_a_crop_is_turned_about_the_middle_of_its_tile(view: Image) -> None:
    lies = np.array([[0, 0, np.deg2rad(12)]])
    straight = Spots.on(view, [(7, 5)]).crops()[0].astype(int)
    again = Spots(seen_turned(view, (7, 5), 12), [(7, 5)], lies).crops()[0]
    inner = slice(SIDE // 6, -SIDE // 6)
    assert np.abs(straight - again)[inner, inner].mean() < 0.2 * straight[inner, inner].std()


def test_no_straight_crop_reaches_beyond_the_view(view: Image) -> None:
    corner = Spots.on(view, [(0, 0), (14, 14)])
    first, last = corner.crops(beside=(-50, -50))[0], corner.crops(beside=(50, 50))[1]
    assert (first == view[:SIDE, :SIDE]).all()
    assert (last == view[-SIDE:, -SIDE:]).all()


def test_a_slanting_crop_at_the_edge_goes_on_as_the_view_ends(view: Image) -> None:
    grey = np.full_like(view, 90)
    corners = Spots(grey, [(0, 0), (14, 14)], np.array([[-0.3, -0.3, 0.3], [0.3, 0.3, 0.3]]))
    assert (corners.crops(beside=(2, 2)) == 90).all()


def test_a_crop_that_slants_is_moved_along_its_own_sides(view: Image) -> None:
    slanting = Spots(view, [(7, 5)], np.array([[0, 0, np.deg2rad(30)]]))
    moved = slanting.moved(np.array([0]), np.array([[0.2, 0, 0]]))
    assert np.allclose(moved.lies, [[0.2 * np.cos(np.deg2rad(30)), 0.1, np.deg2rad(30)]])
    further = slanting.crops()[0][:, 6:].astype(int)  # 5.6 pixels to the right
    assert np.abs(moved.crops()[0][:, :-6] - further).mean() < 0.2 * further.std()


@pytest.mark.parametrize("pixels", [(5, 0), (0, -5), (-4, 4)])
def test_the_network_finds_the_tiles_that_lie_beside_their_crops(view: Image, pixels: tuple[int, int]) -> None:
    net = LetterNet()
    at_rest, _ = net.centred(Spots.on(view, CELLS), net.look(crops(view, CELLS)))
    beside = Spots.on(np.roll(view, pixels, axis=(1, 0)), CELLS)
    found, looks = net.centred(beside, net.look(beside.crops()))
    further = (found.lies - at_rest.lies)[:, :2] * SCALE
    assert np.abs(further - pixels).max() <= 2.5
    assert [net.classes[k] for k in looks.letters.argmax(axis=1)] == list("PREMIUMSAK")


@pytest.mark.parametrize("degrees", [-15, 8, 15])
def test_the_network_straightens_tiles_that_slant_on_their_squares(view: Image, degrees: float) -> None:
    net, read, missed = LetterNet(), "", []
    for cell in CELLS:
        spots = Spots.on(seen_turned(view, cell, degrees), [cell])
        found, looks = net.centred(spots, net.look(spots.crops()))
        missed.append(abs(np.rad2deg(found.lies[0, 2]) - degrees))
        read += net.classes[int(looks.letters[0].argmax())]
    assert read == "PREMIUMSAK"
    assert np.median(missed) < 4


def test_bare_squares_stay_where_they_are(view: Image) -> None:
    net, bare = LetterNet(), [(1, 2), (3, 3), (7, 1), (6, 4)]
    tiles, looks = net.centred(Spots.on(view, bare), net.look(crops(view, bare)))
    assert not tiles.lies.any()
    assert looks.letters.argmax(axis=1).tolist() == [0] * len(bare)
