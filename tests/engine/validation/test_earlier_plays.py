"""Tiles of a new play that belong to the previous play: missed in its reading, or added after an early press."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.board import parse_square
from engine.events import Passed, PlayMade, SquareCorrected
from engine.game import Game
from engine.inference.history import ReadingHistory
from engine.ledger import Source
from engine.tiles import Tile
from engine.validation import Option, Proposal, QuestionHistory, Reason
from engine.validation.earlier_plays import check_earlier_play, check_hidden_tile, check_lengthened_play
from engine.validation.open_questions import find_provisional_turns
from tests.support.engine_table import act_ref, ask, new_game, new_ledger, play, record_one_of, seen, written

WORDS = frozenset({"HORN", "FARM", "PASTE", "JOHN", "JOT", "SHORN", "OHM"})


def test_end_tile_belongs_to_the_play_before_if_that_completes_its_word() -> None:
    game = play(new_game(), "8G OHN")
    event = PlayMade(1, written(game, "F8 JOT"))
    found = next(check_earlier_play(Proposal(game, (event,), Source.PRESS, seen(game.board), words=WORDS)))
    assert found.reason is Reason.TILE_OF_EARLIER_PLAY and found.values == ("F8", "Anna")
    assert found.options[0].events[:1] == add("F8 J") and found.options[1] == Option((event,))


def test_end_tile_is_asked_about_if_the_picture_before_did_not_exclude_it() -> None:
    game = play(new_game(), "8G OHM")
    event = PlayMade(1, written(game, "F8 JOT"))
    faint = ReadingHistory(faint_tiles={parse_square("F8"): 0.01})
    found = next(check_earlier_play(Proposal(game, (event,), Source.PRESS, seen(game.board), faint, WORDS)))
    assert found.options[0] == Option((event,))


def test_end_tile_of_a_new_play_is_no_question_without_evidence() -> None:
    game = play(new_game(), "8G HORN")
    event = PlayMade(1, written(game, "F8 SOT"))
    assert not list(check_earlier_play(Proposal(game, (event,), Source.PRESS, seen(game.board), words=WORDS)))


def test_faint_end_tile_belongs_to_the_play_before_if_the_longer_word_is_listed() -> None:
    game = play(new_game(), "8G HORN")
    event = PlayMade(1, written(game, "F8 SOT"))
    faint = ReadingHistory(faint_tiles={parse_square("F8"): 0.01})
    proposal = Proposal(game, (event,), Source.PRESS, seen(game.board), faint, WORDS)
    assert next(check_earlier_play(proposal)).options[1] == Option((event,))


def propose(game: Game, event: PlayMade, seat: int | None = None) -> Proposal:
    return Proposal(game, (event,), Source.PRESS, seen(game.board), words=WORDS, seat=seat)


def add(*tiles: str) -> tuple[SquareCorrected, ...]:
    """Return the corrections that add tiles, such as `J8 S`, to Anna's first play."""
    pairs = (tile.split() for tile in tiles)
    return tuple(SquareCorrected(parse_square(square), Tile(letter), act_ref(0)) for square, letter in pairs)


def test_tiles_that_complete_the_word_after_an_early_press_leave_the_turn_to_the_next_player() -> None:
    game = play(new_game(), "8F PAS")
    event = PlayMade(1, written(game, "8F ...TE"))
    found = next(check_earlier_play(propose(game, event)))
    assert found.values == ("I8, J8", "Anna") and found.squares == event.play.squares
    longer = add("I8 T", "J8 E")
    assert found.options == (Option(longer), Option((*longer, Passed(1))), Option((event,)))


def test_tiles_that_complete_the_word_are_of_a_pass_if_the_next_player_has_pressed() -> None:
    game = play(new_game(), "8F PAS")
    found = next(check_earlier_play(propose(game, PlayMade(1, written(game, "8F ...TE")), seat=1)))
    assert found.options[0] == Option((*add("I8 T", "J8 E"), Passed(1)))


