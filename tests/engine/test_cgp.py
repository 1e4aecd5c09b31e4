"""Positions in CGP."""

from __future__ import annotations

import pytest

from engine.cgp import format_cgp
from engine.errors import NotationError
from engine.events import Challenged, Event, Exchanged, Passed
from engine.rules import ChallengeRule, Rules
from tests.support.engine_table import new_game, play


@pytest.mark.parametrize(
    ("challenge", "events", "zeros"),
    [
        (ChallengeRule.SINGLE, [Challenged(1, upheld=True)], 1),
        (ChallengeRule.SINGLE, [Challenged(1, upheld=False)], 0),
        (ChallengeRule.DOUBLE, [Challenged(1, upheld=False)], 1),
        (ChallengeRule.SINGLE, [Passed(1), Exchanged(0, 2)], 2),
    ],
)
def test_turns_without_a_score_are_counted(challenge: ChallengeRule, events: list[Event], zeros: int) -> None:
    game = play(new_game(Rules(challenge=challenge)), "8F HORN").push(*events)
    assert format_cgp(game).split()[3] == str(zeros)


def test_tiles_are_written_in_their_rows() -> None:
    rows = format_cgp(play(new_game(), "8F H?RN", "H6 FA.m")).split()[0].split("/")
    assert rows == ["15"] * 5 + ["7F7", "7A7", "5H?RN6", "7m7"] + ["15"] * 6


def test_position_of_three_players_is_refused() -> None:
    with pytest.raises(NotationError, match="two players"):
        format_cgp(new_game(players=3))
