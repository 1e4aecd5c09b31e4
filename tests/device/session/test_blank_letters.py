"""The letters of blanks: each is asked about, beside any other question about the turn."""

from __future__ import annotations

from device.session.commands.answers import AnswerQuestion
from device.session.commands.corrections import CorrectSquare
from device.session.commands.games import Undo
from device.session.commands.turns import EndTurn
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from engine.board import parse_square
from engine.reading import BoardReading, SquareReading
from tests.support.questions import answer, get_key
from tests.support.text_table import TextTable, play, rows
from tests.support.waiting import PATIENCE_S

H_RN, TWO_BLANKS = ("H?RN", 7, 5, True), ("H?R?", 7, 5, True)


def list_keys(state: TableSnapshot) -> list[str]:
    """Return the keys of the question that is shown and of the others that are open."""
    return [*filter(None, [get_key(state)]), *(deferred.question.key for deferred in state.open_questions)]


def lay_blank_or_letter(table: TextTable) -> None:
    """Place H?RN so that its blank may also be an E."""
    squares = list(BoardReading.from_rows(rows(H_RN)).squares)
    squares[parse_square("G8")] = SquareReading((("E", 0.55), ("?", 0.45)))
    table.board = BoardReading(tuple(squares))


def test_letter_is_asked_beside_the_player(playing: TableSession, table: TextTable) -> None:
    table.lay(H_RN)
    state = playing.submit(EndTurn(), seat=1).result(PATIENCE_S)
    assert get_key(state) == "asked-out-of-turn"
    state = answer(playing, "Anna played H?RN")
    assert get_key(state) == "asked-blank-unnamed"
    assert answer(playing, "The blank is O").turns[0].word == "HoRN"


def test_letter_is_asked_beside_a_play_that_lengthens_the_last_one(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HOR", 7, 5, True))
    state = play(playing, table, ("HOR?", 7, 5, True))
    assert set(list_keys(state)) == {"play-became", "asked-blank-unnamed"}


def test_letters_of_both_blanks_of_a_turn_are_asked(playing: TableSession, table: TextTable) -> None:
    state = play(playing, table, TWO_BLANKS)
    assert list_keys(state) == ["asked-blank-unnamed"] * 2
    state = answer(playing, "The blank is O")
    assert get_key(state) == "asked-blank-unnamed"
    state = answer(playing, "The blank is N")
    assert state.turns[0].word == "HoRn" and list_keys(state) == []


def test_letter_is_asked_after_the_answer_that_a_tile_is_a_blank(playing: TableSession, table: TextTable) -> None:
    lay_blank_or_letter(table)
    assert get_key(playing.submit(EndTurn()).result(PATIENCE_S)) == "letter-or-blank"
    state = answer(playing, "H?RN")
    assert get_key(state) == "asked-blank-unnamed"
    assert answer(playing, "The blank is O").turns[0].word == "HoRN"


def test_letter_is_asked_if_players_say_that_a_tile_is_a_blank(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HORN", 7, 5, True))
    state = playing.submit(CorrectSquare("G8", "?")).result(PATIENCE_S)
    assert get_key(state) == "asked-blank-unnamed"


def test_letter_is_asked_once(playing: TableSession, table: TextTable) -> None:
    play(playing, table, H_RN)
    state = playing.submit(AnswerQuestion(0)).result(PATIENCE_S)
    assert list_keys(state) == [] and list_keys(play(playing, table, H_RN, ("FARM", 5, 7, False))) == []


def test_undo_takes_back_the_turn_with_the_question_about_its_blank(playing: TableSession, table: TextTable) -> None:
    play(playing, table, H_RN)
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert not state.turns and list_keys(state) == []
