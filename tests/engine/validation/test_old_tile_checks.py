"""Questions about turns on record: points that were announced change only with an answer."""

from __future__ import annotations

from dataclasses import replace

from engine.board import parse_square
from engine.events import (
    GameEnded,
    Passed,
    PlayMade,
    PlayWithdrawn,
    SquareCorrected,
    TurnCorrected,
)
from engine.game import Game
from engine.inference.explain import infer_play
from engine.inference.history import ReadingHistory
from engine.ledger import Source
from engine.reading import BoardReading
from engine.tiles import Tile
from engine.validation import LOOK_AGAIN, Option, Proposal, QuestionHistory, Reason
from engine.validation.old_tile_checks import check_added_tiles, check_old_tiles, check_removed_tiles
from tests.support.engine_table import act_ref, new_game, play, seen, written

WORDS = frozenset({"HORN", "FARM", "PASTE", "JOHN", "JOT", "SHORN", "OHM"})
H8 = parse_square("H8")


def read_often(game: Game, reading: BoardReading) -> ReadingHistory:
    """Return what is remembered after a reading of the board as it is on record, and three equal ones."""
    history = infer_play(game, seen(game.board)).history
    for _ in range(3):
        history = infer_play(game, reading, history, ()).history
    return history


def test_removed_play_is_asked_about_and_withdrawn_until_the_answer() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M")
    withdrawn = (PlayWithdrawn(1),)
    found = next(check_removed_tiles(Proposal(game, withdrawn, Source.PRESS, seen(game.turns[0].board))))
    assert found.reason is Reason.TILES_REMOVED and found.values == ("Ben",)
    assert found.options == (Option(withdrawn), LOOK_AGAIN)


def test_removed_play_with_a_new_one_may_have_been_replaced_by_its_player() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M")
    nest = written(game, "I8 .EST")
    events = (PlayWithdrawn(1), PlayMade(0, nest))
    found = next(check_removed_tiles(Proposal(game, events, Source.PRESS, seen(game.board))))
    replaced, lifted = (TurnCorrected(act_ref(1), PlayMade(None, nest)),), (PlayMade(0, nest),)
    assert found.options == (Option(events), Option(replaced), Option(lifted), LOOK_AGAIN)


def test_removed_play_with_a_new_one_on_its_squares_was_not_only_lifted() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M")
    events = (PlayWithdrawn(1), PlayMade(0, written(game.push(PlayWithdrawn(1)), "H6 TU.N")))
    found = next(check_removed_tiles(Proposal(game, events, Source.PRESS, seen(game.board))))
    assert Option(events[1:]) not in found.options


def test_removed_play_was_replaced_by_the_player_whose_button_ended_the_turn() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M")
    nest = written(game, "I8 .EST")
    events, replaced = (PlayWithdrawn(1), PlayMade(0, nest)), (TurnCorrected(act_ref(1), PlayMade(None, nest)),)
    for seat, order in ((0, [events, replaced]), (1, [replaced, events])):
        found = next(check_removed_tiles(Proposal(game, events, Source.PRESS, seen(game.board), seat=seat)))
        assert [option.events for option in found.options[:2]] == order


def test_removed_play_with_a_new_one_may_be_followed_by_the_player_whose_button_ended_the_turn() -> None:
    game = play(new_game(players=3), "8F HORN", "H6 FA.M")
    nest = PlayMade(2, written(game, "I8 .EST"))
    by_anna = Passed(2), replace(nest, player=0)
    events = (PlayWithdrawn(1), nest)
    found = next(check_removed_tiles(Proposal(game, events, Source.PRESS, seen(game.board), seat=0)))
    moved = Option((PlayWithdrawn(1), *by_anna)), Option(by_anna)  # the last play may only have been lifted
    assert found.options[0] == Option(events) and found.options[-3:] == (*moved, LOOK_AGAIN)


def test_removed_play_with_a_new_one_is_not_replaced_after_another_turn() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M").push(Passed(0))
    events = (PlayWithdrawn(1), PlayMade(1, written(game, "I8 .EST")))
    found = next(check_removed_tiles(Proposal(game, events, Source.PRESS, seen(game.board))))
    assert found.options == (Option(events), Option(events[1:]), LOOK_AGAIN)


def test_removed_play_with_an_empty_bag_records_nothing_and_offers_the_end() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M")
    game = replace(game, state=replace(game.state, bag_count=0))
    found = next(check_removed_tiles(Proposal(game, (PlayWithdrawn(1),), Source.PRESS, seen(game.board))))
    assert found.options[0] == LOOK_AGAIN and found.options[1] == Option((GameEnded(),))


def test_old_tile_read_wrong_again_is_asked_about_and_stays_until_the_answer() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M")
    reading = seen(game.board, {"H8": {"B": 0.97, "R": 0.02}})
    history = read_often(game, reading)
    events = (PlayMade(0, written(game, "10F PASTE")),)
    found = next(check_old_tiles(Proposal(game, events, Source.PRESS, reading, history)))
    assert found.reason is Reason.OLD_TILE_DIFFERS and found.squares == (H8,)
    assert found.options == (Option(events), Option((SquareCorrected(H8, Tile("B")), *events)))


def test_old_tile_is_asked_about_once() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M")
    reading = seen(game.board, {"H8": {"B": 0.97, "R": 0.02}})
    proposal = Proposal(
        game, (PlayMade(0, written(game, "10F PASTE")),), Source.PRESS, reading, read_often(game, reading)
    )
    asked = QuestionHistory().with_finding(next(check_old_tiles(proposal)))
    assert not list(check_old_tiles(replace(proposal, question_history=asked)))


def test_tile_that_was_in_doubt_when_it_was_laid_is_corrected_until_the_answer() -> None:
    game = play(new_game(), "8F HOBN", "H6 FA.M")
    reading = seen(game.board, {"H8": {"R": 1.0}})
    events = (PlayMade(0, written(game, "10F PASTE")),)
    asked = QuestionHistory(doubtful_squares=frozenset({H8}))
    proposal = Proposal(game, events, Source.PRESS, reading, read_often(game, reading), question_history=asked)
    assert next(check_old_tiles(proposal)).options[1] == Option(events)


def test_board_as_recorded_has_no_old_tile_in_question() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M")
    events = (PlayMade(0, written(game, "10F PASTE")),)
    assert not list(check_old_tiles(Proposal(game, events, Source.PRESS, seen(game.push(*events).board))))


def test_tile_added_to_an_earlier_play_is_asked_about_unless_its_question_is_open() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M")
    square = parse_square("E8")
    events = (SquareCorrected(square, Tile("S"), act_ref(0)), PlayMade(0, written(game, "10F PASTE")))
    proposal = Proposal(game, events, Source.PRESS, seen(game.board))
    assert next(check_added_tiles(proposal)).options == (Option(events), LOOK_AGAIN)
    asked = QuestionHistory(open_squares=frozenset({square}))
    assert not list(check_added_tiles(replace(proposal, question_history=asked)))


def test_play_without_a_missed_tile_is_no_question() -> None:
    game = play(new_game(), "8F HORN")
    event = PlayMade(1, written(game, "H6 FA.M"))
    assert not list(check_added_tiles(Proposal(game, (event,), Source.PRESS, seen(event.play.apply_to(game.board)))))
