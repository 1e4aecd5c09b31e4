"""Plays with invalid words in a game without challenges, where one press records several turns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.board import parse_square
from engine.events import BlankNamed, Event, Passed, PlayWithdrawn, ScoreCorrected, SquareCorrected, TurnCorrected
from engine.game import Game
from engine.lexicon import Lexicon
from engine.rules import STANDARD_RULES, ChallengeRule
from engine.tiles import Tile
from engine.validation.void_plays import VoidPlay, restore_void_play, withdraw_void_plays
from tests.support.engine_table import new_game, play

VOID = replace(STANDARD_RULES, challenge=ChallengeRule.VOID)
WORDS = Lexicon.from_words("club", ["horn", "farm", "paste", "farms", "oat"])


def record(game: Game, *notations: str, then: tuple[Event, ...] = ()) -> tuple[Game, tuple[VoidPlay, ...]]:
    """Return the game after one press with these plays and the events `then`, and the invalid plays."""
    events = (*play(game, *notations).events[len(game.events) :], *then)
    recorded, found = withdraw_void_plays(game, events, WORDS)
    return game.push(*recorded), found


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


def test_invalid_play_counts_if_the_next_play_needs_its_tiles_and_a_pass_follows() -> None:
    game, found = record(new_game(VOID), "8F HRON", "H7 F.AT", then=(Passed(0),))
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


def withdraw(second: str) -> Game:
    """Return a game in which the play `second` was withdrawn after HOBN, whose B was misread."""
    return play(new_game(VOID), "8F HOBN", second).push(PlayWithdrawn(1))


RIGHT = SquareCorrected(parse_square("H8"), Tile("R"))


def test_withdrawal_of_a_play_that_is_valid_after_a_correction_is_removed() -> None:
    game = withdraw("H6 FA.M")
    assert restore_void_play(game, [RIGHT], WORDS) == (TurnCorrected(2, None), RIGHT)
    assert game.push(*restore_void_play(game, [RIGHT], WORDS)).totals == (14, 9)


@pytest.mark.parametrize(
    "event",
    [SquareCorrected(parse_square("H8"), Tile("X")), ScoreCorrected(2, 0), Passed(0)],
    ids=["still invalid", "the withdrawal itself", "a turn"],
)
def test_withdrawal_of_an_invalid_play_stays(event: Event) -> None:
    assert restore_void_play(withdraw("H6 FA.M"), [event], WORDS) == (event,)


def test_withdrawal_of_a_play_with_two_errors_stays_after_the_correction_of_one() -> None:
    assert restore_void_play(withdraw("H6 FA.N"), [RIGHT], WORDS) == (RIGHT,)


def test_withdrawal_of_a_play_that_was_valid_before_stays() -> None:
    game = play(new_game(VOID), "8F HORN", "H6 FA.M").push(PlayWithdrawn(1))
    assert restore_void_play(game, [ScoreCorrected(0, 20)], WORDS) == (ScoreCorrected(0, 20),)


def test_withdrawal_stays_after_the_next_turn() -> None:
    assert restore_void_play(withdraw("H6 FA.M").push(Passed(0)), [RIGHT], WORDS) == (RIGHT,)
