"""A new game that was begun by mistake: Undo goes back to the game before."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from device.cameras.base import CameraError
from device.capture.board_camera import BoardCamera
from device.session.commands.corrections import RevealRack
from device.session.commands.games import EndGame, PlayAgain, ResumeGame, StartGame, Undo
from device.session.commands.turns import PassTurn
from device.session.messages import CommandRefusedError, Trouble
from device.session.snapshot import Phase
from device.session.table_session import TableSession
from device.storage.errors import StoreError
from device.storage.game_log import GameLog
from device.storage.store import GameStore
from engine.events import GameStarted, PlayerRenamed
from tests.support.damaged_store import protect_from_writes
from tests.support.text_table import FARM, HORN, STARTED, TextTable, play, totals
from tests.support.waiting import PATIENCE_S, until


def test_undo_of_a_new_game_continues_the_game_before(playing: TableSession, table: TextTable) -> None:
    before = play(playing, table, HORN)
    state = playing.submit(PlayAgain(STARTED)).result(PATIENCE_S)
    assert not state.turns and state.undo
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert state.moment == before.moment and totals(state) == [14, 0] and state.turn_of == 1
    assert [notice.key for notice in state.notices] == ["game-before"]
    assert totals(play(playing, table, HORN, FARM)) == [14, 9]


def test_undo_of_the_turns_of_a_new_game_leads_to_the_game_before(playing: TableSession, table: TextTable) -> None:
    before = play(playing, table, HORN)
    playing.submit(PlayAgain(STARTED)).result(PATIENCE_S)
    play(playing, table, HORN)  # the players have not noticed the new game
    for _ in range(2):
        state = playing.submit(Undo()).result(PATIENCE_S)
    assert state.moment == before.moment


def test_undo_of_a_new_game_restores_the_end_and_the_word_list_of_the_game_before(session: TableSession) -> None:
    session.submit(StartGame(STARTED, frozenset({"HORN"}))).result(PATIENCE_S)
    session.submit(PassTurn()).result(PATIENCE_S)
    ended = session.submit(EndGame()).result(PATIENCE_S)
    session.submit(StartGame(STARTED, None)).result(PATIENCE_S)
    state = session.submit(Undo()).result(PATIENCE_S)
    assert state.phase is Phase.ENDED and state.racks_wanted == ended.racks_wanted and session.look_up("HORN")


def test_new_game_can_be_undone_after_the_store_could_not_be_read(
    playing: TableSession, table: TextTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StoreError("Input/output error")

    before = play(playing, table, HORN)
    playing.submit(PlayAgain(STARTED)).result(PATIENCE_S)
    with monkeypatch.context() as patch:
        patch.setattr(GameStore, "read_events", fail)
        state = playing.submit(Undo()).result(PATIENCE_S)
    assert state.undo and [notice.trouble for notice in state.notices] == [Trouble.STORE]
    assert playing.submit(Undo()).result(PATIENCE_S).moment == before.moment


def test_undone_new_game_is_deleted_even_if_the_camera_fails(
    playing: TableSession, table: TextTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the next start would continue it."""

    def fail(*_: object) -> None:
        raise CameraError("no picture")

    before = play(playing, table, HORN)
    playing.submit(PlayAgain(STARTED)).result(PATIENCE_S)
    monkeypatch.setattr(BoardCamera, "settle_camera", fail)
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert state.moment == before.moment and "game-before" in [notice.key for notice in state.notices]
    assert [game.id for game in playing._store.list_games()] == [before.game]


def test_undo_of_a_new_game_leaves_the_game_before_to_the_next_start(path: Path) -> None:
    table = TextTable()
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, HORN)
        for _ in range(2):
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
        session.submit(Undo()).result(PATIENCE_S)
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        assert totals(session.submit(ResumeGame()).result(PATIENCE_S)) == [14, 0] and len(store.list_games()) == 1


def test_undone_new_game_that_could_not_be_deleted_is_deleted_with_the_next_turn(path: Path) -> None:
    table = TextTable()
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        number = play(session, table, HORN).game
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        protect_from_writes(store, True)
        state = session.submit(Undo()).result(PATIENCE_S)
        assert [notice.key for notice in state.notices] == ["game-before", "not-saved"]
        protect_from_writes(store, False)
        play(session, table, HORN, FARM)
        assert [game.id for game in store.list_games()] == [number]


def test_undone_new_game_that_could_not_be_deleted_is_deleted_at_the_end(path: Path) -> None:
    table = TextTable()
    with GameStore(path) as store:
        with TableSession(table, table, store, None) as session:
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            number = play(session, table, HORN).game
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            protect_from_writes(store, True)
            session.submit(Undo()).result(PATIENCE_S)
            protect_from_writes(store, False)
        assert [game.id for game in store.list_games()] == [number]


