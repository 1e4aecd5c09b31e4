"""Tables at which each player has a button, so that it is certain who ended a turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from device.session.commands.answers import AnswerDeferred, DeferQuestion
from device.session.commands.games import Redo, ResumeGame, StartGame, Undo
from device.session.commands.turns import EndTurn
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from engine.reading import BoardReading, SquareReading
from tests.support.questions import answer
from tests.support.text_table import FARM, HORN, STARTED, TextTable, rows
from tests.support.waiting import PATIENCE_S

HORNS = ("HORNS", 7, 5, True)
N_SQUARE = 7 * 15 + 8
PLAYERS_OF_N = {"Ben played HORN at 8F for 7.", "Anna played HORN at 8F for 14."}
WORDS = frozenset({"HORNS", "FARM", "PASTE"})


def press(
    session: TableSession, table: TextTable, seat: int | None, *words: tuple[str, int, int, bool]
) -> TableSnapshot:
    """End a turn with the button of the player on `seat`."""
    table.lay(*words)
    return session.submit(EndTurn(), seat=seat).result(PATIENCE_S)


def list_turns(state: TableSnapshot) -> list[tuple[int, str, str]]:
    return [(turn.player, str(turn.kind), turn.word) for turn in state.turns]


def answer_late(session: TableSession, end: str) -> TableSnapshot:
    """Give the answer to the first deferred question that ends with this text."""
    (deferred, *_) = session.state.open_questions
    (number,) = (n for n, text in enumerate(deferred.question.answers) if text.endswith(end))
    return session.submit(AnswerDeferred(deferred.number, number)).result(PATIENCE_S)


def lengthen_and_defer(session: TableSession, table: TextTable) -> None:
    """Play HORN; Ben ends a turn after which it is HORNS, and the question who played the S is deferred."""
    press(session, table, 0, HORN)
    asked = press(session, table, 1, HORNS).question
    assert asked is not None and asked.key == "play-became"
    session.submit(DeferQuestion()).result(PATIENCE_S)


@pytest.mark.parametrize("restarts", [False, True])
def test_late_answer_leaves_a_play_to_the_player_whose_button_ended_it(
    table: TextTable, tmp_path: Path, restarts: bool
) -> None:
    with GameStore(tmp_path / "games.db") as store:
        with TableSession(table, table, store, WORDS) as session:
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            lengthen_and_defer(session, table)
            press(session, table, 0, HORNS, FARM)
            if not restarts:
                state = answer_late(session, "Anna played HORNS at 8F for 16.")
        if restarts:
            with TableSession(table, table, store, WORDS) as session:
                session.submit(ResumeGame()).result(PATIENCE_S)
                state = answer_late(session, "Anna played HORNS at 8F for 16.")
    assert list_turns(state) == [(0, "play", "HORNS"), (1, "pass", ""), (0, "play", "FA.M")]


def test_late_answer_moves_later_plays_to_the_next_player_at_a_shared_button(table: TextTable) -> None:
    """HORN is not in the word list, so its player may have added the S."""
    with GameStore(":memory:") as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        for words in [(HORN,), (HORNS,), (HORNS, FARM)]:
            press(session, table, None, *words)
        state = answer_late(session, "Anna played HORNS at 8F for 16.")
    assert list_turns(state) == [(0, "play", "HORNS"), (1, "play", "FA.M")]


def test_clear_lengthening_at_a_shared_button_is_the_play_of_the_next_player(
    playing: TableSession, table: TextTable
) -> None:
    press(playing, table, None, HORN)
    state = press(playing, table, None, HORNS)
    assert list_turns(state)[1:] == [(1, "play", "....S")] and state.question is None


def test_lengthening_seconds_after_the_press_may_be_the_play_of_the_same_player(
    playing: TableSession, table: TextTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.session.game_controller.MAX_QUICK_S", 60.0)
    press(playing, table, None, HORN)
    press(playing, table, None, HORNS)
    state = answer(playing, "Anna played HORNS at 8F for 16")
    assert list_turns(state) == [(0, "play", "HORNS")]


def lay_with_doubt(table: TextTable, *seen: tuple[str, float]) -> None:
    """Set the board to HORN, with these candidates for the N."""
    squares = list(BoardReading.from_rows(rows(HORN)).squares)
    squares[N_SQUARE] = SquareReading(seen)
    table.board = BoardReading(tuple(squares))


def play_horn_in_doubt(session: TableSession, table: TextTable, seat: int | None) -> None:
    """Play HORN, whose last letter was probably missed, without a word list; leave the question open."""
    session.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
    lay_with_doubt(table, (".", 0.6), ("N", 0.39))
    session.submit(EndTurn(), seat=seat).result(PATIENCE_S)
    state = session.submit(DeferQuestion()).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HOR"] and len(state.open_questions) == 1


def test_tile_in_question_is_not_taken_for_a_play_after_an_undo(session: TableSession, table: TextTable) -> None:
    play_horn_in_doubt(session, table, 0)
    for command in (Undo(), Redo()):
        session.submit(command).result(PATIENCE_S)
    state = press(session, table, 1, HORN)
    assert state.question is not None and PLAYERS_OF_N.issubset(state.question.answers)


@pytest.mark.parametrize("seat", [None, 1])
def test_tile_in_question_is_asked_about_although_its_letter_is_in_doubt(
    session: TableSession, table: TextTable, seat: int | None
) -> None:
    """Whose tile it is matters more than whether it is an N or an M."""
    play_horn_in_doubt(session, table, None if seat is None else 0)
    lay_with_doubt(table, ("N", 0.6), ("M", 0.39))
    state = session.submit(EndTurn(), seat=seat).result(PATIENCE_S)
    assert state.question is not None and PLAYERS_OF_N.issubset(state.question.answers)


def test_tiles_added_to_those_of_a_press_with_another_button_are_not_silently_one_play(
    playing: TableSession, table: TextTable
) -> None:
    """Ben passed without a press. Anna played FAR, and nothing was recorded; then Ben lengthens it."""
    press(playing, table, 0, HORN)
    press(playing, table, 0, HORN, ("FAR", 5, 7, False))
    state = press(playing, table, 1, HORN, ("FARMS", 5, 7, False))
    assert state.question is not None and state.question.key == "play-became"
    answer(playing, "Anna passed, Ben played FARMS")
    (asked,) = playing.state.open_questions
    state = playing.submit(AnswerDeferred(asked.number, 1)).result(PATIENCE_S)
    plays = [turn for turn in list_turns(state) if turn[1] == "play"]
    assert plays == [(0, "play", "HORN"), (0, "play", "FA."), (1, "play", "...MS")]


def test_tiles_added_by_the_player_of_the_wrong_button_may_be_the_next_play(
    playing: TableSession, table: TextTable
) -> None:
    """Anna's button ended Ben's FAR, and the question was left open; then Anna lengthens it and presses her button."""
    press(playing, table, 0, HORN)
    press(playing, table, 0, HORN, ("FAR", 5, 7, False))
    press(playing, table, 0, HORN, ("FARMS", 5, 7, False))
    state = answer(playing, "Anna played FARMS")
    assert list_turns(state)[1:] == [(1, "play", "FA."), (0, "play", "...MS")] and len(state.open_questions) == 1


def test_tiles_added_after_a_press_with_another_button_may_follow_several_passes(
    session: TableSession, table: TextTable
) -> None:
    session.submit(StartGame(GameStarted(("Anna", "Ben", "Cleo"), lexicon="test"))).result(PATIENCE_S)
    press(session, table, 2, HORN)
    press(session, table, 0, HORNS)
    answer(session, "Ben passed, Cleo passed, Anna played HORNS")
    (asked,) = session.state.open_questions
    state = session.submit(AnswerDeferred(asked.number, 1)).result(PATIENCE_S)
    plays = [turn for turn in list_turns(state) if turn[1] == "play"]
    assert plays == [(2, "play", "HORN"), (0, "play", "....S")]


def test_tiles_added_after_an_undone_press_with_another_button_are_one_play(
    playing: TableSession, table: TextTable
) -> None:
    press(playing, table, 0, HORN)
    press(playing, table, 0, HORN, ("FAR", 5, 7, False))
    playing.submit(Undo()).result(PATIENCE_S)
    state = press(playing, table, 1, HORN, ("FARMS", 5, 7, False))
    assert state.question is None and list_turns(state)[1:] == [(1, "play", "FA.MS")]


def test_tiles_that_lengthen_a_play_may_be_its_players_next_play_after_a_pass_without_a_press(
    playing: TableSession, table: TextTable
) -> None:
    press(playing, table, 0, HORN)
    question = press(playing, table, 0, HORNS).question
    assert question is not None and "Ben passed, Anna played HORNS at 8F for 8." in question.answers


def test_hidden_end_of_a_play_does_not_stop_the_next_player(playing: TableSession, table: TextTable) -> None:
    """A hand lies on the last two letters of HORNED at the press, and the question about them is left open."""
    horned = ("HORNED", 7, 5, True)
    table.board = BoardReading.from_rows(rows(("HORN##", 7, 5, True)))
    state = playing.submit(EndTurn(), seat=0).result(PATIENCE_S)
    assert state.question is not None and state.question.key == "tile-covered"
    state = press(playing, table, 1, horned, FARM)
    assert list_turns(state) == [(0, "play", "HORNED"), (1, "play", "FA.M")]
    assert state.question is not None and state.question.key == "play-became"
