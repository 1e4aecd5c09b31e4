"""Presses on the button of a player who is not to move."""

from __future__ import annotations

import pytest

from device.session.commands.answers import ChooseNextAnswer
from device.session.commands.turns import EndTurn, PassTurn
from device.session.messages import PASS_OR_EXCHANGE, CommandRefusedError
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from tests.support.questions import answer, get_key
from tests.support.text_table import FARM, HORN, TextTable
from tests.support.waiting import PATIENCE_S


def end_turn(session: TableSession, seat: int | None) -> TableSnapshot:
    return session.submit(EndTurn(), seat=seat).result(PATIENCE_S)


def test_turn_from_the_wrong_seat_counts_for_the_player_to_move_until_the_answer(
    playing: TableSession, table: TextTable
) -> None:
    table.lay(HORN)
    state = end_turn(playing, 1)
    assert state.question is not None and get_key(state) == "asked-out-of-turn"
    assert [turn.player for turn in state.turns] == [0]
    assert state.question.text == "It is Anna’s turn, but Ben ended it. Who played?"
    assert len(state.question.answers) == 3
    state = answer(playing, "Anna played HORN")
    assert [(t.player, t.score) for t in state.turns] == [(0, 14)] and state.question is None


def test_player_who_played_out_of_turn_gets_the_points_after_a_pass(playing: TableSession, table: TextTable) -> None:
    table.lay(HORN)
    end_turn(playing, 1)
    state = answer(playing, "Ben played HORN")
    assert [(t.player, t.kind, t.score) for t in state.turns] == [(0, "pass", 0), (1, "play", 14)]


def test_button_without_a_player_is_refused(playing: TableSession, table: TextTable) -> None:
    table.lay(HORN)
    with pytest.raises(CommandRefusedError, match="Press your own button"):
        end_turn(playing, 2)
    assert end_turn(playing, 0).turns


@pytest.mark.parametrize(("presses", "is_mistake"), [(1, False), (2, False), (2, True)])
def test_player_who_pressed_before_placing_the_tiles_gets_the_points_without_a_pass(
    playing: TableSession, table: TextTable, presses: int, is_mistake: bool
) -> None:
    table.lay(HORN)
    end_turn(playing, 0)
    assert get_key(end_turn(playing, 1)) == PASS_OR_EXCHANGE
    for _ in range(1, presses):
        assert get_key(end_turn(playing, 1)) == "asked-out-of-turn"
    if is_mistake:
        answer(playing, "No: End turn was pressed by mistake.")
    table.lay(HORN, FARM)
    end_turn(playing, 1)
    state = answer(playing, "Ben played FARM")
    assert [(t.player, t.kind, t.score) for t in state.turns] == [(0, "play", 14), (1, "play", 9)]
    assert state.turn_of == 0


def test_blank_is_asked_about_after_an_answer_at_the_panel_about_the_player(
    playing: TableSession, table: TextTable
) -> None:
    table.lay(("HO?N", 7, 5, True))
    end_turn(playing, 1)
    state = playing.submit(ChooseNextAnswer()).result(PATIENCE_S)
    assert get_key(state) == "asked-out-of-turn" and state.turns[-1].word == "HO?N"
    table.lay(("HO?N", 7, 5, True), ("FARM", 8, 6, True))
    state = end_turn(playing, 1)
    assert [deferred.question.key for deferred in state.open_questions] == ["asked-blank-unnamed"]


def test_press_from_the_wrong_seat_without_a_play_records_no_pass(playing: TableSession) -> None:
    state = end_turn(playing, 1)
    assert get_key(state) == "asked-out-of-turn" and state.turns == ()
    state = answer(playing, "Look again")
    assert get_key(state) == "asked-out-of-turn" and state.turns == ()


def test_second_press_of_a_player_by_mistake_records_nothing(playing: TableSession, table: TextTable) -> None:
    table.lay(HORN)
    end_turn(playing, 0)
    assert get_key(end_turn(playing, 0)) == "asked-out-of-turn"
    state = answer(playing, "No: End turn was pressed by mistake.")
    assert [(t.player, t.score) for t in state.turns] == [(0, 14)] and state.question is None
    table.lay(HORN, FARM)
    state = end_turn(playing, 1)
    assert [(t.player, t.score) for t in state.turns] == [(0, 14), (1, 9)] and state.question is None


def test_right_press_ends_the_question_about_the_wrong_one(playing: TableSession, table: TextTable) -> None:
    end_turn(playing, 1)
    table.lay(HORN)
    state = end_turn(playing, 0)
    assert [(t.player, t.score) for t in state.turns] == [(0, 14)] and state.question is None


@pytest.mark.parametrize("seat", [None, 0])
def test_press_of_the_player_to_move_or_of_nobody_is_no_question(
    playing: TableSession, table: TextTable, seat: int | None
) -> None:
    table.lay(HORN)
    state = end_turn(playing, seat)
    assert state.question is None and [(t.player, t.score) for t in state.turns] == [(0, 14)]


def test_pass_by_hand_from_the_wrong_seat_counts_until_the_answer(playing: TableSession) -> None:
    state = playing.submit(PassTurn(), seat=1).result(PATIENCE_S)
    assert get_key(state) == "asked-out-of-turn" and [t.player for t in state.turns] == [0]
    state = answer(playing, "Ben passed")
    assert [t.player for t in state.turns] == [0, 1]


def test_seat_of_one_turn_does_not_count_for_the_next(playing: TableSession, table: TextTable) -> None:
    table.lay(HORN)
    end_turn(playing, 1)
    answer(playing, "Anna played HORN")
    table.lay(HORN, FARM)
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert state.question is None and [t.player for t in state.turns] == [0, 1]
