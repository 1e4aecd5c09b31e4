"""Letters that are read with little certainty, and count without a question: the page marks them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from device.session.commands.corrections import CorrectSquare
from device.session.commands.games import Redo, ResumeGame, StartGame, Undo
from device.session.commands.turns import EndTurn
from device.session.evidence import EVIDENCE_NOTE
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.storage.recovery import copy_games, open_damaged
from device.storage.store import GameStore
from engine.reading import BoardReading, SquareReading
from tests.support.damaged_store import protect_from_writes
from tests.support.text_table import FARM, HORN, STARTED, TextTable, rows
from tests.support.waiting import PATIENCE_S

O_OF_HORN = 7 * 15 + 6
DOUBT = SquareReading((("O", 0.97), ("Q", 0.02)))
CERTAIN = SquareReading((("O", 0.999),))


def take_turn(
    session: TableSession, table: TextTable, read: SquareReading, *words: tuple[str, int, int, bool]
) -> TableSnapshot:
    """End a turn with these words on the board, of which the O of HORN is read as `read`."""
    squares = list(BoardReading.from_rows(rows(*words)).squares)
    squares[O_OF_HORN] = read
    table.board = BoardReading(tuple(squares))
    return session.submit(EndTurn()).result(PATIENCE_S)


@pytest.fixture
def doubted(session: TableSession, table: TextTable) -> TableSession:
    """A game without a word list after HORN, whose O was read with a doubt."""
    session.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
    state = take_turn(session, table, DOUBT, HORN)
    assert state.question is None and [turn.doubtful for turn in state.turns] == [("G8",)]
    return session


def test_letter_with_a_word_list_is_marked_too(playing: TableSession, table: TextTable) -> None:
    assert take_turn(playing, table, DOUBT, HORN).turns[0].doubtful == ("G8",)


def test_certain_letter_is_not_marked(playing: TableSession, table: TextTable) -> None:
    assert take_turn(playing, table, CERTAIN, HORN).turns[0].doubtful == ()


def test_letter_in_a_question_is_not_marked(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
    state = take_turn(session, table, SquareReading((("O", 0.6), ("Q", 0.39))), HORN)
    assert state.question is not None and state.turns[0].doubtful == ()


@pytest.mark.parametrize(("later", "marked"), [(DOUBT, ("G8",)), (CERTAIN, ())])
def test_mark_goes_with_a_later_reading_that_is_certain(
    doubted: TableSession, table: TextTable, later: SquareReading, marked: tuple[str, ...]
) -> None:
    state = take_turn(doubted, table, later, HORN, FARM)
    assert [turn.doubtful for turn in state.turns] == [marked, ()]


@pytest.mark.parametrize("letter", ["O", "A"])
def test_mark_goes_with_a_letter_that_a_player_enters(doubted: TableSession, letter: str) -> None:
    state = doubted.submit(CorrectSquare("G8", letter)).result(PATIENCE_S)
    assert state.turns[0].doubtful == ()


def test_mark_survives_undo_and_redo(doubted: TableSession) -> None:
    doubted.submit(Undo()).result(PATIENCE_S)
    assert doubted.submit(Redo()).result(PATIENCE_S).turns[0].doubtful == ("G8",)


def test_mark_is_there_again_if_a_new_game_is_taken_back(doubted: TableSession) -> None:
    doubted.submit(StartGame(STARTED)).result(PATIENCE_S)
    assert doubted.submit(Undo()).result(PATIENCE_S).turns[0].doubtful == ("G8",)


def play_before_a_restart(table: TextTable, path: Path, read: SquareReading) -> None:
    """Play HORN, whose O is read as `read`, and stop the session."""
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
        take_turn(session, table, read, HORN)


def test_mark_survives_a_restart(table: TextTable, path: Path) -> None:
    play_before_a_restart(table, path, DOUBT)
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        state = session.submit(ResumeGame()).result(PATIENCE_S)
    assert state.turns[0].doubtful == ("G8",)


def test_mark_that_a_player_has_confirmed_does_not_come_back(table: TextTable, path: Path) -> None:
    play_before_a_restart(table, path, DOUBT)
    with GameStore(path) as store:
        for command in (CorrectSquare("G8", "O"), None):
            with TableSession(table, table, store, None) as session:
                state = session.submit(ResumeGame()).result(PATIENCE_S)
                if command is not None:
                    state = session.submit(command).result(PATIENCE_S)
            assert state.turns[0].doubtful == ()


def test_mark_survives_a_rescue_with_other_numbers(table: TextTable, tmp_path: Path) -> None:
    """The rescue leaves out the first game, which was deleted."""
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store, None) as session:
        for _ in range(2):
            session.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
        take_turn(session, table, DOUBT, HORN)
    with GameStore(tmp_path / "rescued.db") as rescued, TableSession(table, table, rescued, None) as session:
        with closing(open_damaged(tmp_path / "games.db")) as damaged:
            copy_games(damaged, rescued)
        state = session.submit(ResumeGame()).result(PATIENCE_S)
    assert state.game == 1 and state.turns[0].doubtful == ("G8",)


def test_mark_of_a_turn_that_is_saved_later_survives_a_restart(table: TextTable, path: Path) -> None:
    with GameStore(path) as store:
        with TableSession(table, table, store, None) as session:
            protect_from_writes(store, True)
            session.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
            take_turn(session, table, DOUBT, HORN)
            protect_from_writes(store, False)
            take_turn(session, table, DOUBT, HORN, FARM)
        with TableSession(table, table, store, None) as session:
            state = session.submit(ResumeGame()).result(PATIENCE_S)
    assert [turn.doubtful for turn in state.turns] == [("G8",), ()]


def test_next_game_has_no_marks(doubted: TableSession, table: TextTable) -> None:
    doubted.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
    assert take_turn(doubted, table, CERTAIN, HORN).turns[0].doubtful == ()


@pytest.mark.parametrize("note", ["{", "[]", '{"length": 2, "doubtful": {"G8": "O"}}', '{"doubtful": {"111": "O"}}'])
def test_damaged_note_marks_nothing(table: TextTable, path: Path, note: str) -> None:
    play_before_a_restart(table, path, DOUBT)
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        store.save_note(1, EVIDENCE_NOTE, note)
        state = session.submit(ResumeGame()).result(PATIENCE_S)
    assert [turn.doubtful for turn in state.turns] == [()]
