"""Presses that record nothing: what the next press, or a turn that is entered, then means."""

from __future__ import annotations

import pytest

from device.session.commands.answers import ReadAgain, RecallQuestion
from device.session.commands.base import TableCommand
from device.session.commands.corrections import RenamePlayer
from device.session.commands.games import EnterPosition
from device.session.commands.turn_corrections import InsertTurn
from device.session.commands.turns import EndTurn, EnterBoard, ExchangeTiles, PassTurn
from device.session.messages import CommandRefusedError
from device.session.table_session import TableSession
from engine.reading import EMPTY, BoardReading, SquareReading
from tests.support.questions import answer, answer_late, get_key
from tests.support.text_table import FARM, HORN, PASTE, TextTable, play, rows, totals
from tests.support.waiting import PATIENCE_S


def test_press_after_a_question_without_a_record_asks_for_a_pass(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HORN", 3, 3, True))
    state = play(playing, table, HORN)
    assert get_key(state) == "asked-press-missed" and [turn.word for turn in state.turns] == ["HORN"]
    assert [turn.kind for turn in answer(playing, "Ben passed").turns] == ["play", "pass"]


@pytest.mark.parametrize(
    "entered", [InsertTurn(1, at="8F", word="HORN"), EnterPosition(tuple(map(tuple, rows(HORN))), (14, 0), 1)]
)
def test_what_is_entered_is_the_turn_of_the_press_that_recorded_nothing(
    playing: TableSession, table: TextTable, entered: TableCommand
) -> None:
    """Otherwise the next press would ask whether the next player had passed."""
    assert get_key(play(playing, table, ("HORN", 1, 5, True))) == "no-play"
    playing.submit(entered).result(PATIENCE_S)
    state = play(playing, table, HORN, FARM)
    assert state.question is None and (state.turns[-1].player, state.turns[-1].word) == (1, "FA.M")


@pytest.mark.parametrize("entered", [PassTurn(), ExchangeTiles(2)])
def test_turn_without_tiles_that_is_entered_is_that_of_the_press_that_recorded_nothing(
    playing: TableSession, table: TextTable, entered: TableCommand
) -> None:
    assert get_key(play(playing, table, ("HORN", 1, 5, True))) == "no-play"
    playing.submit(entered).result(PATIENCE_S)
    state = play(playing, table, HORN)
    assert state.question is None and (state.turns[-1].player, state.turns[-1].word) == (1, "HORN")


@pytest.mark.parametrize("given", ["Ben passed", "Anna played HO?N"])
def test_letter_of_a_blank_is_asked_after_the_question_for_a_pass(
    playing: TableSession, table: TextTable, given: str
) -> None:
    play(playing, table, ("HORN", 3, 3, True))
    play(playing, table, ("HO?N", 7, 5, True))
    state = answer(playing, given)
    assert get_key(state) == "asked-blank-unnamed"
    turns = len(state.turns)
    state = answer(playing, "The blank is R")
    assert state.question is None and (state.turns[0].word, len(state.turns)) == ("HOrN", turns)


def test_press_after_a_picture_of_another_board_is_of_the_same_player(playing: TableSession, table: TextTable) -> None:
    for words in ((HORN,), (HORN, FARM)):
        play(playing, table, *words)
    play(playing, table, ("QUIZZES", 7, 4, True), ("ZEBRA", 7, 8, False), ("BOND", 9, 8, True))
    assert play(playing, table, HORN, FARM, PASTE).question is None


@pytest.mark.parametrize("between", [(), (RenamePlayer(1, "Cem"), RecallQuestion())], ids=["at once", "renamed"])
def test_look_again_after_a_question_without_a_record_asks_for_nothing(
    playing: TableSession, table: TextTable, between: tuple[TableCommand, ...]
) -> None:
    play(playing, table, ("HORN", 3, 3, True))
    for command in between:
        playing.submit(command).result(PATIENCE_S)
    table.lay(HORN)
    assert playing.submit(ReadAgain()).result(PATIENCE_S).question is None


def test_turn_of_a_press_without_a_record_is_before_the_next_one(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    squares = list(BoardReading.from_rows(rows(HORN, ("SO", 7, 9, False))).squares)
    squares[7 * 15 + 9] = SquareReading(((EMPTY, 0.97), ("S", 0.03)))
    table.board = BoardReading(tuple(squares))
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN"]
    state = play(playing, table, HORN, ("SO", 7, 9, False), ("AT", 8, 5, False))
    assert [(turn.player, turn.word) for turn in state.turns] == [(0, "HORN"), (1, "SO"), (0, ".AT")]


def test_refused_board_is_not_the_turn_of_a_press_that_recorded_nothing(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN, FARM)
    assert play(playing, table, HORN, FARM, ("XX", 1, 1, True)).question is not None
    changed = rows(("KORN", 7, 5, True), FARM)
    with pytest.raises(CommandRefusedError, match="changed"):
        playing.submit(EnterBoard(tuple(map(tuple, changed)))).result(PATIENCE_S)  # type: ignore[arg-type]
    assert get_key(play(playing, table, HORN, FARM, PASTE)) == "asked-press-missed"


def test_pass_in_doubt_is_answered_after_the_next_turn(playing: TableSession, table: TextTable) -> None:
    for words in ((HORN,), (HORN,), (HORN, FARM)):
        state = play(playing, table, *words)
    assert [(turn.player, turn.kind) for turn in state.turns] == [(0, "play"), (1, "pass"), (0, "play")]
    (asked,) = state.open_questions
    mistake = next(n for n, text in enumerate(asked.question.answers) if "pressed by mistake" in text)
    state = answer_late(playing, mistake)
    assert [(turn.player, turn.word) for turn in state.turns] == [(0, "HORN"), (1, "FA.M")]
    assert totals(state) == [14, 9] and not state.open_questions
