"""A square of another colour is found in another light, unless the light is too different."""

from __future__ import annotations

import numpy as np
import pytest

from engine.reading import BOARD_SIZE
from vision.geometry import Image
from vision.recognition.colour_change import find_recoloured_squares

SIDE_PX = 272
SQUARE_PX = 16


def make_view(gain: float = 1.0, slope: float = 0.0) -> Image:
    """Return a board of random colours in a light that increases to the right by `slope` on each side of the middle."""
    colours = np.random.default_rng(1).uniform(60, 180, (17, 17, 3)).repeat(SQUARE_PX, 0).repeat(SQUARE_PX, 1)
    light = gain * (1 + slope * np.linspace(-1, 1, SIDE_PX))[None, :, None]
    return np.asarray(np.round(colours * light), np.uint8)


def recolour(view: Image, cell: tuple[int, int], factor: float) -> Image:
    """Return the view with another brightness of one square."""
    changed = view.copy()
    rows, columns = (slice((k + 1) * SQUARE_PX, (k + 2) * SQUARE_PX) for k in cell)
    changed[rows, columns] = np.round(view[rows, columns] * factor)
    return changed


@pytest.mark.parametrize(("gain", "slope"), [(1.0, 0.0), (0.85, 0.0), (1.1, 0.0), (1.0, 0.12), (0.95, -0.12)])
def test_another_light_recolours_no_square(gain: float, slope: float) -> None:
    recoloured = find_recoloured_squares(make_view(), make_view(gain, slope))
    assert recoloured is not None and not recoloured.any()


@pytest.mark.parametrize("factor", [0.93, 1.07, 0.5])
@pytest.mark.parametrize("cell", [(0, 0), (7, 7), (14, 3)])
def test_square_of_another_colour_is_found_in_another_light(cell: tuple[int, int], factor: float) -> None:
    recoloured = find_recoloured_squares(make_view(), recolour(make_view(0.9, 0.1), cell, factor))
    assert recoloured is not None
    assert recoloured[cell] and recoloured.sum() == 1


def test_word_of_tiles_is_found_and_nothing_else() -> None:
    now = make_view(0.95)
    word = [(7, column) for column in range(3, 11)]
    for cell in word:
        now = recolour(now, cell, 1.3)
    recoloured = find_recoloured_squares(make_view(), now)
    assert recoloured is not None and recoloured.shape == (BOARD_SIZE, BOARD_SIZE)
    assert list(zip(*np.nonzero(recoloured), strict=True)) == word


@pytest.mark.parametrize(("gain", "slope"), [(0.6, 0.0), (1.38, 0.0), (1.0, 0.38)])
def test_nothing_is_known_in_a_very_different_light(gain: float, slope: float) -> None:
    assert find_recoloured_squares(make_view(), make_view(gain, slope)) is None
