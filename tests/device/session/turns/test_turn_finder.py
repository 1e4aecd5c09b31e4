"""Turns are found from readings of the board at rest, without a button."""

from __future__ import annotations

import pytest

from device.session.turns.decision import TurnContext
from device.session.turns.turn_finder import FoundTurn, TurnFinder
from engine.board import parse_square
from engine.events import PlayMade, PlayWithdrawn
from engine.game import Game
from engine.reading import EMPTY, HIDDEN
from engine.validation import QuestionHistory
from tests.support.engine_table import as_ledger, new_game, play, seen, written

START = new_game()
HORN = play(START, "8F HORN")
HORNS = play(START, "8F HORNS")
FARM = play(HORN, "H6 FA.M")
PASTE = play(FARM, "10F PASTE")


def make_context(game: Game) -> TurnContext:
    return TurnContext(as_ledger(game))


def add(finder: TurnFinder, game: Game, shown: Game, time: float) -> FoundTurn | None:
    return finder.add_reading(seen(shown.board), make_context(game), time)


def test_play_that_is_still_is_a_turn() -> None:
    finder = TurnFinder(4.0)
    assert add(finder, START, HORN, 10.0) is None
    assert finder.check(13.9) is None
    turn = finder.check(14.0)
    assert turn is not None and turn.events == (PlayMade(0, written(START, "8F HORN")),) and turn.time == 10.0
    assert finder.check(30.0) is None


def test_board_without_a_play_is_no_turn() -> None:
    finder = TurnFinder(4.0)
    assert add(finder, HORN, HORN, 10.0) is None
    assert finder.check(60.0) is None


def test_play_that_grows_during_the_wait_is_one_turn() -> None:
    finder = TurnFinder(4.0)
    add(finder, START, HORN, 10.0)
    finder.add_motion()
    assert add(finder, START, HORNS, 13.0) is None
    assert finder.check(16.0) is None
    turn = finder.check(17.0)
    assert turn is not None and turn.events == (PlayMade(0, written(START, "8F HORNS")),)


def test_movement_starts_the_wait_again() -> None:
    finder = TurnFinder(4.0)
    add(finder, START, HORN, 10.0)
    finder.add_motion()
    assert finder.check(15.0) is None
    finder.add_rest(16.0)
    assert finder.check(19.9) is None and finder.check(20.0) is not None


def test_same_reading_after_a_movement_starts_the_wait_again() -> None:
    finder = TurnFinder(4.0)
    add(finder, START, HORN, 10.0)
    finder.add_motion()
    add(finder, START, HORN, 13.5)
    assert finder.check(17.4) is None
    turn = finder.check(17.5)
    assert turn is not None and turn.time == 10.0


def test_next_play_during_the_wait_ends_the_turn() -> None:
    finder = TurnFinder(4.0)
    add(finder, START, HORN, 10.0)
    finder.add_motion()
    first = add(finder, START, FARM, 13.0)
    assert first is not None and first.events == (PlayMade(0, written(START, "8F HORN")),)
    assert add(finder, HORN, FARM, 13.0) is None
    second = finder.check(17.0)
    assert second is not None and second.events == (PlayMade(1, written(HORN, "H6 FA.M")),)


def test_next_play_of_seven_tiles_through_the_tile_of_a_turn_ends_the_turn() -> None:
    """The tile could also have been missed in the play that it lengthens."""
    finder, hooked = TurnFinder(4.0), play(HORN, "8F ....S")
    add(finder, HORN, hooked, 10.0)
    finder.add_motion()
    first = add(finder, HORN, play(hooked, "J2 IMPULS.E"), 13.0)
    assert first is not None and first.events == (PlayMade(1, written(HORN, "8F ....S")),)


def test_play_that_is_taken_off_during_the_wait_is_no_turn() -> None:
    finder = TurnFinder(4.0)
    add(finder, START, HORN, 10.0)
    finder.add_motion()
    add(finder, START, START, 12.0)
    assert finder.pending is None and finder.check(60.0) is None


@pytest.mark.parametrize(
    "hidden",
    [
        {"I8": {HIDDEN: 1.0}, "J8": {HIDDEN: 1.0}},
        {"F8": {HIDDEN: 1.0}},
        {"G8": {HIDDEN: 1.0}},
        {"G8": {HIDDEN: 0.6, "O": 0.4}},
    ],
)
def test_hand_over_a_part_of_the_play_ends_no_turn(hidden: dict[str, dict[str, float]]) -> None:
    finder = TurnFinder(4.0)
    finder.add_reading(seen(HORN.board, hidden), make_context(START), 10.0)
    assert finder.check(60.0) is None


DOUBT = {"G8": {"O": 0.6, "Q": 0.4}}


def test_play_with_a_doubtful_letter_is_a_turn_with_a_question() -> None:
    finder = TurnFinder(4.0)
    assert finder.add_reading(seen(HORN.board, DOUBT), make_context(START), 10.0) is None
    assert finder.check(13.9) is None
    turn = finder.check(14.0)
    assert turn is not None and turn.events == (PlayMade(0, written(START, "8F HORN")),)
    assert not turn.is_certain and "G8" in turn.question


def test_doubt_about_the_next_play_does_not_keep_the_first_one_from_being_a_turn() -> None:
    finder = TurnFinder(4.0)
    finder.add_reading(seen(HORN.board, DOUBT), make_context(START), 10.0)
    finder.add_motion()
    both = seen(FARM.board, {**DOUBT, "H9": {"R": 0.6, "F": 0.4}, "H7": {"A": 0.6, "I": 0.4}})
    first = finder.add_reading(both, make_context(START), 13.0)
    assert first is not None and first.events == (PlayMade(0, written(START, "8F HORN")),)


