"""Commands besides the end of a turn: pass, exchange, undo, redo, reveal a rack, look a word up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from device.catalogue import get_text
from device.session.commands.answers import AnswerQuestion, ConfirmExchange
from device.session.commands.base import TableCommand
from device.session.commands.challenges import ChallengePlay
from device.session.commands.corrections import RevealRack
from device.session.commands.games import EndGame, PlayAgain, Redo, StartGame, Undo
from device.session.commands.turn_corrections import InsertTurn
from device.session.commands.turns import EndTurn, EnterBoard
from device.session.messages import PASS_OR_EXCHANGE, PASS_OR_MISTAKE, CommandRefusedError
from device.session.snapshot import Moment, Phase, TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from engine.messages import values_of
from engine.reading import BoardReading, SquareReading
from engine.rules import STANDARD_RULES, Rules
from tests.support.text_table import EMPTY_ROWS, FARM, HORN, PASTE, STARTED, TextTable, play, rows, totals
from tests.support.waiting import PATIENCE_S

# Pass or exchange


def test_turn_without_new_tiles_asks_whether_the_player_passed(playing: TableSession) -> None:
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert state.phase is Phase.QUESTION and state.question is not None
    assert (state.question.key, state.question.answers[0]) == (PASS_OR_EXCHANGE, "Anna passed.")
    assert (state.turns[-1].kind, state.turn_of) == ("pass", 1), "play goes on meanwhile"


def test_answer_makes_the_pass_an_exchange(playing: TableSession, table: TextTable) -> None:
    playing.submit(EndTurn()).result(PATIENCE_S)
    state = playing.submit(AnswerQuestion(3)).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["exchange"] and state.question is None
    assert play(playing, table, HORN).turns[-1].player == 1
    playing.submit(Undo()).result(PATIENCE_S)
    assert playing.submit(Undo()).result(PATIENCE_S).turns == (), "pass and answer are one press"


def test_panel_says_exchanged_without_a_number(playing: TableSession) -> None:
    playing.submit(EndTurn()).result(PATIENCE_S)
    assert playing.submit(ConfirmExchange()).result(PATIENCE_S).turns[-1].kind == "exchange"


def test_press_by_mistake_records_nothing(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    asked = play(playing, table, HORN).question
    assert asked is not None and asked.answers[-1] == get_text("answer-mistake")
    state = playing.submit(AnswerQuestion(len(asked.answers) - 1)).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN"] and state.turn_of == 1
    assert play(playing, table, HORN, FARM).turns[-1].player == 1


def test_clock_of_the_player_to_move_runs_after_a_press_by_mistake(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, clock_seconds=1500)))).result(PATIENCE_S)
    play(session, table, HORN)
    asked = play(session, table, HORN).question
    assert asked is not None
    state = session.submit(AnswerQuestion(len(asked.answers) - 1)).result(PATIENCE_S)
    assert state.clock is not None and state.clock.running == 1


def test_panel_says_exchanged_only_where_it_is_asked(playing: TableSession) -> None:
    with pytest.raises(CommandRefusedError, match=get_text("nothing-asked")):
        playing.submit(ConfirmExchange()).result(PATIENCE_S)


def test_pass_is_asked_about_if_no_exchange_is_allowed(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, exchange_minimum_bag=99)))).result(
        PATIENCE_S
    )
    state = play(session, table)
    assert state.question is not None and state.question.key == PASS_OR_MISTAKE
    assert [turn.kind for turn in state.turns] == ["pass"]
    assert [turn.kind for turn in session.submit(AnswerQuestion(0)).result(PATIENCE_S).turns] == ["pass"]


def test_second_press_by_mistake_records_nothing_where_nobody_may_exchange(
    session: TableSession, table: TextTable
) -> None:
    session.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, exchange_minimum_bag=99)))).result(
        PATIENCE_S
    )
    play(session, table, HORN)
    play(session, table, HORN)
    state = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN"] and state.turn_of == 1


def play_after_two_presses(session: TableSession, table: TextTable, seat: int | None = None) -> TableSnapshot:
    """Play HORN, press once more, and play FARM without an answer to the question about a pass."""
    play(session, table, HORN)
    play(session, table, HORN)
    table.lay(HORN, FARM)
    return session.submit(EndTurn(), seat=seat).result(PATIENCE_S)


def test_two_presses_by_mistake_are_undone(playing: TableSession, table: TextTable) -> None:
    play_after_two_presses(playing, table)
    playing.submit(Undo()).result(PATIENCE_S)
    playing.submit(Undo()).result(PATIENCE_S)
    state = play(playing, table, HORN, FARM)
    assert [(turn.player, turn.word) for turn in state.turns] == [(0, "HORN"), (1, "FA.M")] and state.notices == ()


def test_hand_over_the_board_is_no_pass(playing: TableSession, table: TextTable) -> None:
    squares = list(BoardReading.from_rows(EMPTY_ROWS).squares)
    for square in (111, 112, 113):
        squares[square] = SquareReading((("#", 0.9), (".", 0.1)))
    table.board = BoardReading(tuple(squares))
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert state.turns == () and state.question is not None and state.question.key == "hidden-pass"
    assert state.question.squares == (111, 112, 113)
    assert playing.submit(AnswerQuestion(1)).result(PATIENCE_S).turns[-1].kind == "pass"


def test_answer_look_again_about_a_hand_reads_the_board_again(playing: TableSession, table: TextTable) -> None:
    squares = list(BoardReading.from_rows(EMPTY_ROWS).squares)
    squares[112] = SquareReading((("#", 0.9), (".", 0.1)))
    table.board = BoardReading(tuple(squares))
    assert playing.submit(EndTurn()).result(PATIENCE_S).question is not None
    table.lay(HORN)
    assert [turn.word for turn in playing.submit(AnswerQuestion(0)).result(PATIENCE_S).turns] == ["HORN"]


def test_answer_look_again_about_a_play_reads_the_board_again(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, rearrange=True)))).result(PATIENCE_S)
    play(session, table, HORN)
    question = play(session, table, ("NORHS", 7, 5, True)).question
    assert question is not None and question.answers[1] == "Look again."
    table.lay(HORN, FARM)
    state = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN", "FA.M"]
    assert [turn.word for turn in session.submit(Undo()).result(PATIENCE_S).turns] == ["HORN"]


# Challenges


@pytest.mark.parametrize(("word", "kind"), [("F?RM", "challenge"), ("?ORN", "challenge"), ("H?ON", "withdrawn")])
def test_blank_without_a_name_stands_for_whatever_makes_a_word(
    playing: TableSession, table: TextTable, word: str, kind: str
) -> None:
    play(playing, table, (word, 7, 5, True))
    assert playing.submit(ChallengePlay()).result(PATIENCE_S).turns[-1].kind == kind


# Presses taken back


def test_undo_takes_back_both_turns_of_one_press(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    play(playing, table, ("SHORN", 7, 4, True))  # taken back, and another laid
    assert len(playing.state.turns) == 4
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "play"] and state.redo
    assert len(playing.submit(Redo()).result(PATIENCE_S).turns) == 4
    with pytest.raises(CommandRefusedError, match="nothing to redo"):
        playing.submit(Redo()).result(PATIENCE_S)


def test_moment_names_the_game_too(playing: TableSession) -> None:
    old = playing.state.moment
    playing.submit(StartGame(STARTED)).result(PATIENCE_S)
    assert playing.state.events == old.events and playing.state.game == old.game + 1
    with pytest.raises(CommandRefusedError, match="changed in the meantime"):
        playing.submit(EndTurn(), old).result(PATIENCE_S)
    assert Moment.parse(str(old)) == old
    assert [Moment.parse(text) for text in ("", "7", "a-b", "-1-2", "1-²", "1-9999999999")] == [None] * 6


def test_next_game_is_of_the_same_players_and_the_next_begins(playing: TableSession) -> None:
    state = playing.submit(PlayAgain(GameStarted(("Else", "Where")))).result(PATIENCE_S)
    assert [player.name for player in state.players] == ["Anna", "Ben"] and state.turn_of == 1


def test_next_game_after_a_restart_is_like_the_one_that_was_begun_last(path: Path) -> None:
    settings = GameStarted(("Else", "Where"))
    begun = GameStarted(("Mira", "Tom", "Ada"), rules=Rules(clock_seconds=900), tile_set="de", lexicon="own")
    table = TextTable()
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(StartGame(begun)).result(PATIENCE_S)
        session.submit(EndGame()).result(PATIENCE_S)
    asked: list[GameStarted] = []

    def words_for(started: GameStarted) -> frozenset[str]:
        asked.append(started)
        return frozenset({"HORN"})

    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        state = session.submit(PlayAgain(settings, words_for=words_for)).result(PATIENCE_S)
        assert [player.name for player in state.players] == ["Mira", "Tom", "Ada"] and state.turn_of == 1
        assert (state.tile_set, state.clock is not None, state.lexicon) == ("de", True, "own")
        assert asked == [begun] and session.look_up("HORN")


def test_first_game_of_a_panel_is_of_the_players_of_the_settings(session: TableSession) -> None:
    state = session.submit(PlayAgain(GameStarted(("Else", "Where")))).result(PATIENCE_S)
    assert [player.name for player in state.players] == ["Else", "Where"]


# A board entered by hand


def test_board_entered_with_two_plays_asks_who_made_which(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    board = rows(HORN, ("HOSTILE", 7, 5, False), ("NAE", 7, 8, False))
    state = playing.submit(EnterBoard(tuple(map(tuple, board)))).result(PATIENCE_S)  # type: ignore[arg-type]
    assert totals(state) == [18, 14] and state.question is not None
    assert totals(playing.submit(AnswerQuestion(1)).result(PATIENCE_S)) == [28, 4]


def test_board_entered_with_two_plays_that_cross_asks_about_them(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    board = rows(HORN, ("HOSTILE", 7, 5, False), ("TEAL", 10, 5, True))
    state = playing.submit(EnterBoard(tuple(map(tuple, board)))).result(PATIENCE_S)  # type: ignore[arg-type]
    assert len(state.turns) == 3 and state.question is not None


ENTERED_FARM = InsertTurn(2, kind="play", at="H6", word="FA.M")
ENTERED_BOARD = EnterBoard(tuple(map(tuple, rows(HORN, FARM))))  # type: ignore[arg-type]


@pytest.mark.parametrize("command", [ENTERED_FARM, ENTERED_BOARD])
def test_entered_play_lacks_no_tile_that_a_hand_hid_before(
    playing: TableSession, table: TextTable, command: TableCommand
) -> None:
    table.board = BoardReading.from_rows(rows(HORN, ("#", 9, 7, True)))
    playing.submit(EndTurn()).result(PATIENCE_S)
    playing.submit(command).result(PATIENCE_S)
    state = play(playing, table, HORN, FARM, PASTE)  # with FARMS
    assert totals(state) == [39, 9] and state.question is None


# Racks, words, colours


def test_letter_that_is_on_another_rack_is_refused(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(GameStarted(("Anna", "Ben", "Cem")))).result(PATIENCE_S)
    play(session, table, HORN)
    session.submit(EndGame()).result(PATIENCE_S)
    session.submit(RevealRack(0, "Q")).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError, match="Q cannot be on this rack"):
        session.submit(RevealRack(1, "Q")).result(PATIENCE_S)
    session.submit(RevealRack(0, "A")).result(PATIENCE_S)
    assert session.submit(RevealRack(1, "Q")).result(PATIENCE_S).racks_wanted == (2,)


def test_letters_of_a_rack_are_made_capitals_of_the_language(session: TableSession) -> None:
    session.submit(StartGame(replace(STARTED, tile_set="tr"))).result(PATIENCE_S)
    session.submit(EndGame()).result(PATIENCE_S)
    state = session.submit(RevealRack(0, "i ı")).result(PATIENCE_S)
    assert [turn.word for turn in state.turns if turn.player == 0] == ["İI"]


def test_letters_of_a_rack_with_spaces_are_single_tiles(session: TableSession) -> None:
    session.submit(StartGame(replace(STARTED, tile_set="es"))).result(PATIENCE_S)
    session.submit(EndGame()).result(PATIENCE_S)
    for player, (letters, score) in enumerate((("l l a ? ll", -11), ("C H CH", -12))):
        state = session.submit(RevealRack(player, letters)).result(PATIENCE_S)
        assert [turn.score for turn in state.turns if turn.player == player] == [score]


def test_words_are_looked_up_only_where_the_rules_let_them(session: TableSession) -> None:
    assert session.look_up("HORN") is True and session.look_up("XYZ") is False
    session.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, open_dictionary=False)))).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError, match="only in a challenge"):
        session.look_up("HORN")


def test_blank_is_offered_the_letters_that_make_words(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("F?RM", 7, 5, True))
    assert playing.list_blank_letters("G8") == ("A",)


def test_colours_are_kept_between_games(session: TableSession) -> None:
    state = session.submit(StartGame(STARTED, colours=("amber", "teal"))).result(PATIENCE_S)
    assert [player.colour for player in state.players] == ["amber", "teal"]
    state = session.submit(StartGame(replace(STARTED, players=("Ben", "Cem")))).result(PATIENCE_S)
    assert [player.colour for player in state.players] == ["teal", ""]
    assert ("Ben", "teal") in session.list_players()


# The end of the session


def test_command_after_the_end_is_refused_in_words(session: TableSession) -> None:
    session.close()
    with pytest.raises(CommandRefusedError, match="shutting down"):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError, match="shutting down"):
        session.ping().result(PATIENCE_S)


def test_thread_of_the_commands_answers_a_ping(session: TableSession) -> None:
    assert session.ping().result(PATIENCE_S) is None


def test_messages_of_commands_have_a_key(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HRON", 7, 5, True))
    notice = playing.submit(ChallengePlay()).result(PATIENCE_S).notices[0]
    assert notice.key == "take-off" and notice.text == get_text(notice.key, *values_of(notice.text))


def test_refusal_has_a_key(session: TableSession) -> None:
    with pytest.raises(CommandRefusedError) as refused:
        session.submit(EndTurn()).result(PATIENCE_S)
    assert refused.value.key == "no-game"


def test_question_about_a_tile_says_which_squares(playing: TableSession, table: TextTable) -> None:
    squares = list(BoardReading.from_rows(rows(HORN)).squares)
    squares[113] = SquareReading((("N", 0.55), ("M", 0.45)))
    table.board = BoardReading(tuple(squares))
    question = playing.submit(EndTurn()).result(PATIENCE_S).question
    assert question is not None and question.squares == (113,)
    assert [symbols[0] for symbols in question.symbols][:2] == ["N", "M"]


def test_undo_of_a_press_at_which_nothing_was_recorded_cancels_its_question(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    assert (asked := play(playing, table).question) is not None and asked.key == "asked-board-cleared"
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert state.question is None and totals(state) == [14, 9]
    assert (asked := play(playing, table, HORN, FARM, PASTE).question) is None
    assert totals(playing.submit(Undo()).result(PATIENCE_S)) == [14, 9]
