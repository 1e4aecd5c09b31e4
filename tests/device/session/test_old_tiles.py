"""Old tiles that are read differently: points that were scored stay until the players answer a question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from device.session.commands.answers import AnswerQuestion
from device.session.commands.base import TableCommand
from device.session.commands.corrections import CorrectSquare
from device.session.commands.games import StartGame, Undo
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn
from device.session.commands.turns import EndTurn, EnterBoard
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


KORN = ("KORN", 7, 5, True)
ENTERED_BOARD = EnterBoard(tuple(map(tuple, rows(KORN))))  # type: ignore[arg-type]


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


def test_play_in_a_picture_with_three_other_letters_counts_after_the_answer(
    playing: TableSession, table: TextTable
) -> None:
    table.lay(BERK, FARM, PASTE)
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert state.question is not None and state.question.key == "asked-letters-unreliable"
    assert [turn.word for turn in state.turns] == ["HORN", "FA.M"]
    state = playing.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN", "FA.M", "PASTE"]


def end_turns_with_swapped_letters(session: TableSession, table: TextTable) -> Iterator[TableSnapshot]:
    """Play the later words while three letters of HORN are swapped; yield the state after each turn.

    The questions whether the whole picture is legible are answered with the play.
    """
    for count in range(1, len(LATER_WORDS) + 1):
        table.lay(BERK, FARM, *LATER_WORDS[:count])
        state = session.submit(EndTurn()).result(PATIENCE_S)
        if state.question is not None and state.question.key == "asked-letters-unreliable":
            state = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
        yield state


def test_three_letters_that_were_swapped_change_no_score_without_an_answer(
    playing: TableSession, table: TextTable
) -> None:
    asked = 0
    for state in end_turns_with_swapped_letters(playing, table):
        assert get_scores(state) == [14, 9] and [turn.word for turn in state.turns[:2]] == ["HORN", "FA.M"]
        asked += all(is_asked_about(state, square) for square in SWAPPED)
    assert asked == 1


def test_three_letters_that_were_swapped_count_after_the_answer(playing: TableSession, table: TextTable) -> None:
    states = end_turns_with_swapped_letters(playing, table)
    assert any(is_asked_about(state, H_OF_HORN) for state in states)
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


def replay_misread(session: TableSession, table: TextTable, confidence: float) -> list[str]:
    """Play FARM and PASTE while the K of KORN is misread as H; return the words of the turns."""
    for words in [(KORN, FARM), (KORN, FARM, PASTE)]:
        lay_with_old_tile(table, SquareReading((("H", confidence), ("K", 1 - confidence))), *words)
        session.submit(EndTurn()).result(PATIENCE_S)
    return [turn.word for turn in session.state.turns]


@pytest.mark.parametrize("confidence", [0.97, 0.9])  # with 0.9 the players are asked about the letter
@pytest.mark.parametrize("command", [CorrectSquare("F8", "K"), CorrectTurn(1, at="8F", word="KORN")])
def test_corrected_tile_counts_although_it_is_misread_again(
    session: TableSession, table: TextTable, command: TableCommand, confidence: float
) -> None:
    session.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
    lay_with_old_tile(table, SquareReading((("H", confidence), ("K", 1 - confidence))), HORN)
    session.submit(EndTurn()).result(PATIENCE_S)
    session.submit(command).result(PATIENCE_S)
    assert replay_misread(session, table, confidence) == ["KORN", "FA.M", "PASTE"]


@pytest.mark.parametrize("command", [InsertTurn(1, at="8F", word="KORN"), ENTERED_BOARD])
def test_play_that_was_entered_instead_of_an_answer_counts_although_it_is_misread_again(
    session: TableSession, table: TextTable, command: TableCommand
) -> None:
    session.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
    table.board = replace(BoardReading.from_rows(rows(HORN)), offset_confidence=0.6)
    state = session.submit(EndTurn()).result(PATIENCE_S)
    assert state.question is not None and state.question.key == "asked-grid-misplaced"
    session.submit(command).result(PATIENCE_S)
    assert replay_misread(session, table, 1.0) == ["KORN", "FA.M", "PASTE"]


def test_play_of_a_second_press_is_asked_about_at_the_first_other_reading(
    session: TableSession, table: TextTable
) -> None:
    session.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
    table.board = replace(BoardReading.from_rows(rows(HORN)), offset_confidence=0.6)
    assert session.submit(EndTurn()).result(PATIENCE_S).turns == ()
    table.lay(HORN)
    session.submit(EndTurn()).result(PATIENCE_S)
    table.lay(KORN, FARM)
    state = session.submit(EndTurn()).result(PATIENCE_S)
    assert is_asked_about(state, H_OF_HORN) and state.question is not None
    assert (state.turns[0].word, state.turns[0].provisional) == ("HORN", True)
    assert state.question.answers == (
        "Ben played FARM at H6 for 9.",
        "Anna played KORN at 8F for 16, Ben played FARM at H6 for 9.",
        "Look again.",
    )


@pytest.mark.parametrize(("answer", "word"), [(0, "HORN"), (1, "KORN")])
def test_answer_about_a_tile_is_not_contradicted_by_later_pictures(
    session: TableSession, table: TextTable, answer: int, word: str
) -> None:
    session.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
    for words in [(HORN,), (KORN, FARM)]:
        table.lay(*words)
        session.submit(EndTurn()).result(PATIENCE_S)
    session.submit(AnswerQuestion(answer)).result(PATIENCE_S)
    for later in [(PASTE,), (PASTE, TEN)]:
        table.lay(HORN if word == "KORN" else KORN, FARM, *later)
        state = session.submit(EndTurn()).result(PATIENCE_S)
        assert (state.turns[0].word, state.turns[0].provisional) == (word, False) and state.question is None
    assert [turn.word for turn in state.turns] == [word, "FA.M", "PASTE", ".EN"]


def test_tile_of_a_settled_question_is_asked_about_before_it_is_changed(
    session: TableSession, table: TextTable
) -> None:
    session.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
    lay_with_old_tile(table, SquareReading((("H", 0.55), ("K", 0.45))), HORN)
    assert is_asked_about(session.submit(EndTurn()).result(PATIENCE_S), H_OF_HORN)
    table.lay(HORN, FARM)
    assert session.submit(EndTurn()).result(PATIENCE_S).open_questions == ()
    table.lay(KORN, FARM, LATER_WORDS[0])
    state = session.submit(EndTurn()).result(PATIENCE_S)
    assert is_asked_about(state, H_OF_HORN) and state.turns[0].word == "HORN"


@pytest.mark.parametrize("command", [CorrectSquare("H10", EMPTY), CorrectTurn(2, at="H6", word="FA.M")])
def test_tile_that_players_removed_is_not_added_again(
    playing: TableSession, table: TextTable, command: TableCommand
) -> None:
    """A stain or print looks like the S of FARMS at each press."""
    playing.submit(Undo()).result(PATIENCE_S)
    farms, hot = ("FARMS", 5, 7, False), ("HOT", 7, 5, False)
    table.lay(HORN, farms)
    playing.submit(EndTurn()).result(PATIENCE_S)
    playing.submit(command).result(PATIENCE_S)
    table.lay(HORN, farms, hot)
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN", "FA.M", ".OT"] and state.question is None


def test_play_whose_tiles_players_removed_may_be_read_again(playing: TableSession) -> None:
    for square in ("H6", "H7", "H9"):
        playing.submit(CorrectSquare(square, EMPTY)).result(PATIENCE_S)
    assert playing.state.turns[-1].kind == "pass"
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert (state.turns[-1].player, state.turns[-1].word) == (0, "FA.M") and state.question is None


def test_tile_that_is_laid_where_players_removed_one_counts(playing: TableSession, table: TextTable) -> None:
    playing.submit(Undo()).result(PATIENCE_S)
    table.lay(HORN, ("FARMS", 5, 7, False))
    playing.submit(EndTurn()).result(PATIENCE_S)
    playing.submit(CorrectSquare("H10", EMPTY)).result(PATIENCE_S)
    table.lay(HORN, FARM, PASTE)
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert state.turns[-1].word == "PASTE" and state.question is None


def test_letter_that_was_read_clearly_later_counts_until_the_answer(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
    lay_with_old_tile(table, SquareReading((("H", 0.97), ("K", 0.03))), HORN)
    state = session.submit(EndTurn()).result(PATIENCE_S)
    assert state.turns[0].doubtful == ("F8",)
    table.lay(HORN, FARM)
    assert session.submit(EndTurn()).result(PATIENCE_S).turns[0].doubtful == ()
    for count in (1, 2):
        table.lay(KORN, FARM, *LATER_WORDS[:count])
        state = session.submit(EndTurn()).result(PATIENCE_S)
        assert is_asked_about(state, H_OF_HORN) is (count == 2) and state.turns[0].word == "HORN"
    assert state.question is not None and state.question.key == "asked-old-tile-differs"
