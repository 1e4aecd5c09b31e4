"""Questions and notices about a play: its tiles, its blanks, its words, and whose turn it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from engine.board import parse_square
from engine.events import Exchanged, Passed, PlayMade, PositionEntered, TurnCorrected
from engine.game import Game
from engine.ledger import Source
from engine.rules import STANDARD_RULES
from engine.tiles import Tile
from engine.validation import LOOK_AGAIN, Option, Proposal, QuestionHistory, Reason, validate_turn
from engine.validation.alternative_plays import list_other_orders
from engine.validation.play_checks import (
    check_closed_letters,
    check_exchanges,
    check_marked_blank,
    check_position,
    check_rack,
    check_record,
    check_word_ends,
    check_words,
)
from tests.support.engine_table import act_ref, new_game, play, seen, written

WORDS = frozenset({"HORN", "SHORN", "HORNS", "TORN", "FARM"})
CLOSED_RULES = replace(STANDARD_RULES, open_dictionary=False)


def propose(
    notation: str, doubts: Mapping[str, Mapping[str, float]] | None = None, game: Game | None = None
) -> Proposal:
    """Return the proposal of a play that a camera has read."""
    game = game or new_game()
    event = PlayMade(game.to_move, written(game, notation))
    reading = seen(event.play.apply_to(game.board), doubts)
    return Proposal(game, (event,), Source.PRESS, reading, words=WORDS)


def enter(game: Game, notation: str) -> Proposal:
    """Return the proposal of a play entered by hand."""
    return Proposal(game, (PlayMade(game.to_move, written(game, notation)),), Source.HAND)


@pytest.mark.parametrize(
    ("plays", "notation", "reason"),
    [
        ((), "8A HORN", Reason.CENTRE_MISSED),
        (("8F HORN",), "1A FARM", Reason.NOT_JOINED),
        ((), "8H A", Reason.FIRST_WORD_SHORT),
        ((), "8D QUARTERS", Reason.TOO_MANY_TILES),
    ],
)
def test_placement_by_hand_is_noted(plays: tuple[str, ...], notation: str, reason: Reason) -> None:
    found = list(check_record(enter(play(new_game(), *plays), notation)))
    assert [finding.reason for finding in found] == [reason] and not found[0].options


def test_pass_by_hand_has_no_defects() -> None:
    assert not list(check_record(Proposal(new_game(), (Passed(0),), Source.HAND)))


@pytest.mark.parametrize("loose", [(), (parse_square("A1"),)])
def test_tiles_of_a_position_that_are_not_connected_are_noted(loose: tuple[int, ...]) -> None:
    board = play(new_game(), "8F HORN").board.with_tiles(dict.fromkeys(loose, Tile("S")))
    position = PositionEntered(tuple((square, board.tile(square)) for square in board.occupied_squares()), (0, 0), 0)
    found = list(check_position(Proposal(new_game(), (position,), Source.HAND)))
    assert [(finding.values, finding.squares) for finding in found] == ([(("A1",), loose)] if loose else [])


def test_more_of_a_letter_than_the_set_has_is_noted() -> None:
    found = next(check_record(enter(new_game(), "8F KKKK")))
    assert found.reason is Reason.MORE_THAN_SET and found.values == ("8F KKKK", "K")


def test_word_of_four_blanks_is_noted() -> None:
    assert next(check_record(enter(new_game(), "8F haus"))).values[1] == "?"


def test_correction_notes_the_play_that_it_leaves_alone() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M")
    found = list(check_record(Proposal(game, (TurnCorrected(act_ref(0), None),), Source.HAND)))
    assert Reason.GAP in {finding.reason for finding in found}


def test_exchange_of_more_tiles_than_a_rack_holds_is_noted() -> None:
    found = next(check_exchanges(Proposal(new_game(), (Exchanged(0, 8),), Source.HAND)))
    assert found.reason is Reason.TOO_MANY_EXCHANGED


def test_play_of_more_tiles_than_are_left_is_asked_about() -> None:
    game = play(new_game(), "8F HORN")
    game = replace(game, state=replace(game.state, bag_count=0, rack_counts=(3, 2)))
    found = next(check_rack(propose("H6 FA.M", game=game)))
    assert found.reason is Reason.RACK_TOO_SMALL and found.values == ("Ben", "2", "3")


def test_two_plays_of_which_one_is_too_long_for_its_player_are_offered_the_other_way_round() -> None:
    game = play(new_game(), "8F HORN")
    game = replace(game, state=replace(game.state, bag_count=0, rack_counts=(3, 2)))
    plays = PlayMade(1, written(game, "H6 FA.M")), PlayMade(0, written(game, "I7 S.A"))
    found = next(check_rack(Proposal(game, plays, Source.PRESS)))
    swapped = PlayMade(1, plays[1].play), PlayMade(0, plays[0].play)
    assert [option.events for option in found.options] == [(), plays, swapped]


def test_tile_at_the_crossing_of_two_plays_may_belong_to_either() -> None:
    game = play(new_game(), "8F HORN")
    one = PlayMade(1, written(game, "I8 .AIL"))
    nail_first = one, PlayMade(0, written(game.push(one), "9H B.T"))
    other = PlayMade(1, written(game, "9H BAT"))
    bat_first = other, PlayMade(0, written(game.push(other), "I8 ..IL"))
    assert list_other_orders(game, nail_first) == (bat_first,)
    assert list_other_orders(game, bat_first) == (nail_first,)


def test_three_plays_may_have_been_made_in_any_order_that_is_legal() -> None:
    """HAT, NOD and FARM do not depend on each other; DO needs the D of NOD."""
    game = play(new_game(), "8F HORN")
    hat, nod, farm = (PlayMade(1, written(game, notation)) for notation in ("F8 .AT", "I8 .OD", "H6 FA.M"))
    assert len(list_other_orders(game, (hat, nod, farm))) == 5
    do = PlayMade(1, written(game.push(nod), "10I .O"))
    assert list_other_orders(game, (hat, nod, do)) == ((nod, hat, do), (nod, do, hat))


def test_play_of_all_tiles_that_are_left_is_no_question() -> None:
    game = play(new_game(), "8F HORN")
    game = replace(game, state=replace(game.state, bag_count=0, rack_counts=(3, 3)))
    assert not list(check_rack(propose("H6 FA.M", game=game)))


def test_letter_that_may_be_written_on_a_blank_is_asked_about() -> None:
    proposal = propose("8F HORN", {"F8": {"H": 0.95, "?": 0.04}})
    found = next(check_marked_blank(proposal))
    assert found.reason is Reason.BLANK_OR_LETTER
    assert found.options == (Option(proposal.events), Option((PlayMade(0, written(new_game(), "8F hORN")),)))
    assert not list(check_marked_blank(propose("8F HORN")))


def test_listed_word_is_no_question() -> None:
    assert not list(check_words(propose("8F HORN", {"F8": {"H": 0.97, "T": 0.02}})))


def test_unlisted_word_is_asked_about_if_a_listed_one_looks_alike() -> None:
    proposal = propose("8F MORN", {"F8": {"M": 0.97, "H": 0.02}})
    found = next(check_words(proposal))
    assert found.reason is Reason.WORD_UNLISTED and found.words == ("MORN",) and found.squares == (parse_square("F8"),)
    assert found.options == (
        Option(proposal.events),
        Option((PlayMade(0, written(new_game(), "8F HORN")),)),
        LOOK_AGAIN,
    )


def test_letters_of_similar_shape_have_one_order() -> None:
    """A set of letters has another order in each run of the program."""
    proposal = replace(propose("8F HORN", {"F8": {"H": 0.9}}), words=frozenset({"KORN", "MORN", "NORN", "WORN"}))
    options = next(check_words(proposal)).options
    plays = [event for option in options for event in option.events]
    assert plays == [PlayMade(0, written(new_game(), f"8F {word}")) for word in ("HORN", "KORN", "MORN")]


def test_unlisted_word_that_is_read_clearly_is_no_question() -> None:
    assert not list(check_words(propose("8F MORN")))


def test_unlisted_word_is_asked_about_once() -> None:
    proposal = propose("8F MORN", {"F8": {"M": 0.97, "H": 0.02}})
    asked = QuestionHistory(words=frozenset(next(check_words(proposal)).words))
    assert not list(check_words(replace(proposal, question_history=asked)))


def test_closed_dictionary_reveals_nothing() -> None:
    game = new_game(CLOSED_RULES)
    for notation in ("8F MORN", "8F HORN"):
        proposal = propose(notation, {"F8": {notation[3]: 0.97, "T": 0.02}}, game)
        assert not list(check_words(proposal))
        assert next(check_closed_letters(proposal)).reason is Reason.LETTER_UNSURE
    assert not list(check_closed_letters(propose("8F MORN", game=game)))


def test_doubtful_letter_of_a_listed_word_is_no_question_if_words_are_looked_up() -> None:
    assert not list(check_closed_letters(propose("8F HORN", {"F8": {"H": 0.97, "T": 0.02}})))


def test_word_end_that_may_hold_a_tile_is_asked_about() -> None:
    proposal = propose("8F HORN", {"E8": {".": 0.99, "S": 0.009}})
    found = next(check_word_ends(proposal))
    assert found.reason is Reason.TILE_BESIDE and found.squares == (parse_square("E8"),)
    assert found.options[1] == Option((PlayMade(0, written(new_game(), "8E SHORN")),))


def test_word_end_where_no_letter_makes_a_word_is_no_question() -> None:
    assert not list(check_word_ends(propose("8F TORN", {"E8": {".": 0.99, "S": 0.009}})))


def test_empty_word_end_is_no_question() -> None:
    assert not list(check_word_ends(propose("8F HORN")))


def test_import_never_asks() -> None:
    proposal = replace(propose("8F H?RN"), source=Source.IMPORT, reading=None)
    verdict = validate_turn(proposal)
    assert verdict.question is None and verdict.events == proposal.events
    assert [finding.reason for finding in verdict.notices] == [Reason.BLANK_UNNAMED]


def test_first_option_of_the_question_counts() -> None:
    proposal = propose("8F MORN", {"F8": {"M": 0.97, "H": 0.02}})
    verdict = validate_turn(proposal)
    assert verdict.question is not None and verdict.events == proposal.events
