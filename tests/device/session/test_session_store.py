"""The session and its disk: games that come back, full disks, threads that end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from device.cameras.base import CameraError
from device.session.clock import ClockKeeper
from device.session.commands.games import EndGame, Pause, ResumeGame, StartGame, Undo
from device.session.commands.turns import EndTurn, PassTurn
from device.session.messages import CommandRefusedError, Trouble
from device.session.snapshot import Phase
from device.session.table_session import TableSession
from device.storage.errors import StoreError
from device.storage.game_log import GameLog
from device.storage.store import GameStore
from device.system.periodic import PeriodicTask
from engine.events import GameStarted
from engine.rules import Rules
from tests.support.damaged_store import free_pages, limit_pages, protect_from_writes
from tests.support.text_table import FARM, HORN, STARTED, WORDS, TextTable, play
from tests.support.waiting import PATIENCE_S


class SettlingTable(TextTable):
    def __init__(self) -> None:
        super().__init__()
        self.settled = 0

    def settle(self) -> None:
        if self.trouble:
            raise CameraError(self.trouble)
        self.settled += 1


def test_camera_settles_anew_for_each_game_and_not_for_each_turn(path: Path) -> None:
    table = SettlingTable()
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, HORN)
        assert table.settled == 1
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        assert table.settled == 2
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(ResumeGame()).result(PATIENCE_S)
        assert table.settled == 3


def test_camera_settles_anew_even_if_the_game_before_cannot_be_deleted(path: Path) -> None:
    """The game before has no turn, so it is deleted."""
    table = SettlingTable()
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        protect_from_writes(store, True)
        state = session.submit(StartGame(STARTED)).result(PATIENCE_S)
        protect_from_writes(store, False)
        assert state.game == 2 and table.settled == 2


def test_clock_of_a_game_is_its_own_even_if_the_disk_cannot_be_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StoreError("Input/output error")

    table, started = TextTable(), replace(STARTED, rules=Rules(clock_seconds=60))
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(started)).result(PATIENCE_S)
        monkeypatch.setattr(store, "read_note", fail)
        three = replace(started, players=("Anna", "Ben", "Cem"), rules=Rules(clock_seconds=300))
        clock = session.submit(StartGame(three)).result(PATIENCE_S).clock
    assert clock and (clock.limit, len(clock.used)) == (300, 3)


def test_camera_settles_anew_if_the_first_picture_of_a_turn_shows_no_board(path: Path) -> None:
    table = SettlingTable()
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        table.board, table.is_live = None, True
        session.submit(EndTurn()).result(PATIENCE_S)
    assert table.settled == 2, "once for the game, and once for the turn"


def test_clock_is_written_every_ten_seconds_while_it_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks: dict[str, Callable[[], float | None]] = {}

    class RecordedTask(PeriodicTask):
        def __init__(self, name: str, work: Callable[[], float | None], closing: threading.Event) -> None:
            tasks[name] = work
            super().__init__(name, work, closing)

    monkeypatch.setattr("device.session.background.work.PeriodicTask", RecordedTask)
    saves = []
    monkeypatch.setattr(ClockKeeper, "save", lambda self: saves.append(self))
    table = TextTable()
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        assert tasks["clock"]() == 10.0 and not saves  # no game, no clock
        session.submit(StartGame(GameStarted(("A", "B"), rules=Rules(clock_seconds=1500)))).result(PATIENCE_S)
        saves.clear()  # the start itself is saved
        assert tasks["clock"]() == 10.0 and len(saves) == 1
        session.submit(Pause()).result(PATIENCE_S)
        saves.clear()
        assert tasks["clock"]() == 10.0 and not saves


def test_game_begins_even_if_the_camera_does_not_settle(path: Path) -> None:
    table = SettlingTable()
    table.trouble = "the camera sends no pictures"
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        state = session.submit(StartGame(STARTED)).result(PATIENCE_S)
    assert state.phase is Phase.TURN and state.notices[0].trouble is Trouble.CAMERA


def test_game_comes_back_after_the_program_ended(table: TextTable, path: Path) -> None:
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, HORN)
        play(session, table, HORN, FARM)
        before = session.submit(Undo()).result(PATIENCE_S)
        assert before.look is not None
    with GameStore(path) as store, TableSession(TextTable(), table, store, WORDS) as session:
        state = session.submit(ResumeGame()).result(PATIENCE_S)
        assert (state.turns, state.players, state.turn_of) == (before.turns, before.players, before.turn_of)
        assert state.events == before.events
        picture = session.find_picture("1-1")
        assert picture is not None and picture.startswith(b"\xff\xd8")
        assert session.find_picture("1-77") is None and session.find_picture("../1") is None
        assert session.find_picture(f"{'9' * 5000}-1") is None
        state = play(session, table, HORN, FARM)
        assert state.turns[-1].score == 9


def test_resumed_game_is_checked_by_the_list_that_it_was_begun_with(path: Path) -> None:
    table = TextTable()
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(StartGame(replace(STARTED, lexicon=None), words=None)).result(PATIENCE_S)
    asked: list[GameStarted] = []

    def none_for(started: GameStarted) -> None:
        asked.append(started)

    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        assert session.submit(ResumeGame(none_for)).result(PATIENCE_S).lexicon is None
    assert asked == [replace(STARTED, lexicon=None)]


@pytest.mark.parametrize(("lexicon", "keys"), [("own", ["list-missing"]), (None, [])])
def test_resumed_game_says_that_its_list_is_missing(path: Path, lexicon: str | None, keys: list[str]) -> None:
    """Words would be checked no longer, and under some rules, invalid plays would count from now on."""
    table = TextTable()
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(replace(STARTED, lexicon=lexicon))).result(PATIENCE_S)
        state = session.submit(ResumeGame(lambda _: None)).result(PATIENCE_S)
    assert [notice.key for notice in state.notices] == keys


def test_game_that_this_version_cannot_read_is_reported_and_kept(path: Path) -> None:
    with GameStore(path) as store:
        number = store.begin_game({"event": "unheard of"})
        with TableSession(TextTable(), TextTable(), store, WORDS) as session:
            state = session.submit(ResumeGame()).result(PATIENCE_S)
        assert state.phase is Phase.LOBBY
        assert "This version of Tilekeeper cannot read game" in state.notices[0].text
        assert len(store.read_events(number)) == 1


def test_ended_game_is_not_continued(session: TableSession) -> None:
    with pytest.raises(CommandRefusedError, match="no game"):
        session.submit(ResumeGame()).result(PATIENCE_S)
    session.submit(StartGame(STARTED)).result(PATIENCE_S)
    session.submit(EndGame()).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError, match="ended"):
        session.submit(ResumeGame()).result(PATIENCE_S)


def test_play_goes_on_when_the_disk_is_full_and_is_saved_later(table: TextTable, path: Path) -> None:
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        limit_pages(store)
        passes = 0
        while session.submit(PassTurn()).result(PATIENCE_S).notices == () and passes < 200:  # the last page fills up
            passes += 1
        state = session.state
        assert [n.trouble for n in state.notices] == [Trouble.STORE] and "full" in state.notices[0].text
        state = play(session, table, HORN)
        assert [n.trouble for n in state.notices] == [Trouble.STORE] and sum(p.total for p in state.players) == 14
        assert len(store.read_events(1)) == 1 + passes
        free_pages(store)
        state = play(session, table, HORN, FARM)
        assert state.notices == ()
        log = GameLog.load(store, 1)
        assert log is not None and [turn.kind for turn in log.game.turns[passes:]] == ["pass", "play", "play"]


def test_earlier_game_is_saved_too_after_another_was_begun_in_memory(table: TextTable, path: Path) -> None:
    with GameStore(path) as store:
        with TableSession(table, table, store, WORDS) as session:
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            protect_from_writes(store, True)
            assert play(session, table, HORN).notices
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            assert session.submit(PassTurn()).result(PATIENCE_S).notices
            protect_from_writes(store, False)
        logs = [GameLog.load(store, number) for number in (1, 2)]
    assert [[turn.kind for turn in log.game.turns] for log in logs if log is not None] == [["play"], ["pass"]]


def test_disk_that_works_again_is_used_without_a_press(
    table: TextTable, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.session.background.work.SAVE_RETRY_INTERVAL_S", 0.05)
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        protect_from_writes(store, True)
        assert [notice.key for notice in play(session, table, HORN).notices] == ["not-saved"]
        saved = threading.Event()
        session.add_listener(lambda state: saved.set() if not state.notices else None)
        protect_from_writes(store, False)
        assert saved.wait(PATIENCE_S) and len(store.read_events(1)) == 2


def test_turn_is_on_disk_before_listeners_are_notified(table: TextTable, path: Path) -> None:
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        stored: list[tuple[int, int]] = []
        session.add_listener(lambda state: stored.append((state.events, len(store.read_events(1)))))
        play(session, table, HORN)
        assert stored == [(1, 1), (2, 2)]


def test_session_ends_its_thread_and_gives_the_camera_back(table: TextTable, path: Path) -> None:
    with GameStore(path) as store:
        with TableSession(table, table, store) as session:
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            assert any(thread.name.startswith("table") for thread in threading.enumerate())
        assert not any(thread.name.startswith("table") for thread in threading.enumerate())
        assert table.closed
