"""A blank covers the lines at its edges; a bare square shows them."""

from __future__ import annotations

import numpy as np
import pytest

from engine.reading import SIZE
from vision.colours import square_colours
from vision.edges import like_tiles
from vision.geometry import Floats, Image
from vision.squares import MARGIN, SCALE

_SQUARES = SIZE * SIZE
_WORD = tuple(range(7 * SIZE + 3, 7 * SIZE + 12))
"""Tiles across the middle row: nine have 18 sides beside nothing, and 16 beside a tile."""


def _drawn(tiles: tuple[int, ...], line: int = 235) -> Image:
    """A `board_view` of grey squares with lines between them, and tiles of the very same grey that cover the lines."""
    rng = np.random.default_rng(1)
    view = np.full(((SIZE + 2 * MARGIN) * SCALE,) * 2, 150.0)
    for at in (np.arange(SIZE + 1) + MARGIN) * SCALE:
        view[at - 1 : at + 1] = view[:, at - 1 : at + 1] = line
    for row, column in (divmod(square, SIZE) for square in tiles):
        top, left = (row + MARGIN) * SCALE, (column + MARGIN) * SCALE
        view[top - 1 : top + SCALE, left - 1 : left + SCALE] = 150
    grey = np.clip(view + rng.normal(0, 4, view.shape), 0, 255).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)


def _odds(view: Image, lettered: tuple[int, ...], asked: int, blank: bool) -> Floats:
    known = np.isin(np.arange(_SQUARES), lettered)
    laid = known | ((np.arange(_SQUARES) == asked) & blank)
    empty = ~known & (np.arange(_SQUARES) != asked)
    return like_tiles(view, square_colours(view), empty, known, laid, np.array([asked]))[0]


@pytest.mark.parametrize("blank", [_WORD[-1] + 1, 3 * SIZE + 3])
def test_a_blank_of_the_colour_of_the_board_covers_its_lines(blank: int) -> None:
    odds, sides = _odds(_drawn((*_WORD, blank)), _WORD, blank, True)
    assert sides == 4
    assert odds > 8


@pytest.mark.parametrize("bare", [_WORD[-1] + 1, 3 * SIZE + 3])
def test_a_bare_square_shows_them(bare: int) -> None:
    odds, sides = _odds(_drawn(_WORD), _WORD, bare, False)
    assert sides == 4
    assert odds < 0


def test_a_board_without_lines_says_nothing_certain() -> None:
    odds, _sides = _odds(_drawn(_WORD, line=150), _WORD, 3 * SIZE + 3, False)
    assert abs(odds) < 4


def test_nothing_is_said_where_no_tile_is_known() -> None:
    assert _odds(_drawn(()), (), 3 * SIZE + 3, False).tolist() == [0, 0]


def test_nothing_is_said_where_no_bare_square_is_known() -> None:
    view = _drawn(_WORD)
    nothing, tiles = np.zeros(_SQUARES, np.bool_), np.isin(np.arange(_SQUARES), _WORD)
    said = like_tiles(view, square_colours(view), nothing, tiles, tiles, np.array([3 * SIZE + 3]))
    assert said.tolist() == [[0, 0]]
