"""Presses that come too early, too late, twice, or at once with another press."""

from __future__ import annotations

from gpiozero.pins.mock import MockFactory

from device.catalogue import get_text
from device.panel.buttons import DEBOUNCE_S, DOUBLE_PRESS_S, HOLD_S, Button, Pins
from device.panel.lights import PanelStatus
from device.panel.panel import (
    CHALLENGE_LOCKOUT_S,
    OTHER_SIDE_DELAY_S,
    PAUSE_LOCKOUT_S,
    SHARED_BUTTON_LOCKOUT_S,
    Panel,
)
from device.session.commands.answers import AnswerQuestion
from device.session.commands.games import Pause, Undo
from device.session.commands.turns import EndTurn
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession
from tests.support.panels import PanelTime, Wires, hardware, orders
from tests.support.text_table import FARM, HORN, TextTable, play
from tests.support.waiting import PATIENCE_S, until


def test_press_too_many_at_a_question_challenges_nothing(
    wires: Wires, panel: Panel, panel_time: PanelTime, table: TextTable, session: TableSession
) -> None:
    """The challenge would fail, and Ben would lose a turn."""
    table.lay(("HO?N", 7, 5, True))
    wires.press(Button.END_TURN_1)
    until(lambda: panel.view.status is PanelStatus.QUESTION)
    assert session.state.question is not None
    for number in range(1, len(session.state.question.answers)):  # up to the last answer
        wires.press(Button.CHALLENGE)
        until(lambda number=number: session.state.question and session.state.question.chosen == number)
        panel_time.pass_time(DOUBLE_PRESS_S)
    wires.press(Button.CHALLENGE)
    until(lambda: session.state.question is None)
    panel_time.pass_time(DOUBLE_PRESS_S)
    wires.press(Button.CHALLENGE)
    assert panel.view.message == get_text("too-quick")
    panel_time.pass_time(CHALLENGE_LOCKOUT_S)
    wires.press(Button.CHALLENGE)
    until(lambda: [turn.kind for turn in session.state.turns] == ["play", "challenge"])


def test_challenge_button_when_a_phone_has_just_answered_challenges_nothing(
    wires: Wires, panel: Panel, panel_time: PanelTime, table: TextTable, session: TableSession
) -> None:
    table.lay(("HO?N", 7, 5, True))
    wires.press(Button.END_TURN_1)
    until(lambda: panel.view.status is PanelStatus.QUESTION)
    session.submit(AnswerQuestion(answer=1)).result(PATIENCE_S)
    panel_time.pass_time(0.5)
    wires.press(Button.CHALLENGE)
    assert panel.view.message == get_text("too-quick") and len(session.state.turns) == 1


def test_pause_that_a_phone_has_just_begun_is_not_ended_by_the_button(
    wires: Wires, panel: Panel, panel_time: PanelTime, session: TableSession
) -> None:
    session.submit(Pause()).result(PATIENCE_S)
    panel_time.pass_time(0.3)
    wires.press(Button.PAUSE)
    assert panel.view.message == get_text("too-quick") and session.state.phase is Phase.PAUSED
    panel_time.pass_time(PAUSE_LOCKOUT_S)
    wires.press(Button.PAUSE)
    until(lambda: session.state.phase is Phase.TURN)


def test_bouncing_and_double_pressed_button_ends_one_turn(
    wires: Wires, panel_time: PanelTime, session: TableSession, table: TextTable
) -> None:
    """The mock pins know nothing of bounce, so that every one of these edges arrives."""
    table.lay(HORN)
    for _ in range(5):
        wires.down(Button.END_TURN_1)
        panel_time.pass_time(DEBOUNCE_S / 10)
        wires.up(Button.END_TURN_1)
        panel_time.pass_time(DEBOUNCE_S / 10)
    panel_time.pass_time(2 * DEBOUNCE_S)
    wires.press(Button.END_TURN_1)
    until(lambda: len(session.state.turns) == 1)
    panel_time.pass_time(1.0)
    wires.press(Button.PAUSE)
    until(lambda: session.state.phase is Phase.PAUSED)  # all edges before were answered
    assert table.pictures == 1 and len(session.state.turns) == 1


