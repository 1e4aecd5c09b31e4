"""Letters that are read with little certainty, and count without a question: the page marks them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from device.session.commands.corrections import CorrectSquare
from device.session.commands.games import Redo, ResumeGame, StartGame, Undo
from device.session.commands.turns import EndTurn
from device.session.letter_doubts import LetterDoubts
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.storage.game_log import GameLog
from device.storage.recovery import copy_games, open_damaged
from device.storage.store import TABLE_NOTES, GameStore
from engine.board import parse_square
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


def test_note_of_a_game_is_written_before_the_next_game_starts(path: Path) -> None:
    """*New game* may record the last play of the game before, to which *Undo* may go back."""
    with GameStore(path) as store:
        logs = [GameLog.begin_game(store, STARTED)[0] for _ in range(2)]
        store.save_note(1, "doubtful-letters", '{"letters": {"G8": "O"}}')
        doubts = LetterDoubts(store)
        doubts.start_game(logs[0])
        doubts.confirm_squares([parse_square("G8")])
        doubts.start_game(logs[1])
        assert store.read_note(1, "doubtful-letters") == '{"letters":{}}'


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


def test_mark_in_a_note_of_an_earlier_program_survives_a_restart(table: TextTable, path: Path) -> None:
    play_before_a_restart(table, path, CERTAIN)
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        store.save_note(TABLE_NOTES, "doubtful-letters", '{"game": 1, "letters": {"G8": "O"}}')
        state = session.submit(ResumeGame()).result(PATIENCE_S)
    assert state.turns[0].doubtful == ("G8",)


def test_mark_in_a_note_of_an_earlier_program_that_was_used_again_survives_a_restart(
    table: TextTable, path: Path
) -> None:
    play_before_a_restart(table, path, DOUBT)
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        store.save_note(TABLE_NOTES, "doubtful-letters", '{"game": 1, "letters": {"H8": "R"}}')
        state = session.submit(ResumeGame()).result(PATIENCE_S)
    assert state.turns[0].doubtful == ("G8", "H8")


def test_confirmed_mark_of_an_earlier_program_does_not_come_back(table: TextTable, path: Path) -> None:
    play_before_a_restart(table, path, CERTAIN)
    with GameStore(path) as store:
        store.save_note(TABLE_NOTES, "doubtful-letters", '{"game": 1, "letters": {"G8": "O"}}')
        with TableSession(table, table, store, None) as session:
            session.submit(ResumeGame()).result(PATIENCE_S)
            session.submit(CorrectSquare("G8", "O")).result(PATIENCE_S)
        with TableSession(table, table, store, None) as session:
            assert session.submit(ResumeGame()).result(PATIENCE_S).turns[0].doubtful == ()


def test_next_game_has_no_marks(doubted: TableSession, table: TextTable) -> None:
    doubted.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
    assert take_turn(doubted, table, CERTAIN, HORN).turns[0].doubtful == ()


@pytest.mark.parametrize("note", ["{", "[]", '{"game": 1, "letters": {"Z99": "O"}}', '{"game": 1}'])
def test_damaged_note_marks_nothing(table: TextTable, path: Path, note: str) -> None:
    play_before_a_restart(table, path, CERTAIN)
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        store.save_note(TABLE_NOTES, "doubtful-letters", note)
        state = session.submit(ResumeGame()).result(PATIENCE_S)
    assert [turn.doubtful for turn in state.turns] == [()]
