"""Random tile styles: how often the kinds occur that are rare in photographs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vision.rendering.fonts import packaged_fonts, select_supporting_fonts
from vision.rendering.scene import compose_scene
from vision.rendering.style import Colour
from vision.training.board_styles import random_board_style
from vision.training.letter_shapes import LetterShape, shaped_mask
from vision.training.random_scenes import random_setting
from vision.training.tile_styles import random_tile_style
from vision.training.varied_tiles import VariedTileStyle

SETS = 300


@pytest.fixture(scope="module")
def styles() -> list[VariedTileStyle]:
    rng = np.random.default_rng(11)
    fonts = packaged_fonts()
    return [random_tile_style(rng, fonts, random_board_style(rng, fonts)) for _ in range(SETS)]


def brightness(colour: Colour) -> float:
    return 0.114 * colour[0] + 0.587 * colour[1] + 0.299 * colour[2]


def test_print_is_light_on_dark_about_as_often_as_dark_on_light(styles: list[VariedTileStyle]) -> None:
    assert 0.4 < np.mean([brightness(style.ink) > brightness(style.top) for style in styles]) < 0.6


def test_print_differs_in_brightness_from_the_tile(styles: list[VariedTileStyle]) -> None:
    assert min(abs(brightness(style.ink) - brightness(style.top)) for style in styles) > 30


def test_some_sets_have_no_values_and_some_large_ones(styles: list[VariedTileStyle]) -> None:
    heights = np.array([style.value_height for style in styles])
    assert 0.04 < np.mean(heights == 0) < 0.13
    assert 0.06 < np.mean(heights > 0.23) < 0.2


def test_values_are_in_all_corners(styles: list[VariedTileStyle]) -> None:
    corners = [(style.value_centre[0] > 0.5, style.value_centre[1] > 0.5) for style in styles]
    assert min(corners.count((right, low)) for right in (True, False) for low in (True, False)) > 0.04 * SETS


def test_some_letters_are_far_from_the_centre(styles: list[VariedTileStyle]) -> None:
    offsets = [float(np.abs(np.subtract(style.letter_centre, 0.5)).max()) for style in styles]
    assert 0.1 < np.mean([offset > 0.07 for offset in offsets]) < 0.4


def test_most_sets_vary_the_shapes_of_letters(styles: list[VariedTileStyle]) -> None:
    shapes = [style.letter_shape for style in styles]
    assert 0.45 < np.mean([shape.width != 1 for shape in shapes]) < 0.75
    assert 0.02 < np.mean([shape.bridge > 0 for shape in shapes]) < 0.1


@pytest.mark.parametrize("weight", [-0.02, 0.0, 0.04])
@pytest.mark.parametrize("pair", ["ÖŐ", "ÜŰ", "ÍI", "ЙИ", "ЁЕ"])
def test_accents_remain_distinct_in_thin_and_thick_print(pair: str, weight: float) -> None:
    for font in select_supporting_fonts(packaged_fonts(), pair)[:3]:
        first, second = (shaped_mask(font, letter, 28, LetterShape(weight=weight))[0] for letter in pair)
        height, width = (max(first.shape[k], second.shape[k]) for k in (0, 1))
        padded = []
        for mask in (first, second):
            canvas = np.zeros((height, width))
            left = (width - mask.shape[1]) // 2
            canvas[height - mask.shape[0] :, left : left + mask.shape[1]] = mask  # on one base line
            padded.append(canvas)
        assert np.abs(padded[0] - padded[1]).sum() > 0.04 * max(mask.sum() for mask in padded)


@pytest.mark.parametrize("mark", ["sticker", "pencil"])
def test_marked_blank_is_labelled_as_a_blank_with_its_position(mark: str) -> None:
    rng = np.random.default_rng(5)
    setting = random_setting(rng, packaged_fonts())
    setting = replace(setting, tile_style=replace(setting.tile_style, blank=mark))
    scene = compose_scene(rng, setting, {(3, 4): "?", (3, 5): "A"})
    assert scene.labels[3][4] == "?" and np.isfinite(scene.centres[3, 4]).all()
    assert sum(symbol != "" for row in scene.labels for symbol in row) == 2


def test_most_boards_have_print_on_squares_without_tiles() -> None:
    rng = np.random.default_rng(2)
    boards = [random_board_style(rng, packaged_fonts()) for _ in range(100)]
    assert np.mean([board.centre in ("star", "heart") for board in boards]) > 0.5
    assert np.mean([bool(board.text) for board in boards]) > 0.7


def test_outlined_letters_are_not_as_faint_as_wood_grain(styles: list[VariedTileStyle]) -> None:
    outlined = [style for style in styles if style.print_effect in ("hollow", "inline")]
    assert len(outlined) > 10
    assert min(abs(brightness(style.ink) - brightness(style.top)) for style in outlined) > 35


def test_wood_grain_crosses_tiles_at_many_angles(styles: list[VariedTileStyle]) -> None:
    slants = np.array([abs(np.sin(style.grain_angle)) for style in styles if style.grain])
    assert 0.3 < np.mean(slants > 0.3) < 0.8
