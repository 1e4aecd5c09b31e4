"""A correction while a question is open: it answers the question about its own square or turn, and defers any other.

The outcome of a challenge, entered by hand, defers it, too.
"""

from __future__ import annotations

import pytest

from device.session.commands.base import TableCommand
from device.session.commands.corrections import CorrectSquare, NameBlank
from device.session.commands.games import StartGame, Undo
from device.session.commands.questions import AnswerDeferred, AnswerQuestion, DeferQuestion
from device.session.commands.turn_corrections import CorrectTurn
from device.session.commands.turns import DecideChallenge, EndTurn, EnterBoard
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from engine.reading import BoardReading, SquareReading
from tests.support.text_table import FARM, HORN, STARTED, TextTable, play, rows, totals
from tests.support.waiting import PATIENCE_S

H_RN = ("H?RN", 7, 5, True)
FAR = ("FAR", 5, 7, False)
F_SQUARE = 5 * 15 + 7


@pytest.fixture
def asked(playing: TableSession, table: TextTable) -> TableSnapshot:
    """Return the snapshot after H?RN and a play of FARM whose first letter may be a P: the table asks which it is."""
    play(playing, table, H_RN)
    playing.submit(NameBlank("G8", "O")).result(PATIENCE_S)
    squares = list(BoardReading.from_rows(rows(H_RN, FARM)).squares)
    squares[F_SQUARE] = SquareReading((("F", 0.55), ("P", 0.45)))
    table.board = BoardReading(tuple(squares))
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert state.question is not None and state.question.squares == (F_SQUARE,)
    return state


@pytest.mark.parametrize(
    "command",
    [CorrectSquare("F8", "B"), CorrectSquare("G8", "a"), CorrectTurn(1, score=20), DecideChallenge(upheld=False)],
    ids=["square", "blank", "turn", "challenge"],
)
def test_correction_of_something_else_keeps_the_question(
    playing: TableSession, asked: TableSnapshot, command: TableCommand
) -> None:
    state = playing.submit(command).result(PATIENCE_S)
    assert [deferred.question.text for deferred in state.open_questions] == [asked.question and asked.question.text]
    assert state.turns[1].provisional
    state = playing.submit(AnswerDeferred(1, 1)).result(PATIENCE_S)
    assert state.turns[1].word == "PA.M" and not state.open_questions


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("command", [CorrectTurn(2, score=20), CorrectTurn(2, player=0)], ids=["score", "player"])
def test_correction_of_the_turn_that_says_no_letter_keeps_the_question(
    playing: TableSession, command: TableCommand
) -> None:
    assert playing.submit(command).result(PATIENCE_S).turns[1].provisional
    state = playing.submit(AnswerDeferred(1, 1)).result(PATIENCE_S)
    assert state.turns[1].word == "PA.M" and not state.open_questions


def test_correction_of_a_letter_keeps_the_question_who_played_it(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FAR)
    play(playing, table, HORN, ("FARN", 5, 7, False))
    state = playing.submit(CorrectSquare("H9", "M")).result(PATIENCE_S)
    assert [deferred.question.key for deferred in state.open_questions] == ["asked-tile-of-earlier-play"]
    state = playing.submit(AnswerDeferred(1, 1)).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN", "FA.M"]


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    "command", [CorrectSquare("H6", "P"), CorrectTurn(2, at="H6", word="PARM")], ids=["square", "turn"]
)
def test_correction_of_what_is_asked_answers_the_question(playing: TableSession, command: TableCommand) -> None:
    state = playing.submit(command).result(PATIENCE_S)
    assert state.question is None and not state.open_questions
    assert state.turns[1].word == "PA.M" and not state.turns[1].provisional


def test_blank_that_is_named_keeps_the_question_about_another_blank(playing: TableSession, table: TextTable) -> None:
    playing.submit(StartGame(STARTED)).result(PATIENCE_S)
    play(playing, table, H_RN)
    asked = play(playing, table, H_RN, ("?ARM", 5, 7, False)).question
    assert asked is not None and asked.key == "asked-blank-unnamed"
    state = playing.submit(NameBlank("G8", "O")).result(PATIENCE_S)
    assert (F_SQUARE,) in [deferred.question.squares for deferred in state.open_questions]
    before = totals(state)
    state = playing.submit(NameBlank("H6", "F")).result(PATIENCE_S)
    assert totals(state) == before and state.turns[1].word == "fA.M"


def test_entered_board_that_names_an_earlier_blank_can_be_answered(playing: TableSession, table: TextTable) -> None:
    play(playing, table, H_RN)
    playing.submit(AnswerQuestion(0)).result(PATIENCE_S)
    board = rows(("HoRN", 7, 5, True), ("Q", 0, 0, True), ("Z", 0, 3, True), ("A", 14, 14, True))
    asked = playing.submit(EnterBoard(tuple(map(tuple, board)))).result(PATIENCE_S)  # type: ignore[arg-type]
    assert asked.question is not None and len(asked.turns) == 1 and asked.turns[0].word == "HoRN"
    state = playing.submit(AnswerQuestion(len(asked.question.answers) - 1)).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "pass"] and state.question is None


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    "command", [CorrectSquare("H6", "P"), CorrectTurn(2, at="H6", word="PARM")], ids=["square", "turn"]
)
def test_correction_of_what_was_asked_earlier_answers_the_question(
    playing: TableSession, command: TableCommand
) -> None:
    playing.submit(DeferQuestion()).result(PATIENCE_S)
    state = playing.submit(command).result(PATIENCE_S)
    assert state.turns[1].word == "PA.M" and not state.turns[1].provisional and not state.open_questions
    assert playing.submit(Undo()).result(PATIENCE_S).open_questions, "the correction and its answer are one press"


def test_blank_that_is_named_later_answers_the_question(playing: TableSession, table: TextTable) -> None:
    play(playing, table, H_RN)
    state = play(playing, table, H_RN, FARM)
    assert state.open_questions
    assert not playing.submit(NameBlank("G8", "O")).result(PATIENCE_S).open_questions
