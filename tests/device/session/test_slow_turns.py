"""A turn that is read slowly: the table asks in time, and the watchdog is fed while there is progress."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from device.session.commands.answers import AnswerQuestion, ChooseNextAnswer, DeferQuestion
from device.session.commands.games import Pause, StartGame
from device.session.commands.turn_corrections import CorrectTurn
from device.session.commands.turns import EndTurn, PassTurn
from device.session.messages import CommandRefusedError
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import SessionConfig, TableSession
from device.session.threads import MAX_STEP_S, CaptureProgress, CaptureStoppedError, TurnWorker
from device.session.threads import MAX_TURN_S as DEFAULT_TURN_S
from device.storage.store import GameStore
from tests.support.set_clock import SetClock
from tests.support.text_table import FARM, HORN, STARTED, WORDS, TextTable, play
from tests.support.waiting import PATIENCE_S
from vision.recognition.reader import PhotoReading

MAX_TURN_S = 10.0
CONFIG = SessionConfig(max_turn_s=MAX_TURN_S)
SLOW_READING_S = 150.0
"""Seconds of a turn that were seen on a slow machine."""
WAIT, BY_HAND = 0, 1


class SlowTable(TextTable):
    """A table whose reader waits for `released` if `is_slow`; the clock of the test goes on meanwhile."""

    def __init__(self, clock: SetClock) -> None:
        super().__init__()
        self.clock = clock
        self.is_slow = True
        self.seconds = MAX_TURN_S + 2
        self.reading = threading.Event()
        self.released = threading.Event()

    def read(self, *args: object, **options: object) -> PhotoReading:
        if self.is_slow:
            self.clock.now += self.seconds
            self.reading.set()
            assert self.released.wait(PATIENCE_S)
        return super().read(*args, **options)  # type: ignore[arg-type]


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def slow_table(clock: SetClock) -> Iterator[SlowTable]:
    table = SlowTable(clock)
    yield table
    table.released.set()


@pytest.fixture
def playing(slow_table: SlowTable, clock: SetClock) -> Iterator[TableSession]:
    with (
        GameStore(":memory:") as store,
        TableSession(slow_table, slow_table, store, WORDS, config=CONFIG, clock=clock) as session,
    ):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        yield session
        slow_table.released.set()


def end_turn(session: TableSession, table: SlowTable) -> TableSnapshot:
    table.lay(HORN)
    return session.submit(EndTurn()).result(PATIENCE_S)


def test_turn_that_is_read_slowly_is_asked_about_in_time(playing: TableSession, slow_table: SlowTable) -> None:
    state = end_turn(playing, slow_table)
    assert state.phase is Phase.QUESTION and state.turns == ()
    assert state.question is not None and state.question.key == "not-read-in-time"
    assert "10 seconds" in state.question.text and len(state.question.answers) == 2


def test_turn_is_recorded_once_it_is_read_if_the_players_wait(playing: TableSession, slow_table: SlowTable) -> None:
    end_turn(playing, slow_table)
    answered = playing.submit(AnswerQuestion(WAIT))
    slow_table.released.set()
    state = answered.result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN"] and state.question is None
    assert slow_table.pictures == 1, "the picture of the press is used"


def test_slow_machine_asks_after_its_time_for_a_turn_and_not_after_its_reading(clock: SetClock) -> None:
    table = SlowTable(clock)
    table.seconds = SLOW_READING_S
    with (
        GameStore(":memory:") as store,
        TableSession(table, table, store, WORDS, clock=clock) as session,
    ):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        state = end_turn(session, table)  # the reading goes on until `released`
        assert state.question is not None and state.question.key == "not-read-in-time"
        assert f"{DEFAULT_TURN_S:.0f} seconds" in state.question.text and state.turns == ()
        table.released.set()
        assert [turn.word for turn in session.submit(AnswerQuestion(WAIT)).result(PATIENCE_S).turns] == ["HORN"]


def test_players_may_wait_more_than_once(playing: TableSession, slow_table: SlowTable, clock: SetClock) -> None:
    end_turn(playing, slow_table)
    answered = playing.submit(AnswerQuestion(WAIT))
    while not answered.done():
        clock.now += MAX_TURN_S
        threading.Event().wait(0.02)
    again = answered.result(0).question
    assert again is not None and again.key == "not-read-in-time"


def test_turn_that_is_entered_by_hand_is_not_recorded_a_second_time(
    playing: TableSession, slow_table: SlowTable
) -> None:
    end_turn(playing, slow_table)
    assert playing.submit(AnswerQuestion(BY_HAND)).result(PATIENCE_S).question is None
    state = playing.submit(PassTurn()).result(PATIENCE_S)
    slow_table.released.set()
    assert [turn.kind for turn in state.turns] == ["pass"]
    slow_table.is_slow = False
    state = play(playing, slow_table, FARM)
    assert [turn.word for turn in state.turns] == ["", "FARM"]


def test_second_press_takes_a_new_picture(playing: TableSession, slow_table: SlowTable) -> None:
    end_turn(playing, slow_table)
    slow_table.is_slow = False
    slow_table.released.set()
    state = play(playing, slow_table, FARM)
    assert [turn.word for turn in state.turns] == ["FARM"] and slow_table.pictures == 2


def test_late_turn_takes_no_further_picture(playing: TableSession, slow_table: SlowTable) -> None:
    slow_table.is_live = True
    slow_table.released.set()
    slow_table.lay(("HO", 7, 5, True), ("N", 12, 12, True))
    playing.submit(EndTurn()).result(PATIENCE_S)
    if playing.state.question and playing.state.question.key == "not-read-in-time":
        playing.submit(AnswerQuestion(WAIT)).result(PATIENCE_S)
    assert slow_table.pictures == 1


def test_watchdog_is_fed_while_a_turn_is_read(playing: TableSession, slow_table: SlowTable) -> None:
    slow_table.lay(HORN)
    slow_table.seconds = MAX_TURN_S - 1
    pressed = playing.submit(EndTurn())
    assert slow_table.reading.wait(PATIENCE_S)
    playing.ping().result(PATIENCE_S)
    playing.check_progress()
    assert not pressed.done()


def test_watchdog_is_not_fed_if_the_reading_makes_no_progress(
    playing: TableSession, slow_table: SlowTable, clock: SetClock
) -> None:
    end_turn(playing, slow_table)
    playing.check_progress()
    clock.now += MAX_STEP_S
    with pytest.raises(TimeoutError, match="no progress for 60 s"):
        playing.check_progress()
    slow_table.released.set()
    playing.submit(AnswerQuestion(WAIT)).result(PATIENCE_S)
    playing.check_progress()


def test_slow_turn_of_many_steps_makes_progress() -> None:
    clock = SetClock()
    progress = CaptureProgress(clock, MAX_TURN_S)
    for _ in range(5):
        clock.now += MAX_STEP_S - 1
        progress.record_step()
    assert progress.is_late and progress.last_step == clock.now
    progress.stop()
    with pytest.raises(CaptureStoppedError):
        progress.record_step()


def test_capture_that_was_stopped_ends_at_its_next_step() -> None:
    clock, steps, go_on = SetClock(), [], threading.Event()

    def capture(progress: CaptureProgress) -> int:
        steps.append("first")
        go_on.wait(PATIENCE_S)
        progress.record_step()
        steps.append("second")
        return 1

    worker = TurnWorker[int](clock)
    worker.start(capture)
    worker.start(lambda _: 2)
    go_on.set()
    assert worker.wait(lambda: None) == 2 and steps == ["first"]
    worker.close()


def test_error_of_a_capture_is_raised_where_it_is_waited_for() -> None:
    worker = TurnWorker[int](SetClock())
    worker.start(lambda _: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        worker.wait(lambda: None)
    assert not worker.is_pending
    worker.close()


def test_button_of_the_panel_waits_for_the_reading(playing: TableSession, slow_table: SlowTable) -> None:
    end_turn(playing, slow_table)
    answered = playing.submit(ChooseNextAnswer())
    slow_table.released.set()
    assert [turn.word for turn in answered.result(PATIENCE_S).turns] == ["HORN"]


def test_question_about_a_slow_turn_cannot_be_deferred(playing: TableSession, slow_table: SlowTable) -> None:
    end_turn(playing, slow_table)
    with pytest.raises(CommandRefusedError):
        playing.submit(DeferQuestion()).result(PATIENCE_S)
    state = playing.submit(PassTurn()).result(PATIENCE_S)
    assert state.question is None and [turn.kind for turn in state.turns] == ["pass"]


def test_correction_while_a_turn_is_read_is_not_undone_by_it(playing: TableSession, slow_table: SlowTable) -> None:
    slow_table.is_slow = False
    play(playing, slow_table, HORN)
    slow_table.is_slow = True
    slow_table.lay(HORN, FARM)
    playing.submit(EndTurn()).result(PATIENCE_S)
    playing.submit(CorrectTurn(1, score=40)).result(PATIENCE_S)
    slow_table.is_slow = False
    slow_table.released.set()
    state = playing.submit(AnswerQuestion(WAIT)).result(PATIENCE_S)
    assert [player.total for player in state.players] == [40, 9] and not state.notices


def test_slow_turn_is_not_waited_for_during_a_pause(playing: TableSession, slow_table: SlowTable) -> None:
    asked = end_turn(playing, slow_table).question
    playing.submit(Pause()).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError) as refusal:
        playing.submit(AnswerQuestion(WAIT)).result(PATIENCE_S)
    assert refusal.value.key == "paused" and playing.state.question == asked
