"""A question that the players leave without an answer: it waits, or a notice says that its turn is not recorded.

No command about something else answers it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from device.session.commands.base import TableCommand
from device.session.commands.corrections import CorrectSquare
from device.session.commands.games import DrawFirst, EndPause, Pause, Redo, ResumeGame, StartGame, Undo
from device.session.commands.questions import (
    AnswerDeferred,
    AnswerQuestion,
    ChooseNextAnswer,
    DeferQuestion,
    ReadAgain,
)
from device.session.commands.turn_corrections import CorrectTurn
from device.session.commands.turns import ChallengePlay, DecideChallenge, EndTurn
from device.session.messages import CommandRefusedError
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from engine.rules import STANDARD_RULES, ChallengeRule, Rules
from tests.support.text_table import FARM, HORN, TextTable, play, totals
from tests.support.waiting import PATIENCE_S

HAT = ("HAT", 7, 5, False)
CORN = ("CORN", 7, 5, True)
MAT = ("MAT", 8, 7, True)
WORDS = frozenset({"HORN", "CORN", "FARM", "HAT", "HIT", "MAT", "MET"})


@contextmanager
def open_game(
    table: TextTable, *players: str, rules: Rules = STANDARD_RULES, words: frozenset[str] | None = WORDS
) -> Iterator[TableSession]:
    """Open a session with a game of `players`."""
    with GameStore(":memory:") as store, TableSession(table, table, store, words) as session:
        lexicon = "test" if words else None
        session.submit(StartGame(GameStarted(players, rules, lexicon=lexicon))).result(PATIENCE_S)
        yield session


@pytest.fixture
def challenged(table: TextTable) -> Iterator[TableSession]:
    """Yield a session in which a challenge of HORN has failed; the table asks whether it was Ben or Cem."""
    with open_game(table, "Anna", "Ben", "Cem") as session:
        play(session, table, HORN)
        state = session.submit(ChallengePlay()).result(PATIENCE_S)
        assert state.question is not None and state.question.is_about_challenger and state.turn_of == 2
        yield session


def test_challenger_can_be_named_after_the_next_turn(challenged: TableSession, table: TextTable) -> None:
    state = play(challenged, table, HORN, FARM)
    assert state.turns[-1].player == 2 and len(state.open_questions) == 1
    state = challenged.submit(AnswerDeferred(1, 1)).result(PATIENCE_S)
    assert [(turn.player, turn.by) for turn in state.turns[1:]] == [(0, 2), (1, None)], "Cem missed a turn, not Ben"
    assert state.turn_of == 0


def test_challenger_who_pays_can_be_named_after_the_next_turn(table: TextTable) -> None:
    rules = Rules(challenge=ChallengeRule.POINTS, challenge_points=10, challenger_pays=True)
    with open_game(table, "Anna", "Ben", "Cem", rules=rules) as session:
        play(session, table, HORN)
        session.submit(ChallengePlay()).result(PATIENCE_S)
        assert totals(play(session, table, HORN, FARM)) == [14, -1, 0]
        assert totals(session.submit(AnswerDeferred(1, 1)).result(PATIENCE_S)) == [14, 9, -10]


def test_outcome_chosen_at_the_panel_is_final_after_a_restart(table: TextTable, path: Path) -> None:
    with GameStore(path) as store, TableSession(table, table, store) as session:
        session.submit(StartGame(GameStarted(("Anna", "Ben")))).result(PATIENCE_S)
        play(session, table, HORN)
        play(session, table, HORN, FARM)
        session.submit(ChallengePlay()).result(PATIENCE_S)
        for _ in range(2):
            state = session.submit(ChooseNextAnswer()).result(PATIENCE_S)
        assert state.turns[-1].kind == "challenge" and totals(state) == [14, 9]
    with GameStore(path) as store, TableSession(table, table, store) as session:
        assert not session.submit(ResumeGame()).result(PATIENCE_S).open_questions
        state = play(session, table, HORN, HAT)
        assert state.turns[2].kind == "challenge" and state.question is not None


@pytest.fixture
def gone(table: TextTable) -> Iterator[TableSession]:
    """Yield a session that asks whether Ben took back FARM, beside which Anna has played HAT."""
    with open_game(table, "Anna", "Ben") as session:
        play(session, table, HORN)
        play(session, table, HORN, FARM)
        state = play(session, table, HORN, HAT)
        assert state.question is not None and state.question.key == "asked-tiles-removed"
        yield session


@pytest.mark.parametrize(
    "command",
    [CorrectTurn(4, at="F8", word="HIT"), CorrectTurn(4, kind="pass"), CorrectTurn(4, kind="none")],
    ids=["play", "pass", "none"],
)
@pytest.mark.parametrize("is_deferred", [False, True], ids=["open", "deferred"])
def test_correction_of_the_new_play_keeps_the_question_about_the_one_before(
    gone: TableSession, command: TableCommand, is_deferred: bool
) -> None:
    if is_deferred:
        gone.submit(DeferQuestion()).result(PATIENCE_S)
    (asked,) = gone.submit(command).result(PATIENCE_S).open_questions
    assert asked.question.key == "asked-tiles-removed"


def test_correction_of_the_new_play_keeps_the_question_about_an_old_tile(table: TextTable) -> None:
    with open_game(table, "Anna", "Ben") as session:
        play(session, table, HORN)
        play(session, table, CORN, FARM)
        asked = play(session, table, CORN, FARM, MAT).question
        assert asked is not None and asked.key == "asked-old-tile-differs"
        state = session.submit(CorrectTurn(3, at="9H", word=".ET")).result(PATIENCE_S)
        assert [deferred.question.text for deferred in state.open_questions] == [asked.text]


VOID = Rules(challenge=ChallengeRule.VOID)


def test_void_play_that_counts_leaves_a_late_answer_as_it_is(table: TextTable) -> None:
    nx = ("NX", 7, 8, False)
    with open_game(table, "Anna", "Ben", rules=VOID) as session:
        play(session, table, HORN)
        play(session, table, HORN, FARM)
        play(session, table, HORN, HAT)
        session.submit(DeferQuestion()).result(PATIENCE_S)
        play(session, table, HORN, HAT, nx)
        assert totals(session.submit(AnswerDeferred(1, 2)).result(PATIENCE_S)) == [22, 9]
        state = session.submit(DecideChallenge(upheld=False)).result(PATIENCE_S)
        assert state.turns[-1].word == ".X" and totals(state) == [22, 9 + state.turns[-1].score]
        assert not state.open_questions


def test_void_play_counts_once_after_a_late_answer(table: TextTable) -> None:
    f_rm, pqste = ("F?RM", 5, 7, False), ("PQSTE", 9, 5, True)
    with open_game(table, "Anna", "Ben", rules=VOID) as session:
        play(session, table, HORN)
        play(session, table, HORN, f_rm)
        session.submit(DeferQuestion()).result(PATIENCE_S)
        play(session, table, HORN, f_rm, pqste)
        session.submit(AnswerDeferred(1, 1)).result(PATIENCE_S)
        state = session.submit(DecideChallenge(upheld=False)).result(PATIENCE_S)
        assert [turn.kind for turn in state.turns] == ["play"] * 3 and not state.open_questions


@pytest.mark.parametrize("command", [AnswerQuestion(3), ReadAgain()], ids=["answer", "look again"])
def test_picture_is_refused_during_a_pause(gone: TableSession, command: TableCommand) -> None:
    asked = gone.submit(Pause()).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError) as refusal:
        gone.submit(command).result(PATIENCE_S)
    assert refusal.value.key == "paused"
    state = gone.submit(EndPause()).result(PATIENCE_S)
    assert state.question == asked.question and len(state.turns) == 4


def ask_who_played(session: TableSession, table: TextTable, *words: tuple[str, int, int, bool]) -> TableSnapshot:
    """End Ben's turn with Anna's button, so that nothing is recorded before the players say who has played."""
    table.lay(*words)
    state = session.submit(EndTurn(), seat=0).result(PATIENCE_S)
    assert state.question is not None and state.question.key == "asked-out-of-turn"
    return state


def test_new_game_says_that_the_last_turn_is_not_recorded(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    ask_who_played(playing, table, HORN, FARM)
    state = playing.submit(StartGame(GameStarted(("Anna", "Ben")))).result(PATIENCE_S)
    assert [notice.key for notice in state.notices] == ["question-closed"]


def test_redo_says_that_the_turn_in_question_is_not_recorded(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    playing.submit(Undo()).result(PATIENCE_S)
    ask_who_played(playing, table, HORN, FARM)
    state = playing.submit(Redo()).result(PATIENCE_S)
    assert [notice.key for notice in state.notices] == ["question-closed"] and len(state.turns) == 2


def test_draw_says_that_the_turn_in_question_is_not_recorded(playing: TableSession, table: TextTable) -> None:
    table.lay(HORN)
    playing.submit(EndTurn(), seat=1).result(PATIENCE_S)
    state = playing.submit(DrawFirst(("A", "B"))).result(PATIENCE_S)
    assert "question-closed" in [notice.key for notice in state.notices]


def test_void_play_does_not_count_before_it_is_known_who_made_the_next_one(table: TextTable) -> None:
    with open_game(table, "Anna", "Ben", rules=VOID) as session:
        play(session, table, ("HRON", 7, 5, True))
        asked = ask_who_played(session, table, HORN).question
        with pytest.raises(CommandRefusedError) as refusal:
            session.submit(DecideChallenge(upheld=False)).result(PATIENCE_S)
        assert refusal.value.key == "answer-first" and session.state.question == asked


def test_blank_that_may_be_taken_does_not_end_a_challenge(table: TextTable) -> None:
    h_rn = ("H?RN", 7, 5, True)
    rules = replace(STANDARD_RULES, retake_blanks=True)
    with open_game(table, "Anna", "Ben", rules=rules, words=None) as session:
        play(session, table, h_rn)
        play(session, table, h_rn, FARM)
        asked = session.submit(ChallengePlay()).result(PATIENCE_S).question
        with pytest.raises(CommandRefusedError) as refusal:
            session.submit(CorrectSquare("G8", "O")).result(PATIENCE_S)
        assert refusal.value.key == "answer-first" and session.state.question == asked
