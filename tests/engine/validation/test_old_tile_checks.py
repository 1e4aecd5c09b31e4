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
from engine.validation.old_tile_checks import check_old_tiles, check_removed_tiles
from tests.support.engine_table import act_ref, new_game, play, seen, written

WORDS = frozenset({"HORN", "FARM", "PASTE", "JOHN", "JOT", "SHORN", "OHM"})
H8 = parse_square("H8")


def read_often(game: Game, reading: BoardReading) -> ReadingHistory:
    """Return what is remembered after a reading of the board as it is on record, and three equal ones."""
    history = infer_play(game, seen(game.board)).history
    for _ in range(3):
        history = infer_play(game, reading, history).history
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


def propose_turn_after_misreadings(word: str, symbol: str, *later: str) -> Proposal:
    """Return the next play after `later` ones, while the third letter of `word` is read as `symbol` again and again."""
    game = play(new_game(), f"8F {word}", "H6 FA.M", *later)
    reading = seen(game.board, {"H8": {symbol: 0.97, game.board.tile(H8).face: 0.02}})
    events = (PlayMade(game.to_move, written(game, "6H .LAT")),)
    return Proposal(game, events, Source.PRESS, reading, read_often(game, reading))


def test_old_tile_read_wrong_again_is_asked_about_and_stays_until_the_answer() -> None:
    proposal = propose_turn_after_misreadings("HORN", "B", "10F PASTE")
    found = next(check_old_tiles(proposal))
    assert found.reason is Reason.OLD_TILE_DIFFERS and found.squares == (H8,)
    assert found.options == (
        Option(proposal.events),
        Option((SquareCorrected(H8, Tile("B")), *proposal.events)),
    )


def test_tile_of_the_newest_two_plays_is_left_to_the_inference() -> None:
    assert not list(check_old_tiles(propose_turn_after_misreadings("HORN", "B")))


def test_old_tile_that_was_read_wrong_once_is_not_asked_about() -> None:
    proposal = propose_turn_after_misreadings("HORN", "B", "10F PASTE")
    history = infer_play(proposal.game, seen(proposal.game.board)).history
    assert not list(check_old_tiles(replace(proposal, reading_history=history)))


def test_old_tile_is_asked_about_once() -> None:
    proposal = propose_turn_after_misreadings("HORN", "B", "10F PASTE")
    asked = QuestionHistory(squares=frozenset(next(check_old_tiles(proposal)).squares))
    assert not list(check_old_tiles(replace(proposal, question_history=asked)))


def test_tile_that_was_in_doubt_when_it_was_laid_is_corrected_until_the_answer() -> None:
    asked = QuestionHistory(doubtful_squares=frozenset({H8}))
    proposal = replace(propose_turn_after_misreadings("HOBN", "R", "10F PASTE"), question_history=asked)
    assert next(check_old_tiles(proposal)).options[1] == Option(proposal.events)


def test_letter_that_was_recorded_on_a_wrong_square_is_free_for_the_new_play() -> None:
    game = play(new_game(), "8F HOKN", "H6 FA.M", "10F PASTE")
    shown = game.push(PlayMade(game.to_move, written(game, "6H .LAT"))).board
    reading = seen(shown.with_tiles({H8: Tile("R"), parse_square("K6"): Tile("K")}))
    proposed = PlayMade(game.to_move, written(game, "6H .LAk"))
    found = next(check_old_tiles(Proposal(game, (proposed,), Source.PRESS, reading, read_often(game, reading))))
    right = replace(proposed, play=proposed.play.with_tile(parse_square("K6"), Tile("K")))
    assert found.options == (Option((proposed,)), Option((SquareCorrected(H8, Tile("R")), right)))


def test_board_as_recorded_has_no_old_tile_in_question() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M")
    events = (PlayMade(0, written(game, "10F PASTE")),)
    assert not list(check_old_tiles(Proposal(game, events, Source.PRESS, seen(game.push(*events).board))))
