"""Old tiles that are read differently: points that were scored stay until the players answer a question."""

from __future__ import annotations

import pytest

from device.session.commands.games import StartGame
from device.session.commands.questions import AnswerQuestion
from device.session.commands.turns import EndTurn
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from engine.reading import BLANK, EMPTY, BoardReading, SquareReading
from tests.support.text_table import FARM, HORN, PASTE, STARTED, TextTable, rows
from tests.support.waiting import PATIENCE_S

TEN, EN, NO, ON = ("TEN", 9, 8, False), ("EN", 10, 8, True), ("NO", 10, 9, False), ("ON", 5, 8, False)
LATER_WORDS = (PASTE, TEN, EN, NO, ON)
"""Words of five turns after HORN and FARM."""
H_OF_HORN = 7 * 15 + 5
BERK = ("BERK", 7, 5, True)
"""HORN with three other letters; the R is also the R of FARM."""
SWAPPED = (7 * 15 + 5, 7 * 15 + 6, 7 * 15 + 8)


@pytest.fixture
def playing(session: TableSession, table: TextTable) -> TableSession:
    """A game without a word list, after HORN (14 points) and FARM (9 points)."""
    session.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
    for words in [(HORN,), (HORN, FARM)]:
        table.lay(*words)
        session.submit(EndTurn()).result(PATIENCE_S)
    assert get_scores(session.state) == [14, 9]
    return session


def get_scores(state: TableSnapshot) -> list[int]:
    """Return the scores of the first two turns."""
    return [turn.score for turn in state.turns[:2]]


def lay_with_old_tile(table: TextTable, square: SquareReading, *words: tuple[str, int, int, bool]) -> None:
    """Set the board, with another reading of the H of HORN."""
    squares = list(BoardReading.from_rows(rows(*words)).squares)
    squares[H_OF_HORN] = square
    table.board = BoardReading(tuple(squares))


def is_asked_about(state: TableSnapshot, square: int) -> bool:
    """Return True if the question that is open now, not one that was deferred, is about a square."""
    return state.question is not None and square in state.question.squares


def test_three_letters_that_were_swapped_change_no_score_without_an_answer(
    playing: TableSession, table: TextTable
) -> None:
    asked = 0
    for count in range(1, len(LATER_WORDS) + 1):
        table.lay(BERK, FARM, *LATER_WORDS[:count])
        state = playing.submit(EndTurn()).result(PATIENCE_S)
        assert get_scores(state) == [14, 9] and [turn.word for turn in state.turns[:2]] == ["HORN", "FA.M"]
        asked += all(is_asked_about(state, square) for square in SWAPPED)
    assert asked == 1


def test_three_letters_that_were_swapped_count_after_the_answer(playing: TableSession, table: TextTable) -> None:
    for count in (1, 2):
        table.lay(BERK, FARM, *LATER_WORDS[:count])
        state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert is_asked_about(state, H_OF_HORN)
    state = playing.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert get_scores(state) == [20, 9] and state.turns[0].word == "BERK"


@pytest.mark.parametrize("symbol", [BLANK, EMPTY, "M"])
@pytest.mark.parametrize("confidence", [0.97, 0.9, 0.8])
def test_old_tile_that_is_misread_five_times_alike_changes_no_score(
    playing: TableSession, table: TextTable, symbol: str, confidence: float
) -> None:
    asked = 0
    for count in range(1, len(LATER_WORDS) + 1):
        misread = SquareReading(((symbol, confidence), ("H", 1 - confidence)))
        lay_with_old_tile(table, misread, HORN, FARM, *LATER_WORDS[:count])
        state = playing.submit(EndTurn()).result(PATIENCE_S)
        assert get_scores(state) == [14, 9]
        asked += is_asked_about(state, H_OF_HORN)
    assert asked <= 1
