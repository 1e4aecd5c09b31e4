"""Whose turn it was, by the order of the turns and the button or phone that ended the last one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.board import parse_square
from engine.events import (
    BlankTaken,
    Challenged,
    Event,
    Exchanged,
    Passed,
    PlayMade,
    PlayWithdrawn,
    TileRecycled,
    TurnCorrected,
    TurnGiven,
)
from engine.game import Game
from engine.ledger import Source
from engine.rules import Rules
from engine.scoring import Status
from engine.tiles import Tile
from engine.validation import LOOK_AGAIN, PRESSED_BY_MISTAKE, Finding, Option, Proposal, QuestionHistory, Reason
from engine.validation.turn_checks import (
    check_missed_press,
    check_order,
    check_seat,
    check_withdrawn_play,
    move_to_seat,
)
from tests.support.engine_table import act_ref, new_game, play, seen, written

H8 = parse_square("H8")


def propose(notation: str) -> Proposal:
    """Return the proposal of a first play that a camera has read."""
    game = new_game()
    event = PlayMade(0, written(game, notation))
    return Proposal(game, (event,), Source.PRESS, seen(event.play.apply_to(game.board)))


def list_options(
    game: Game, events: tuple[Event, ...], seat: int, words: frozenset[str] | None = None
) -> list[list[tuple[str, int]]]:
    """Return the turns that the question offers, each as its word or kind and its player."""
    found = next(check_seat(Proposal(game, events, Source.PRESS, words=words, seat=seat)))
    turns = [game.push(*option.events).turns[len(game.turns) :] for option in found.options if option.events]
    return [[(turn.word or str(turn.kind), turn.player) for turn in option] for option in turns]


def test_turn_of_the_wrong_player_is_noted() -> None:
    found = next(check_order(Proposal(new_game(), (Passed(1),), Source.HAND)))
    assert found.reason is Reason.OUT_OF_TURN and found.values == ("Ben", "Anna")


def test_press_from_another_seat_is_asked_about() -> None:
    proposal = replace(propose("8F HORN"), words=frozenset({"HORN"}), seat=1)
    found = next(check_seat(proposal))
    play_of_ben = replace(proposal.events[0], player=1)  # type: ignore[type-var]
    assert found.options == (Option(proposal.events), Option((Passed(0), play_of_ben)), LOOK_AGAIN)
    assert found.needs_picture, "a hand may hide the tiles of the player who forgot the button"


def test_pass_from_another_seat_is_asked_about() -> None:
    found = next(check_seat(Proposal(new_game(), (Passed(0),), Source.PRESS, seat=1)))
    assert found.options == (PRESSED_BY_MISTAKE, Option((Passed(0),)), LOOK_AGAIN)


def test_turn_by_hand_from_another_seat_counts_until_it_is_answered() -> None:
    found = next(check_seat(Proposal(new_game(), (Passed(0),), Source.HAND, seat=1)))
    assert found.options == (Option((Passed(0),)), Option((Passed(0), Passed(1))))


def test_players_who_are_skipped_pass_in_their_order() -> None:
    game = new_game(players=4).push(Passed(0))
    event = PlayMade(1, written(game, "8F HORN"))
    assert move_to_seat(game, (event,), 0) == (Passed(1), Passed(2), Passed(3), replace(event, player=0))


def make_lost_turn_game() -> Game:
    """Return a game of three players, in which Ben is to move and Cleo has lost the next turn."""
    return play(new_game(players=3), "8F HORN").push(Challenged(2, upheld=False))


def test_player_who_has_lost_the_turn_does_not_pass() -> None:
    game = make_lost_turn_game()
    event = PlayMade(1, written(game, "H6 FA.M"))
    assert move_to_seat(game, (event,), 0) == (Passed(1), replace(event, player=0))


def test_play_that_may_be_two_after_a_lost_turn_is_not_given_to_its_player() -> None:
    game = make_lost_turn_game()
    assert list_options(game, (PlayMade(1, written(game, "H6 FA.M")),), 0, frozenset({"FAR", "FARM"})) == [
        [("FA.M", 1)],
        [("pass", 1), ("FA.M", 0)],
        [("FA.", 1), ("...M", 0)],
    ]


def test_later_turn_that_a_correction_puts_out_of_turn_is_noted() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M", "10F PASTE")
    [found] = check_order(Proposal(game, (TurnCorrected(act_ref(0), None),), Source.HAND))
    assert found.reason is Reason.OUT_OF_TURN and found.values == ("Ben", "Anna")
    assert found.squares == game.turns[1].play.squares  # type: ignore[union-attr]


@pytest.mark.parametrize("event", [Passed(1), Exchanged(1, 3)])
def test_turn_without_a_play_that_is_given_to_another_player_is_out_of_turn(event: Passed | Exchanged) -> None:
    game = play(new_game(), "8F HORN").push(event)
    given = TurnGiven(game.turns[1].ref, 0)
    assert Status.OUT_OF_TURN in game.push(given).turns[1].status and not game.turns[1].status
    [found] = check_order(Proposal(game, (given,), Source.HAND))
    assert found == Finding(Reason.OUT_OF_TURN, ("Anna", "Ben"))


@pytest.mark.parametrize("seat", [None, 0, 2])
def test_press_without_a_seat_or_from_the_right_one_is_no_question(seat: int | None) -> None:
    assert not list(check_seat(replace(propose("8F HORN"), seat=seat)))


FIRST_LETTERS = [("HORN", "....S"), ("HOR", "...NS")]


@pytest.mark.parametrize(
    ("is_open", "words", "splits"),
    [
        (True, {"HORN", "HORNS"}, [[("HORN", 0), ("....S", 1)]]),
        (True, {"HORN", "HORNS", "OR", "SHORN"}, [[("HORN", 0), ("....S", 1)], [("OR", 0), ("H..NS", 1)]]),
        (True, {"HORNS"}, []),
        (False, {"HORN", "HORNS"}, [[(first, 0), (rest, 1)] for first, rest in FIRST_LETTERS]),
        (True, None, [[(first, 0), (rest, 1)] for first, rest in FIRST_LETTERS]),
    ],
)
def test_play_from_the_seat_of_the_next_player_may_be_two(
    is_open: bool, words: set[str] | None, splits: list[list[tuple[str, int]]]
) -> None:
    game = new_game(Rules(open_dictionary=is_open))
    event = PlayMade(0, written(game, "8F HORNS"))
    as_one = [[("HORNS", 0)], [("pass", 0), ("HORNS", 1)]]
    assert list_options(game, (event,), 1, None if words is None else frozenset(words)) == as_one + splits


def test_second_of_two_plays_from_another_seat_is_asked_about() -> None:
    game = new_game()
    events = play(game, "8F HORN", "H6 FA.M").events
    assert list_options(game, events, 0) == [
        [("HORN", 0), ("FA.M", 1)],
        [("pass", 0), ("HORN", 1), ("FA.M", 0)],
        [("FARM", 0), ("HO.N", 1)],
        [("pass", 0), ("FARM", 1), ("HO.N", 0)],
    ]


def test_order_of_two_plays_from_another_seat_is_asked_about() -> None:
    game = play(new_game(players=3), "8F HORN")
    events = play(game, "H6 FA.M", "F8 .AT").events[len(game.events) :]
    assert list_options(game, events, 0) == [
        [("FA.M", 1), (".AT", 2)],
        [("pass", 1), ("FA.M", 2), (".AT", 0)],
        [(".AT", 1), ("FA.M", 2)],
        [("pass", 1), (".AT", 2), ("FA.M", 0)],
    ]


@pytest.mark.parametrize(("unanswered", "is_offered"), [(1, True), (None, False)])
def test_play_after_an_unanswered_pass_of_the_same_seat_may_replace_it(
    unanswered: int | None, is_offered: bool
) -> None:
    """Ben pressed before placing the tiles, and again after it."""
    game = play(new_game(), "8F HORN").push(Passed(1))
    event = PlayMade(0, written(game, "H6 FA.M"))
    history = QuestionHistory(unanswered_pass=unanswered)
    found = next(check_seat(Proposal(game, (event,), Source.PRESS, question_history=history, seat=1)))
    replaced = Option((TurnCorrected(act_ref(1), PlayMade(None, event.play)),))
    assert (found.options[0] == replaced) is is_offered and (replaced in found.options) is is_offered


@pytest.mark.parametrize("swap", [BlankTaken(0, H8), TileRecycled(0, H8, Tile("K"))])
def test_turn_with_a_swap_from_another_seat_is_asked_about(swap: BlankTaken | TileRecycled) -> None:
    """The tile on H8 was swapped, or misread, by the player to move or by the player whose button ended the turn."""
    game = play(new_game(Rules(recycle=True, retake_blanks=True)), "8F HOrN", "H6 FA.M")
    event = PlayMade(0, written(game, "10F PASTE"))
    found = next(check_seat(Proposal(game, (swap, event), Source.PRESS, seat=1)))
    by_ben = replace(event, player=1)
    assert [option.events for option in found.options] == [
        (swap, event),
        (Passed(0), replace(swap, player=1), by_ben),
        (event,),
        (Passed(0), by_ben),
        (),
    ]


def test_two_plays_from_the_seat_of_the_second_are_no_question() -> None:
    game = new_game()
    events = play(game, "8F HORN", "H6 FA.M").events
    assert not list(check_seat(Proposal(game, events, Source.PRESS, seat=1)))


def test_seat_after_a_play_that_is_gone_is_no_question() -> None:
    game = play(new_game(), "8F HORN")
    events = (PlayWithdrawn(0), PlayMade(1, written(new_game(), "8F HORN")))
    assert not list(check_seat(Proposal(game, events, Source.PRESS, seat=0)))


def test_play_after_a_press_without_a_record_is_asked_about() -> None:
    missed = replace(propose("8F HORN"), question_history=QuestionHistory(has_missed_press=True))
    found = next(check_missed_press(missed))
    assert found.reason is Reason.PRESS_MISSED and found.values == ("Anna", "Ben")
    assert [option.events[-1] for option in found.options] == [missed.events[0], Passed(1)]


@pytest.mark.parametrize("seat", [0, 1])
def test_play_after_a_missed_press_is_clear_if_the_seat_is_known(seat: int) -> None:
    missed = replace(propose("8F HORN"), question_history=QuestionHistory(has_missed_press=True), seat=seat)
    assert not list(check_missed_press(missed))


def test_play_after_a_recorded_press_is_clear() -> None:
    assert not list(check_missed_press(propose("8F HORN")))


@pytest.mark.parametrize(("notation", "is_noted"), [("8F BORN", True), ("8F HORN", False)])
def test_withdrawn_play_that_is_corrected_is_noted(notation: str, is_noted: bool) -> None:
    game = play(new_game(), "8F HORN").push(PlayWithdrawn(0))
    corrected = TurnCorrected(act_ref(0), PlayMade(0, written(new_game(), notation)))
    found = list(check_withdrawn_play(Proposal(game, (corrected,), Source.HAND)))
    assert [(finding.reason, finding.values) for finding in found] == [(Reason.STILL_WITHDRAWN, ("Anna",))] * is_noted
