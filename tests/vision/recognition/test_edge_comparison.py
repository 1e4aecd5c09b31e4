"""A blank covers the lines at its edges; a bare square shows them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.board import Premium, load_layout
from engine.reading import BOARD_SIZE
from vision.geometry import Image
from vision.recognition.colour_comparison import measure_log_colours
from vision.recognition.edge_comparison import _measure_edges, compute_edge_log_ratio, find_neighbours
from vision.recognition.views import VIEW_MARGIN_SQUARES, VIEW_PX_PER_SQUARE

SQUARES = BOARD_SIZE * BOARD_SIZE
VIEW = (BOARD_SIZE + 2 * VIEW_MARGIN_SQUARES) * VIEW_PX_PER_SQUARE
WORD = tuple(range(7 * BOARD_SIZE + 3, 7 * BOARD_SIZE + 12))
DOWN = tuple(range(BOARD_SIZE + 5, 7 * BOARD_SIZE + 5, BOARD_SIZE))
LAID = (*WORD, *DOWN)
GREY, LINE, PREMIUM = 150, 235, 90
AT_THE_WORD, APART, AT_THE_BORDER, ON_PREMIUM = WORD[-1] + 1, 10 * BOARD_SIZE + 3, 4 * BOARD_SIZE, 12 * BOARD_SIZE + 8
PLACES = [AT_THE_WORD, APART, AT_THE_BORDER, ON_PREMIUM]


def _places(squares: tuple[int, ...]) -> NDArray[np.bool_]:
    return np.isin(np.arange(SQUARES), squares)


def _square(at: int) -> tuple[slice, slice]:
    row, column = divmod(at, BOARD_SIZE)
    top, left = (row + VIEW_MARGIN_SQUARES) * VIEW_PX_PER_SQUARE, (column + VIEW_MARGIN_SQUARES) * VIEW_PX_PER_SQUARE
    return slice(top, top + VIEW_PX_PER_SQUARE), slice(left, left + VIEW_PX_PER_SQUARE)


def _drawn(tiles: tuple[int, ...], line: int = LINE, light: float = 0.0) -> Image:
    """A `rectify_board` of grey squares and darker premium ones with lines between, on a dark frame.

    The tiles have the very grey of the plain squares and cover half of the lines around them. The `light` grows from
    left to right by this share.
    """
    view = np.full((VIEW, VIEW), 40.0)
    for at, premium in enumerate(load_layout().premiums):
        view[_square(at)] = GREY if premium is Premium.NONE else PREMIUM
    inner = slice(VIEW_MARGIN_SQUARES * VIEW_PX_PER_SQUARE - 1, VIEW - VIEW_MARGIN_SQUARES * VIEW_PX_PER_SQUARE + 1)
    for at in (np.arange(BOARD_SIZE + 1) + VIEW_MARGIN_SQUARES) * VIEW_PX_PER_SQUARE:
        view[at - 1 : at + 1, inner] = view[inner, at - 1 : at + 1] = line
    for at in tiles:
        view[_square(at)] = GREY
    view *= np.linspace(1, 1 - light, VIEW)
    grey = np.clip(view + np.random.default_rng(1).normal(0, 3, view.shape), 0, 255).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)


def _odds(view: Image, asked: int, known: tuple[int, ...] = LAID, unknown: tuple[int, ...] = ()) -> float:
    tiles = _places(known)
    empty = ~tiles & ~_places((asked, *unknown))
    return float(compute_edge_log_ratio(view, measure_log_colours(view), empty, tiles, _places((asked,)))[asked])


@pytest.mark.parametrize("at", PLACES)
def test_a_blank_of_the_colour_of_the_board_covers_its_lines(at: int) -> None:
    assert _odds(_drawn((*LAID, at)), at) > 5


@pytest.mark.parametrize("at", PLACES)
def test_a_bare_square_shows_them(at: int) -> None:
    assert _odds(_drawn(LAID), at) < -5


@pytest.mark.parametrize("at", PLACES)
def test_the_light_may_fall_from_one_side(at: int) -> None:
    assert _odds(_drawn(LAID, light=0.5), at) < -5
    assert _odds(_drawn((*LAID, at), light=0.5), at) > 5


def test_board_without_lines_gives_little_evidence() -> None:
    assert abs(_odds(_drawn(LAID, line=GREY), APART)) < 3


def test_a_hand_on_a_neighbour_is_no_tile_that_covers_a_line() -> None:
    view, hand = _drawn(LAID), APART + 1
    rows, columns = _square(hand)
    view[rows, columns.start - 2 : columns.stop + 2] = GREY
    assert _odds(view, APART, unknown=(hand,)) < -5


def test_evidence_is_zero_without_a_known_tile() -> None:
    assert _odds(_drawn(()), APART, known=()) == 0


def test_evidence_is_zero_without_a_known_empty_square() -> None:
    view, nothing = _drawn(LAID), _places(())
    assert not compute_edge_log_ratio(view, measure_log_colours(view), nothing, _places(LAID), _places((APART,))).any()


def test_evidence_of_other_squares_is_zero() -> None:
    view, tiles, nothing = _drawn(LAID), _places(LAID), _places(())
    assert not compute_edge_log_ratio(view, measure_log_colours(view), ~tiles, tiles, nothing).any()


def test_the_edges_of_a_square_run_clockwise_and_from_outside_in() -> None:
    rows = np.broadcast_to(np.arange(VIEW)[:, None, None], (VIEW, VIEW, 3)).astype(np.uint8)
    top, bottom, middle = 16 * 4, 16 * 5, 71.5  # of the fourth row of squares
    for turn in range(4):
        upper, right, lower, left = np.roll(_measure_edges(np.rot90(rows, -turn)), -turn, axis=1)[
            _turned(3, 5, turn), :, :, 0
        ]
        assert np.exp(upper) - 8 == pytest.approx([top - 1, top, top + 1])
        assert np.exp(lower) - 8 == pytest.approx([bottom, bottom - 1, bottom - 2])
        assert np.exp([left, right]) - 8 == pytest.approx(np.full((2, 3), middle))


def _turned(row: int, column: int, quarter_turns: int) -> int:
    """The number of a square after quarter turns clockwise."""
    for _ in range(quarter_turns):
        row, column = column, BOARD_SIZE - 1 - row
    return row * BOARD_SIZE + column


def test_a_tile_lies_beside_the_four_squares_around_it() -> None:
    tiles = np.zeros((BOARD_SIZE, BOARD_SIZE), np.bool_)
    tiles[3, 5] = True
    assert np.argwhere(find_neighbours(tiles)).tolist() == [[2, 5, 2], [3, 4, 1], [3, 6, 3], [4, 5, 0]]


def test_beyond_the_board_nothing_lies() -> None:
    assert find_neighbours(np.ones((BOARD_SIZE, BOARD_SIZE), np.bool_))[0, 0].tolist() == [False, True, True, False]
