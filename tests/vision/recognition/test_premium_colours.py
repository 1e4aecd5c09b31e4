"""The colours of premium squares in a picture."""

from __future__ import annotations

from colorsys import rgb_to_hsv

import numpy as np
import pytest

from engine.board import load_layout
from vision.geometry import Image, estimate_board_pose
from vision.recognition.premium_colours import sample_premium_colours
from vision.recognition.views import rectify_board
from vision.rendering.simulated_table import EDITIONS, SimulatedTable

TEXTS = {"=": "3W", "-": "2W", '"': "3L", "'": "2L"}
PREMIUMS = tuple(TEXTS.get(premium, "") for premium in load_layout().premiums)
ALL_EMPTY = np.ones(225, np.bool_)


@pytest.fixture(scope="module")
def view() -> Image:
    """A rectified board of the edition `classic`."""
    scene = SimulatedTable(seed=3, edition="classic").photograph()
    height, width = scene.image.shape[:2]
    return rectify_board(scene.image, estimate_board_pose(scene.corners, (width, height)))


def _hue(colour: str) -> float:
    return rgb_to_hsv(*(value / 255 for value in bytes.fromhex(colour[1:])))[0]


def test_colours_have_the_hue_of_the_printed_board(view: Image) -> None:
    printed = EDITIONS["classic"]
    expected = (printed.double_letter, printed.double_word, printed.triple_letter, printed.triple_word)
    found = sample_premium_colours(view, ALL_EMPTY, PREMIUMS)
    assert [premium for premium, _ in found] == ["2L", "2W", "3L", "3W"]
    for (_, colour), (blue, green, red) in zip(found, expected, strict=True):
        turn = abs(_hue(colour) - rgb_to_hsv(red / 255, green / 255, blue / 255)[0])
        assert min(turn, 1 - turn) < 0.06


def test_colours_of_a_darker_picture_are_the_same(view: Image) -> None:
    bright = sample_premium_colours(view, ALL_EMPTY, PREMIUMS)
    dark = sample_premium_colours((view * 0.6).astype(np.uint8), ALL_EMPTY, PREMIUMS)
    pairs = [(bytes.fromhex(a[1:]), bytes.fromhex(b[1:])) for (_, a), (_, b) in zip(bright, dark, strict=True)]
    assert max(abs(x - y) for one, other in pairs for x, y in zip(one, other, strict=True)) < 25


def test_dark_picture_gives_no_colours(view: Image) -> None:
    assert sample_premium_colours(view // 8, ALL_EMPTY, PREMIUMS) == ()


def test_nothing_is_sampled_if_tiles_cover_a_kind(view: Image) -> None:
    covered = np.array([premium == "3W" for premium in PREMIUMS])
    assert sample_premium_colours(view, ~covered, PREMIUMS) == ()
