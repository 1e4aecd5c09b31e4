"""The clocks of the players: when they run, stop and are set back, and what overtime costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from device.session.commands.answers import AnswerQuestion
from device.session.commands.challenges import ChallengePlay
from device.session.commands.corrections import RenamePlayer
from device.session.commands.games import EndGame, EndPause, Pause, Redo, ResumeGame, StartGame, Undo
from device.session.commands.turn_corrections import CorrectTurn
from device.session.commands.turns import EndTurn, PassTurn
from device.session.messages import CommandRefusedError
from device.session.snapshot import Phase
from device.session.table_session import TableSession
from device.storage.game_log import GameLog
from device.storage.store import GameStore
from engine.game import Game
from engine.rules import STANDARD_RULES
from tests.support.play_at_random import played_out
from tests.support.set_clock import SetClock
from tests.support.text_table import FARM, HORN, STARTED, WORDS, TextTable, play
from tests.support.waiting import PATIENCE_S


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def session(table: TextTable, path: Path, clock: SetClock) -> Iterator[TableSession]:
    with GameStore(path) as store, TableSession(table, table, store, WORDS, clock=clock) as session:
        yield session


TIMED = replace(STARTED, rules=replace(STANDARD_RULES, clock_seconds=60))


def test_clock_of_the_player_to_move_runs(session: TableSession, clock: SetClock, table: TextTable) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 20
    state = play(session, table, HORN)
    clock.now += 5
    assert state.clock is not None
    assert [state.clock.compute_left(player, clock.now) for player in (0, 1)] == [40.0, 55.0]


def test_clock_goes_on_where_a_new_game_was_begun_by_mistake(
    session: TableSession, clock: SetClock, table: TextTable
) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    play(session, table, HORN)
    clock.now += 8
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 5
    state = session.submit(Undo()).result(PATIENCE_S)
    assert state.clock and (state.clock.used, state.clock.running) == ((0, 8), 1)


def test_pause_stops_the_clock_and_the_game(session: TableSession, clock: SetClock) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    state = session.submit(Pause()).result(PATIENCE_S)
    clock.now += 600
    assert state.phase is Phase.PAUSED and state.clock is not None and state.clock.paused
    for request in (EndTurn(), PassTurn(), ChallengePlay()):
        with pytest.raises(CommandRefusedError, match="paused"):
            session.submit(request).result(PATIENCE_S)
    state = session.submit(EndPause()).result(PATIENCE_S)
    assert state.phase is Phase.TURN and state.clock is not None
    assert state.clock.compute_left(0, clock.now + 7) == 53.0


def test_question_stays_open_over_a_pause(playing: TableSession) -> None:
    playing.submit(EndTurn()).result(PATIENCE_S)
    playing.submit(Pause()).result(PATIENCE_S)
    assert playing.submit(EndPause()).result(PATIENCE_S).phase is Phase.QUESTION


def test_clock_is_stopped_while_words_are_looked_up(table: TextTable, path: Path, clock: SetClock) -> None:
    with GameStore(path) as store, TableSession(table, table, store, None, clock=clock) as session:
        session.submit(StartGame(TIMED)).result(PATIENCE_S)
        play(session, table, HORN)
        asked = session.submit(ChallengePlay()).result(PATIENCE_S)
        assert asked.clock is not None and asked.clock.running is None
        assert session.submit(AnswerQuestion(0)).result(PATIENCE_S).question is not None, (
            "they are still being looked up"
        )
        decided = session.submit(AnswerQuestion(2)).result(PATIENCE_S)
        assert decided.clock is not None and decided.clock.running == decided.turn_of


def test_clock_comes_back_after_a_restart_to_the_second(table: TextTable, path: Path, clock: SetClock) -> None:
    with GameStore(path) as store:
        session = TableSession(table, table, store, WORDS, clock=clock)
        session.submit(StartGame(TIMED)).result(PATIENCE_S)
        clock.now += 21
        play(session, table, HORN)
        clock.now += 8
        session.close()
    clock.now = 3.0  # another run of the machine: its clock begins anew
    with GameStore(path) as store, TableSession(table, table, store, WORDS, clock=clock) as session:
        state = session.submit(ResumeGame()).result(PATIENCE_S)
        assert state.clock is not None and state.clock.running == 1
        assert [state.clock.compute_left(player, clock.now) for player in (0, 1)] == [39.0, 52.0]


def test_pause_of_a_game_without_a_clock_goes_on_after_a_restart(table: TextTable, path: Path) -> None:
    for command, phase in ((Pause(), Phase.PAUSED), (EndPause(), Phase.TURN)):
        with GameStore(path) as store:
            with TableSession(table, table, store, WORDS) as session:
                session.submit(StartGame(STARTED) if phase is Phase.PAUSED else ResumeGame()).result(PATIENCE_S)
                session.submit(command).result(PATIENCE_S)
            with TableSession(table, table, store, WORDS) as session:
                assert session.submit(ResumeGame()).result(PATIENCE_S).phase is phase


def test_clock_stops_with_the_last_tile(table: TextTable, path: Path, clock: SetClock) -> None:
    *before, last = played_out(Game.begin(TIMED)).events
    with GameStore(path) as store, TableSession(table, table, store, WORDS, clock=clock) as session:
        log, _ = GameLog.begin_game(store, TIMED)
        ledger = log.ledger.record([(tuple(before),)])
        log.append_saved(ledger.record([((last,),)]))
        state = session.submit(ResumeGame()).result(PATIENCE_S)
        assert state.end_due and state.clock is not None and state.clock.running is None
        state = session.submit(Undo()).result(PATIENCE_S)
        assert not state.end_due and state.clock is not None and state.clock.running == state.turn_of
        state = session.submit(Redo()).result(PATIENCE_S)
        assert state.end_due and state.clock is not None and state.clock.running is None


def test_undo_sets_the_clocks_back_to_the_press(session: TableSession, clock: SetClock, table: TextTable) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 20
    play(session, table, HORN)
    clock.now += 15
    state = session.submit(Undo()).result(PATIENCE_S)
    assert state.clock is not None and state.clock.running == 0
    assert [state.clock.compute_left(player, clock.now + 5) for player in (0, 1)] == [35.0, 60.0]


def test_undo_of_two_presses_sets_the_clocks_back_to_the_first(
    session: TableSession, clock: SetClock, table: TextTable
) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 20
    play(session, table, HORN)
    clock.now += 15
    play(session, table, HORN, FARM)
    session.submit(Undo()).result(PATIENCE_S)
    state = session.submit(Undo()).result(PATIENCE_S)
    assert state.clock is not None and state.clock.used == (20.0, 0.0)


def test_undo_keeps_the_time_of_a_player_whose_turn_a_correction_ended(
    session: TableSession, clock: SetClock, table: TextTable
) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 20
    play(session, table, HORN)
    clock.now += 30
    session.submit(CorrectTurn(1, kind="none")).result(PATIENCE_S)
    play(session, table, FARM)
    state = session.submit(Undo()).result(PATIENCE_S)
    assert state.clock is not None and state.clock.used == (20.0, 30.0) and state.clock.running == 0


def test_redo_sets_the_clocks_back_to_the_press(session: TableSession, clock: SetClock, table: TextTable) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 20
    play(session, table, HORN)
    session.submit(Undo()).result(PATIENCE_S)
    clock.now += 9
    state = session.submit(Redo()).result(PATIENCE_S)
    assert state.clock is not None and state.clock.used == (20.0, 0.0) and state.clock.running == 1


def test_redo_gives_no_player_the_time_before_the_undo_back(
    session: TableSession, clock: SetClock, table: TextTable
) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 20
    play(session, table, HORN)
    clock.now += 45
    session.submit(Undo()).result(PATIENCE_S)
    clock.now += 2
    state = session.submit(Redo()).result(PATIENCE_S)
    assert state.clock is not None and state.clock.used == (20.0, 45.0) and state.clock.running == 1


def test_answer_that_ends_the_game_stops_the_clocks_and_counts_overtime(
    session: TableSession, clock: SetClock, table: TextTable
) -> None:
    session.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, clock_seconds=60)))).result(PATIENCE_S)
    play(session, table, HORN)
    play(session, table, HORN, FARM)
    clock.now += 110
    assert (asked := play(session, table).question) is not None and asked.key == "asked-board-cleared"
    ended = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert (ended.phase, ended.turns[-1].kind, ended.turns[-1].score) == (Phase.ENDED, "time", -10)
    undone = session.submit(Undo()).result(PATIENCE_S)
    assert undone.clock is not None and undone.clock.used == (110.0, 0.0)


def test_undo_of_a_correction_leaves_the_clocks(session: TableSession, clock: SetClock, table: TextTable) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 20
    play(session, table, HORN)
    session.submit(RenamePlayer(0, "Eva")).result(PATIENCE_S)
    clock.now += 15
    state = session.submit(Undo()).result(PATIENCE_S)
    assert state.clock is not None and state.clock.used == (20.0, 15.0)


def test_clocks_set_back_by_undo_are_the_same_after_a_restart(table: TextTable, path: Path, clock: SetClock) -> None:
    with GameStore(path) as store:
        session = TableSession(table, table, store, WORDS, clock=clock)
        session.submit(StartGame(TIMED)).result(PATIENCE_S)
        clock.now += 20
        play(session, table, HORN)
        clock.now += 15
        play(session, table, HORN, FARM)
        session.submit(Undo()).result(PATIENCE_S)
        session.submit(Undo()).result(PATIENCE_S)
        session.close()
    with GameStore(path) as store, TableSession(table, table, store, WORDS, clock=clock) as session:
        state = session.submit(ResumeGame()).result(PATIENCE_S)
        assert state.clock is not None and state.clock.used == (20.0, 0.0)


def test_answer_that_makes_another_turn_keeps_the_clock_read_at_the_press(
    session: TableSession, clock: SetClock
) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 20
    session.submit(EndTurn()).result(PATIENCE_S)
    state = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["exchange"]
    clock.now += 15
    state = session.submit(Undo()).result(PATIENCE_S)
    assert state.clock is not None and state.clock.used == (20.0, 0.0)


def test_overtime_costs_at_the_end(session: TableSession, clock: SetClock, table: TextTable) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 61
    play(session, table, HORN)
    clock.now += 130
    state = session.submit(EndGame()).result(PATIENCE_S)
    assert [(turn.kind, turn.player, turn.score) for turn in state.turns if turn.kind == "time"] == [
        ("time", 0, -10),
        ("time", 1, -20),
    ]
