"""Turns that are missing at the table are filled from those of a score sheet on paper."""

from __future__ import annotations

import pytest

from device.rebuilt_game import SheetAct
from device.session.commands.games import EnterPosition, ResumeGame, Undo
from device.session.commands.turn_corrections import CorrectTurn, FillTurns
from device.session.messages import CommandRefusedError
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from engine.board import Board
from engine.events import Passed, PlayMade
from engine.plays import Play
from engine.tiles import load_tile_set
from tests.support.text_table import FARM, HORN, PASTE, TextTable, play, rows, totals
from tests.support.waiting import PATIENCE_S


def make_turns(passes: int = 0) -> FillTurns:
    """Return the command for the turns HORN, FARM and PASTE, of Anna first, with passes before them."""
    board, acts = Board(), [Passed(n % 2) for n in range(passes)]
    turns: list[SheetAct] = [(act, None) for act in acts]
    for at, word in (("8F", "HORN"), ("H6", "FA.M"), ("10F", "PASTE")):
        one = Play.from_gcg(board, at, word, load_tile_set("en"))
        board = one.apply_to(board)
        turns.append((PlayMade(len(turns) % 2, one), None))
    return FillTurns(tuple(turns))


def fill(session: TableSession, command: FillTurns) -> TableSnapshot:
    return session.submit(command).result(PATIENCE_S)


def list_turns(state: TableSnapshot) -> list[tuple[int, str, int]]:
    return [(turn.player, turn.word or turn.kind, turn.score) for turn in state.turns]


TURNS = [(0, "HORN", 14), (1, "FA.M", 9), (0, "PASTE", 25)]


def test_turns_before_the_first_press_are_filled_and_the_game_goes_on(playing: TableSession, table: TextTable) -> None:
    table.lay(HORN, FARM, PASTE)
    state = fill(playing, make_turns())
    assert list_turns(state) == TURNS and state.turn_of == 1
    state = play(playing, table, HORN, FARM, ("PASTED", 9, 5, True))
    assert list_turns(state)[:3] == TURNS and state.turns[3].word == ".....D" and state.question is None


def test_question_about_the_first_picture_is_answered_by_the_turns(playing: TableSession, table: TextTable) -> None:
    assert play(playing, table, HORN, FARM, PASTE).question is not None
    state = fill(playing, make_turns())
    assert list_turns(state) == TURNS and state.question is None
    assert play(playing, table, HORN, FARM, ("PASTED", 9, 5, True)).turns[-1].word == ".....D"


def test_position_is_replaced_by_the_turns_before_it(playing: TableSession, table: TextTable) -> None:
    playing.submit(EnterPosition(tuple(map(tuple, rows(HORN, FARM))), (20, 10), 0)).result(PATIENCE_S)
    play(playing, table, HORN, FARM, PASTE)
    assert list_turns(fill(playing, make_turns())) == TURNS
    state = play(playing, table, HORN, FARM, ("PASTED", 9, 5, True))
    assert state.turns[-1].word == ".....D" and state.question is None


@pytest.mark.parametrize("number", [1, 2, 3])
def test_missing_turn_is_inserted_between_the_others(playing: TableSession, table: TextTable, number: int) -> None:
    for words in ((HORN,), (HORN, FARM), (HORN, FARM, PASTE)):
        play(playing, table, *words)
    recorded = [turn.ref for turn in playing.state.turns]
    playing.submit(CorrectTurn(number, kind="none")).result(PATIENCE_S)
    state = fill(playing, make_turns())
    assert list_turns(state) == TURNS and state.turn_of == 1
    kept = [ref for at, ref in enumerate(recorded, 1) if at != number]
    assert [turn.ref for turn in state.turns if turn.number != number] == kept


def test_passes_are_filled(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN, FARM)
    words = [word for _, word, _ in list_turns(fill(playing, make_turns(2)))]
    assert words == ["pass", "pass", "HORN", "FA.M", "PASTE"]


def test_points_for_a_challenge_are_those_of_the_sheet(playing: TableSession) -> None:
    first, *others = make_turns().turns
    assert totals(fill(playing, FillTurns(((first[0], 19), *others)))) == [44, 9]


def test_filled_turns_are_undone_at_once_and_kept_by_the_store(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    fill(playing, make_turns())
    assert list_turns(playing.submit(ResumeGame()).result(PATIENCE_S)) == TURNS
    assert list_turns(playing.submit(Undo()).result(PATIENCE_S)) == TURNS[:1]


def test_game_that_has_all_turns_is_not_changed(playing: TableSession) -> None:
    fill(playing, make_turns())
    with pytest.raises(CommandRefusedError):
        fill(playing, make_turns())