def test_tiles_added_at_another_press_of_the_same_player_belong_to_the_play_before() -> None:
    game = play(new_game(), "8G OHM")
    event = PlayMade(1, written(game, "8G ...S"))
    found = next(check_earlier_play(propose(game, event, seat=0)))
    after_pass = Option((Passed(1), replace(event, player=0)))
    assert found.options[0] == Option(add("J8 S")) and found.options[-2:] == (Option((event,)), after_pass)


def test_tiles_that_extend_a_listed_word_are_a_play_of_the_next_player_who_pressed() -> None:
    game = play(new_game(), "8F HORN")
    assert not list(check_lengthened_play(propose(game, PlayMade(1, written(game, "8F ....S")), seat=1)))


@pytest.mark.parametrize("words", [WORDS | {"HORNS"}, WORDS, None])
def test_shared_button_leaves_open_who_extended_the_word(words: frozenset[str] | None) -> None:
    game = play(new_game(), "8F HORN")
    event = PlayMade(1, written(game, "8F ....S"))
    found = next(check_lengthened_play(replace(propose(game, event), words=words)))
    longer = add("J8 S")
    assert found.options == (Option((event,)), Option(longer), Option((*longer, Passed(1))))


def test_late_answer_about_a_letter_of_the_play_counts_in_the_longer_play() -> None:
    ledger = record_one_of(new_ledger(), "8F HARN", "8F HORN")
    found = next(check_lengthened_play(propose(ledger.game, PlayMade(1, written(ledger.game, "8F ....S")))))
    ledger = ask(ledger, *(option.events for option in found.options))
    assert find_provisional_turns(ledger).keys() == {0, 1}
    after = ledger.answer(2, 1).answer(1, 1)
    assert [(turn.player, turn.word, turn.score) for turn in after.game.turns] == [(0, "HORNS", 16)]


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


def ask_about(square: str) -> QuestionHistory:
    """Return the question history while it is in question whether a square has a tile."""
    return QuestionHistory(open_squares=frozenset({parse_square(square)}))


def test_tiles_that_a_hand_hid_before_are_asked_about_although_the_next_player_has_pressed() -> None:
    game = play(new_game(), "8F HORN")
    event = PlayMade(1, written(game, "8F ....ED"))
    proposal = replace(propose(game, event, seat=1), reading_history=hide("J8", "K8"))
    found = next(check_earlier_play(proposal))
    longer = add("J8 E", "K8 D")
    assert found.options == (Option((event,)), Option((*longer, Passed(1))), Option(longer))


def test_tiles_of_which_a_hand_hid_only_one_are_no_question() -> None:
    game = play(new_game(), "8F HORN")
    proposal = replace(propose(game, PlayMade(1, written(game, "8F ....ED")), seat=1), reading_history=hide("K8"))
    assert not list(check_earlier_play(proposal))


@pytest.mark.parametrize("seat", [None, 0])
def test_tile_that_was_hidden_since_an_older_play_may_belong_to_it(seat: int | None) -> None:
    game = play(play(new_game(), "8F HOR"), "H6 FA.M")
    event = PlayMade(0, written(game, "8F ...N"))
    proposal = replace(propose(game, event, seat), words=None, reading_history=hide("I8"))
    proposal = replace(proposal, question_history=ask_about("I8"))
    found = next(check_hidden_tile(proposal))
    longer = add("I8 N")
    assert found.reason is Reason.TILE_ADDED and found.options[0] == Option((event,))
    assert {*found.options[1:]} == {Option((*longer, Passed(0))), Option(longer)}
    assert not list(check_hidden_tile(replace(proposal, reading_history=hide("A1"))))


@pytest.mark.parametrize("seat", [None, 1])
def test_tile_in_question_may_belong_to_the_play_before_if_no_earlier_reading_is_known(seat: int | None) -> None:
    """The program was restarted, or a turn was undone, while the question whether the square has a tile was open."""
    game = play(new_game(), "8F HOR")
    event = PlayMade(1, written(game, "8F ...N"))
    proposal = replace(propose(game, event, seat), words=None, question_history=ask_about("I8"))
    longer = add("I8 N")
    found = next(check_earlier_play(proposal))
    assert {*found.options} == {Option((event,)), Option((*longer, Passed(1))), Option(longer)}
    assert not list(check_earlier_play(replace(proposal, reading_history=hide("A1"))))
