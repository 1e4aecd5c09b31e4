"""Tiles of a new play that belong to the previous play: missed in its reading, or added after an early press."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.board import parse_square
from engine.events import Passed, PlayMade, QuestionDeferred, SquareCorrected, TurnCorrected
from engine.game import Game
from engine.inference.history import ReadingHistory
from engine.tiles import Tile
from engine.validation import Option, Proposal, Reason, Source
from engine.validation.earlier_plays import check_earlier_play, check_hidden_tile, check_lengthened_play
from tests.support.engine_table import new_game, play, seen, written

WORDS = frozenset({"HORN", "FARM", "PASTE", "JOHN", "JOT", "SHORN", "OHM"})


def test_end_tile_belongs_to_the_play_before_if_that_completes_its_word() -> None:
    game = play(new_game(), "8G OHN")
    event = PlayMade(1, written(game, "F8 JOT"))
    found = next(check_earlier_play(Proposal(game, (event,), Source.CAMERA, seen(game.board), words=WORDS)))
    assert found.reason is Reason.TILE_OF_EARLIER_PLAY and found.values == ("F8", "Anna")
    longer = TurnCorrected(0, PlayMade(0, written(new_game(), "8F JOHN")))
    assert found.options[0].events[0] == longer and found.options[1] == Option((event,))


def test_end_tile_is_asked_about_if_the_picture_before_did_not_exclude_it() -> None:
    game = play(new_game(), "8G OHM")
    event = PlayMade(1, written(game, "F8 JOT"))
    faint = ReadingHistory(faint_tiles={parse_square("F8"): 0.01})
    found = next(check_earlier_play(Proposal(game, (event,), Source.CAMERA, seen(game.board), faint, WORDS)))
    assert found.options[0] == Option((event,))


def test_end_tile_of_a_new_play_is_no_question_without_evidence() -> None:
    game = play(new_game(), "8G HORN")
    event = PlayMade(1, written(game, "F8 SOT"))
    assert not list(check_earlier_play(Proposal(game, (event,), Source.CAMERA, seen(game.board), words=WORDS)))


def test_faint_end_tile_belongs_to_the_play_before_if_the_longer_word_is_listed() -> None:
    game = play(new_game(), "8G HORN")
    event = PlayMade(1, written(game, "F8 SOT"))
    faint = ReadingHistory(faint_tiles={parse_square("F8"): 0.01})
    proposal = Proposal(game, (event,), Source.CAMERA, seen(game.board), faint, WORDS)
    assert next(check_earlier_play(proposal)).options[1] == Option((event,))


def propose(game: Game, event: PlayMade, seat: int | None = None) -> Proposal:
    return Proposal(game, (event,), Source.CAMERA, seen(game.board), words=WORDS, seat=seat)


def complete(notation: str, number: int = 0) -> TurnCorrected:
    """Return the correction of Anna's first play to a longer play."""
    return TurnCorrected(number, PlayMade(0, written(new_game(), notation)))


def test_tiles_that_complete_the_word_after_an_early_press_leave_the_turn_to_the_next_player() -> None:
    game = play(new_game(), "8F PAS")
    event = PlayMade(1, written(game, "8F ...TE"))
    found = next(check_earlier_play(propose(game, event)))
    assert found.values == ("I8, J8", "Anna") and found.squares == event.play.squares
    longer = complete("8F PASTE")
    assert found.options == (Option((longer,)), Option((longer, Passed(1))), Option((event,)))


def test_tiles_that_complete_the_word_are_of_a_pass_if_the_next_player_has_pressed() -> None:
    game = play(new_game(), "8F PAS")
    found = next(check_earlier_play(propose(game, PlayMade(1, written(game, "8F ...TE")), seat=1)))
    assert found.options[0] == Option((complete("8F PASTE"), Passed(1)))


def test_tiles_added_at_another_press_of_the_same_player_belong_to_the_play_before() -> None:
    game = play(new_game(), "8G OHM")
    event = PlayMade(1, written(game, "8G ...S"))
    found = next(check_earlier_play(propose(game, event, seat=0)))
    after_pass = Option((Passed(1), replace(event, player=0)))
    assert found.options[0] == Option((complete("8G OHMS"),)) and found.options[-2:] == (Option((event,)), after_pass)


