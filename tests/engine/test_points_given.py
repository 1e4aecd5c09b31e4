"""Penalties and bonuses: points that belong to no turn."""

from __future__ import annotations

from engine.descriptions import describe_turn
from engine.events import (
    Challenged,
    EndReason,
    Passed,
    PlayWithdrawn,
    PointsGiven,
    PointsReason,
    ScoreCorrected,
    TurnCorrected,
    TurnInserted,
)
from engine.gcg import build_game, build_record, format_gcg, parse_gcg
from engine.state import TurnKind, find_withdrawn_turn
from tests.support.engine_table import act_ref, new_game, play, with_plays
from tests.support.play_at_random import drawn_out

PENALTY = PointsGiven(0, -10)
BONUS = PointsGiven(1, 5, PointsReason.BONUS)


def test_points_change_a_total_and_not_whose_turn_it_is() -> None:
    game = with_plays("8F HORN").push(PENALTY, BONUS)
    assert game.totals == (4, 5) and game.to_move == 1
    assert [turn.kind for turn in game.turns] == [TurnKind.PLAY, TurnKind.PENALTY, TurnKind.BONUS]
    assert describe_turn(game, game.turns[-1]) == "Ben: +5 as a bonus"


def test_points_are_inserted_changed_and_removed() -> None:
    game = with_plays("8F HORN", "H6 FA.M").push(TurnInserted(act_ref(1), PENALTY))
    assert [turn.kind for turn in game.turns] == [TurnKind.PLAY, TurnKind.PENALTY, TurnKind.PLAY]
    line = game.turns[1].ref
    assert game.push(ScoreCorrected(line, -20)).totals == (-6, 9)
    assert game.push(TurnCorrected(line, BONUS)).totals == (14, 14)
    assert game.push(TurnCorrected(line, None)).turns == with_plays("8F HORN", "H6 FA.M").turns


def test_play_before_points_can_be_challenged() -> None:
    game = with_plays("8F HORN").push(PENALTY)
    assert game.push(Challenged(1, upheld=True)).totals == (-10, 0)


def test_tiles_of_a_play_that_was_withdrawn_before_points_may_still_be_on_the_board() -> None:
    game = with_plays("8F HORN").push(PlayWithdrawn(0), PENALTY)
    assert game.totals == (-10, 0) and find_withdrawn_turn(game.state) == game.turns[0]


def test_points_before_the_first_turn_do_not_change_who_began() -> None:
    game = play(new_game().push(BONUS), "8F HORN")
    assert game.first_player == 0


def test_points_between_passes_do_not_put_off_the_end() -> None:
    game = drawn_out(new_game())
    game = game.push(Passed(game.to_move), PENALTY)
    assert game.push(Passed(game.to_move)).end_due is EndReason.NO_PLAY_LEFT


def test_points_are_lines_of_their_own_in_an_export() -> None:
    game = play(with_plays("8F HORN", "H6 FA.M").push(PENALTY, BONUS), "10F PASTE")
    text = format_gcg(build_record(game))
    assert text.splitlines()[4:] == [
        ">Anna: HNOR 8F HORN +14 14",
        ">Ben: AFM H6 FA.M +9 9",
        ">Ben:  (challenge) +5 14",
        "#note bonus of Ben +5",
        ">Anna: AEPST 10F PASTE +25 39",
        ">Anna:  (time) -10 29",
        "#note penalty of Anna -10",
    ]
    assert build_game(parse_gcg(text)).totals == game.totals == (29, 14)
