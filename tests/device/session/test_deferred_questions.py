"""Questions that the players answer later: provisional turns, late answers, undo."""

from __future__ import annotations

from dataclasses import replace

import pytest

from device.session.commands.answers import (
    AnswerDeferred,
    AnswerQuestion,
    ChooseNextAnswer,
    DeferQuestion,
    ReadAgain,
    RecallQuestion,
)
from device.session.commands.base import TableCommand
from device.session.commands.challenges import ChallengePlay
from device.session.commands.corrections import RenamePlayer
from device.session.commands.games import EndGame, Redo, StartGame, Undo
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn
from device.session.commands.turns import EndTurn
from device.session.messages import CommandRefusedError
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import PlayMade
from engine.ledger import AnswerText, Doubt
from engine.reading import BoardReading, SquareReading
from engine.rules import STANDARD_RULES
from engine.state import TurnKind
from tests.support.doubtful_tables import HARN, get_words, lay_in_doubt, play_in_doubt
from tests.support.engine_table import record, written
from tests.support.questions import answer_late
from tests.support.text_table import FARM, HORN, PASTE, STARTED, TextTable, play, rows
from tests.support.waiting import PATIENCE_S

TEN = ("TEN", 9, 8, False)


def test_question_offers_later_and_another_picture_once(playing: TableSession, table: TextTable) -> None:
    question = play_in_doubt(playing, table, HARN).question
    assert question is not None and question.can_defer
    assert question.answers[-1] == "Look again." and not question.can_look_again


def test_question_without_look_again_as_an_answer_offers_it_beside_them(
    playing: TableSession, table: TextTable
) -> None:
    lay_in_doubt(table, HARN)
    squares = list(table.board.squares)
    squares[7 * 15 + 6] = SquareReading((("A", 0.5), ("O", 0.48)))
    table.board = BoardReading(tuple(squares))
    question = playing.submit(EndTurn()).result(PATIENCE_S).question
    assert question is not None and question.can_look_again and "Look again." not in question.answers


