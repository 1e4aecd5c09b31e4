"""A blank or nothing: what this board's own bare squares say."""

import numpy as np
import pytest

from calibration.empty_board import EmptyBoardModel, apply_log_ratios
from engine.reading import BLANK, BOARD_SIZE, EMPTY, HIDDEN
from tests.support.own_tiles import OwnTable, reading_of
from vision.recognition.blank_by_colour import measure_log_colours
from vision.recognition.board_views import BoardViews

LETTERED = {16: "A", 48: "B", 80: "C", 128: "A", 200: "B", 210: "C"}
ASKED = (30, 100, 150)
DOUBT = {EMPTY: 0.5, BLANK: 0.5}


def colours(views: BoardViews) -> np.ndarray:
    return measure_log_colours(views.board)


def known(table: OwnTable, pictures: int = 4) -> EmptyBoardModel:
    """The board after some pictures of it bare, in changing light."""
    board, bare = EmptyBoardModel.untrained(), np.ones(BOARD_SIZE * BOARD_SIZE, bool)
    for shot in range(pictures):
        board = board.with_picture(colours(table.picture({}, shot, light=0.7 + 0.1 * shot)), bare)
    return board


def words(board: EmptyBoardModel, views: BoardViews) -> np.ndarray:
    reading = reading_of({at: {face: 0.99} for at, face in LETTERED.items()} | dict.fromkeys(ASKED, DOUBT))
    return board.compute_log_ratios(colours(views), reading)


def test_an_unknown_board_says_nothing() -> None:
    assert not words(EmptyBoardModel.untrained(), OwnTable().picture(LETTERED)).any()


@pytest.mark.parametrize("light", [0.6, 1.0, 1.3])
def test_a_square_as_it_was_bare_is_bare_and_another_a_blank(light: float) -> None:
    table = OwnTable()
    said = words(known(table), table.picture(LETTERED | {100: BLANK}, 9, light))
    assert said[100] > 0
    assert said[30] < 0
    assert said[150] < 0


def test_a_board_that_is_turned_under_its_tiles_is_known_again() -> None:
    table = OwnTable()
    said = words(known(table), table.picture(LETTERED | {100: BLANK}, 9, turned=1))
    assert said[100] > 0
    assert said[30] < 0


def test_another_board_is_not_judged_by_this_one() -> None:
    said = words(known(OwnTable()), OwnTable(seed=3).picture(LETTERED | {100: BLANK}, 9))
    assert not said.any()


def test_another_board_is_learnt_from_the_beginning() -> None:
    first, second = OwnTable(), OwnTable(seed=3)
    board = known(first).with_picture(colours(second.picture({}, 7)), np.ones(BOARD_SIZE * BOARD_SIZE, bool))
    assert board.observation_counts.max() == 1


def test_too_few_lettered_tiles_say_nothing() -> None:
    table = OwnTable()
    reading = reading_of({16: {"A": 0.99}} | dict.fromkeys(ASKED, DOUBT))
    assert not known(table).compute_log_ratios(colours(table.picture({16: "A"}, 9)), reading).any()


def test_words_decide_only_where_blank_or_bare_was_in_doubt() -> None:
    sure, hidden, letter = {EMPTY: 0.999, BLANK: 0.001}, {HIDDEN: 0.9, EMPTY: 0.05, BLANK: 0.05}, {"A": 0.9, BLANK: 0.1}
    reading = reading_of({0: DOUBT, 1: sure, 2: hidden, 3: letter})
    after = apply_log_ratios(reading, np.full(BOARD_SIZE * BOARD_SIZE, 4.0))
    assert after.squares[0].symbol == BLANK
    assert after.squares[1:] == reading.squares[1:]
