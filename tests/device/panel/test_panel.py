"""The panel on gpiozero's mock pins and a real session: pressed contacts become turns, turns become lights."""

from __future__ import annotations

import errno
import threading
from dataclasses import replace
from functools import partial

import pytest
from gpiozero.pins.mock import MockFactory

from device.panel.buttons import DEBOUNCE_S, DOUBLE_PRESS_S, HOLD_S, STUCK_AFTER_S, Button, EdgeHandler
from device.panel.gpio import GpioHardware
from device.panel.lights import RETRY_INTERVAL_S, Colour, Light, OutputLevels, PanelStatus, PanelView, Signal
from device.panel.panel import OTHER_SIDE_DELAY_S, SHARED_BUTTON_LOCKOUT_S, Panel, PanelActions
from device.session.commands.games import StartGame
from device.session.messages import CommandRefusedError
from device.session.snapshot import Moment, Phase
from device.session.table_session import TableSession
from engine.rules import STANDARD_RULES
from tests.support.panels import PINS, PanelTime, Wires, hardware, orders
from tests.support.text_table import FARM, HORN, STARTED, TextTable
from tests.support.waiting import PATIENCE_S, until


def test_pressed_button_ends_the_turn_and_the_lights_say_so(
    wires: Wires, panel_time: PanelTime, table: TextTable, session: TableSession
) -> None:
    until(lambda: wires.players == [True, False, False, False])
    table.lay(HORN)
    with table.hold_reading():
        wires.press(Button.END_TURN_1)
    until(lambda: len(session.state.turns) == 1)
    until(lambda: wires.players == [False, True, False, False])
    assert wires.status == Colour.GREEN.value
    panel_time.pass_time(0.5)
    assert wires.beeps == 2 and not wires.buzzer, "one for the press, one for the score"
    table.lay(HORN, FARM)
    wires.press(Button.END_TURN_2)
    until(lambda: [t.score for t in session.state.turns] == [14, 9])


class FragileHardware(GpioHardware):
    """Pins whose lights and buzzer can fail."""

    is_failing = False

    def show(self, levels: OutputLevels) -> None:
        if self.is_failing:
            raise OSError(errno.EIO, "Input/output error")
        super().show(levels)


