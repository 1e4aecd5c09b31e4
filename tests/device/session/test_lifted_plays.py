"""A play whose tiles are lifted, to look its word up, while the next player makes a play and ends the turn."""

from __future__ import annotations

from device.session.commands.answers import AnswerDeferred, AnswerQuestion, DeferQuestion
from device.session.table_session import TableSession
from tests.support.doubtful_tables import get_words
from tests.support.text_table import FARM, HORN, TextTable, play, totals
from tests.support.waiting import PATIENCE_S

HAT = ("HAT", 7, 5, False)
NE = ("NE", 7, 8, False)
MO = ("MO", 8, 7, True)


def play_beside_lifted_farm(session: TableSession, table: TextTable) -> None:
    """Play HORN and FARM, and then HAT while FARM is off the board."""
    play(session, table, HORN)
    play(session, table, HORN, FARM)
    play(session, table, HORN, HAT)


def test_both_plays_are_offered(playing: TableSession, table: TextTable) -> None:
    play_beside_lifted_farm(playing, table)
    question = playing.state.question
    assert question is not None and question.key == "asked-tiles-removed"
    assert question.answers[2:] == ("Anna played HAT at F8 for 8.", "Look again.")


def test_next_picture_shows_that_the_play_was_not_taken_back(playing: TableSession, table: TextTable) -> None:
    play_beside_lifted_farm(playing, table)
    state = play(playing, table, HORN, FARM, HAT, ("TO", 9, 5, True))
    assert [(turn.player, turn.word) for turn in state.turns] == [(0, "HORN"), (1, "FA.M"), (0, ".AT"), (1, ".O")]
    assert not state.open_questions


def test_single_lifted_tile_that_is_back_is_no_play(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, NE)
    play(playing, table, HORN, HAT)
    state = play(playing, table, HORN, NE, HAT)
    assert [(turn.player, turn.kind) for turn in state.turns] == [(0, "play"), (1, "play"), (0, "play"), (1, "pass")]
    assert totals(state) == [22, 3] and not state.open_questions


def test_late_answer_keeps_both_plays(playing: TableSession, table: TextTable) -> None:
    play_beside_lifted_farm(playing, table)
    (deferred,) = playing.submit(DeferQuestion()).result(PATIENCE_S).open_questions
    assert deferred.question.answers[2:] == ("Anna played HAT at F8 for 8.",)
    state = playing.submit(AnswerDeferred(deferred.number, 2)).result(PATIENCE_S)
    assert get_words(state) == ["HORN", "FA.M", ".AT"] and totals(state) == [22, 9]


def test_missing_tile_that_was_clearly_seen_does_not_say_that_it_was_never_played(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN)
    state = play(playing, table, HORN, FARM, ("HO", 7, 5, False))
    assert state.question is not None and "Ben played FARM at H6 for 9." in state.question.answers
    state = play(playing, table, HORN, FARM, ("NO", 7, 8, False))
    assert state.question is not None and "Ben played MO at 9H for 8." in state.question.answers


def test_tile_that_is_back_under_the_next_word_belongs_to_the_lifted_play(
    playing: TableSession, table: TextTable
) -> None:
    """The M of FARM is back on the board when Anna ends her turn with an O beside it; F and A are still lifted."""
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    state = play(playing, table, HORN, MO)
    assert state.question is not None and state.question.answers[2] == "Anna played MO at 9H for 8."
    state = playing.submit(AnswerQuestion(2, question_id=state.question.id)).result(PATIENCE_S)
    assert get_words(state) == ["HORN", "FA.M", ".O"] and totals(state) == [22, 9]


def test_next_picture_shows_that_a_play_under_the_next_word_was_not_taken_back(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    play(playing, table, HORN, MO)
    state = play(playing, table, HORN, FARM, MO, ("TO", 7, 9, False))
    assert get_words(state) == ["HORN", "FA.M", ".O", "TO"] and not state.open_questions
