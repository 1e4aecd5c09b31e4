"""Where the tops of tiles are cut out of a picture."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.reading import SIZE
from engine.tiles import tile_set
from vision.geometry import Image, board_pose
from vision.letters import LetterNet
from vision.render.table import SimulatedTable
from vision.tops import FARTHEST, SCALE, SIDE, Spots, crops, tops_view

CELLS = [(7, 3 + i) for i in range(8)] + [(0, 0), (14, 14)]


@pytest.fixture(scope="module")
def view() -> Image:
    table = SimulatedTable(seed=6, tilt=25, values=tile_set("en").values)
    table.lay_tiles(dict(zip(CELLS, "PREMIUMSAK", strict=True)))
    scene = table.photograph()
    return tops_view(scene.image, board_pose(scene.corners, (scene.image.shape[1], scene.image.shape[0])))


def off(down: int, right: int) -> NDArray[np.intp]:
    return np.array([down, right], np.intp)


def test_a_crop_is_a_square_and_a_little_around_it() -> None:
    numbered = np.arange(SIZE * SIZE, dtype=np.uint8).reshape(SIZE, SIZE).repeat(SCALE, axis=0).repeat(SCALE, axis=1)
    first, last = crops(np.pad(numbered, SCALE // 2, mode="edge"), [(3, 4), (14, 14)])
    more = (SIDE - SCALE) // 2
    assert (first[more:-more, more:-more] == 3 * SIZE + 4).all()
    assert first[0, SIDE // 2] == 2 * SIZE + 4
    assert (last[more:, more:] == SIZE * SIZE - 1).all()


def test_one_tile_is_moved_and_the_others_stay_and_none_goes_far(view: Image) -> None:
    tiles = Spots.on(view, CELLS).moved(np.array([2]), off(20, -1)[None])
    assert tiles.off[2].tolist() == [FARTHEST, -1]
    assert not np.delete(tiles.off, 2, axis=0).any()


def test_no_crop_reaches_beyond_the_view(view: Image) -> None:
    corner = Spots.on(view, [(0, 0), (14, 14)]).moved(np.arange(2), np.array([[-FARTHEST] * 2, [FARTHEST] * 2]))
    first, last = corner.crops(beside=(-50, -50))[0], corner.crops(beside=(50, 50))[1]
    assert (first == view[:SIDE, :SIDE]).all()
    assert (last == view[-SIDE:, -SIDE:]).all()


@pytest.mark.parametrize("further", [off(5, 0), off(0, -5), off(-4, 4)])
def test_the_network_finds_the_tiles_that_lie_beside_their_crops(view: Image, further: NDArray[np.intp]) -> None:
    net = LetterNet()
    at_rest, _ = net.centred(Spots.on(view, CELLS), net.look(crops(view, CELLS)))
    beside = Spots.on(np.roll(view, -further, axis=(0, 1)), CELLS)
    found, looks = net.centred(beside, net.look(beside.crops()))
    assert np.abs(found.off + further - at_rest.off).max() <= 2
    assert [net.classes[k] for k in looks.letters.argmax(axis=1)] == list("PREMIUMSAK")


def test_bare_squares_stay_where_they_are(view: Image) -> None:
    net, bare = LetterNet(), [(1, 2), (3, 3), (7, 1), (6, 4)]
    tiles, looks = net.centred(Spots.on(view, bare), net.look(crops(view, bare)))
    assert not tiles.off.any()
    assert looks.letters.argmax(axis=1).tolist() == [0] * len(bare)