def test_tiles_that_extend_a_listed_word_are_a_play_of_the_next_player_who_pressed() -> None:
    game = play(new_game(), "8F HORN")
    assert not list(check_lengthened_play(propose(game, PlayMade(1, written(game, "8F ....S")), seat=1)))


@pytest.mark.parametrize("words", [WORDS | {"HORNS"}, WORDS, None])
def test_shared_button_leaves_open_who_extended_the_word(words: frozenset[str] | None) -> None:
    game = play(new_game(), "8F HORN")
    event = PlayMade(1, written(game, "8F ....S"))
    found = next(check_lengthened_play(replace(propose(game, event), words=words)))
    longer = complete("8F HORNS")
    assert found.options == (Option((event,)), Option((longer,)), Option((longer, Passed(1))))


def test_play_with_a_correction_is_not_asked_about() -> None:
    game = play(new_game(), "8F HORN")
    proposal = propose(game, PlayMade(1, written(game, "8F ....S")))
    corrected = SquareCorrected(parse_square("F8"), Tile("T"))
    assert not list(check_lengthened_play(replace(proposal, events=(corrected, *proposal.events))))


def test_second_play_in_a_row_is_no_part_of_the_first() -> None:
    game = play(new_game(), "8F PAS")
    proposal = propose(game, PlayMade(0, written(game, "8F ...TE")))
    assert not [*check_earlier_play(proposal), *check_lengthened_play(proposal)]


def test_tiles_elsewhere_are_no_part_of_the_play_before() -> None:
    game = play(new_game(), "8G OHM")
    assert not list(check_earlier_play(propose(game, PlayMade(1, written(game, "F8 JOT")), seat=0)))


def hide(*squares: str) -> ReadingHistory:
    """Return the history after a reading in which these squares were hidden."""
    return ReadingHistory(log_likelihoods={parse_square(square): {} for square in squares})


def ask_about(game: Game, square: str) -> Game:
    """Return the game with an open question whether a square has a tile."""
    return game.push(QuestionDeferred(1, "A tile?", ("yes", "no"), ((), ()), 0, squares=(parse_square(square),)))


def test_tiles_that_a_hand_hid_before_are_asked_about_although_the_next_player_has_pressed() -> None:
    game = play(new_game(), "8F HORN")
    event = PlayMade(1, written(game, "8F ....ED"))
    proposal = replace(propose(game, event, seat=1), reading_history=hide("J8", "K8"))
    found = next(check_earlier_play(proposal))
    longer = complete("8F HORNED")
    assert found.options == (Option((event,)), Option((longer, Passed(1))), Option((longer,)))


def test_tiles_of_which_a_hand_hid_only_one_are_no_question() -> None:
    game = play(new_game(), "8F HORN")
    proposal = replace(propose(game, PlayMade(1, written(game, "8F ....ED")), seat=1), reading_history=hide("K8"))
    assert not list(check_earlier_play(proposal))


@pytest.mark.parametrize("seat", [None, 0])
def test_tile_that_was_hidden_since_an_older_play_may_belong_to_it(seat: int | None) -> None:
    game = play(play(new_game(), "8F HOR"), "H6 FA.M")
    event = PlayMade(0, written(game, "8F ...N"))
    proposal = replace(propose(ask_about(game, "I8"), event, seat=seat), words=None, reading_history=hide("I8"))
    found = next(check_hidden_tile(proposal))
    longer = complete("8F HORN")
    assert found.reason is Reason.TILE_ADDED and found.options[0] == Option((event,))
    assert {*found.options[1:]} == {Option((longer, Passed(0))), Option((longer,))}
    assert not list(check_hidden_tile(replace(proposal, reading_history=hide("A1"))))


@pytest.mark.parametrize("seat", [None, 1])
def test_tile_in_question_may_belong_to_the_play_before_if_no_earlier_reading_is_known(seat: int | None) -> None:
    """The program was restarted, or a turn was undone, while the question whether the square has a tile was open."""
    game = play(new_game(), "8F HOR")
    event = PlayMade(1, written(game, "8F ...N"))
    proposal = replace(propose(ask_about(game, "I8"), event, seat=seat), words=None)
    longer = complete("8F HORN")
    found = next(check_earlier_play(proposal))
    assert {*found.options} == {Option((event,)), Option((longer, Passed(1))), Option((longer,))}
    assert not list(check_earlier_play(replace(proposal, reading_history=hide("A1"))))
