"""Reading in advance: the press uses what was read at rest, unless anything has changed since."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from device.cameras.base import Image
from device.session.commands.corrections import RenamePlayer
from device.session.commands.games import StartGame, Undo
from device.session.commands.turns import EndTurn, PassTurn
from device.session.snapshot import Sight
from device.session.table_session import TableSession
from engine.events import GameStarted
from engine.rules import Rules
from tests.support.stepped_tables import SteppedTable, open_stepped_table
from tests.support.stepped_tables import session as session
from tests.support.stepped_time import get_advance
from tests.support.text_table import FARM, HORN, RuledTable


@pytest.fixture
def stepped() -> Iterator[SteppedTable]:
    with open_stepped_table(RuledTable) as stepped:
        yield stepped


@pytest.fixture
def table(stepped: SteppedTable) -> RuledTable:
    assert isinstance(stepped.table, RuledTable)
    return stepped.table


def rest(stepped: SteppedTable, *words: tuple[str, int, int, bool]) -> int:
    """Lay tiles and wait until they were read in advance; return the number of stills until then."""
    stepped.lay_until_read(*words)
    return stepped.table.stills


def test_press_uses_the_reading_and_its_picture(
    stepped: SteppedTable, session: TableSession, table: RuledTable
) -> None:
    stills, reads = rest(stepped, HORN), table.reads
    state = stepped.submit(EndTurn())
    assert [(turn.word, turn.score) for turn in state.turns] == [("HORN", 14)]
    assert (table.stills, table.reads) == (stills, reads)
    assert state.look is not None and session.find_picture(state.look.picture) is not None


def test_reading_expects_the_button_of_the_next_player(stepped: SteppedTable, session: TableSession) -> None:
    rest(stepped, HORN)
    stepped.submit(EndTurn(), seat=0)
    rest(stepped, HORN, FARM)
    capture = get_advance(session)
    assert capture is not None and capture.context.seat == 1


def test_nothing_is_published_before_the_press(stepped: SteppedTable, session: TableSession) -> None:
    before = session.state
    rest(stepped, HORN)
    assert replace(session.state, revision=before.revision, sight=before.sight) == before


def test_second_press_reads_again(stepped: SteppedTable, table: RuledTable) -> None:
    rest(stepped, HORN)
    stepped.submit(EndTurn())
    reads = table.reads
    state = stepped.submit(EndTurn())
    assert table.reads > reads
    assert [turn.word for turn in state.turns][:1] == ["HORN"] and sum(turn.score for turn in state.turns) == 14


def test_tile_exchanged_after_the_reading_is_read(stepped: SteppedTable, table: RuledTable) -> None:
    rest(stepped, ("FARN", 7, 5, True))
    table.lay(("FARM", 7, 5, True))
    assert [turn.word for turn in stepped.submit(EndTurn()).turns] == ["FARM"]


def test_light_that_has_changed_leads_to_a_new_reading(stepped: SteppedTable, table: RuledTable) -> None:
    stills = rest(stepped, HORN)
    table.light = 3  # a step between two painted symbols is 8
    assert [turn.word for turn in stepped.submit(EndTurn()).turns] == ["HORN"]
    assert table.stills > stills


def test_hand_that_enters_at_the_press_leads_to_a_new_reading(stepped: SteppedTable, table: RuledTable) -> None:
    stills = rest(stepped, HORN)
    painted, paint = [0], table._paint

    def paint_with_hand(hidden: frozenset[tuple[int, int]]) -> Image:
        painted[0] += 1
        return paint(hidden | {(7, 7), (8, 7)} if painted[0] < 10 else hidden)

    table._paint = paint_with_hand  # type: ignore[method-assign]
    state = stepped.submit(EndTurn())
    assert [turn.word for turn in state.turns] == ["HORN"] and state.question is None
    assert table.stills >= stills


def test_turn_is_inferred_again_after_an_undo(stepped: SteppedTable) -> None:
    rest(stepped, HORN)
    stepped.submit(EndTurn())
    rest(stepped, HORN, FARM)
    stepped.submit(Undo())
    state = stepped.submit(EndTurn())
    assert sum(turn.score for turn in state.turns) == 23, "both plays are new now"


def test_turn_is_inferred_again_for_another_player(stepped: SteppedTable) -> None:
    rest(stepped, HORN)
    stepped.submit(PassTurn())
    assert [(turn.player, turn.word) for turn in stepped.submit(EndTurn()).turns if turn.word] == [(1, "HORN")]


def test_new_game_discards_the_reading(stepped: SteppedTable, session: TableSession) -> None:
    rest(stepped, HORN)
    stepped.submit(StartGame(GameStarted(("Anna", "Ben", "Cleo"), rules=Rules(bingo_bonus=60), lexicon="test")))
    assert get_advance(session) is None
    state = stepped.submit(EndTurn())
    assert [(turn.player, turn.word) for turn in state.turns] == [(0, "HORN")] and len(state.players) == 3


def test_renamed_player_keeps_the_new_name(stepped: SteppedTable) -> None:
    rest(stepped, HORN)
    stepped.submit(RenamePlayer(0, "Zoe"))
    state = stepped.submit(EndTurn())
    assert [player.name for player in state.players] == ["Zoe", "Ben"] and state.turns[0].score == 14


def test_placed_corners_lead_to_a_new_reading(stepped: SteppedTable, session: TableSession, table: RuledTable) -> None:
    rest(stepped, HORN)
    stills = table.stills
    stepped.time.finish(session.place_corners([[0, 0], [300, 0], [300, 300], [0, 300]]))
    taken = table.stills
    assert [turn.word for turn in stepped.submit(EndTurn()).turns] == ["HORN"]
    assert table.stills > taken > stills


def test_lost_camera_discards_the_reading(stepped: SteppedTable, session: TableSession, table: RuledTable) -> None:
    rest(stepped, HORN)
    table.trouble = "unplugged"
    stepped.until(lambda: get_advance(session) is None)
    assert stepped.submit(EndTurn()).turns == ()
    table.trouble = ""
    assert [turn.word for turn in stepped.submit(EndTurn()).turns] == ["HORN"]


def test_board_is_compared_with_the_record_by_the_same_reading(
    stepped: SteppedTable, session: TableSession, table: RuledTable
) -> None:
    rest(stepped, HORN)
    stepped.submit(EndTurn())
    rest(stepped, FARM)
    reads, corners = table.reads, session._board_camera.tracker.corners
    stepped.until(lambda: session.state.sight is Sight.BOARD_DIFFERS)
    assert table.reads == reads and session._board_camera.tracker.corners is corners


def test_board_is_read_for_the_comparison_if_the_light_has_changed(
    stepped: SteppedTable, session: TableSession, table: RuledTable
) -> None:
    rest(stepped, HORN)
    stepped.submit(EndTurn())
    rest(stepped, FARM)
    table.light, reads = 3, table.reads
    stepped.until(lambda: session.state.sight is Sight.BOARD_DIFFERS)
    assert table.reads > reads


def test_thread_ends_with_the_session() -> None:
    with open_stepped_table(RuledTable) as stepped:
        rest(stepped, HORN)
        threads = [thread for thread in threading.enumerate() if thread.name.startswith("ahead")]
        assert len(threads) == 1
    assert not any(thread.is_alive() for thread in threads)
