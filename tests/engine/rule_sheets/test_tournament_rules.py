"""Rules of tournaments that the sheets do not have: challenges, scoreless turns, clocks."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from engine.events import (
    Challenged,
    ClockRead,
    EndReason,
    Exchanged,
    GameEnded,
    Passed,
    PlayMade,
    PlayWithdrawn,
    RackRevealed,
)
from engine.game import Game
from engine.rules import STANDARD_RULES, ChallengeRule, FinishLineLevel, Rules, UnplayedRule, rules_preset
from engine.scoring import Status
from engine.state import TurnKind
from tests.support.engine_table import new_game, play
from tests.support.play_at_random import drawn_out, play_of, played_out


def challenged(found: Rules, upheld: bool, words: tuple[str, ...] = ()) -> Game:
    game = play(new_game(found), "8F HORN", "H6 FA.M", "10F PASTE")
    return game.push(Challenged(1, upheld, words))


@pytest.mark.parametrize("kind", [ChallengeRule.DOUBLE, ChallengeRule.SINGLE, ChallengeRule.POINTS])
def test_a_challenge_upheld_costs_the_play_under_every_rule(kind: ChallengeRule) -> None:
    assert challenged(replace(STANDARD_RULES, challenge=kind, challenge_points=5), upheld=True).totals == (14, 9)


def test_double_challenge_costs_the_challenger_the_next_turn() -> None:
    assert challenged(replace(STANDARD_RULES, challenge=ChallengeRule.DOUBLE), upheld=False).to_move == 0


def test_single_challenge_costs_the_challenger_nothing() -> None:
    game = challenged(replace(STANDARD_RULES, challenge=ChallengeRule.SINGLE), upheld=False)
    assert game.to_move == 1 and game.totals == (39, 9)


def test_void_challenge_has_no_challenges() -> None:
    game = play(new_game(replace(STANDARD_RULES, challenge=ChallengeRule.VOID)), "8F HORN")
    assert game.challengeable_turn is None


@pytest.mark.parametrize(
    ("points", "each_word", "words", "gain"),
    [
        (5, False, (), 5),
        (10, False, (), 10),
        (10, True, ("PASTE", "FARMS"), 20),
        (5, True, ("FARMS",), 5),
        (5, True, (), 10),
    ],
    ids=["5", "10", "10 a word, two named", "5 a word, one named", "5 a word, all"],
)
def test_points_for_a_play_challenged_in_vain(points: int, each_word: bool, words: tuple[str, ...], gain: int) -> None:
    found = replace(
        STANDARD_RULES, challenge=ChallengeRule.POINTS, challenge_points=points, challenge_each_word=each_word
    )
    game = challenged(found, upheld=False, words=words)
    assert game.totals == (39 + gain, 9) and game.to_move == 1
    assert game.turns[-1].kind is TurnKind.CHALLENGE and game.turns[-1].player == 0 and game.turns[-1].by == 1


def test_six_scoreless_turns_end_the_game_where_the_rule_is_on() -> None:
    game = play(new_game(replace(STANDARD_RULES, scoreless_turns=6)), "8F HORN")
    for number in range(6):
        assert game.end_due is None
        event = Passed(game.to_move) if number % 2 else Exchanged(game.to_move, 1)
        game = game.push(event)
    assert game.end_due is EndReason.SCORELESS


@pytest.mark.parametrize(("least", "reason"), [(2, EndReason.SCORELESS), (3, None)])
def test_scoreless_turns_before_the_first_word_end_the_game_unless_a_longer_word_is_awaited(
    least: int, reason: EndReason | None
) -> None:
    game = new_game(replace(STANDARD_RULES, scoreless_turns=2, first_word_minimum=least))
    assert game.push(Passed(0), Passed(1)).end_due is reason
    assert play(game, "8F HORN").push(Passed(1), Passed(0)).end_due is EndReason.SCORELESS


def test_without_the_rule_they_do_not() -> None:
    game = new_game()
    for _ in range(12):
        game = game.push(Passed(game.to_move))
    assert game.end_due is None


def test_a_phony_taken_back_is_one_scoreless_turn() -> None:
    game = play(new_game(replace(STANDARD_RULES, scoreless_turns=3)), "8F HORN", "H6 VA.M").push(
        Challenged(0, upheld=True)
    )
    game = game.push(Passed(0))
    assert game.end_due is None
    assert game.push(Passed(1)).end_due is EndReason.SCORELESS


def test_a_play_that_scores_begins_the_count_anew() -> None:
    game = new_game(replace(STANDARD_RULES, scoreless_turns=2)).push(Passed(0))
    game = play(game, "8F HORN").push(Passed(0))
    assert game.end_due is None


def test_twice_the_letters_of_the_others_for_who_went_out() -> None:
    game = played_out(new_game(replace(STANDARD_RULES, unplayed=UnplayedRule.TWICE)))
    out = game.turns[-1].player
    ended = game.push(GameEnded(EndReason.PLAYED_OUT))
    assert ended.totals[out] == game.totals[out] + 2 * game.tiles.points(game.unseen.elements())
    assert ended.totals[1 - out] == game.totals[1 - out]
    assert ended.racks_wanted == ()


def test_twice_applies_to_nobody_when_nobody_went_out() -> None:
    game = drawn_out(new_game(replace(STANDARD_RULES, unplayed=UnplayedRule.TWICE)))
    letters = sorted(game.unseen.elements())
    mine = tuple(letters[: game.state.rack_counts[0]])
    ended = game.push(GameEnded(EndReason.SCORELESS)).push(RackRevealed(0, mine))
    assert ended.totals[0] == game.totals[0] - game.tiles.points(mine)


def test_player_who_went_out_first_gains_the_letters_though_others_played_on() -> None:
    game = played_out(new_game(players=3))
    first, second = game.turns[-1].player, game.to_move
    game = game.push(PlayMade(second, play_of(game, game.state.rack_counts[second], random.Random(4))))
    ended = game.push(Passed(game.to_move), Passed(first)).push(GameEnded(EndReason.PLAYED_OUT))
    points = game.tiles.points(game.unseen.elements())
    assert points and ended.totals[first] == game.totals[first] + points
    assert ended.totals[second] == game.totals[second]


def test_unplayed_letters_may_not_count_at_all() -> None:
    game = played_out(new_game(replace(STANDARD_RULES, unplayed=UnplayedRule.NONE)))
    assert game.push(GameEnded(EndReason.PLAYED_OUT)).totals == game.totals


@pytest.mark.parametrize(("used", "penalty"), [(1500, 0), (1501, 10), (1560, 10), (1561, 20), (1700, 40)])
def test_overtime_costs_ten_points_for_each_minute_begun(used: float, penalty: int) -> None:
    game = play(new_game(rules_preset("tournament")), "8F HORN").push(ClockRead(0, used)).push(GameEnded())
    assert game.totals[0] == 14 - penalty


def test_overtime_can_be_set() -> None:
    clock = replace(STANDARD_RULES, clock_seconds=60, overtime_points=5)
    assert play(new_game(clock), "8F HORN").push(ClockRead(0, 130)).push(GameEnded()).totals == (4, 0)


def test_without_a_clock_there_is_no_overtime() -> None:
    assert play(new_game(), "8F HORN").push(ClockRead(0, 9999)).push(GameEnded()).totals == (14, 0)


def test_a_clock_told_after_the_end_still_counts() -> None:
    game = play(new_game(rules_preset("tournament")), "8F HORN").push(GameEnded()).push(ClockRead(0, 1501))
    assert game.totals[0] == 4 and [turn.kind for turn in game.turns] == [TurnKind.PLAY, TurnKind.TIME]


def test_overtime_does_not_break_a_tie() -> None:
    game = play(new_game(rules_preset("tournament")), "8F HORN").push(ClockRead(0, 1501)).push(GameEnded())
    assert game.outcome is not None and game.outcome.totals_before_unplayed == (4, 0)


def test_finish_line_stops_at_once_without_counting_letters() -> None:
    finish = replace(STANDARD_RULES, finish_line=(FinishLineLevel.BEGINNER,))
    game = play(new_game(finish), "8B QUARTER").push(GameEnded(EndReason.FINISH_LINE))
    assert [turn.kind for turn in game.turns] == [TurnKind.PLAY] and game.racks_wanted == ()


def test_finish_line_may_let_the_others_finish_the_round() -> None:
    finish = replace(STANDARD_RULES, finish_line=(FinishLineLevel.BEGINNER,), finish_round=True)
    game = play(new_game(finish, players=3), "8B QUARTER")
    assert game.end_due is None and game.push(Passed(1)).end_due is None
    assert game.push(Passed(1)).push(Passed(2)).end_due is EndReason.FINISH_LINE


def test_finish_line_may_count_unplayed_letters() -> None:
    finish = replace(STANDARD_RULES, finish_line=(FinishLineLevel.BEGINNER,), finish_unplayed=True)
    game = play(new_game(finish), "8B QUARTER").push(GameEnded(EndReason.FINISH_LINE))
    assert game.racks_wanted == (0, 1)


def test_the_levels_must_fit_the_players() -> None:
    with pytest.raises(ValueError, match="2 levels for 3 players"):
        new_game(replace(STANDARD_RULES, finish_line=(FinishLineLevel.BEGINNER, FinishLineLevel.EXPERT)), players=3)


def test_play_of_more_tiles_than_the_player_has_left_is_marked() -> None:
    game = drawn_out(new_game())
    player, held = game.to_move, game.state.rack_counts[game.to_move]
    game = game.push(PlayMade(player, play_of(game, held - 1, random.Random(2)))).push(Passed(1 - player))
    assert game.state.rack_counts[player] == 1
    two = play_of(game, 2, random.Random(3))
    assert game.check_play(two) == Status.VALID
    assert game.check_play(two, player) == Status.TOO_MANY_TILES
    assert game.push(PlayMade(player, two)).turns[-1].status == Status.TOO_MANY_TILES


def test_no_more_tiles_are_exchanged_than_the_player_has() -> None:
    game = new_game()
    assert game.can_exchange(7) and not game.can_exchange(8)
    assert game.push(Exchanged(0, 8)).turns[-1].status == Status.BAG_TOO_LOW


def test_rack_that_was_told_before_its_player_played_on_is_told_again() -> None:
    game = drawn_out(new_game())
    player = game.to_move
    held = tuple(game.unseen.elements())[: game.state.rack_counts[player]]
    game = game.push(RackRevealed(player, held))
    played = game.push(PlayMade(player, play_of(game, 1, random.Random(2))))
    assert played.push(GameEnded()).racks_wanted == (0, 1)
    assert played.push(PlayWithdrawn(player)).push(GameEnded()).racks_wanted == (0, 1)
    assert game.push(Passed(player)).push(GameEnded()).racks_wanted == ()
