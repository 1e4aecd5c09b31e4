"""Questions and answers that are remembered: over a restart, over a power cut, and until the turn is undone."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from device.session.commands.answers import AnswerQuestion, DeferQuestion, ReadAgain
from device.session.commands.challenges import ChallengePlay
from device.session.commands.games import EndGame, PlayAgain, ResumeGame, StartGame, Undo
from device.session.commands.turns import EndTurn
from device.session.messages import CommandRefusedError
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession
from device.storage.recovery import copy_games, open_damaged
from device.storage.store import GameStore
from engine.board import parse_square
from engine.reading import BoardReading, SquareReading
from engine.rules import UnplayedRule
from tests.support.doubtful_tables import HARN, get_words, play_in_doubt
from tests.support.questions import answer_late, get_key
from tests.support.text_table import FARM, HORN, PASTE, STARTED, WORDS, TextTable, play, rows
from tests.support.waiting import PATIENCE_S

TEN, EN, NO, ON = ("TEN", 9, 8, False), ("EN", 10, 8, True), ("NO", 10, 9, False), ("ON", 5, 8, False)


@pytest.mark.parametrize("is_deferred", [True, False], ids=["deferred", "open"])
def test_question_without_an_answer_stays_as_it_is_after_a_restart(
    table: TextTable, tmp_path: Path, is_deferred: bool
) -> None:
    with GameStore(tmp_path / "games.db") as store:
        with TableSession(table, table, store, WORDS) as session:
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            before = play_in_doubt(session, table, HARN)
            if is_deferred:
                before = session.submit(DeferQuestion()).result(PATIENCE_S)
        with TableSession(table, table, store, WORDS) as session:
            state = session.submit(ResumeGame()).result(PATIENCE_S)
            assert get_words(state) == ["HARN?"]
            assert (state.question, state.open_questions) == (before.question, before.open_questions)
            answer = answer_late(session, 1) if is_deferred else session.submit(AnswerQuestion(1)).result(PATIENCE_S)
            assert get_words(answer) == ["HORN"]


def test_word_is_asked_about_only_once_even_after_a_restart(table: TextTable, tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        for is_first in (True, False):
            with TableSession(table, table, store, WORDS) as session:
                session.submit(StartGame(STARTED)).result(PATIENCE_S)
                state = play_in_doubt(session, table, HARN)
                assert (state.question is not None) is is_first
                if is_first:
                    session.submit(AnswerQuestion(0)).result(PATIENCE_S)


def misread_r_of_horn(session: TableSession, table: TextTable, *words: tuple[str, int, int, bool]) -> TableSnapshot:
    """End a turn with a board on which the R of HORN is read as a B."""
    squares = list(BoardReading.from_rows(rows(HORN, *words)).squares)
    squares[7 * 15 + 7] = SquareReading((("B", 0.97), ("R", 0.02)))
    table.board = BoardReading(tuple(squares))
    return session.submit(EndTurn()).result(PATIENCE_S)


def play_three_turns(session: TableSession, table: TextTable) -> None:
    """Play HORN, FARM and PASTE, so that the tiles of HORN are older than the newest two plays."""
    for words in [(HORN,), (HORN, FARM), (HORN, FARM, PASTE)]:
        assert play(session, table, *words).question is None


@pytest.mark.parametrize("answer", [0, 1])
@pytest.mark.parametrize("is_late", [False, True])
def test_old_tile_is_not_asked_about_again_after_an_answer_and_a_restart(
    table: TextTable, tmp_path: Path, answer: int, is_late: bool
) -> None:
    with GameStore(tmp_path / "games.db") as store:
        with TableSession(table, table, store, None) as session:
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            play_three_turns(session, table)
            assert misread_r_of_horn(session, table, FARM, PASTE, TEN).question is None
            question = misread_r_of_horn(session, table, FARM, PASTE, TEN, EN).question
            assert question is not None and question.key == "asked-old-tile-differs"
            if is_late:
                session.submit(DeferQuestion()).result(PATIENCE_S)
                answer_late(session, answer)
            else:
                session.submit(AnswerQuestion(answer)).result(PATIENCE_S)
            word = session.state.turns[0].word
        with TableSession(table, table, store, None) as session:
            session.submit(ResumeGame()).result(PATIENCE_S)
            for words in [(ON,), (ON, NO)]:
                state = misread_r_of_horn(session, table, FARM, PASTE, TEN, EN, *words)
                assert state.question is None and state.turns[0].word == word and not state.open_questions


@pytest.mark.parametrize(
    ("later", "key"), [((), "play-became"), ((PASTE,), "asked-pass-unsure")], ids=["newest two plays", "older"]
)
def test_lost_tile_is_not_asked_about_again_after_an_answer_and_a_restart(
    table: TextTable, tmp_path: Path, later: tuple[tuple[str, int, int, bool], ...], key: str
) -> None:
    gone = ("ORN", 7, 6, True)
    with GameStore(tmp_path / "games.db") as store:
        with TableSession(table, table, store, None) as session:
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            for words in [(HORN,), (HORN, FARM), (HORN, FARM, *later)][: 2 + len(later)]:
                play(session, table, *words)
            assert get_key(play(session, table, gone, FARM, *later)) == key
            question = session.state.question
            assert question is not None
            (passed,) = (n for n, text in enumerate(question.answers) if text in ("Anna passed.", "Ben passed."))
            assert session.submit(AnswerQuestion(passed)).result(PATIENCE_S).turns[0].word == "HORN"
        with TableSession(table, table, store, None) as session:
            session.submit(ResumeGame()).result(PATIENCE_S)
            state = play(session, table, gone, FARM, *later)
            assert get_key(state) == "pass-or-exchange" and state.turns[0].word == "HORN"


def test_undo_of_a_turn_forgets_the_answer_about_its_old_tile(playing: TableSession, table: TextTable) -> None:
    play_three_turns(playing, table)
    misread_r_of_horn(playing, table, FARM, PASTE, TEN)
    key = get_key(misread_r_of_horn(playing, table, FARM, PASTE, TEN, EN))
    assert key == "asked-old-tile-differs"
    playing.submit(AnswerQuestion(0)).result(PATIENCE_S)
    assert get_words(playing.submit(Undo()).result(PATIENCE_S)) == ["HORN", "FA.M", "PASTE", ".EN"]
    assert get_key(misread_r_of_horn(playing, table, FARM, PASTE, TEN, EN)) == key


def lay_hork(table: TextTable) -> None:
    """Place HORN so that its N is read as a K."""
    squares = list(BoardReading.from_rows(rows(("HORK", 7, 5, True))).squares)
    squares[parse_square("I8")] = SquareReading((("K", 0.985), ("N", 0.012)))
    table.board = BoardReading(tuple(squares))


def test_word_is_asked_about_again_if_the_players_look_again(playing: TableSession, table: TextTable) -> None:
    lay_hork(table)
    key = get_key(playing.submit(EndTurn()).result(PATIENCE_S))
    assert key and get_key(playing.submit(ReadAgain()).result(PATIENCE_S)) == key


def test_word_is_asked_about_again_after_an_undo_instead_of_an_answer(playing: TableSession, table: TextTable) -> None:
    lay_hork(table)
    key = get_key(playing.submit(EndTurn()).result(PATIENCE_S))
    playing.submit(Undo()).result(PATIENCE_S)
    assert key and get_key(playing.submit(EndTurn()).result(PATIENCE_S)) == key


def cut_power(store: GameStore, path: Path) -> GameStore:
    """Return the store as it is on disk now."""
    store.copy_to(path)
    return GameStore(path)


def test_question_without_an_answer_is_shown_after_a_power_cut(table: TextTable, tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        asked = play_in_doubt(session, table, HARN).question
        with cut_power(store, tmp_path / "cut.db") as cut, TableSession(table, table, cut, WORDS) as restarted:
            state = restarted.submit(ResumeGame()).result(PATIENCE_S)
            assert asked is not None and state.question == asked
            assert restarted.find_picture(asked.picture) == session.find_picture(asked.picture) is not None
            assert get_words(state) == ["HARN?"] and not state.notices
            assert get_words(restarted.submit(AnswerQuestion(1)).result(PATIENCE_S)) == ["HORN"]
            assert not restarted.submit(Undo()).result(PATIENCE_S).turns, "the question and its turn are one press"


def test_question_without_an_answer_is_shown_after_a_rescue_with_other_numbers(
    table: TextTable, tmp_path: Path
) -> None:
    """The rescue leaves out the first game, which was deleted."""
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store, WORDS) as session:
        for _ in range(2):
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
        assert play_in_doubt(session, table, HARN).game == 2
        cut_power(store, tmp_path / "cut.db").close()
    with GameStore(tmp_path / "rescued.db") as rescued, TableSession(table, table, rescued, WORDS) as restarted:
        with closing(open_damaged(tmp_path / "cut.db")) as damaged:
            copy_games(damaged, rescued)
        state = restarted.submit(ResumeGame()).result(PATIENCE_S)
        assert state.game == 1 and get_words(state) == ["HARN?"] and state.question is not None


def test_question_of_a_turn_that_was_not_recorded_is_shown_again_if_a_new_game_is_taken_back(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN)
    table.lay(HORN, FARM)
    asked = playing.submit(EndTurn(), seat=0).result(PATIENCE_S).question
    assert playing.submit(StartGame(STARTED)).result(PATIENCE_S).question is None
    assert asked is not None and playing.submit(Undo()).result(PATIENCE_S).question == asked


def test_question_after_a_game_that_was_discarded_with_an_open_question_is_shown_after_a_power_cut(
    table: TextTable, tmp_path: Path
) -> None:
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        assert play(session, table, ("CAT", 1, 1, True)).question
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        assert play_in_doubt(session, table, HARN).question and [game.id for game in store.list_games()] == [2]
        with cut_power(store, tmp_path / "cut.db") as cut, TableSession(table, table, cut, WORDS) as restarted:
            state = restarted.submit(ResumeGame()).result(PATIENCE_S)
            assert get_words(state) == ["HARN?"] and state.question is not None


def test_answered_question_does_not_come_back_after_a_power_cut(table: TextTable, tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play_in_doubt(session, table, HARN)
        session.submit(AnswerQuestion(0)).result(PATIENCE_S)
        with cut_power(store, tmp_path / "cut.db") as cut, TableSession(table, table, cut, WORDS) as restarted:
            state = restarted.submit(ResumeGame()).result(PATIENCE_S)
            assert get_words(state) == ["HARN"] and not state.open_questions and not state.notices


def test_question_of_a_press_at_which_nothing_was_recorded_is_shown_after_a_power_cut(
    table: TextTable, tmp_path: Path
) -> None:
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, HORN)
        asked = play(session, table, HORN, ("CAT", 1, 1, True)).question
        with cut_power(store, tmp_path / "cut.db") as cut, TableSession(table, table, cut, WORDS) as restarted:
            state = restarted.submit(ResumeGame()).result(PATIENCE_S)
            assert asked is not None and state.question == asked and not state.notices


def test_open_question_about_a_pass_is_shown_after_a_power_cut(table: TextTable, tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        asked = session.submit(EndTurn()).result(PATIENCE_S).question
        with cut_power(store, tmp_path / "cut.db") as cut, TableSession(table, table, cut, WORDS) as restarted:
            state = restarted.submit(ResumeGame()).result(PATIENCE_S)
            assert asked is not None and state.question == asked and not state.notices


def test_challenger_who_was_not_named_before_a_power_cut_can_be_named_later(table: TextTable, tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(replace(STARTED, players=("Anna", "Ben", "Cem")))).result(PATIENCE_S)
        play(session, table, HORN)
        session.submit(ChallengePlay()).result(PATIENCE_S)
        with cut_power(store, tmp_path / "cut.db") as cut, TableSession(table, table, cut, WORDS) as restarted:
            asked = restarted.submit(ResumeGame()).result(PATIENCE_S).question
            assert asked is not None and asked.answers == ("Ben", "Cem")
            assert restarted.submit(AnswerQuestion(1)).result(PATIENCE_S).turns[-1].by == 2


def test_deferred_question_of_an_ended_game_is_answered_after_a_restart(table: TextTable, tmp_path: Path) -> None:
    rules = replace(STARTED.rules, unplayed=UnplayedRule.NONE)
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(replace(STARTED, rules=rules))).result(PATIENCE_S)
        play_in_doubt(session, table, HARN)
        session.submit(EndGame()).result(PATIENCE_S)
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store, WORDS) as session:
        with pytest.raises(CommandRefusedError):
            session.submit(ResumeGame()).result(PATIENCE_S)
        session.submit(PlayAgain(STARTED)).result(PATIENCE_S)
        session.submit(Undo()).result(PATIENCE_S)
        state = answer_late(session, 1)
        assert get_words(state) == ["HORN"] and state.phase is Phase.ENDED


def test_pass_without_an_answer_is_in_doubt_after_a_restart(table: TextTable, tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        with TableSession(table, table, store, WORDS) as session:
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            play(session, table, HORN)
            play(session, table, HORN)
            session.submit(DeferQuestion()).result(PATIENCE_S)
        with TableSession(table, table, store, WORDS) as session:
            session.submit(ResumeGame()).result(PATIENCE_S)
            state = play(session, table, HORN, FARM)
            assert len(state.open_questions) == 1


def test_press_that_recorded_nothing_is_remembered_over_a_restart(table: TextTable, tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        with TableSession(table, table, store, WORDS) as session:
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            play(session, table, HORN)
            state = play(session, table, HORN, ("FARM", 0, 0, True))
            assert state.question is not None and len(state.turns) == 1
            session.submit(DeferQuestion()).result(PATIENCE_S)
        with TableSession(table, table, store, WORDS) as session:
            session.submit(ResumeGame()).result(PATIENCE_S)
            state = play(session, table, HORN, FARM)
            assert state.question is not None and state.question.key == "asked-press-missed"
