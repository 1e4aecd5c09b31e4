"""The rendered table tells the truth about its own photographs."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from vision.rendering import fonts
from vision.rendering.scene import Scene
from vision.rendering.simulated_table import EVENING_LIGHT, Hands, SimulatedTable
from vision.training.random_scenes import random_scene

CLEAN = replace(EVENING_LIGHT, noise=0.0, gradient=0.0, lamp=0.0, shadow=0.0, blur=0.3, sharpen=0.0, jpeg_quality=100)


def _rectified(scene: Scene, corners: np.ndarray, px: int = 40) -> np.ndarray:
    flat = np.array([[0, 0], [15, 0], [15, 15], [0, 15]], np.float32) * px - 0.5
    matrix = cv2.getPerspectiveTransform(corners.astype(np.float32), flat)
    return cv2.warpPerspective(scene.image, matrix, (15 * px, 15 * px)).astype(np.float64)


def test_a_seed_gives_the_same_photograph_again() -> None:
    first, second = (random_scene(np.random.default_rng(5), fonts.packaged_fonts()) for _ in range(2))
    assert np.array_equal(first.image, second.image)
    assert first.labels == second.labels


@pytest.mark.parametrize("tilt", [0.0, 25.0])
def test_grid_lines_lie_where_the_corners_say(tilt: float) -> None:
    table = SimulatedTable(1, "green", tilt=tilt, light=CLEAN)
    scene = table.photograph()
    columns = _rectified(scene, scene.corners)[60:540].mean(axis=(0, 2))  # pale lines on a dark board
    for i in range(1, 15):
        near = columns[i * 40 - 8 : i * 40 + 8]
        weight = np.clip(near - np.percentile(near, 60), 0, None)
        centre = (weight * np.arange(-8, 8)).sum() / weight.sum() + 0.5
        assert abs(centre) < 1.2, f"line {i} is {centre / 40:.3f} square off"


def test_tile_tops_stand_behind_their_squares_seen_from_low_down() -> None:
    table = SimulatedTable(2, "green", tilt=45.0, light=CLEAN)
    empty = table.photograph()
    table.lay_tiles({(7, 7): "?"})
    laid = table.photograph()
    difference = np.abs(_rectified(laid, empty.corners) - _rectified(empty, empty.corners)).sum(axis=2) > 60
    rows = np.flatnonzero(difference.any(axis=1)) / 40
    assert rows.min() < 6.95, "the top reaches into the square behind"
    assert 7.7 < rows.max() < 8.06, "the foot stays on its own square"


def test_scene_has_the_positions_of_tile_tops() -> None:
    table = SimulatedTable(2, "green", tilt=45.0, light=CLEAN)
    empty = table.photograph()
    table.lay_tiles({(7, 7): "?"})
    laid = table.photograph()
    changed = np.abs(laid.image.astype(int) - empty.image.astype(int)).sum(axis=2) > 60
    x, y = laid.centres[7, 7]
    rows, columns = np.nonzero(changed)
    assert abs(x - (columns.min() + columns.max()) / 2) < 0.1 * np.ptp(columns)
    assert rows.min() < y < (rows.min() + rows.max()) / 2, "above the tile's foot"
    assert np.isnan(np.delete(laid.centres.reshape(225, 2), 7 * 15 + 7, axis=0)).all()


def test_tiles_stay_where_they_were_laid() -> None:
    table = SimulatedTable(3, light=CLEAN)
    table.lay_tiles({(7, 7): "A"})
    before = table.photograph()
    table.lay_tiles({(7, 7): "A", (7, 8): "T"})
    after = table.photograph()
    square = (slice(7 * 40, 8 * 40), slice(7 * 40, 8 * 40 - 6))
    change = np.abs(_rectified(after, after.corners)[square] - _rectified(before, before.corners)[square])
    assert change.mean() < 3
    assert after.labels[7][7:9] == ("A", "T")


def test_a_hand_hides_the_square_it_points_at_and_no_hand_hides_nothing() -> None:
    table = SimulatedTable(4)
    assert table.photograph().hidden.max() == 0
    reached = table.photograph(Hands(fingertips=((7.5, 7.5),))).hidden
    assert reached.max() > 0.9
    assert reached.min() == 0


def test_packaged_fonts_draw_every_accented_letter_of_the_latin_sets() -> None:
    assert fonts.select_supporting_fonts(fonts.packaged_fonts(), "AÄÖÜĄĘŁŃÓŚŹŻČŠŽŘĚŮŐŰÇĞİŞÅÆØÑÕ")


def test_a_font_without_a_letter_is_not_used_for_it() -> None:
    assert fonts.select_supporting_fonts(fonts.packaged_fonts(), "漢") == ()


@pytest.mark.parametrize("text", ["AA BC\n", "DREI"])
def test_a_font_is_used_for_text_with_spaces_and_repeated_letters(text: str) -> None:
    assert fonts.select_supporting_fonts(fonts.packaged_fonts(), text) == fonts.packaged_fonts()


@pytest.mark.parametrize("text", ["AА", "A\u200b"], ids=["same glyph", "blank glyph"])
def test_a_font_without_a_glyph_of_its_own_for_each_letter_is_not_used(text: str) -> None:
    assert fonts.select_supporting_fonts(fonts.packaged_fonts(), text) == ()
