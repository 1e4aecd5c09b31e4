"""Challenges as clubs play them: who pays for a challenge that fails, and games without challenges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.blanks import find_invalid_words
from engine.descriptions import describe_turn
from engine.events import Challenged, Passed, PlayWithdrawn, read_start, to_json
from engine.game import Game
from engine.lexicon import Lexicon
from engine.rules import STANDARD_RULES, ChallengeRule, Rules
from engine.state import TurnKind
from tests.support.engine_table import new_game, play

WORDS = Lexicon.from_words("club", ["horn", "farm", "paste", "farms"])
VOID = replace(STANDARD_RULES, challenge=ChallengeRule.VOID)


def challenge(rules: Rules, upheld: bool = False, words: tuple[str, ...] = ()) -> Game:
    return play(new_game(rules), "8F HORN", "H6 FA.M", "10F PASTE").push(Challenged(1, upheld, words))


@pytest.mark.parametrize(
    ("points", "each_word", "words", "lost"),
    [(5, False, (), 5), (10, False, ("PASTE", "FARMS"), 10), (5, True, (), 10), (5, True, ("PASTE",), 5)],
)
def test_failed_challenge_paid_by_the_challenger(
    points: int, each_word: bool, words: tuple[str, ...], lost: int
) -> None:
    rules = Rules(
        challenge=ChallengeRule.POINTS, challenge_points=points, challenge_each_word=each_word, challenger_pays=True
    )
    game = challenge(rules, words=words)
    assert game.totals == (39, 9 - lost) and game.to_move == 1
    turn = game.turns[-1]
    assert (turn.kind, turn.player, turn.by, turn.score) == (TurnKind.CHALLENGE, 1, 1, -lost)
    assert describe_turn(game, turn).startswith("the challenge of the play of Anna failed")


def test_upheld_challenge_costs_the_challenger_nothing() -> None:
    rules = Rules(challenge=ChallengeRule.POINTS, challenge_points=5, challenger_pays=True)
    assert challenge(rules, upheld=True).totals == (14, 9)


def test_challenger_pays_is_written_only_if_chosen() -> None:
    chosen = Rules(challenge=ChallengeRule.POINTS, challenge_points=5, challenger_pays=True)
    assert Rules.from_json(chosen.to_json()) == chosen
    assert "challenger_pays" not in STANDARD_RULES.to_json()
    started = {"v": 2, "kind": "started", "players": ["Anna", "Ben"], "rules": {"challenge": "points"}}
    assert to_json(read_start(started))["rules"] == {"challenge": "points"}


def test_void_takes_back_a_play_with_a_word_that_is_not_in_the_agreed_list() -> None:
    game = play(new_game(VOID), "8F HRON")
    assert game.find_void_words(WORDS) == ("HRON",)
    game = game.push(PlayWithdrawn(0))
    assert game.totals == (0, 0) and game.to_move == 1 and game.find_void_words(WORDS) == ()


def test_void_counts_a_play_whose_words_are_in_the_agreed_list() -> None:
    game = play(new_game(VOID), "8F HORN", "H6 FA.M")
    assert game.find_void_words(WORDS) == ()
    assert play(game, "10F PASTE").find_void_words(Lexicon.from_words("club", ["paste"])) == ("FARMS",)


def test_void_words_are_only_looked_for_under_that_rule() -> None:
    assert play(new_game(), "8F HRON").find_void_words(WORDS) == ()
    assert play(new_game(VOID), "8F HRON").push(Passed(1)).find_void_words(WORDS) == ()


def test_void_takes_back_a_play_after_a_pass() -> None:
    assert play(new_game(VOID).push(Passed(0)), "8F HRON").find_void_words(WORDS) == ("HRON",)


def test_void_leaves_a_blank_without_a_name_any_letter() -> None:
    assert play(new_game(VOID), "8F H?RN").find_void_words(WORDS) == ()
    assert play(new_game(VOID), "8F H?ZN").find_void_words(WORDS) == ("H?ZN",)


def test_invalid_words_of_a_play_share_the_letter_of_a_blank() -> None:
    game = play(new_game(), "8F HORN", "7H ?A")  # ?R down, AN down
    found = game.turns[-1].words
    assert [word.word for word in found] == ["?A", "?R", "AN"]
    assert find_invalid_words(found, game.tiles, Lexicon.from_words("club", ["fa", "er", "an"])) in (("?A",), ("?R",))
    assert find_invalid_words(found, game.tiles, Lexicon.from_words("club", ["fa", "fr", "an"])) == ()
