"""The work between turns: it does not miss the play after a press."""

from __future__ import annotations

from device.session.commands.games import StartGame
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from tests.support.text_table import FARM, HORN, STARTED, WORDS, TextTable, play
from tests.support.waiting import PATIENCE_S


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
