"""Plays with invalid words in a game without challenges, where one press records several turns."""

from __future__ import annotations

from dataclasses import replace

from engine.board import parse_square
from engine.events import BlankNamed, Event, Passed
from engine.game import Game
from engine.lexicon import Lexicon
from engine.rules import STANDARD_RULES, ChallengeRule
from engine.validation.void_plays import VoidPlay, withdraw_void_plays
from tests.support.engine_table import new_game, play, push

VOID = replace(STANDARD_RULES, challenge=ChallengeRule.VOID)
WORDS = Lexicon.from_words("club", ["horn", "farm", "paste", "farms", "oat"])


def record(game: Game, *notations: str, then: tuple[Event, ...] = ()) -> tuple[Game, tuple[VoidPlay, ...]]:
    """Return the game after one press with these plays and the events `then`, and the invalid plays."""
    events = (*play(game, *notations).events[len(game.events) :], *then)
    recorded, found = withdraw_void_plays(game, events, WORDS)
    return push(game, recorded), found


def test_first_of_two_plays_is_withdrawn_if_it_is_invalid() -> None:
    game, found = record(play(new_game(VOID), "8F HORN"), "H6 FA.N", "I7 A.T")
    assert found[0] == VoidPlay(1, ("FARN",), False)
    assert [(turn.kind, turn.player) for turn in game.turns[1:3]] == [("play", 1), ("withdrawn", 1)]
    assert game.totals[1] == 0


def test_invalid_play_before_a_pass_is_withdrawn() -> None:
    game, found = record(new_game(VOID), "8F HRON", then=(Passed(1),))
    assert [turn.kind for turn in game.turns] == ["play", "withdrawn", "pass"]
    assert game.totals == (0, 0) and game.to_move == 0 and found == (VoidPlay(0, ("HRON",), False),)


def test_invalid_play_counts_if_the_next_play_needs_its_tiles() -> None:
    game, found = record(new_game(VOID), "8F HRON", "H7 F.AT")
    assert found[0] == VoidPlay(0, ("HRON",), True) and game.turns[0].stands


def test_blank_that_is_named_belongs_to_the_play_before() -> None:
    game, found = record(new_game(VOID), "8F H?RN", then=(BlankNamed(parse_square("G8"), "A"), Passed(1)))
    assert found and game.totals == (0, 0)


def test_valid_plays_are_kept() -> None:
    game, found = record(new_game(VOID), "8F HORN", "H6 FA.M")
    assert not found and game.totals == (14, 9)


def test_play_that_players_let_count_is_not_withdrawn_with_the_next_turn() -> None:
    game, found = record(play(new_game(VOID), "8F HRON"), then=(Passed(1),))
    assert not found and game.turns[0].stands


def test_invalid_play_is_kept_under_another_challenge_rule() -> None:
    game, found = record(new_game(), "8F HRON")
    assert not found and game.turns[0].stands