def test_doubtful_reading_keeps_the_certain_letters_of_the_play() -> None:
    finder = TurnFinder(4.0)
    add(finder, START, HORN, 10.0)
    finder.add_motion()
    finder.add_reading(seen(HORN.board, {"G8": {"A": 0.6, "O": 0.4}}), make_context(START), 13.0)
    turn = finder.check(17.0)
    assert turn is not None and turn.events == (PlayMade(0, written(START, "8F HORN")),) and not turn.question


def test_letter_that_a_clear_reading_contradicts_is_corrected_with_the_next_play() -> None:
    finder = TurnFinder(4.0)
    finder.add_reading(seen(HORN.board, {"G8": {"A": 0.6, "O": 0.4}}), make_context(START), 10.0)
    first = finder.check(14.0)
    assert first is not None
    game = START.push(*first.events)
    squares = frozenset({parse_square("G8")})
    context = TurnContext(
        as_ledger(game), reading_history=first.history, question_history=QuestionHistory(open_squares=squares)
    )
    finder.add_reading(seen(FARM.board), context, 20.0)
    second = finder.check(24.0)
    assert second is not None and game.push(*second.events).board == FARM.board


def test_recorded_tile_that_is_not_seen_stops_no_later_turn() -> None:
    finder = TurnFinder(4.0)
    finder.add_reading(seen(PASTE.board, {"F8": {EMPTY: 1.0}}), make_context(FARM), 10.0)
    turn = finder.check(14.0)
    assert turn is not None and turn.decision.open_question is not None
    assert (PlayMade(0, written(FARM, "10F PASTE")),) in turn.decision.open_question.answers


def test_older_tile_that_is_not_seen_stops_no_later_turn() -> None:
    finder, ten = TurnFinder(4.0), play(PASTE, "I10 .EN")
    finder.add_reading(seen(ten.board, {"F8": {EMPTY: 1.0}}), make_context(PASTE), 10.0)
    turn = finder.check(14.0)
    assert turn is not None and turn.events == (PlayMade(1, written(PASTE, "I10 .EN")),) and "F8" in turn.question


def test_play_that_was_read_one_row_off_is_corrected_with_the_next_play() -> None:
    finder, low, moved = TurnFinder(4.0), play(FARM, "10E PASTE"), play(FARM, "10F PASTE")
    add(finder, low, play(moved, "K6 TABLE"), 10.0)
    turn = finder.check(14.0)
    assert turn is not None and low.push(*turn.events).board == play(moved, "K6 TABLE").board and turn.question


@pytest.mark.parametrize("doubt", [{"H12": {"E": 1.0}}, {"J8": {EMPTY: 0.6, "S": 0.4}}])
def test_play_that_may_not_be_complete_is_a_turn_after_the_next_play(doubt: dict[str, dict[str, float]]) -> None:
    finder = TurnFinder(4.0)
    finder.add_reading(seen(HORN.board, doubt), make_context(START), 10.0)
    assert finder.check(60.0) is None
    turn = add(finder, START, FARM, 70.0)
    assert turn is not None and turn.events == (PlayMade(0, written(START, "8F HORN")),)


def test_two_plays_that_appear_together_are_turns_after_the_next_play() -> None:
    finder = TurnFinder(4.0)
    assert add(finder, START, FARM, 10.0) is None
    assert finder.check(60.0) is None
    turn = add(finder, START, PASTE, 70.0)
    assert turn is not None and START.push(*turn.events).board == FARM.board and turn.question
    assert add(finder, FARM, PASTE, 70.0) is None and finder.check(74.0) is not None


def test_second_of_two_plays_may_grow() -> None:
    finder = TurnFinder(4.0)
    add(finder, START, play(HORN, "H6 FA."), 10.0)
    finder.add_motion()
    add(finder, START, FARM, 13.0)
    turn = add(finder, START, PASTE, 20.0)
    assert turn is not None and [event.player for event in turn.events if isinstance(event, PlayMade)] == [0, 1]


def test_tile_that_was_lifted_and_is_back_is_no_turn() -> None:
    """Without its first letter, what is left of the last play may be another play of its player."""
    finder, sphorn = TurnFinder(4.0), play(HORN, "8D SP....")
    add(finder, sphorn, play(HORN, "8E P...."), 10.0)
    assert finder.pending is not None
    finder.add_motion()
    assert add(finder, sphorn, sphorn, 12.0) is None
    assert finder.pending is None and finder.check(60.0) is None


def test_play_that_is_gone_after_its_turn_is_kept_with_its_question() -> None:
    finder = TurnFinder(4.0)
    add(finder, FARM, HORN, 30.0)
    assert finder.check(60.0) is None
    turn = finder.take()
    assert turn is not None and turn.events == (PlayWithdrawn(1),) and turn.question


def test_blank_without_a_letter_keeps_no_play_from_being_a_turn() -> None:
    finder = TurnFinder(4.0)
    with_blank = play(START, "8F HOrN")
    reading = seen(with_blank.board, {"H8": {"?": 1.0}})
    finder.add_reading(reading, make_context(START), 10.0)
    turn = finder.check(14.0)
    assert turn is not None and turn.is_certain and not turn.question
