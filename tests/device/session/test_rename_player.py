"""A player is renamed in a game."""

from __future__ import annotations

from dataclasses import replace

import pytest

from device.session.commands.corrections import RenamePlayer
from device.session.commands.games import PlayAgain, StartGame, Undo
from device.session.messages import CommandRefusedError
from device.session.snapshot import Phase
from device.session.table_session import TableSession
from tests.support.text_table import HORN, STARTED, TextTable, play
from tests.support.waiting import PATIENCE_S


def test_renamed_player_keeps_total_and_colour(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(STARTED, colours=("amber", "teal"))).result(PATIENCE_S)
    play(session, table, HORN)
    state = session.submit(RenamePlayer(0, "  Cem ")).result(PATIENCE_S)
    assert [(player.name, player.total, player.colour) for player in state.players] == [
        ("Cem", 14, "amber"),
        ("Ben", 0, "teal"),
    ]
    assert ("Cem", "amber") in session.list_players()


def test_rename_can_be_undone(playing: TableSession) -> None:
    playing.submit(RenamePlayer(1, "Cem")).result(PATIENCE_S)
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert [player.name for player in state.players] == ["Anna", "Ben"]


def test_player_is_renamed_while_drawing_for_first_play(session: TableSession) -> None:
    session.submit(StartGame(replace(STARTED, draw=True))).result(PATIENCE_S)
    state = session.submit(RenamePlayer(1, "Cem")).result(PATIENCE_S)
    assert state.phase is Phase.DRAWING and state.players[1].name == "Cem"


def test_next_game_has_the_new_name(playing: TableSession) -> None:
    playing.submit(RenamePlayer(1, "Cem")).result(PATIENCE_S)
    state = playing.submit(PlayAgain(STARTED)).result(PATIENCE_S)
    assert [player.name for player in state.players] == ["Anna", "Cem"]


@pytest.mark.parametrize(
    ("player", "name", "key"), [(0, "Ben", "same-name"), (0, " \n ", "no-name"), (2, "Cem", "no-player")]
)
def test_rename_to_an_impossible_name_is_refused(playing: TableSession, player: int, name: str, key: str) -> None:
    with pytest.raises(CommandRefusedError) as refused:
        playing.submit(RenamePlayer(player, name)).result(PATIENCE_S)
    assert refused.value.key == key and playing.state.players[0].name == "Anna"
