"""The Finish Line game: the winner is the player who reaches the line first, each the line of their level."""

from __future__ import annotations

from dataclasses import replace

from engine.events import Challenged, EndReason, GameEnded, Passed, PlayWithdrawn, RackRevealed, ScoreCorrected
from engine.game import Game
from engine.rules import STANDARD_RULES, ChallengeRule, FinishLineLevel, Rules
from tests.support.engine_table import act_ref, new_game, play

BEGINNERS = replace(STANDARD_RULES, finish_line=(FinishLineLevel.BEGINNER,))


def end(game: Game) -> tuple[int, ...]:
    """Return the winners after the end that is due."""
    due = game.end_due
    assert due is EndReason.FINISH_LINE
    outcome = game.push(GameEnded(due)).outcome
    assert outcome is not None
    return outcome.winners


def test_finish_line_with_mixed_levels_is_won_by_who_reaches_the_own_line() -> None:
    mixed = replace(STANDARD_RULES, finish_line=(FinishLineLevel.EXPERT, FinishLineLevel.BEGINNER))
    game = (
        play(new_game(mixed), "8B QUARTER", "C7 D.D")
        .push(ScoreCorrected(act_ref(0), 150))
        .push(ScoreCorrected(act_ref(1), 72))
    )
    assert game.totals == (150, 72)
    assert end(game) == (1,)


def test_finish_line_is_won_by_who_reaches_it_first_if_play_goes_on() -> None:
    game = play(new_game(BEGINNERS), "8B QUARTER", "A1 ABSORBED")
    assert game.totals == (84, 230)
    assert end(game) == (0,)


def test_finish_line_is_not_reached_by_a_play_that_was_taken_back() -> None:
    game = play(new_game(BEGINNERS), "8B QUARTER").push(PlayWithdrawn(0))
    game = play(game, "8B QUARTER").push(Passed(0))
    assert end(game) == (1,)


def test_finish_line_is_not_reached_by_a_player_who_falls_below_it_by_a_challenge() -> None:
    club = replace(BEGINNERS, challenge=ChallengeRule.POINTS, challenge_points=10, challenger_pays=True)
    game = (
        play(new_game(club), "8F HORN", "H6 FA.M")
        .push(ScoreCorrected(act_ref(0), 72))
        .push(Challenged(0, upheld=False))
    )
    assert game.totals == (62, 9) and game.end_due is None
    game = play(game.push(Passed(0)), "10F PASTE").push(ScoreCorrected(act_ref(4), 70))
    assert game.totals == (62, 79)
    assert end(game) == (1,)


def test_finish_line_that_a_correction_after_the_end_reaches_stops_without_counting_letters() -> None:
    game = play(new_game(BEGINNERS), "8F HORN", "H6 FA.M").push(GameEnded(), RackRevealed(0, ("Q",)))
    assert game.totals == (4, 9)
    game = game.push(ScoreCorrected(act_ref(0), 70))
    assert game.totals == (70, 9) and game.racks_wanted == ()
    assert game.outcome is not None and game.outcome.winners == (0,)


def test_finish_line_with_the_round_finished_is_won_by_the_most_points_above_the_line() -> None:
    rules: Rules = replace(BEGINNERS, finish_round=True)
    game = play(new_game(rules), "8B QUARTER", "A1 ABSORBED")
    assert end(game) == (1,)
    mixed = replace(rules, finish_line=(FinishLineLevel.BEGINNER, FinishLineLevel.EXPERT))
    game = play(new_game(mixed), "8B QUARTER", "A1 ABSORBED").push(ScoreCorrected(act_ref(1), 210))
    assert end(game) == (0,)


def test_finish_line_with_mixed_levels_is_a_draw_after_equal_points_above_the_lines() -> None:
    levels = (FinishLineLevel.BEGINNER, FinishLineLevel.EXPERT)
    game = play(new_game(replace(BEGINNERS, finish_line=levels, finish_round=True)), "8F HORN", "H6 FA.M")
    assert end(game.push(ScoreCorrected(act_ref(0), 75), ScoreCorrected(act_ref(1), 205))) == (0, 1)


def test_finish_line_with_the_round_finished_has_each_winner_once() -> None:
    game = play(new_game(replace(BEGINNERS, finish_round=True)), "8B QUARTER").push(Challenged(1, upheld=False))
    assert end(game) == (0,)


def test_finish_line_that_nobody_reached_is_won_by_the_most_points() -> None:
    game = play(new_game(BEGINNERS), "8F HORN", "H6 FA.M").push(GameEnded())
    assert game.outcome is not None and game.outcome.winners == (0,)


def test_finish_line_with_the_round_finished_is_due_if_the_first_player_has_lost_the_next_turn() -> None:
    game = play(new_game(replace(BEGINNERS, finish_round=True), players=3), "8F HORN", "H6 FA.M")
    game = play(game.push(Challenged(0, upheld=False)), "10F PASTE").push(ScoreCorrected(act_ref(0), 70))
    assert game.to_move == 1, "Anna's challenge failed, and she loses her turn"
    assert end(game) == (0,)


def test_finish_line_with_the_round_finished_is_not_due_in_the_middle_of_the_round() -> None:
    game = play(new_game(replace(BEGINNERS, finish_round=True), players=3), "8F HORN").push(
        ScoreCorrected(act_ref(0), 70)
    )
    assert game.end_due is None
    assert play(game, "H6 FA.M").push(Challenged(2, upheld=False)).end_due is EndReason.FINISH_LINE
