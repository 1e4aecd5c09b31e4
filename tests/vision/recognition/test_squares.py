"""The square network classifies a part of a board as it classifies the whole, and only what has changed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from engine.tiles import load_tile_set
from vision.geometry import Image, estimate_board_pose
from vision.net import Net
from vision.recognition.squares import SquareKinds, SquareNet
from vision.recognition.views import TILE_KIND, normalise_exposure, rectify_board
from vision.rendering.simulated_table import SimulatedTable

QUARTZ = {(7, 5 + i): c for i, c in enumerate("QUARTZ")}
UNCHANGED = np.zeros((BOARD_SIZE, BOARD_SIZE), np.bool_)
WHOLE_VIEW = 17 * 17
"""Area of a view in squares."""


class _AreaCountingNet(Net):
    """A network that notes the area of each input in squares."""

    areas: ClassVar[list[int]] = []

    def __call__(self, batch: NDArray[np.float32], **more: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        self.areas.append(batch.shape[2] * batch.shape[3] // 16**2)
        return super().__call__(batch, **more)


@pytest.fixture
def areas() -> Iterator[list[int]]:
    _AreaCountingNet.areas = []
    yield _AreaCountingNet.areas
    _AreaCountingNet.areas = []


@pytest.fixture(scope="module")
def net() -> SquareNet:
    return SquareNet(load_net=_AreaCountingNet)


def photograph(tiles: dict[tuple[int, int], str], blank: tuple[int, int] | None = None) -> Image:
    """Return the rectified view of a board with tiles, always in the same light."""
    return _render_view(tuple(({**tiles, blank: "?"} if blank else tiles).items())).copy()


@cache
def _render_view(tiles: tuple[tuple[tuple[int, int], str], ...]) -> Image:
    table = SimulatedTable(seed=3, tilt=12.0, turn=4.0, edition="classic", values=load_tile_set("de").values)
    table.lay_tiles(dict(tiles))
    scene = table.photograph()
    height, width = scene.image.shape[:2]
    return rectify_board(scene.image, estimate_board_pose(scene.corners, (width, height)))


def mark(*cells: tuple[int, int]) -> NDArray[np.bool_]:
    marked = UNCHANGED.copy()
    for cell in cells:
        marked[cell] = True
    return marked


@pytest.mark.parametrize(
    "cells", [[(7, 7)], [(0, 0)], [(14, 14)], [(3, 2), (5, 6)], [(7, column) for column in range(15)]]
)
def test_part_of_a_board_is_classified_like_the_whole(
    cells: list[tuple[int, int]], net: SquareNet, areas: list[int]
) -> None:
    view = photograph(QUARTZ)
    whole = net.predict_normalised(normalise_exposure(view))
    forgotten = SquareKinds(np.zeros_like(whole), view, net.predict(view).context)
    areas.clear()
    part = net.predict_changed(view, forgotten, mark(*cells)).kinds_p
    assert sum(areas) < WHOLE_VIEW
    assert all(np.array_equal(part[cell], whole[cell]) for cell in cells)


def test_nothing_is_classified_if_nothing_has_changed(net: SquareNet, areas: list[int]) -> None:
    view = photograph(QUARTZ)
    before = net.predict(view)
    areas.clear()
    after = net.predict_changed(view, before, UNCHANGED)
    assert not areas and np.array_equal(after.kinds_p, before.kinds_p)


def test_blank_that_shows_only_by_its_colour_is_classified(net: SquareNet, areas: list[int]) -> None:
    before = net.predict(photograph(QUARTZ))
    areas.clear()
    after = net.predict_changed(photograph(QUARTZ, blank=(12, 3)), before, UNCHANGED)
    assert after.kinds_p[12, 3, TILE_KIND] > 0.9 > before.kinds_p[12, 3, TILE_KIND]
    assert 0 < sum(areas) < WHOLE_VIEW


def test_square_keeps_the_picture_in_which_it_was_classified(net: SquareNet) -> None:
    view = photograph(QUARTZ)
    darker = np.asarray(view * 0.97, np.uint8)
    after = net.predict_changed(darker, net.predict(view), mark((7, 7)))
    assert np.array_equal(after.view[8 * 16 : 9 * 16, 8 * 16 : 9 * 16], darker[8 * 16 : 9 * 16, 8 * 16 : 9 * 16])
    assert np.array_equal(after.view[: 8 * 16], view[: 8 * 16])


@pytest.mark.parametrize("gain", [0.6, 1.6])
def test_whole_board_is_classified_in_another_light(gain: float, net: SquareNet, areas: list[int]) -> None:
    view = np.asarray(photograph(QUARTZ) * 0.6, np.uint8)
    before = net.predict(view)
    areas.clear()
    net.predict_changed(np.asarray(view * gain, np.uint8), before, UNCHANGED)
    assert areas[0] == WHOLE_VIEW


def test_whole_board_is_classified_if_much_has_changed(net: SquareNet, areas: list[int]) -> None:
    view = photograph(QUARTZ)
    before = net.predict(view)
    areas.clear()
    net.predict_changed(view, before, ~UNCHANGED)
    assert areas[0] == WHOLE_VIEW
