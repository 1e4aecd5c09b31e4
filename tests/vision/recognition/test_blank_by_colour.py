"""Blank or nothing: a square is compared with the tiles and the uncovered squares of its own board."""

from __future__ import annotations

import numpy as np
import pytest

from vision.recognition.blank_by_colour import KIND, like_tiles, square_colours
from vision.recognition.squares import MARGIN, SCALE

RNG = np.random.default_rng(0)
GROUND = np.array([[120, 150, 160], [200, 120, 60], [60, 60, 200], [180, 170, 230], [90, 40, 30]], float)
TILE = np.array([130.0, 165.0, 185.0])


def colours(tiles: np.ndarray, dimmed: bool = False) -> np.ndarray:
    """Colours of a board with these tiles, as logarithms, perhaps in a light that falls off to one side."""
    seen = GROUND[KIND].copy()
    seen[tiles] = TILE
    if dimmed:
        seen *= np.linspace(1.0, 0.4, 225)[:, None]
    return np.log(seen * np.exp(RNG.normal(0, 0.01, seen.shape)) + 8)


@pytest.mark.parametrize("dimmed", [False, True])
def test_a_blank_is_like_the_tiles_and_an_uncovered_square_like_its_kind(dimmed: bool) -> None:
    tiles = np.zeros(225, bool)
    tiles[100:112] = True
    tiles[57] = True
    asked = np.zeros(225, bool)
    asked[[57, 130]] = True  # a blank, and nothing
    likely = like_tiles(colours(tiles, dimmed), ~tiles & ~asked, tiles & ~asked, asked)
    assert likely[57] > 2
    assert likely[130] < -2
    assert not likely[~asked].any()


def test_without_tiles_nothing_can_be_said() -> None:
    nothing, asked = np.zeros(225, bool), np.zeros(225, bool)
    asked[112] = True
    assert not like_tiles(colours(nothing), ~asked, nothing, asked).any()


def test_a_kind_of_which_too_few_squares_are_bare_is_not_spoken_of() -> None:
    tiles = np.zeros(225, bool)
    tiles[100:111] = True
    tiles[(KIND[0] == KIND)] = True  # the corners' kind
    asked = np.zeros(225, bool)
    asked[[0, 130]] = True
    likely = like_tiles(colours(tiles), ~tiles & ~asked, tiles & ~asked, asked)
    assert likely[0] == 0
    assert likely[130] < -2


def test_the_colour_of_a_square_is_that_of_its_inner_half() -> None:
    side = SCALE * (15 + 2 * MARGIN)
    view = np.zeros((side, side, 3), np.uint8)
    top, left = SCALE * (MARGIN + 2), SCALE * (MARGIN + 4)
    view[top + SCALE // 4 : top + 3 * SCALE // 4, left + SCALE // 4 : left + 3 * SCALE // 4] = (40, 90, 200)
    found = np.exp(square_colours(view)) - 8
    assert np.allclose(found[2 * 15 + 4], (40, 90, 200))
    assert np.allclose(np.delete(found, 2 * 15 + 4, axis=0), 0)