def test_buttons_work_while_the_lights_fail(
    playing: TableSession,
    factory: MockFactory,
    panel_time: PanelTime,
    table: TextTable,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wires = Wires(factory, PINS, panel_time)
    with Panel(playing, orders(), partial(FragileHardware, PINS, factory), panel_time.clock, panel_time):
        panel_time.pass_time(0.0)
        monkeypatch.setattr(FragileHardware, "is_failing", True)
        table.lay(HORN)
        wires.press(Button.END_TURN_1)
        until(lambda: len(playing.state.turns) == 1)
        panel_time.pass_time(3 * RETRY_INTERVAL_S)
        assert [record.message for record in caplog.records] == ["the lights of the panel cannot be set"]
        monkeypatch.setattr(FragileHardware, "is_failing", False)
        panel_time.pass_time(RETRY_INTERVAL_S)
        assert wires.players == [False, True, False, False]


def test_invalid_word_blinks_red(wires: Wires, panel: Panel, table: TextTable) -> None:
    table.lay(("HRON", 7, 5, True))
    wires.press(Button.END_TURN_1)
    until(lambda: panel.view.status is PanelStatus.INVALID)
    until(lambda: wires.status == Colour.RED.value)


def test_camera_trouble_and_questions_have_their_lights(
    wires: Wires, panel: Panel, panel_time: PanelTime, table: TextTable
) -> None:
    table.trouble = "unplugged"
    wires.press(Button.END_TURN_1)
    until(lambda: panel.view.status is PanelStatus.CAMERA)
    shown = set()
    for _ in range(10):  # the light blinks five times a second
        panel_time.pass_time(0.05)
        shown.add(wires.status)
    assert shown == {Colour.MAGENTA.value, Colour.OFF.value}
    table.trouble, table.board = "", None
    panel_time.pass_time(DOUBLE_PRESS_S)
    wires.press(Button.END_TURN_1)
    until(lambda: panel.view.status is PanelStatus.QUESTION)


def test_wrong_players_button_asks_who_played(
    wires: Wires, panel: Panel, panel_time: PanelTime, table: TextTable, session: TableSession
) -> None:
    panel_time.pass_time(SHARED_BUTTON_LOCKOUT_S)
    table.lay(HORN)
    wires.press(Button.END_TURN_2)
    panel_time.pass_time(OTHER_SIDE_DELAY_S)
    until(lambda: panel.view.status is PanelStatus.QUESTION)
    question = session.state.question
    assert question is not None and question.key == "asked-out-of-turn"
    assert [(t.player, t.score) for t in session.state.turns] == [(0, 14)]
    wires.press(Button.CHALLENGE)
    until(lambda: [(t.player, t.score) for t in session.state.turns] == [(0, 0), (1, 14)])


def test_held_pause_button_takes_the_turn_back(wires: Wires, table: TextTable, session: TableSession) -> None:
    table.lay(HORN)
    wires.press(Button.END_TURN_1)
    until(lambda: len(session.state.turns) == 1)
    wires.press(Button.PAUSE)
    until(lambda: session.state.phase is Phase.PAUSED)
    wires.press(Button.PAUSE, HOLD_S[Button.PAUSE])
    until(lambda: session.state.turns == ())


def test_refusal_of_the_session_is_shown(wires: Wires, panel: Panel) -> None:
    wires.press(Button.CHALLENGE)
    until(lambda: panel.view.message.startswith("There is no play to challenge."))


def test_stuck_button_is_named_and_the_others_work(
    wires: Wires, panel: Panel, panel_time: PanelTime, session: TableSession
) -> None:
    wires.down(Button.END_TURN_2)
    panel_time.pass_time(OTHER_SIDE_DELAY_S)
    until(lambda: session.state.phase is Phase.QUESTION)  # the press of another side
    panel_time.pass_time(STUCK_AFTER_S)
    assert panel.view.stuck == (Button.END_TURN_2,)
    assert "end-turn 2 button seems to be stuck" in panel.view.message
    wires.press(Button.END_TURN_1)
    until(lambda: len(session.state.turns) == 1)
    wires.up(Button.END_TURN_2)
    panel_time.pass_time(2 * DEBOUNCE_S)
    assert panel.view.stuck == ()


def test_press_is_felt_before_time_passes_while_a_read_is_going_on(
    wires: Wires, panel_time: PanelTime, table: TextTable, session: TableSession
) -> None:
    with table.hold_reading():
        wires.press(Button.END_TURN_1)
        until(lambda: session.state.phase is Phase.LOOKING)
        for button in (Button.CHALLENGE, Button.END_TURN_2, Button.PAUSE) * 3:
            panel_time.pass_time(DOUBLE_PRESS_S)
            assert not wires.buzzer
            wires.down(button)
            until(lambda: wires.buzzer)
            wires.up(button)
        assert session.state.phase is Phase.LOOKING, "the read was going on all the time"


def test_new_game_is_begun_by_a_hold(session: TableSession, factory: MockFactory, panel_time: PanelTime) -> None:
    with Panel(session, orders(), hardware(factory), panel_time.clock, panel_time) as panel:
        assert panel.view.status is PanelStatus.LOBBY
        wires = Wires(factory, PINS, panel_time)
        wires.press(Button.END_TURN_1)
        assert "no game" in panel.view.message
        wires.press(Button.NEW_GAME, HOLD_S[Button.NEW_GAME])
        until(lambda: [p.name for p in session.state.players] == ["Anna", "Ben"])
        until(lambda: panel.view.status is PanelStatus.READY)


def test_switching_off_is_asked_for_by_a_long_hold_only(
    session: TableSession, factory: MockFactory, panel_time: PanelTime
) -> None:
    off = threading.Event()
    with Panel(session, orders(off.set), hardware(factory), panel_time.clock, panel_time) as panel:
        wires = Wires(factory, PINS, panel_time)
        wires.press(Button.POWER, 0.2)
        assert "seconds" in panel.view.message and not off.is_set()
        wires.press(Button.POWER, HOLD_S[Button.POWER])
        assert off.is_set() and panel.view.status is PanelStatus.OFF


def test_page_presses_the_same_buttons_and_gets_answers(
    session: TableSession, panel_time: PanelTime, table: TextTable
) -> None:
    """Without pins: the virtual panel."""
    seen: list[PanelView] = []
    with Panel(session, orders(), None, panel_time.clock, panel_time) as panel:
        panel.add_listener(seen.append)
        state = panel.press(Button.NEW_GAME, held=True).result(PATIENCE_S)
        table.lay(HORN)
        state = panel.press(Button.END_TURN, seen=state.moment).result(PATIENCE_S)
        assert state.turns[0].score == 14
        with pytest.raises(CommandRefusedError, match="quick"):
            panel.press(Button.END_TURN).result(PATIENCE_S)
        with pytest.raises(CommandRefusedError, match="turn of Ben"):
            panel.press(Button.END_TURN_1).result(PATIENCE_S)
        with pytest.raises(CommandRefusedError, match="changed in the meantime"):
            panel.press(Button.CHALLENGE, seen=Moment(state.game, state.events - 1)).result(PATIENCE_S)
        assert panel.press(Button.PAUSE, held=True).result(PATIENCE_S).turns == ()
        until(lambda: panel.view.status is PanelStatus.READY)
    assert {view.status for view in seen} >= {
        PanelStatus.LOBBY,
        PanelStatus.READY,
        PanelStatus.LOOKING,
        PanelStatus.SCORED,
    }


def test_game_that_is_over_by_the_rules_is_ended_before_a_new_one_begins(session: TableSession) -> None:
    state = session.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, scoreless_turns=2)))).result(
        PATIENCE_S
    )
    with Panel(session, orders()) as panel:
        for _ in range(2):
            state = panel.press(Button.END_TURN, seen=state.moment).result(PATIENCE_S)
        until(lambda: panel.view.status is PanelStatus.QUESTION)
        assert panel.press(Button.NEW_GAME, held=True).result(PATIENCE_S).phase is Phase.ENDED
        until(lambda: panel.view.status is PanelStatus.ENDED)
        assert panel.press(Button.NEW_GAME, held=True).result(PATIENCE_S).phase is Phase.TURN


