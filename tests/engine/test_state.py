"""Questions that the rules ask of a state: defects of a play, tiles drawn for first play, plays just withdrawn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.errors import RulesError
from engine.events import Challenged, GameStarted, Passed, PlayWithdrawn
from engine.game import Game
from engine.rules import STANDARD_RULES, ChallengeRule
from engine.scoring import Status
from engine.state import find_first_players, find_withdrawn_turn
from engine.tiles import load_tile_set
from tests.support.engine_table import new_game, play, written

VOID = replace(STANDARD_RULES, challenge=ChallengeRule.VOID)


def test_play_of_more_tiles_than_a_rack_holds_is_marked() -> None:
    game = new_game()
    assert game.check_play(written(game, "8D QUARTERS")) == Status.TOO_MANY_TILES


def test_play_of_all_tiles_of_a_rack_has_no_defects() -> None:
    game = new_game()
    assert game.check_play(written(game, "8B QUARTER"), 0) == Status.VALID


def test_all_players_draw_for_first_play() -> None:
    assert Game.begin(GameStarted(("Anna", "Ben"), draw=True)).drawing == (0, 1)


@pytest.mark.parametrize("drawn", [("A", "Ä"), ("", "")])
def test_draw_without_a_tile_of_the_set_is_refused(drawn: tuple[str, ...]) -> None:
    with pytest.raises(RulesError, match="cannot be drawn"):
        find_first_players(drawn, load_tile_set("en"))


def test_withdrawn_play_is_found_until_the_next_turn() -> None:
    game = play(new_game(), "8F HORN").push(Challenged(1, upheld=True))
    assert find_withdrawn_turn(game.state) == game.turns[0]
    assert find_withdrawn_turn(game.push(Passed(1)).state) is None


def test_challenged_play_that_stands_is_not_withdrawn() -> None:
    game = play(new_game(), "8F HORN").push(Challenged(1, upheld=False))
    assert find_withdrawn_turn(game.state) is None


def test_void_play_is_found_after_the_next_turn_if_its_squares_are_empty() -> None:
    game = play(new_game(VOID), "8F HRON").push(PlayWithdrawn(0))
    assert find_withdrawn_turn(game.push(Passed(1)).state) == game.turns[0]
    assert find_withdrawn_turn(play(game, "8H FARM").state) is None
