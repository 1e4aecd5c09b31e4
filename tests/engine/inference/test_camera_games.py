"""Whole games as a fair camera sees them: look-alikes, letters washed out, false tiles. Phonies stay phonies."""

from __future__ import annotations

import random

import pytest

from engine.events import PlayMade
from engine.game import Game
from engine.inference.explain import infer_play
from engine.inference.history import EMPTY_HISTORY
from engine.lexicon import load_shipped_lexicon
from tests.support.engine_table import new_game, seen
from tests.support.play_at_random import noisy, random_play, unnamed

TURNS = 14
COUNTS = pytest.mark.parametrize("count", [25, pytest.param(500, marks=pytest.mark.slow)])


def watch(seed: int) -> tuple[Game, Game, int, int, int]:
    """The true game and the game as understood; plays, plays understood wrong at first, and those without asking."""
    rng = random.Random(seed)
    true = game = new_game()
    memory = EMPTY_HISTORY
    plays = wrong = silent = 0
    for _ in range(TURNS):
        play = random_play(true, rng)
        if play is None:
            break
        true = true.push(PlayMade(true.to_move, play))
        found = infer_play(game, noisy(true.board, rng), memory)
        game, memory = game.push(*found.events), found.history
        made = [event.play for event in found.events if isinstance(event, PlayMade)]
        plays += 1
        if made != [unnamed(play)]:
            wrong += 1
            silent += found.is_certain
    return true, game, plays, wrong, silent


def test_noisy_games_are_understood_and_put_themselves_right() -> None:
    watched = [watch(seed) for seed in range(5)]
    plays, wrong, silent = (sum(column) for column in zip(*(one[2:] for one in watched), strict=True))
    assert plays == 5 * TURNS
    assert wrong <= plays * 0.05
    assert silent == 0
    assert sum(true.totals == game.totals for true, game, *_ in watched) >= 4


@pytest.mark.slow
def test_many_noisy_games() -> None:
    watched = [watch(seed) for seed in range(100, 200)]
    plays, wrong, silent = (sum(column) for column in zip(*(one[2:] for one in watched), strict=True))
    assert wrong <= plays * 0.05
    assert silent <= plays * 0.001
    assert sum(true.totals == game.totals for true, game, *_ in watched) >= 90


def phonies(count: int) -> list[tuple[Game, PlayMade]]:
    """Plays at random on boards at random, each with a word that is none."""
    rng = random.Random(8)
    lexicon = load_shipped_lexicon("en")
    assert lexicon is not None
    found: list[tuple[Game, PlayMade]] = []
    while len(found) < count:
        game = new_game()
        for _ in range(10):
            play = random_play(game, rng)
            if play is None:
                break
            phony = any(word.word not in lexicon for word in game.score_play(play).words)
            if phony and len(play.tiles) > 2 and not any(tile.is_blank for _, tile in play.tiles):
                found.append((game, PlayMade(game.to_move, play)))
            game = game.push(PlayMade(game.to_move, play))
    return found[:count]


@COUNTS
def test_phonies_read_perfectly_stay_phonies(count: int) -> None:
    for game, made in phonies(count):
        found = infer_play(game, seen(made.play.apply_to(game.board)))
        assert [event.play for event in found.events if isinstance(event, PlayMade)] == [made.play]


@COUNTS
def test_phonies_read_by_a_fair_camera_are_not_changed_without_asking(count: int) -> None:
    rng = random.Random(9)
    changed = asked = 0
    for game, made in phonies(count):
        found = infer_play(game, noisy(made.play.apply_to(game.board), rng))
        if [event.play for event in found.events if isinstance(event, PlayMade)] != [made.play]:
            changed += 1
            asked += not found.is_certain
    assert changed == asked
    assert changed <= 0.08 * count
