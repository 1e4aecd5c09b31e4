"""Blank or nothing: a square is compared with the tiles and the uncovered squares of its own board."""

from __future__ import annotations

import numpy as np
import pytest

from vision.recognition.colour_comparison import SQUARE_PREMIUMS, compute_colour_log_ratio, measure_log_colours
from vision.recognition.views import VIEW_MARGIN_SQUARES, VIEW_PX_PER_SQUARE

RNG = np.random.default_rng(0)
GROUND = np.array([[120, 150, 160], [200, 120, 60], [60, 60, 200], [180, 170, 230], [90, 40, 30]], float)
TILE = np.array([130.0, 165.0, 185.0])


def colours(tiles: np.ndarray, dimmed: bool = False) -> np.ndarray:
    """Colours of a board with these tiles, as logarithms, perhaps in a light that falls off to one side."""
    seen = GROUND[SQUARE_PREMIUMS].copy()
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
    likely = compute_colour_log_ratio(colours(tiles, dimmed), ~tiles & ~asked, tiles & ~asked, asked)
    assert likely[57] > 2
    assert likely[130] < -2
    assert not likely[~asked].any()


@pytest.mark.parametrize("sticker", [(250, 30, 30), (30, 250, 250), (10, 10, 10)])
def test_a_colour_that_no_other_square_has_is_rather_that_of_a_sticker(sticker: tuple[int, int, int]) -> None:
    tiles = np.zeros(225, bool)
    tiles[100:112] = True
    asked = np.zeros(225, bool)
    asked[57] = True
    seen = colours(tiles)
    seen[57] = np.log(np.array(sticker) + 8)
    assert compute_colour_log_ratio(seen, ~tiles & ~asked, tiles, asked)[57] > 2


def test_without_tiles_a_square_of_the_usual_colour_is_rather_empty() -> None:
    nothing, asked = np.zeros(225, bool), np.zeros(225, bool)
    asked[112] = True
    assert compute_colour_log_ratio(colours(nothing), ~asked, nothing, asked)[112] < -2
    unusual = colours(asked)
    assert compute_colour_log_ratio(unusual, ~asked, nothing, asked)[112] > 0


def test_a_kind_of_which_too_few_squares_are_bare_is_not_spoken_of() -> None:
    tiles = np.zeros(225, bool)
    tiles[100:111] = True
    tiles[(SQUARE_PREMIUMS[0] == SQUARE_PREMIUMS)] = True  # the corners' kind
    asked = np.zeros(225, bool)
    asked[[0, 130]] = True
    likely = compute_colour_log_ratio(colours(tiles), ~tiles & ~asked, tiles & ~asked, asked)
    assert likely[0] == 0
    assert likely[130] < -2


def test_the_colour_of_a_square_is_that_of_its_inner_half() -> None:
    side = VIEW_PX_PER_SQUARE * (15 + 2 * VIEW_MARGIN_SQUARES)
    view = np.zeros((side, side, 3), np.uint8)
    top, left = VIEW_PX_PER_SQUARE * (VIEW_MARGIN_SQUARES + 2), VIEW_PX_PER_SQUARE * (VIEW_MARGIN_SQUARES + 4)
    view[
        top + VIEW_PX_PER_SQUARE // 4 : top + 3 * VIEW_PX_PER_SQUARE // 4,
        left + VIEW_PX_PER_SQUARE // 4 : left + 3 * VIEW_PX_PER_SQUARE // 4,
    ] = (40, 90, 200)
    found = np.exp(measure_log_colours(view)) - 8
    assert np.allclose(found[2 * 15 + 4], (40, 90, 200))
    assert np.allclose(np.delete(found, 2 * 15 + 4, axis=0), 0)
