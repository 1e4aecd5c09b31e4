"""The comparison of previews: noise is no change, a single exchanged letter is one, and doubt counts as a change."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from device.cameras.base import Frame, Image
from device.capture.motion import RestScene, SceneReference
from engine.tiles import load_tile_set
from vision.geometry import Floats, grid_corners
from vision.rendering.simulated_table import EVENING_LIGHT, SimulatedTable

WORD = {(7, column): letter for column, letter in enumerate("HORNETS", 4)}
SIZE = (976, 732)
"""Size of the stills; in previews of half this size, a square has 20 pixels, the fewest that are accepted."""


@cache
def photograph(letters: tuple[tuple[tuple[int, int], str], ...] = ()) -> tuple[Image, Floats]:
    """Return a picture without noise of WORD and more tiles, and the corners of its grid."""
    light = replace(EVENING_LIGHT, noise=0.0)
    table = SimulatedTable(seed=3, size=SIZE, light=light, values=load_tile_set("en").values)
    table.lay_tiles(WORD | dict.fromkeys(dict(letters), "E"))
    for at, letter in letters:
        table._placed[at] = replace(table._placed[at], letter=letter)  # only the letter differs, not where it is
    table._rng = np.random.default_rng(9)
    return table.photograph().image, np.asarray(table.camera.project(grid_corners()), np.float64)


@cache
def draw_noise(shape: tuple[int, ...], seed: int) -> npt.NDArray[np.float32]:
    """Return noise with a standard deviation of 1."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def preview(image: Image, noise: float = 4.0, seed: int = 0) -> Image:
    """Return a grey picture at half the size, with the noise of a camera and of its JPEG."""
    noisy = image + np.float32(noise) * draw_noise(image.shape, seed)
    data = cv2.imencode(".jpg", np.clip(noisy, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 85])[1]
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_REDUCED_GRAYSCALE_2), np.uint8)


def make_reference(image: Image, corners: Floats, noise: float = 4.0) -> SceneReference:
    return SceneReference(RestScene(Frame(image, 0.0), preview(image, noise, 1), preview(image, noise, 2)), corners)


@pytest.mark.parametrize("noise", [0.0, 2.0, 5.0, 8.0])
def test_scene_with_other_noise_is_unchanged(noise: float) -> None:
    reference = make_reference(*photograph(), noise)
    assert all(reference.matches(preview(photograph()[0], noise, seed)) for seed in range(10, 13))


PAIRS = ("EF", "OQ", "IJ", "CG", "PR", "OD", "IL", "UV")
PLACES = ((2, 3), (12, 12))


@pytest.mark.parametrize(("pair", "at"), [(pair, PLACES[n % 2]) for n, pair in enumerate(PAIRS)])
def test_exchanged_tile_with_a_similar_letter_is_a_change(pair: str, at: tuple[int, int]) -> None:
    before, after = (photograph(((at, letter),)) for letter in pair)
    reference = make_reference(*before, 8.0)
    assert reference.matches(preview(before[0], 8.0, 10))
    assert not any(reference.matches(preview(after[0], 8.0, seed)) for seed in range(10, 13))


def test_blank_on_a_free_square_is_a_change() -> None:
    assert not make_reference(*photograph()).matches(preview(photograph((((8, 8), "?"),))[0]))


@pytest.mark.parametrize("gain", [0.93, 1.08])
def test_other_light_is_a_change(gain: float) -> None:
    image, corners = photograph()
    brighter = np.clip(image * gain, 0, 255).astype(np.uint8)
    assert not make_reference(image, corners).matches(preview(brighter))


def test_moved_board_is_a_change() -> None:
    image, corners = photograph()
    assert not make_reference(image, corners).matches(preview(np.roll(image, 2, axis=1)))


def test_preview_of_another_size_is_a_change() -> None:
    image, corners = photograph()
    assert not make_reference(image, corners).matches(preview(image)[:, :-2])


def test_scene_that_changed_while_the_still_was_taken_matches_nothing() -> None:
    (image, corners), (other, _) = photograph((((2, 3), "E"),)), photograph((((2, 3), "F"),))
    scene = RestScene(Frame(image, 0.0), preview(image), preview(other))
    assert not SceneReference(scene, corners).matches(scene.after)


def test_scene_with_too_few_pixels_matches_nothing() -> None:
    image, corners = photograph()
    small = cv2.resize(preview(image), None, fx=0.9, fy=0.9, interpolation=cv2.INTER_AREA)
    assert not SceneReference(RestScene(Frame(image, 0.0), small, small), corners).matches(small)


def test_scene_without_contrast_matches_nothing() -> None:
    image, corners = photograph()
    dark = (image * 0.1).astype(np.uint8)
    assert not make_reference(dark, corners).matches(preview(dark, seed=2))
