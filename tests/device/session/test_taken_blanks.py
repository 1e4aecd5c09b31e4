"""Corrections of a square in a game in which blanks may be taken back for their letters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from device.session.commands.answers import AnswerQuestion
from device.session.commands.corrections import CorrectSquare, NameBlank
from device.session.commands.games import StartGame, Undo
from device.session.commands.turns import EndTurn
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from engine.rules import STANDARD_RULES
from tests.support.questions import answer_late
from tests.support.text_table import FARM, HORN, PASTE, STARTED, TextTable, play, totals
from tests.support.waiting import PATIENCE_S

BLANK_ORN = ("?ORN", 7, 5, True)


def start(session: TableSession, table: TextTable, *, is_named: bool = True, retake: bool = True) -> TableSnapshot:
    """Play HORN with a blank H, and FARM."""
    rules = replace(STANDARD_RULES, retake_blanks=retake)
    session.submit(StartGame(replace(STARTED, rules=rules))).result(PATIENCE_S)
    play(session, table, BLANK_ORN)
    if is_named:
        session.submit(NameBlank("F8", "H")).result(PATIENCE_S)
    return play(session, table, BLANK_ORN, FARM)


@pytest.mark.parametrize("is_named", [True, False])
def test_letter_in_place_of_an_old_blank_was_exchanged_for_it_unless_the_players_say_otherwise(
    session: TableSession, table: TextTable, is_named: bool
) -> None:
    assert totals(start(session, table, is_named=is_named)) == [6, 9]
    state = session.submit(CorrectSquare("F8", "H")).result(PATIENCE_S)
    assert totals(state) == [6, 9] and state.turns[-1].kind == "blank-taken" and state.turn_of == 0
    assert state.question is not None and state.question.answers[1] == "F8 was misread: it is H."
    tile = state.board.tiles[7 * 15 + 5]
    assert tile is not None and not tile.blank
    state = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert totals(state) == [14, 9] and [turn.word for turn in state.turns] == ["HORN", "FA.M"]


def test_undo_takes_back_the_exchange_of_a_blank(session: TableSession, table: TextTable) -> None:
    before = start(session, table)
    session.submit(CorrectSquare("F8", "H")).result(PATIENCE_S)
    assert session.submit(Undo()).result(PATIENCE_S).board.tiles == before.board.tiles


@pytest.mark.parametrize("retake", [True, False])
def test_blank_that_nobody_can_have_taken_was_misread(session: TableSession, table: TextTable, retake: bool) -> None:
    rules = replace(STANDARD_RULES, retake_blanks=retake)
    session.submit(StartGame(replace(STARTED, rules=rules))).result(PATIENCE_S)
    play(session, table, BLANK_ORN)
    if not retake:
        play(session, table, BLANK_ORN, FARM)
    state = session.submit(CorrectSquare("F8", "H")).result(PATIENCE_S)
    assert totals(state)[0] == 14 and state.question is None


def test_other_letter_in_place_of_a_named_blank_was_misread(session: TableSession, table: TextTable) -> None:
    start(session, table)
    state = session.submit(CorrectSquare("F8", "B")).result(PATIENCE_S)
    assert state.turns[0].word == "BORN" and state.question is None


@pytest.mark.parametrize("is_late", [False, True])
def test_player_who_only_took_a_blank_and_pressed_may_have_passed(
    session: TableSession, table: TextTable, is_late: bool
) -> None:
    start(session, table)
    table.lay(HORN, FARM)
    state = session.submit(EndTurn()).result(PATIENCE_S)
    assert state.turn_of == 0 and state.question is not None
    assert state.question.answers[1] == "Anna took the blank on F8 for H, Anna passed."
    if is_late:
        play(session, table, HORN, FARM, PASTE)
        state = answer_late(session, 1)
    else:
        session.submit(AnswerQuestion(1)).result(PATIENCE_S)
        state = play(session, table, HORN, FARM, PASTE)
    assert [turn.kind for turn in state.turns] == ["play", "play", "blank-taken", "pass", "play"]
    assert totals(state) == [6, 34] and not state.open_questions


def test_player_may_have_taken_a_blank_without_a_letter_and_played(session: TableSession, table: TextTable) -> None:
    start(session, table, is_named=False)
    state = play(session, table, HORN, FARM, PASTE)
    assert [turn.kind for turn in state.turns] == ["play", "play", "blank-taken", "play"]
    assert state.question is not None and state.question.key == "letter-or-blank"
    state = play(session, table, HORN, FARM, PASTE, ("TO", 9, 8, False))
    assert len(state.turns) == 5 and len(state.open_questions) == 1
