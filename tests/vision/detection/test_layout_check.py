"""The standard layout as a fiducial."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import try_examples
from vision.detection.layout_check import (
    compare_with_layout,
    fit_layout,
    is_aligned_rectangle,
    layout_premiums,
    measure_board_confidence,
    measure_lab_colours,
)
from vision.geometry import Floats, Image

COLOURS = np.array([[60, 90, 20], [220, 170, 90], [160, 60, 20], [150, 150, 240], [40, 30, 200]], np.uint8)


def board(seed: int, tiles: int, margin: int = 0) -> Image:
    """A board in plain colours, 8 pixels a square, with `tiles` ivory squares, uneven light and a dark frame."""
    rng = np.random.default_rng(seed)
    squares = COLOURS[layout_premiums()].reshape(225, 3)
    squares[rng.permutation(225)[:tiles]] = (190, 225, 235)
    picture = squares.reshape(15, 15, 3).repeat(8, 0).repeat(8, 1)
    rim = 8 * margin
    picture = cv2.copyMakeBorder(picture, rim, rim, rim, rim, cv2.BORDER_CONSTANT, value=(30, 20, 20))
    light = np.linspace(0.75, 1.0, picture.shape[1])[None, :, None]
    noisy = picture * light + rng.normal(0, 3, picture.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8)


def colours(picture: Image) -> Floats:
    return measure_lab_colours(picture, 8)


def test_the_layout_has_the_numbers_of_premium_squares_of_the_rules() -> None:
    assert np.bincount(layout_premiums().ravel()).tolist() == [164, 24, 12, 17, 8]


def test_the_layout_is_the_same_from_every_side() -> None:
    kinds = layout_premiums()
    assert (kinds == kinds.T).all() and (kinds == kinds[::-1]).all()


@pytest.mark.parametrize("tiles", [0, 30, 70, 100])
def test_a_board_agrees_with_the_layout_also_under_many_tiles(tiles: int) -> None:
    assert fit_layout(colours(board(tiles, tiles)), 0).explained_share > 0.5


@try_examples(8)
@given(st.integers(0, 2**32), st.integers(0, 80))
def test_the_true_place_agrees_best(seed: int, tiles: int) -> None:
    assert fit_layout(colours(board(seed, tiles, margin=1)), 1).shift == (0, 0)


@pytest.mark.parametrize("width_px", [5, 12, 40])
def test_a_board_in_the_shadow_of_blinds_agrees_with_the_layout(width_px: int) -> None:
    picture = board(7, 40, margin=1)
    stripes = np.add.outer(np.arange(len(picture)), np.arange(len(picture))) // width_px % 2
    shaded = np.asarray(picture * np.where(stripes, 1.0, 0.35)[:, :, None], np.uint8)
    fit = compare_with_layout(shaded, 8, 1)
    assert fit.shift == (0, 0)
    assert fit.explained_share > 0.5


@try_examples(8)
@given(st.integers(0, 2**32))
def test_what_is_no_board_does_not_agree(seed: int) -> None:
    picture = np.random.default_rng(seed).integers(0, 255, (15, 15, 3), np.uint8).repeat(8, 0).repeat(8, 1)
    assert compare_with_layout(picture, 8, 0).explained_share < 0.25


def test_squares_under_tiles_are_distinguished_from_empty_ones() -> None:
    picture = board(11, 40)
    covered = (
        (picture.reshape(15, 8, 15, 8, 3)[:, 4, :, 4, 2].astype(int) > 160)
        & (layout_premiums() != 4)
        & (layout_premiums() != 3)
    )
    bare = fit_layout(colours(picture), 0).uncovered
    assert not (bare & covered).any()
    assert bare.sum() >= 180


@pytest.mark.parametrize(
    ("doubt", "tile_count", "expected"), [(0.0005, 90, True), (0.0005, 3, False), (0.02, 90, False)]
)
def test_grid_of_unknown_colours_is_a_board_if_all_squares_are_clear_and_many_have_tiles(
    doubt: float, tile_count: int, expected: bool
) -> None:
    kinds_p = np.full((225, 3), doubt / 2, np.float32)
    kinds_p[:tile_count, 1] = kinds_p[tile_count:, 0] = 1 - doubt
    plain = np.full((240, 240, 3), 128, np.uint8)
    assert (measure_board_confidence(plain, 16, kinds_p.reshape(15, 15, 3)) > 0.6) is expected


@pytest.mark.parametrize(
    ("width", "lean", "expected"), [(514, 0, True), (528, 0, True), (528, 6, False), (400, 0, False)]
)
def test_drawn_board_is_aligned_with_the_picture_and_nearly_square(width: int, lean: int, expected: bool) -> None:
    corners = np.array([[17, 17], [17 + width, 17 + lean], [17 + width, 545 + lean], [17, 545]], np.float64)
    assert is_aligned_rectangle(corners) is expected
