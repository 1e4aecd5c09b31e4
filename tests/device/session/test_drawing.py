"""The players draw tiles for first play."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from device.session.commands.answers import AnswerQuestion
from device.session.commands.games import DrawFirst, Pause, PlayAgain, ResumeGame, StartGame
from device.session.commands.turn_corrections import CorrectTurn
from device.session.commands.turns import EndTurn, EnterBoard, PassTurn
from device.session.messages import CommandRefusedError
from device.session.snapshot import Phase
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from tests.support.questions import get_key
from tests.support.text_table import HORN, STARTED, WORDS, TextTable, rows
from tests.support.waiting import PATIENCE_S


def test_letter_closest_to_a_begins(session: TableSession) -> None:
    state = session.submit(StartGame(replace(STARTED, draw=True))).result(PATIENCE_S)
    assert (state.phase, state.drawing) == (Phase.DRAWING, (0, 1))
    with pytest.raises(CommandRefusedError, match="Draw tiles"):
        session.submit(EndTurn()).result(PATIENCE_S)
    state = session.submit(DrawFirst(("M", "C"))).result(PATIENCE_S)
    assert (state.phase, state.turn_of, state.drawing) == (Phase.TURN, 1, ())
    assert [notice.text for notice in state.notices] == ["Ben begins."]


def test_nobody_is_to_move_during_the_draw(session: TableSession) -> None:
    """Otherwise page, lights and displays would say that the first player begins."""
    assert session.submit(StartGame(replace(STARTED, draw=True))).result(PATIENCE_S).turn_of is None
    assert session.submit(DrawFirst(("C", "C"))).result(PATIENCE_S).turn_of is None
    assert session.submit(Pause()).result(PATIENCE_S).turn_of is None


def test_players_with_equal_tiles_draw_again(session: TableSession) -> None:
    session.submit(StartGame(GameStarted(("Anna", "Ben", "Cem"), draw=True))).result(PATIENCE_S)
    state = session.submit(DrawFirst(("B", "T", "B"))).result(PATIENCE_S)
    assert (state.phase, state.drawing) == (Phase.DRAWING, (0, 2))
    with pytest.raises(CommandRefusedError, match="Anna, Cem"):
        session.submit(DrawFirst(("A", "B", "C"))).result(PATIENCE_S)
    assert session.submit(DrawFirst(("T", "", "?"))).result(PATIENCE_S).turn_of == 2


def test_draw_goes_on_after_a_restart(table: TextTable, path: Path) -> None:
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(replace(STARTED, draw=True))).result(PATIENCE_S)
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as again:
        assert again.submit(ResumeGame()).result(PATIENCE_S).phase is Phase.DRAWING


@pytest.mark.parametrize("letters", [(), ("A",), ("A", "B", "C"), ("A", "Ä"), ("", ""), ("Q", "Q")])
def test_draw_names_a_tile_for_everybody(session: TableSession, letters: tuple[str, ...]) -> None:
    session.submit(StartGame(replace(STARTED, draw=True))).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError):
        session.submit(DrawFirst(letters)).result(PATIENCE_S)


def test_nobody_draws_once_a_turn_was_played(playing: TableSession) -> None:
    playing.submit(PassTurn()).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError, match="has begun"):
        playing.submit(DrawFirst(("A", "B"))).result(PATIENCE_S)


def test_drawn_tiles_are_made_capitals(session: TableSession) -> None:
    session.submit(StartGame(replace(STARTED, draw=True))).result(PATIENCE_S)
    assert session.submit(DrawFirst(("b", "a"))).result(PATIENCE_S).turn_of == 1


def test_next_game_is_begun_by_the_player_after_the_one_who_was_drawn(session: TableSession) -> None:
    session.submit(StartGame(STARTED)).result(PATIENCE_S)
    assert session.submit(DrawFirst(("M", "C"))).result(PATIENCE_S).turn_of == 1
    session.submit(PassTurn()).result(PATIENCE_S)
    assert session.submit(PlayAgain(STARTED)).result(PATIENCE_S).turn_of == 0


def test_next_game_is_begun_by_the_player_after_the_one_who_really_began(playing: TableSession) -> None:
    playing.submit(PassTurn()).result(PATIENCE_S)
    playing.submit(CorrectTurn(1, player=1)).result(PATIENCE_S)  # Ben began, although Anna was to begin
    assert playing.submit(PlayAgain(STARTED)).result(PATIENCE_S).turn_of == 0


def test_play_of_another_button_before_the_draw_replaces_the_draw(session: TableSession) -> None:
    """HORN is entered from Ben's phone, and the table asks whose turn it was."""
    session.submit(StartGame(replace(STARTED, draw=True))).result(PATIENCE_S)
    board = EnterBoard(tuple(map(tuple, rows(HORN))))  # type: ignore[arg-type]
    state = session.submit(board, seat=1).result(PATIENCE_S)
    assert get_key(state) == "asked-out-of-turn" and [turn.word for turn in state.turns] == ["HORN"]
    state = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert [(turn.player, turn.word) for turn in state.turns] == [(0, ""), (1, "HORN")]
    assert (state.phase, state.drawing) == (Phase.CHALLENGE, ())
