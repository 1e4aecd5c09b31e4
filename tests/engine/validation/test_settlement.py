"""Readings that settle an open question, and readings that do not."""

from __future__ import annotations

import pytest

from engine.board import parse_square
from engine.events import BlankNamed, PlayMade, PlayWithdrawn, SquareCorrected
from engine.ledger import Doubt, Judge, Ledger, find_open_entries
from engine.reading import BoardReading
from engine.tiles import Tile
from engine.validation import settlement
from engine.validation.settlement import settle_questions
from tests.support.engine_table import ask, new_game, new_ledger, play, record, record_one_of, seen, with_plays, written

MISREAD = {"G8": {"A": 0.97, "O": 0.02}}


def read_board(*notations: str) -> BoardReading:
    """Return a clear reading of the board after these plays."""
    return seen(with_plays(*notations).board)


def doubt_first(word: str, other: str, doubts: dict[str, dict[str, float]] | None = None) -> Ledger:
    """Return a ledger whose first play is `word` at 8F, or `other`."""
    return record_one_of(new_ledger(), f"8F {word}", f"8F {other}", doubts=doubts)


def read_word(ledger: Ledger, reading: BoardReading) -> tuple[str | None, bool]:
    """Return the first word after a reading, and whether its question is still open."""
    after = settle_questions(ledger, reading)
    return after.game.turns[0].word, bool(find_open_entries(after))


def test_reading_of_another_letter_settles_the_question() -> None:
    ledger = doubt_first("HARN", "HORN", MISREAD)
    assert read_word(ledger, read_board("8F HORN", "H6 FA.M")) == ("HORN", False)
    assert settle_questions(ledger, read_board("8F HORN")).answers[1].by is Judge.PICTURE


def test_reading_settles_a_question_that_was_not_about_a_reading() -> None:
    answers = ((PlayMade(None, written(new_game(), f"8F {word}")),) for word in ("HARN", "HORN"))
    assert read_word(ask(new_ledger(), *answers), read_board("8F HORN")) == ("HORN", False)


def test_same_error_again_settles_nothing() -> None:
    ledger = doubt_first("HARN", "HORN", MISREAD)
    assert settle_questions(ledger, seen(with_plays("8F HARN", "H6 FA.M").board, MISREAD)) == ledger


def test_clear_reading_confirms_a_doubtful_letter() -> None:
    ledger = doubt_first("HARN", "HORN", {"G8": {"A": 0.6, "O": 0.4}})
    assert read_word(ledger, read_board("8F HARN")) == ("HARN", False)


def test_hand_over_the_tile_settles_nothing() -> None:
    ledger = doubt_first("HARN", "HORN", MISREAD)
    assert settle_questions(ledger, seen(with_plays("8F HORN").board, {"G8": {"#": 0.95, "O": 0.05}})) == ledger


def test_empty_square_under_a_hand_settles_the_question() -> None:
    ledger = doubt_first("HORE", "HOR", {"I8": {"#": 0.99, "E": 0.01}})
    assert read_word(ledger, read_board("8F HOR")) == ("HOR", False)


def test_tile_that_fits_no_answer_is_no_tile_of_the_next_play() -> None:
    ledger = doubt_first("HORE", "HOR", {"I8": {"#": 0.95, "E": 0.05}})
    assert settle_questions(ledger, read_board("8F HORN")) == ledger


def test_plays_that_look_alike_are_not_settled_by_a_reading() -> None:
    horn = written(new_game(), "8F HORN")
    ledger = ask(new_ledger(), (PlayMade(0, horn),), (PlayMade(1, horn),), reading=read_board("8F HORN"))
    assert settle_questions(ledger, read_board("8F HORN", "H6 FA.M")) == ledger


def test_named_blank_closes_the_question_for_its_letter() -> None:
    square = parse_square("F8")
    event = PlayMade(None, written(new_game(), "8F HORN").with_tile(square, Tile.unnamed()))
    named = BlankNamed(square, "H")
    ledger = ask(new_ledger(), (event,), (event, named))
    assert settle_questions(ledger, seen(ledger.game.board)) == ledger
    ledger = ledger.record([((named,),)])
    assert not find_open_entries(settle_questions(ledger, seen(ledger.game.board)))


def test_clear_reading_confirms_a_play_with_a_doubtful_letter() -> None:
    harn = PlayMade(None, written(new_game(), "8F HARN"))
    doubt = Doubt("asked-letter-unsure", squares=(parse_square("G8"),))
    ledger = new_ledger().record([[(harn,)]], doubt=doubt)
    assert settle_questions(ledger, seen(ledger.game.board, {"G8": {"A": 0.6}})) == ledger
    assert not find_open_entries(settle_questions(ledger, seen(ledger.game.board)))


def test_reading_settles_only_the_newest_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settlement, "MAX_SETTLED_QUESTIONS", 1)
    ledger = record_one_of(doubt_first("HARN", "HORN", MISREAD), "H6 FO.M", "H6 FA.M")
    after = settle_questions(ledger, read_board("8F HORN", "H6 FA.M"))
    assert [turn.word for turn in after.game.turns] == ["HARN", "FA.M"]
    assert [entry.number for entry in find_open_entries(after)] == [1]


def test_answers_of_one_reading_are_undone_together() -> None:
    ledger = record_one_of(doubt_first("HARN", "HORN", MISREAD), "H6 FO.M", "H6 FA.M")
    after = settle_questions(ledger, read_board("8F HORN", "H6 FA.M"))
    assert [turn.word for turn in after.game.turns] == ["HORN", "FA.M"]
    assert after.undo().game.turns == ledger.game.turns


def test_reading_that_removes_a_turn_keeps_a_later_question_about_the_turns_after_it() -> None:
    ledger = record(new_ledger(), "8F HORN", "H6 FA.M")
    taken_back = (PlayWithdrawn(None, ledger.game.turns[1].ref),)
    ledger = ask(ledger, taken_back, (), reading=read_board("8F HORN"))
    ledger = record(ledger, "I7 A.T")
    last, own = ledger.game.turns[-1], PlayMade(None, written(ledger.game, "9I .E"))
    after = play(ledger.game, "9I .E").board
    added = SquareCorrected(*own.play.tiles[0], last.ref)
    ledger = ask(ledger, (own,), (added,), reading=seen(after))
    ledger = settle_questions(ledger, seen(play(ledger.answer(3, 1).game, "J9 .ND").board))
    assert [entry.number for entry in find_open_entries(ledger)] == [5]
    assert [turn.word for turn in ledger.game.turns] == ["HORN", "FA.M", "A.T", "..E"]
