"""A question that the players leave without an answer waits.

No command about something else answers it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from device.session.commands.answers import (
    AnswerQuestion,
    ChooseNextAnswer,
    DeferQuestion,
    ReadAgain,
)
from device.session.commands.base import TableCommand
from device.session.commands.challenges import ChallengePlay, DecideChallenge
from device.session.commands.corrections import CorrectSquare
from device.session.commands.games import EndPause, Pause, ResumeGame, StartGame
from device.session.commands.turn_corrections import CorrectTurn
from device.session.commands.turns import EndTurn
from device.session.messages import WHO_CHALLENGED, WHO_PAYS, CommandRefusedError
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from engine.rules import STANDARD_RULES, ChallengeRule, Rules
from tests.support.questions import answer_late, get_key
from tests.support.text_table import FARM, HORN, PASTE, TextTable, play, totals
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
        assert get_key(state) in (WHO_CHALLENGED, WHO_PAYS) and state.turn_of == 2
        yield session


def test_challenger_can_be_named_after_the_next_turn(challenged: TableSession, table: TextTable) -> None:
    state = play(challenged, table, HORN, FARM)
    assert state.turns[-1].player == 2 and len(state.open_questions) == 1
    state = answer_late(challenged, 1)
    assert [(turn.player, turn.by) for turn in state.turns[1:]] == [(0, 2), (1, None)], "Cem missed a turn, not Ben"
    assert state.turn_of == 0


def test_challenger_who_pays_can_be_named_after_the_next_turn(table: TextTable) -> None:
    rules = Rules(challenge=ChallengeRule.POINTS, challenge_points=10, challenger_pays=True)
    with open_game(table, "Anna", "Ben", "Cem", rules=rules) as session:
        play(session, table, HORN)
        session.submit(ChallengePlay()).result(PATIENCE_S)
        assert totals(play(session, table, HORN, FARM)) == [14, -1, 0]
        assert totals(answer_late(session, 1)) == [14, 9, -10]


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
        question = session.submit(ResumeGame()).result(PATIENCE_S).question
        assert question is not None and question.chosen == 2
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
    ten, en = ("TEN", 9, 8, False), ("EN", 10, 8, True)
    with open_game(table, "Anna", "Ben", words=None) as session:
        for words in [(HORN,), (HORN, FARM), (HORN, FARM, PASTE), (CORN, FARM, PASTE, ten)]:
            play(session, table, *words)
        asked = play(session, table, CORN, FARM, PASTE, ten, en).question
        assert asked is not None and asked.key == "asked-old-tile-differs"
        state = session.submit(CorrectTurn(5, at="11I", word=".T")).result(PATIENCE_S)
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
        assert totals(answer_late(session, 2)) == [22, 9]
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
        answer_late(session, 1)
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


def test_void_play_does_not_count_before_the_next_one_is_recorded(table: TextTable) -> None:
    with open_game(table, "Anna", "Ben", rules=VOID) as session:
        play(session, table, ("HRON", 7, 5, True))
        table.lay_unclear(FARM)
        asked = session.submit(EndTurn()).result(PATIENCE_S).question
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


def test_challenger_stays_the_same_after_late_answers_about_passes(table: TextTable) -> None:
    """Two presses by mistake were recorded as passes before the challenge of PASTE failed."""
    paste = ("PASTE", 9, 5, True)
    with open_game(table, "Anna", "Ben", "Cem", words=None) as session:
        for words in ((HORN,), (HORN,), (HORN, FARM), (HORN, FARM), (HORN, FARM, paste)):
            play(session, table, *words)
        state = session.submit(DecideChallenge(upheld=False, player=0)).result(PATIENCE_S)
        assert [turn.player for turn in state.turns[:5]] == [0, 1, 2, 0, 1]
        for _ in range(2):
            answers = session.state.open_questions[0].question.answers
            state = answer_late(session, next(n for n, text in enumerate(answers) if "pressed by mistake" in text))
        assert [(turn.player, turn.word) for turn in state.turns[:3]] == [(0, "HORN"), (1, "FA.M"), (2, "PASTE")]
        assert [(turn.kind, turn.by) for turn in state.turns[3:]] == [("challenge", 0)]
        assert state.turn_of == 1, "Anna has lost her turn"