def test_deferred_question_makes_the_turn_provisional(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    state = playing.submit(DeferQuestion()).result(PATIENCE_S)
    assert state.question is None and get_words(state) == ["HARN?"]
    assert [deferred.question.key for deferred in state.open_questions] == ["asked-word-unlisted"]


def test_question_stays_open_if_a_new_game_is_taken_back(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    playing.submit(StartGame(STARTED)).result(PATIENCE_S)
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert get_words(state) == ["HARN?"] and state.question is not None


def test_question_of_an_undone_turn_is_open_again_after_a_redo(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert not state.turns and not state.open_questions
    state = playing.submit(Redo()).result(PATIENCE_S)
    assert get_words(state) == ["HARN?"] and state.question is not None


def test_deferred_question_of_a_closed_game_does_not_depend_on_the_word_list(table: TextTable) -> None:
    bodies = []
    for words in (frozenset[str](), frozenset({"HARN"}), frozenset({"HORN"})):
        with GameStore(":memory:", clock=lambda: 0.0) as store, TableSession(table, table, store, words) as session:
            rules = replace(STANDARD_RULES, open_dictionary=False)
            session.submit(StartGame(replace(STARTED, rules=rules))).result(PATIENCE_S)
            play_in_doubt(session, table, HARN)
            session.submit(DeferQuestion()).result(PATIENCE_S)
            bodies.append([{**event.body} for event in store.read_events(1)])
    assert len(bodies[0]) > 1 and bodies[0] == bodies[1] == bodies[2]


def test_deferred_question_keeps_its_crop_of_the_photograph(playing: TableSession, table: TextTable) -> None:
    asked = play_in_doubt(playing, table, HARN).question
    (deferred,) = play_in_doubt(playing, table, HARN, FARM).open_questions
    assert asked is not None and asked.picture and deferred.question.picture == asked.picture
    assert playing.find_picture(asked.picture) is not None


def test_next_press_defers_a_question_without_an_answer(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    state = play_in_doubt(playing, table, HARN, FARM)
    assert get_words(state) == ["HARN?", "FA.M"] and len(state.open_questions) == 1


def test_answered_question_is_not_deferred_by_the_next_press(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    playing.submit(AnswerQuestion(0)).result(PATIENCE_S)
    state = play_in_doubt(playing, table, HARN, FARM)
    assert get_words(state) == ["HARN", "FA.M"] and not state.open_questions


def test_late_answer_changes_the_earlier_turn(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    play_in_doubt(playing, table, HARN, FARM)
    state = answer_late(playing, 1)
    assert get_words(state) == ["HORN", "FA.M"] and not state.open_questions


def test_late_answer_defers_the_question_about_a_later_turn(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    playing.submit(DeferQuestion()).result(PATIENCE_S)
    lay_in_doubt(table, HARN, FARM)
    assert table.board is not None
    squares = list(table.board.squares)
    squares[5 * 15 + 7] = SquareReading((("F", 0.55), ("P", 0.45)))
    table.board = BoardReading(tuple(squares))
    assert playing.submit(EndTurn()).result(PATIENCE_S).question is not None
    state = answer_late(playing, 1)
    assert get_words(state) == ["HORN", "FA.M?"] and len(state.open_questions) == 1
    assert get_words(answer_late(playing, 1)) == ["HORN", "PA.M"]


def test_late_answer_on_the_page_replaces_one_that_the_panel_has_chosen(
    playing: TableSession, table: TextTable
) -> None:
    play_in_doubt(playing, table, HARN)
    playing.submit(DeferQuestion()).result(PATIENCE_S)
    playing.submit(RecallQuestion()).result(PATIENCE_S)
    assert get_words(playing.submit(ChooseNextAnswer()).result(PATIENCE_S)) == ["HORN?"]
    state = playing.submit(AnswerDeferred(1, 0)).result(PATIENCE_S)
    assert get_words(state) == ["HARN"] and not state.open_questions


def test_undo_of_a_late_answer_opens_the_question_again(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    play_in_doubt(playing, table, HARN, FARM)
    answer_late(playing, 1)
    assert get_words(playing.submit(Undo()).result(PATIENCE_S)) == ["HARN?", "FA.M"]


def test_undo_of_the_turn_removes_its_deferred_question(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    playing.submit(DeferQuestion()).result(PATIENCE_S)
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert not state.turns and not state.open_questions


def test_late_answer_that_is_not_offered_is_refused(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    playing.submit(DeferQuestion()).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError):
        playing.submit(AnswerDeferred(99, 0)).result(PATIENCE_S)


def test_later_reading_settles_the_question_with_a_notice(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    state = play(playing, table, HORN, FARM)
    assert get_words(state) == ["HORN", "FA.M"] and not state.open_questions
    assert "question-settled" in {notice.key for notice in state.notices}


def press_without_new_tiles(session: TableSession, table: TextTable) -> TableSnapshot:
    """Press after a play with an A in doubt, after nothing, and after nothing when the A is rather an O."""
    squares = list(BoardReading.from_rows(rows(HORN)).squares)
    doubt, contradiction = SquareReading((("A", 0.55), ("O", 0.4))), SquareReading((("O", 0.9), ("A", 0.09)))
    for seen in (doubt, doubt, contradiction):
        squares[7 * 15 + 6] = seen
        table.board = BoardReading(tuple(squares))
        state = session.submit(EndTurn()).result(PATIENCE_S)
    return state


def test_press_that_only_corrects_a_tile_in_doubt_asks_about_a_pass(playing: TableSession, table: TextTable) -> None:
    state = press_without_new_tiles(playing, table)
    assert get_words(state)[0] == "HORN?" and state.question is not None
    assert state.question.answers == (
        "Anna played HORN at 8F for 14.",
        "Anna played HORN at 8F for 14, Anna passed.",
        "Anna passed.",
        "Look again.",
    )


def test_play_that_a_later_picture_shows_again_was_not_taken_back(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    play(playing, table, HORN)  # as on an old picture
    state = play(playing, table, HORN, FARM, PASTE)
    assert get_words(state) == ["HORN", "FA.M", "PASTE"] and not state.open_questions
    assert [turn.player for turn in state.turns] == [0, 1, 0]


@pytest.mark.parametrize("new", [(), (("HORNS", 7, 5, True),)])
def test_play_that_is_shown_again_was_not_left_on_the_board(
    playing: TableSession, table: TextTable, new: tuple[tuple[str, int, int, bool], ...]
) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    play(playing, table, HORN)  # as on an old picture
    state = play(playing, table, HORN, FARM, *new)
    assert get_words(state)[:2] == ["HORN", "FA.M"] and not state.open_questions
    assert [(turn.player, turn.kind) for turn in state.turns[2:]] == [(0, TurnKind.PLAY if new else TurnKind.PASS)]


def test_play_that_was_taken_back_stays_so_when_the_next_play_covers_its_squares(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    play(playing, table, HORN)
    state = play(playing, table, HORN, ("TURN", 5, 7, False))
    assert [(turn.kind, turn.player) for turn in state.turns[2:]] == [(TurnKind.WITHDRAWN, 1), (TurnKind.PLAY, 0)]


def test_late_answer_says_that_a_play_was_not_taken_back(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    play(playing, table, HORN)
    state = playing.submit(DeferQuestion()).result(PATIENCE_S)
    (deferred,) = state.open_questions
    assert deferred.question.answers[-1] == "The play was not taken back."
    state = answer_late(playing, len(deferred.question.answers) - 1)
    assert get_words(state) == ["HORN", "FA.M"] and not state.open_questions


def test_settled_question_is_opened_again_by_the_undo_of_the_turn(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    play(playing, table, HORN, FARM)
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert get_words(state) == ["HARN?"] and state.question is not None


def test_recalled_question_stays_open_without_an_answer(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    play_in_doubt(playing, table, HARN, FARM)
    playing.submit(RecallQuestion()).result(PATIENCE_S)
    state = play_in_doubt(playing, table, HARN, FARM, PASTE)
    assert get_words(state)[0] == "HARN?" and len(state.open_questions) == 1


def test_refused_command_leaves_the_question_open(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    with pytest.raises(CommandRefusedError):
        playing.submit(InsertTurn(9, kind="pass")).result(PATIENCE_S)
    assert get_words(playing.state) == ["HARN?"] and playing.state.question is not None


def test_turn_by_hand_defers_the_question(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    state = playing.submit(InsertTurn(2, kind="pass")).result(PATIENCE_S)
    assert get_words(state) == ["HARN?", ""] and len(state.open_questions) == 1


def test_look_again_undoes_the_turn_and_reads_the_board(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    table.lay(HORN)
    state = playing.submit(ReadAgain()).result(PATIENCE_S)
    assert get_words(state) == ["HORN"] and state.question is None


def test_one_button_answers_a_deferred_question(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    play_in_doubt(playing, table, HARN, FARM)
    question = playing.submit(RecallQuestion()).result(PATIENCE_S).question
    assert question is not None and question.chosen == 0
    assert get_words(playing.submit(ChooseNextAnswer()).result(PATIENCE_S)) == ["HORN?", "FA.M"]
    state = play(playing, table, HORN, FARM, PASTE)
    assert get_words(state) == ["HORN", "FA.M", "PASTE"] and not state.open_questions


def test_one_button_closes_a_deferred_question_after_its_last_answer(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    play_in_doubt(playing, table, HARN, FARM)
    asked = playing.submit(RecallQuestion()).result(PATIENCE_S).question
    assert asked is not None
    for _ in asked.answers:
        state = playing.submit(ChooseNextAnswer()).result(PATIENCE_S)
    assert get_words(state) == ["HARN", "FA.M"] and not state.open_questions and state.question is None


def test_one_button_skips_an_answer_that_later_turns_exclude(playing: TableSession) -> None:
    before = playing._controller.ledger
    answers = [(PlayMade(None, written(before.game, play)),) for play in ("8F HARN", "8G HORN", "8F HORN")]
    asked = before.record([answers], doubt=Doubt("which-is-right", (AnswerText(0), AnswerText(2))))
    ledger = record(asked, "F7 A.M")
    playing.ping(lambda: playing._controller.log.append(ledger)).result(PATIENCE_S)
    playing.submit(RecallQuestion()).result(PATIENCE_S)
    state = playing.submit(ChooseNextAnswer()).result(PATIENCE_S)
    assert state.question is not None and state.question.chosen == 2 and state.turns[0].word == "HORN"
    assert playing.submit(ChooseNextAnswer()).result(PATIENCE_S).turns[0].word == "HARN"


def test_question_of_a_challenge_cannot_be_deferred(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(STARTED, words=None)).result(PATIENCE_S)
    play(session, table, HORN)
    question = session.submit(ChallengePlay()).result(PATIENCE_S).question
    assert question is not None and not question.can_defer and not question.can_look_again
    with pytest.raises(CommandRefusedError):
        session.submit(DeferQuestion()).result(PATIENCE_S)


def test_new_name_of_a_player_defers_the_question(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    state = playing.submit(RenamePlayer(0, "Zoë")).result(PATIENCE_S)
    assert get_words(state) == ["HARN?"] and len(state.open_questions) == 1


def test_refused_command_of_another_seat_leaves_the_seat_of_the_question(
    playing: TableSession, table: TextTable
) -> None:
    table.lay(HORN)
    asked = playing.submit(EndTurn(), seat=1).result(PATIENCE_S).question
    with pytest.raises(CommandRefusedError):
        playing.submit(InsertTurn(9, kind="pass"), seat=0).result(PATIENCE_S)
    again = playing.submit(ReadAgain()).result(PATIENCE_S).question
    assert asked is not None and again is not None and again.text == asked.text


def test_challenge_of_a_play_in_doubt_is_decided_by_the_players(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, HARN)
    state = playing.submit(ChallengePlay()).result(PATIENCE_S)
    assert state.question is not None and state.question.key == "good-words-unlisted"
    assert get_words(state) == ["HARN?"] and len(state.open_questions) == 1
    answer_late(playing, 1)
    state = playing.submit(ChallengePlay()).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "challenge"]


def test_question_about_the_last_play_stays_open_at_the_end_of_the_game(
    playing: TableSession, table: TextTable
) -> None:
    play_in_doubt(playing, table, HARN)
    state = playing.submit(EndGame()).result(PATIENCE_S)
    assert get_words(state)[0] == "HARN?" and len(state.open_questions) == 1
    state = answer_late(playing, 1)
    assert get_words(state)[0] == "HORN" and state.turn_of is None


@pytest.mark.parametrize("command", [RenamePlayer(0, "Zoë"), CorrectTurn(1, player=1)], ids=["name", "player"])
def test_deferred_question_names_the_player_after_a_correction(
    playing: TableSession, table: TextTable, command: TableCommand
) -> None:
    play_in_doubt(playing, table, HARN)
    playing.submit(DeferQuestion()).result(PATIENCE_S)
    (deferred,) = playing.submit(command).result(PATIENCE_S).open_questions
    name = playing.state.players[playing.state.turns[0].player].name
    assert name != "Anna" and all(text.startswith(f"{name} played H") for text in deferred.question.answers[:2])
    recalled = playing.submit(RecallQuestion()).result(PATIENCE_S).question
    assert recalled is not None and recalled.answers == deferred.question.answers


def test_question_about_a_hidden_square_ends_when_the_square_is_seen(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HORN#", 7, 5, True))
    assert len(playing.submit(DeferQuestion()).result(PATIENCE_S).open_questions) == 1
    state = play(playing, table, ("HORN#", 7, 5, True), FARM)
    assert len(state.open_questions) == 1, "the hand is still there"
    state = play(playing, table, HORN, FARM, PASTE)
    assert not state.open_questions and get_words(state) == ["HORN", "FA.M", "PASTE"]


def test_play_whose_tiles_all_lie_there_again_was_not_taken_back(playing: TableSession, table: TextTable) -> None:
    """Three tiles of PASTE were in a hand at a press by mistake, and the others looked like a play of Anna."""
    whole = ("PASTE", 8, 8, True)
    play(playing, table, HORN)
    play(playing, table, HORN, whole)
    assert get_words(play(playing, table, HORN, ("PA", 8, 8, True)))[-1] == "PA?"
    state = play(playing, table, HORN, whole)
    assert get_words(state) == ["HORN", "PASTE", "", "?"] and not state.open_questions
