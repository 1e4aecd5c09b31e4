"""Reading in advance: the press uses what was read at rest, unless anything has changed since."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from device.cameras import Image
from device.session.commands.corrections import RenamePlayer
from device.session.commands.games import StartGame, Undo
from device.session.commands.turns import EndTurn, PassTurn
from device.session.snapshot import Sight, TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from engine.rules import Rules
from tests.support.fast_time import FastEvent, fast_clock
from tests.support.painted_sessions import session as session
from tests.support.text_table import FARM, HORN, STARTED, WORDS, RuledTable
from tests.support.waiting import PATIENCE_S, until


@pytest.fixture
def table() -> RuledTable:
    return RuledTable(fast_clock)


def rest(session: TableSession, table: RuledTable, *words: tuple[str, int, int, bool]) -> int:
    """Lay tiles and wait until they were read in advance; return the number of stills until then."""
    table.lay(*words)
    reads = table.reads
    until(lambda: table.reads > reads)
    reader = session._advance_reader
    until(lambda: reader._future is not None and reader._future.done())
    frames = len(session._key_frames._frames)
    until(lambda: len(session._key_frames._frames) >= min(frames, 1))
    return table.stills


def end_turn(session: TableSession) -> TableSnapshot:
    return session.submit(EndTurn()).result(PATIENCE_S)


def test_press_uses_the_reading_and_its_picture(session: TableSession, table: RuledTable) -> None:
    stills, reads = rest(session, table, HORN), table.reads
    state = end_turn(session)
    assert [(turn.word, turn.score) for turn in state.turns] == [("HORN", 14)]
    assert (table.stills, table.reads) == (stills, reads)
    assert state.look is not None and session.picture(state.look.picture) is not None


def test_reading_expects_the_button_of_the_next_player(session: TableSession, table: RuledTable) -> None:
    rest(session, table, HORN)
    session.submit(EndTurn(), seat=0).result(PATIENCE_S)
    rest(session, table, HORN, FARM)
    capture = session._advance_reader.take()
    assert capture is not None and capture.context.seat == 1


def test_nothing_is_published_before_the_press(session: TableSession, table: RuledTable) -> None:
    before = session.state
    rest(session, table, HORN)
    assert replace(session.state, revision=before.revision, sight=before.sight) == before


def test_second_press_reads_again(session: TableSession, table: RuledTable) -> None:
    rest(session, table, HORN)
    first = session.submit(EndTurn())
    first.result(PATIENCE_S)
    reads = table.reads
    state = end_turn(session)
    assert table.reads > reads
    assert [turn.word for turn in state.turns][:1] == ["HORN"] and sum(turn.score for turn in state.turns) == 14


def test_tile_exchanged_after_the_reading_is_read(session: TableSession, table: RuledTable) -> None:
    rest(session, table, ("FARN", 7, 5, True))
    table.lay(("FARM", 7, 5, True))
    assert [turn.word for turn in end_turn(session).turns] == ["FARM"]


def test_light_that_has_changed_leads_to_a_new_reading(session: TableSession, table: RuledTable) -> None:
    stills = rest(session, table, HORN)
    table.light = 3  # a step between two painted symbols is 8
    assert [turn.word for turn in end_turn(session).turns] == ["HORN"]
    assert table.stills > stills


def test_hand_that_enters_at_the_press_leads_to_a_new_reading(session: TableSession, table: RuledTable) -> None:
    stills = rest(session, table, HORN)
    painted, paint = [0], table._paint

    def paint_with_hand(hidden: frozenset[tuple[int, int]]) -> Image:
        painted[0] += 1
        return paint(hidden | {(7, 7), (8, 7)} if painted[0] < 10 else hidden)

    table._paint = paint_with_hand  # type: ignore[method-assign]
    state = end_turn(session)
    assert [turn.word for turn in state.turns] == ["HORN"] and state.question is None
    assert table.stills >= stills


def test_turn_is_inferred_again_after_an_undo(session: TableSession, table: RuledTable) -> None:
    rest(session, table, HORN)
    end_turn(session)
    rest(session, table, HORN, FARM)
    session.submit(Undo()).result(PATIENCE_S)
    state = end_turn(session)
    assert sum(turn.score for turn in state.turns) == 23, "both plays are new now"


def test_turn_is_inferred_again_for_another_player(session: TableSession, table: RuledTable) -> None:
    rest(session, table, HORN)
    session.submit(PassTurn()).result(PATIENCE_S)
    assert [(turn.player, turn.word) for turn in end_turn(session).turns if turn.word] == [(1, "HORN")]


def test_new_game_discards_the_reading(session: TableSession, table: RuledTable) -> None:
    rest(session, table, HORN)
    session.submit(StartGame(GameStarted(("Anna", "Ben", "Cleo"), rules=Rules(bingo_bonus=60), lexicon="test"))).result(
        PATIENCE_S
    )
    assert session._advance_reader._future is None
    state = end_turn(session)
    assert [(turn.player, turn.word) for turn in state.turns] == [(0, "HORN")] and len(state.players) == 3


def test_renamed_player_keeps_the_new_name(session: TableSession, table: RuledTable) -> None:
    rest(session, table, HORN)
    session.submit(RenamePlayer(0, "Zoe")).result(PATIENCE_S)
    state = end_turn(session)
    assert [player.name for player in state.players] == ["Zoe", "Ben"] and state.turns[0].score == 14


def test_placed_corners_lead_to_a_new_reading(session: TableSession, table: RuledTable) -> None:
    rest(session, table, HORN)
    stills = table.stills
    session.place_corners([[0, 0], [300, 0], [300, 300], [0, 300]]).result(PATIENCE_S)
    taken = table.stills
    assert [turn.word for turn in end_turn(session).turns] == ["HORN"]
    assert table.stills > taken > stills


def test_lost_camera_discards_the_reading(session: TableSession, table: RuledTable) -> None:
    rest(session, table, HORN)
    table.trouble = "unplugged"
    until(lambda: session._advance_reader._future is None)
    assert end_turn(session).turns == ()
    table.trouble = ""
    assert [turn.word for turn in end_turn(session).turns] == ["HORN"]


def test_board_is_compared_with_the_record_by_the_same_reading(session: TableSession, table: RuledTable) -> None:
    rest(session, table, HORN)
    end_turn(session)
    rest(session, table, FARM)
    reads, corners = table.reads, session._board_camera.tracker.corners
    until(lambda: session.state.sight is Sight.BOARD_DIFFERS)
    assert table.reads == reads and session._board_camera.tracker.corners is corners


def test_board_is_read_for_the_comparison_if_the_light_has_changed(session: TableSession, table: RuledTable) -> None:
    rest(session, table, HORN)
    end_turn(session)
    rest(session, table, FARM)
    table.light, reads = 3, table.reads
    until(lambda: session.state.sight is Sight.BOARD_DIFFERS)
    assert table.reads > reads


def test_thread_ends_with_the_session(table: RuledTable, tmp_path: Path) -> None:
    with (
        GameStore(tmp_path / "games.db") as store,
        TableSession(table, table, store, WORDS, clock=fast_clock, closing=FastEvent()) as session,
    ):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        rest(session, table, HORN)
        threads = session._advance_reader._worker._threads
        assert [thread.name for thread in threads] == ["ahead_0"]
    assert not any(thread.is_alive() for thread in threads)