def test_undone_new_games_that_could_not_be_deleted_are_deleted_without_a_press(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.session.background.work.SAVE_RETRY_INTERVAL_S", 0.05)
    table, deleted = TextTable(), threading.Event()
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, HORN)
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        protect_from_writes(store, True)
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        session.submit(Undo()).result(PATIENCE_S)
        store.delete_listeners.append(lambda *_: deleted.set())
        protect_from_writes(store, False)
        assert deleted.wait(PATIENCE_S)
        until(lambda: all(notice.key != "not-saved" for notice in session.state.notices))


def test_new_game_is_undone_after_a_restart(path: Path) -> None:
    table = TextTable()
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, HORN)
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
    other = StartGame(replace(STARTED, players=("Cem", "Dora")))
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(ResumeGame(lambda _: frozenset({"HORN"}), other)).result(PATIENCE_S)
        assert totals(session.submit(Undo()).result(PATIENCE_S)) == [14, 0] and session.look_up("HORN")
        assert len(store.list_games()) == 1


@pytest.mark.parametrize("begins_before", [False, True])
def test_game_that_was_ended_by_mistake_goes_on_after_a_restart(path: Path, begins_before: bool) -> None:
    """The new game begins before the restart or, as on a table without a page, when the table starts."""
    table = TextTable()
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        before = play(session, table, HORN)
        for player, letter in enumerate("AE"):
            session.submit(RevealRack(player, letter)).result(PATIENCE_S)
        assert not session.submit(EndGame()).result(PATIENCE_S).racks_wanted
        if begins_before:
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        if begins_before:
            session.submit(ResumeGame()).result(PATIENCE_S)
        else:
            with pytest.raises(CommandRefusedError):
                session.submit(ResumeGame()).result(PATIENCE_S)
            session.submit(PlayAgain(STARTED)).result(PATIENCE_S)
        assert session.submit(Undo()).result(PATIENCE_S).phase is Phase.ENDED
        state = session.submit(Undo()).result(PATIENCE_S)
        assert state.phase is before.phase and totals(state) == [14, 0]


@pytest.mark.parametrize("restarts", [1, 2])
def test_letters_left_on_racks_are_entered_after_a_restart(path: Path, restarts: int) -> None:
    """The table begins a new game when it starts, and Undo goes back to the game whose letters are not counted."""
    table = TextTable()
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, HORN)
        session.submit(EndGame()).result(PATIENCE_S)
    for _ in range(restarts):
        with GameStore(path) as store, TableSession(table, table, store, None) as session:
            try:
                state = session.submit(ResumeGame()).result(PATIENCE_S)
            except CommandRefusedError:
                state = session.submit(PlayAgain(STARTED)).result(PATIENCE_S)
            assert state.undo and not state.turns
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(ResumeGame()).result(PATIENCE_S)
        assert session.submit(Undo()).result(PATIENCE_S).racks_wanted == (0, 1)
        session.submit(RevealRack(1, "Q")).result(PATIENCE_S)
        assert totals(session.submit(RevealRack(0, "A")).result(PATIENCE_S)) == [13, -10]


def test_undo_of_a_new_game_after_the_game_before_was_deleted_is_refused(path: Path) -> None:
    table = TextTable()
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        number = play(session, table, HORN).game
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        store.delete_game(number)
        with pytest.raises(CommandRefusedError, match="nothing to undo"):
            session.submit(Undo()).result(PATIENCE_S)
        assert not session.state.turns and [game.id for game in store.list_games()] == [number + 1]


def test_undo_of_a_new_game_keeps_names_that_were_changed_in_the_list_of_games(path: Path) -> None:
    table = TextTable()
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        number = play(session, table, HORN).game
        session.submit(StartGame(GameStarted(("Cem", "Dora")))).result(PATIENCE_S)
        log = GameLog.load(store, number)
        assert log is not None
        log.append_saved(log.ledger.record([((PlayerRenamed(0, "Anne"),),)]))
        state = session.submit(Undo()).result(PATIENCE_S)
        assert [player.name for player in state.players] == ["Anne", "Ben"]


def test_undo_in_a_new_game_with_a_turn_stays_in_this_game(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    playing.submit(StartGame(STARTED)).result(PATIENCE_S)
    game = playing.submit(PassTurn()).result(PATIENCE_S).game
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert state.game == game and not state.turns and state.undo and state.redo