def test_press_while_the_board_is_read_is_refused(
    wires: Wires, panel: Panel, table: TextTable, session: TableSession
) -> None:
    with table.hold_reading():
        wires.press(Button.END_TURN_1)
        until(lambda: panel.view.status is PanelStatus.LOOKING)
        wires.press(Button.CHALLENGE)
        assert "is being read" in panel.view.message and session.state.phase is Phase.LOOKING
    until(lambda: [t.kind for t in session.state.turns] == ["pass"])


def test_both_players_at_once_end_one_turn(wires: Wires, panel_time: PanelTime, session: TableSession) -> None:
    wires.down(Button.END_TURN_2)
    wires.down(Button.END_TURN_1)
    wires.up(Button.END_TURN_2)
    wires.up(Button.END_TURN_1)
    until(lambda: len(session.state.turns) == 1)
    panel_time.pass_time(2 * OTHER_SIDE_DELAY_S)
    session.ping().result(PATIENCE_S)
    assert [t.player for t in session.state.turns] == [0]


def test_delayed_press_does_not_end_the_next_turn(
    wires: Wires, panel: Panel, panel_time: PanelTime, table: TextTable, session: TableSession
) -> None:
    panel_time.pass_time(SHARED_BUTTON_LOCKOUT_S)
    table.lay(HORN)
    wires.down(Button.END_TURN_2)
    panel_time.pass_time(OTHER_SIDE_DELAY_S / 2)
    session.submit(EndTurn(), session.state.moment, 0).result(PATIENCE_S)
    panel_time.pass_time(OTHER_SIDE_DELAY_S)
    session.ping().result(PATIENCE_S)
    assert [t.player for t in session.state.turns] == [0] and session.state.question is None
    until(lambda: panel.view.message == get_text("turn-recorded-already"))


def test_press_at_the_moment_of_a_score_is_not_of_the_next_turn(
    playing: TableSession, factory: MockFactory, panel_time: PanelTime, table: TextTable
) -> None:
    """The second half of a double press, before the panel has handled the score."""

    def press_again(state: TableSnapshot) -> None:
        if state.turns:
            factory.pin(5).drive_low()

    pins = Pins(end_turn=(5,))
    playing.add_listener(press_again)
    with Panel(playing, orders(), hardware(factory, pins), panel_time.clock, panel_time) as panel:
        panel_time.pass_time(SHARED_BUTTON_LOCKOUT_S)
        table.lay(HORN)
        playing.submit(EndTurn()).result(PATIENCE_S)
        until(lambda: panel.view.message == get_text("too-quick"))
        playing.ping().result(PATIENCE_S)
        assert len(playing.state.turns) == 1 and playing.state.question is None
    playing.remove_listener(press_again)


def test_turn_that_a_phone_takes_back_during_a_hold_is_taken_back_once(
    wires: Wires, panel: Panel, panel_time: PanelTime, table: TextTable, session: TableSession
) -> None:
    play(session, table, HORN)
    play(session, table, HORN, FARM)
    wires.down(Button.PAUSE)
    panel_time.pass_time(HOLD_S[Button.PAUSE] / 2)
    session.submit(Undo(), session.state.moment).result(PATIENCE_S)
    panel_time.pass_time(HOLD_S[Button.PAUSE])
    session.ping().result(PATIENCE_S)
    assert len(session.state.turns) == 1
    until(lambda: panel.view.message == get_text("quicker"))


def test_shared_button_ignores_a_nervous_second_press(
    playing: TableSession, factory: MockFactory, panel_time: PanelTime, table: TextTable
) -> None:
    pins = Pins(end_turn=(5,))
    with Panel(playing, orders(), hardware(factory, pins), panel_time.clock, panel_time) as panel:
        wires = Wires(factory, pins, panel_time)
        table.lay(HORN)
        wires.press(Button.END_TURN)
        until(lambda: len(playing.state.turns) == 1)
        panel_time.pass_time(DOUBLE_PRESS_S)
        wires.press(Button.END_TURN)  # a nervous second press, too late to be the same: not Ben's pass
        assert "quick" in panel.view.message
        panel_time.pass_time(SHARED_BUTTON_LOCKOUT_S)
        table.lay(HORN, FARM)
        wires.press(Button.END_TURN)
        until(lambda: [t.player for t in playing.state.turns] == [0, 1])