def test_close_ends_the_thread_darkens_the_lights_and_answers_who_waits(
    session: TableSession, factory: MockFactory, table: TextTable
) -> None:
    session.submit(StartGame(STARTED)).result(PATIENCE_S)
    with table.hold_reading():
        panel = Panel(session, orders(), hardware(factory))
        waiting = panel.press(Button.END_TURN_1)
        until(lambda: session.state.phase is Phase.LOOKING)
        panel.close()
        panel.close()
    assert waiting.cancelled()
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith(("panel", "GPIO"))]
    until(lambda: session.state.phase.in_play)


def test_panel_has_one_thread(session: TableSession, factory: MockFactory) -> None:
    before = set(threading.enumerate())
    with Panel(session, orders(), hardware(factory)):
        assert [thread.name for thread in set(threading.enumerate()) - before] == ["panel"]
    assert set(threading.enumerate()) == before


def test_panel_reports_a_closed_session(wires: Wires, panel: Panel, session: TableSession) -> None:
    session.close()
    wires.press(Button.END_TURN_1)
    until(lambda: "shutting down" in panel.view.message)


def test_button_that_is_down_at_the_start_ends_no_turn(
    playing: TableSession, factory: MockFactory, panel_time: PanelTime
) -> None:
    wires = Wires(factory, PINS, panel_time)

    def leaned_on(edge: EdgeHandler) -> GpioHardware:
        board = GpioHardware(PINS, factory, edge)
        wires.down(Button.END_TURN_1)
        return board

    with Panel(playing, orders(), leaned_on, panel_time.clock, panel_time):
        panel_time.pass_time(1.0)
        wires.up(Button.END_TURN_1)
        panel_time.pass_time(1.0)
        playing.ping().result(PATIENCE_S)
        assert playing.state.turns == ()
        wires.press(Button.END_TURN_1)
        until(lambda: len(playing.state.turns) == 1)


def test_rehearsal_shows_which_buttons_were_felt_and_does_nothing_else(
    wires: Wires, panel: Panel, session: TableSession
) -> None:
    before = session.state.moment
    panel.begin_rehearsal()
    for button in (Button.END_TURN_1, Button.CHALLENGE):
        wires.press(button)
    panel.press(Button.POWER, held=True).result(PATIENCE_S)
    until(lambda: set(panel.view.felt or ()) == {Button.END_TURN_1, Button.CHALLENGE, Button.POWER})
    panel.show_signal(Signal(0.5, Light(Colour.MAGENTA), beeps=(0.1,)))
    until(lambda: wires.status == Colour.MAGENTA.value)
    assert session.state.moment == before and panel.view.status is PanelStatus.READY
    panel.end_rehearsal()
    until(lambda: panel.view.felt is None)


def test_short_press_of_power_opens_pairing(session: TableSession) -> None:
    opened: list[bool] = []
    actions = PanelActions(open_pairing=lambda: opened.append(True))
    with Panel(session, actions) as panel:
        panel.press(Button.POWER).result(PATIENCE_S)
        assert opened == [True] and "Pairing is open" in panel.view.message
