"""Reflections on empty squares, and tiles that look as bright."""

from __future__ import annotations

import numpy as np
import pytest

from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image
from vision.recognition.colour_comparison import measure_log_colours
from vision.recognition.letters import BLANK_CLASS, NO_TILE_CLASS
from vision.recognition.reflections import weigh_reflections
from vision.recognition.views import VIEW_MARGIN_SQUARES, VIEW_PX_PER_SQUARE

ROW, COLUMN = 5, 6
"""A square without a premium whose neighbours have none either."""
GROUND = (80, 110, 60)


def draw_view() -> Image:
    """Draw a `rectify_board` of squares with dark lines between."""
    side = (BOARD_SIZE + 2 * VIEW_MARGIN_SQUARES) * VIEW_PX_PER_SQUARE
    view = np.full((side, side, 3), GROUND, np.uint8)
    view[::VIEW_PX_PER_SQUARE] = view[:, ::VIEW_PX_PER_SQUARE] = 30
    return view


def fill(view: Image, colour: tuple[int, int, int], margin: float) -> Image:
    """Fill the square and `margin` squares around it, or less of it for a negative margin."""
    top, left = (VIEW_PX_PER_SQUARE * (at + VIEW_MARGIN_SQUARES) for at in (ROW, COLUMN))
    start, end = -round(margin * VIEW_PX_PER_SQUARE), round((1 + margin) * VIEW_PX_PER_SQUARE)
    view[top + start : top + end, left + start : left + end] = colour
    return view


def read_tile(view: Image, tile_p: float = 0.9, letter_p: float = 0.0) -> Floats:
    """Return the probabilities of no tile, a blank, a letter and hidden of the square afterwards."""
    chances = np.zeros((BOARD_SIZE**2, 4))
    chances[:, NO_TILE_CLASS] = 1.0
    square = ROW * BOARD_SIZE + COLUMN
    chances[square] = 1 - tile_p, tile_p - letter_p, letter_p, 0.0
    letters = np.zeros(BOARD_SIZE**2)
    letters[square] = letter_p
    weigh_reflections(chances, letters, view, measure_log_colours(view))
    assert chances.sum(axis=1) == pytest.approx(1)
    return np.asarray(chances[square], np.float64)


def test_light_that_goes_on_beyond_the_square_is_no_tile() -> None:
    assert read_tile(fill(draw_view(), (180, 210, 160), margin=0.5))[NO_TILE_CLASS] > 0.9


def test_bright_tile_that_ends_at_the_edges_stays_a_tile() -> None:
    assert read_tile(fill(draw_view(), (180, 210, 160), margin=-0.05))[BLANK_CLASS] == pytest.approx(0.9)


def test_dark_square_stays_a_tile() -> None:
    assert read_tile(fill(draw_view(), (30, 40, 20), margin=0.5))[BLANK_CLASS] == pytest.approx(0.9)


def test_clear_letter_in_bright_light_stays() -> None:
    answer = read_tile(fill(draw_view(), (180, 210, 160), margin=0.5), tile_p=0.97, letter_p=0.95)
    assert answer[2] == pytest.approx(0.95)
