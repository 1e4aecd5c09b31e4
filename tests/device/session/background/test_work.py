"""The work between turns: it neither delays a press nor misses the play after it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from calibration.profile import TableProfile
from device.session.background import work
from device.session.background.profile_updater import ProfileUpdater
from device.session.commands.games import StartGame, Undo
from device.session.commands.turn_corrections import CorrectTurn
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.ledger import Ledger
from tests.support.text_table import FARM, HORN, STARTED, WORDS, TextTable, play
from tests.support.waiting import PATIENCE_S, until


def test_press_does_not_wait_while_tiles_are_learnt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    has_begun, may_end, table = threading.Event(), threading.Event(), TextTable()

    def learn_slowly(*_turn: object) -> str:
        has_begun.set()
        may_end.wait(2 * PATIENCE_S)
        return ""

    monkeypatch.setattr(ProfileUpdater, "add_turn", learn_slowly)
    monkeypatch.setattr(work, "LEARN_INTERVAL_S", 0.01)
    profile = TableProfile(tmp_path / "table.npz")
    with GameStore(":memory:") as store, TableSession(table, table, store, WORDS, profile=profile) as session:
        try:
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            play(session, table, HORN)
            assert has_begun.wait(PATIENCE_S)
            assert len(play(session, table, HORN, FARM).turns) == 2
        finally:
            may_end.set()


def test_undone_turn_is_not_learnt_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another play may be entered by hand, whose letters are not in the picture of the undone turn."""
    calls: list[str] = []
    for name in ("add_turn", "discard_pending"):
        monkeypatch.setattr(ProfileUpdater, name, lambda *_, name=name: calls.append(name))
    table, profile = TextTable(), TableProfile(tmp_path / "table.npz")
    with GameStore(":memory:") as store, TableSession(table, table, store, WORDS, profile=profile) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        calls.clear()
        play(session, table, HORN)
        session.submit(Undo()).result(PATIENCE_S)
        assert calls[-1:] == ["discard_pending"] and not session._background._turns_to_learn


def test_corrections_of_the_game_are_learnt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ledgers: list[Ledger] = []
    monkeypatch.setattr(ProfileUpdater, "learn_corrections", lambda _self, _source, ledger: ledgers.append(ledger))
    monkeypatch.setattr(work, "LEARN_INTERVAL_S", 0.01)
    table, profile = TextTable(), TableProfile(tmp_path / "table.npz")
    with GameStore(":memory:") as store, TableSession(table, table, store, WORDS, profile=profile) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, HORN)
        session.submit(CorrectTurn(1, at="8F", word="KORN")).result(PATIENCE_S)
        until(lambda: ledgers and ledgers[-1].game.turns and ledgers[-1].game.turns[0].board.symbols()[110] == "K")


def test_camera_is_watched_at_the_pace_of_a_game_while_a_turn_is_being_ended() -> None:
    seen: list[bool] = []
    with GameStore(":memory:") as store, TableSession(table := TextTable(), table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)

        def note_looking(state: TableSnapshot) -> None:
            if state.phase is Phase.LOOKING:
                seen.append(session._background.is_in_play())

        session.add_listener(note_looking)
        play(session, table, HORN)
    assert seen and all(seen)
