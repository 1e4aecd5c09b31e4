"""Turns are found from readings of the board at rest, without a button."""

from __future__ import annotations

from device.session.turns.decision import TurnContext
from device.session.turns.turn_finder import FoundTurn, TurnFinder
from engine.events import PlayMade, PlayWithdrawn
from engine.game import Game
from engine.reading import HIDDEN
from tests.support.engine_table import new_game, play, seen, written

CONTEXT = TurnContext()
START = new_game()
HORN = play(START, "8F HORN")
HORNS = play(START, "8F HORNS")
FARM = play(HORN, "H6 FA.M")


def add(finder: TurnFinder, game: Game, shown: Game, time: float) -> FoundTurn | None:
    return finder.add_reading(game, seen(shown.board), CONTEXT, time)


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


def test_play_that_is_taken_off_during_the_wait_is_no_turn() -> None:
    finder = TurnFinder(4.0)
    add(finder, START, HORN, 10.0)
    finder.add_motion()
    add(finder, START, START, 12.0)
    assert finder.pending is None and finder.check(60.0) is None


def test_hand_over_a_part_of_the_play_ends_no_turn() -> None:
    finder = TurnFinder(4.0)
    hidden = seen(HORN.board, {"I8": {HIDDEN: 1.0}, "J8": {HIDDEN: 1.0}})
    finder.add_reading(START, hidden, CONTEXT, 10.0)
    assert finder.check(60.0) is None


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
    finder.add_reading(START, reading, CONTEXT, 10.0)
    turn = finder.check(14.0)
    assert turn is not None and turn.is_certain and "blank on H8" in turn.question
