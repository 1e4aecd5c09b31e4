"""Properties of every game, tested on random legal plays, which need not be words."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.board import SQUARES, Board, transpose
from engine.events import (
    BlankTaken,
    Challenged,
    Exchanged,
    Passed,
    PlayMade,
    SquareCorrected,
    TileRecycled,
    dumps,
    filter_plays,
    loads,
)
from engine.game import Game
from engine.gcg import build_game, build_record, format_gcg, parse_gcg
from engine.inference.explain import infer_play
from engine.plays import Play
from engine.rules import STANDARD_RULES, ChallengeRule, Rules
from engine.scoring import Status, check_placement, is_one_word_rearranged, score_play
from engine.tiles import Tile
from tests.support.engine_table import new_game, seen
from tests.support.examples import try_examples
from tests.support.play_at_random import random_game, random_play, unnamed

SEEDS = st.integers(0, 2**32)
TILE_SETS = st.sampled_from(["en", "de", "ro", "es", "hu", "el", "tr"])


def events_at_random(rng: random.Random, game: Game, turns: int) -> Game:
    """Plays, exchanges, passes and challenges in any order."""
    for _ in range(turns):
        chance = rng.random()
        play = random_play(game, rng)
        if play and chance < 0.7:
            game = game.push(PlayMade(game.to_move, play))
        elif game.challengeable_turn and chance < 0.8:
            game = game.push(Challenged(game.to_move, rng.random() < 0.5))
        elif game.can_exchange(3) and chance < 0.9:
            game = game.push(Exchanged(game.to_move, 3))
        else:
            game = game.push(Passed(game.to_move))
    return game


def mirrored(play: Play) -> Play:
    return Play.from_tiles({transpose(square): tile for square, tile in play.tiles})


@given(SEEDS, TILE_SETS)
@try_examples(40)
def test_the_score_is_the_same_on_the_transposed_board(seed: int, tile_set: str) -> None:
    rng = random.Random(seed)
    game = random_game(rng, 5, new_game(tile_set=tile_set))
    play = random_play(game, rng)
    if play is None:
        return
    board = Board(tuple(game.board[transpose(square)] for square in SQUARES))
    there = score_play(board, mirrored(play), game.layout, game.tiles, game.rules)
    here = game.score_play(play)
    assert there.total == here.total
    assert Counter((w.word, w.score) for w in there.words) == Counter((w.word, w.score) for w in here.words)
    assert check_placement(board, mirrored(play), game.layout, game.rules) == Status.VALID


@given(SEEDS, st.integers(2, 4), st.sampled_from(list(ChallengeRule)))
@try_examples(30)
def test_the_fold_of_the_events_is_the_state(seed: int, players: int, challenge: ChallengeRule) -> None:
    rules = replace(STANDARD_RULES, challenge=challenge, challenge_points=5)
    game = events_at_random(random.Random(seed), new_game(rules, players), 12)
    again = Game.begin(game.start_event).push(*(loads(dumps(event)) for event in game.events))
    assert again == game and again.state == game.state
    assert sum(game.totals) == sum(turn.score for turn in game.turns)
    for player in range(players):
        assert [t.total for t in game.turns if t.player == player][-1:] in ([], [game.totals[player]])


@given(SEEDS, st.integers(2, 4), st.sampled_from(list(ChallengeRule)), st.booleans())
@try_examples(15)
def test_events_of_every_kind_survive_export_and_import(
    seed: int, players: int, challenge: ChallengeRule, pays: bool
) -> None:
    rules = replace(STANDARD_RULES, challenge=challenge, challenge_points=5, challenger_pays=pays)
    game = events_at_random(random.Random(seed), new_game(rules, players), 15)
    again = build_game(parse_gcg(format_gcg(build_record(game))))
    assert again.totals == game.totals and again.board == game.board
    assert again.to_move == game.to_move or not game.turns


@given(SEEDS, st.integers(1, 8))
@try_examples(30)
def test_a_corrected_game_is_the_game_played_right(seed: int, turns: int) -> None:
    rng = random.Random(seed)
    right = random_game(rng, turns)
    plays = [event for event in right.events if isinstance(event, PlayMade)]
    if not plays:
        return
    wrong = rng.choice(plays)
    square, tile = rng.choice(wrong.play.tiles)
    misread = Play(tuple((s, Tile("E") if s == square else t) for s, t in wrong.play.tiles))
    game = new_game().push(*(replace(e, play=misread) if e is wrong else e for e in right.events))
    assert game.push(SquareCorrected(square, tile)).state == right.state


@given(SEEDS, TILE_SETS, st.integers(2, 4))
@try_examples(25)
def test_the_tiles_never_exceed_the_set(seed: int, tile_set: str, players: int) -> None:
    game = events_at_random(random.Random(seed), new_game(players=players, tile_set=tile_set), 20)
    assert not game.unseen - Counter(game.tiles.counts)
    assert sum(game.state.rack_counts) + game.bag_count == game.unseen.total()
    assert game.unseen + Counter(game.board.faces()) == Counter(game.tiles.counts)
    assert all(0 <= held <= game.rules.rack_size for held in game.state.rack_counts)


@given(SEEDS, TILE_SETS)
@try_examples(40)
def test_a_play_is_written_and_read_back(seed: int, tile_set: str) -> None:
    rng = random.Random(seed)
    game = random_game(rng, 4, new_game(tile_set=tile_set))
    play = random_play(game, rng)
    if play is None or any(t.is_blank and game.tiles.lower(t.letter) == t.letter for _, t in play.tiles):
        return
    position, word = play.to_gcg(game.board, game.tiles).split()
    assert Play.from_gcg(game.board, position, word, game.tiles) == play


VARIATIONS = [
    STANDARD_RULES,
    replace(STANDARD_RULES, rack_size=9),
    replace(STANDARD_RULES, first_word_minimum=5),
    replace(STANDARD_RULES, rearrange=True),
    replace(STANDARD_RULES, recycle=True),
    replace(STANDARD_RULES, retake_blanks=True),
    replace(STANDARD_RULES, rearrange=True, recycle=True, retake_blanks=True),
]


@pytest.mark.parametrize("rules", VARIATIONS, ids=["standard", "9 tiles", "first word", "5 A", "5 B", "6", "all"])
@given(seed=SEEDS, turns=st.integers(0, 8))
@try_examples(12)
def test_the_play_made_is_the_play_inferred(rules: Rules, seed: int, turns: int) -> None:
    rng = random.Random(seed)
    game = random_game(rng, turns, new_game(rules))
    play = random_play(game, rng, rules.rack_size)
    if play is None:
        return
    found = infer_play(game, seen(play.apply_to(game.board)))
    assert found.events == (PlayMade(game.to_move, unnamed(play)),)
    *_, rival = found.explanations[:2]
    assert found.is_certain or len(filter_plays(rival.events)) > 1  # some long plays may also be two


def rearrangement(game: Game, rng: random.Random) -> Play | None:
    """The word along a row or column shuffled, and one tile of the bag added at its end."""
    for _ in range(100):
        square = rng.choice(game.board.occupied_squares())
        run = list(game.board.tile_run(square, across=rng.random() < 0.5))
        step = run[1] - run[0] if len(run) > 1 else 0
        end = run[-1] + step
        if not step or end > 224 or game.board[end] is not None or (step == 1 and end % 15 == 0):
            continue
        faces = [game.board[s] for s in run] + [Tile(rng.choice([t for t in game.unseen.elements() if t != "?"]))]
        rng.shuffle(faces)
        changed = {s: t for s, t in zip(run, faces, strict=False) if t and t != game.board[s]}
        play = Play.from_tiles({end: faces[-1]}, changed)  # type: ignore[dict-item]
        if changed and game.check_play(play) == Status.VALID and is_one_word_rearranged(game.board, play):
            return play
    return None


@given(SEEDS)
@try_examples(25)
def test_a_rearranged_word_is_inferred(seed: int) -> None:
    rng = random.Random(seed)
    game = without_blanks(random_game(rng, 4, new_game(replace(STANDARD_RULES, rearrange=True))))
    play = rearrangement(game, rng)
    if play is None:
        return
    found = infer_play(game, seen(play.apply_to(game.board)))
    assert found.best.game.board == play.apply_to(game.board)
    assert found.best.game.totals == game.push(PlayMade(game.to_move, play)).totals


def without_blanks(game: Game) -> Game:
    """The game up to its first blank."""
    while game.board and any(tile and tile.is_blank for tile in game.board.squares):
        game = Game.begin(game.start_event).push(*game.events[:-1])
    return game if game.board else game.push(PlayMade(0, Play.from_tiles({112: Tile("A"), 113: Tile("T")})))


@given(SEEDS)
@try_examples(25)
def test_recycled_tiles_are_inferred_with_the_play(seed: int) -> None:
    rng = random.Random(seed)
    start = without_blanks(random_game(rng, 4, new_game(replace(STANDARD_RULES, recycle=True))))
    square = rng.choice(start.board.occupied_squares())
    old = start.board[square]
    new = rng.choice([t for t in start.unseen.elements() if t != "?" and Tile(t) != old])
    game = start.push(TileRecycled(start.to_move, square, Tile(new)))
    play = random_play(game, rng)
    if play is None:
        return
    game = game.push(PlayMade(game.to_move, unnamed(play)))
    found = infer_play(start, seen(game.board))
    assert found.best.game.board == game.board and found.best.game.totals == game.totals


@given(SEEDS)
@try_examples(25)
def test_a_blank_taken_back_is_inferred_with_the_play(seed: int) -> None:
    rng = random.Random(seed)
    letter = rng.choice("ABCDE")
    start = new_game(replace(STANDARD_RULES, retake_blanks=True))
    start = start.push(PlayMade(0, Play.from_tiles({112: Tile(letter, is_blank=True), 113: Tile("T"), 114: Tile("O")})))
    game = start.push(BlankTaken(1, 112))
    play = random_play(game, rng)
    if play is None:
        return
    game = game.push(PlayMade(1, unnamed(play)))
    found = infer_play(start, seen(game.board))
    assert found.events[0] == BlankTaken(1, 112)
    assert found.best.game.board == game.board


@given(SEEDS, st.integers(1, 8))
@try_examples(40)
def test_a_play_taken_back_is_inferred_alone_and_with_the_next_play(seed: int, turns: int) -> None:
    rng = random.Random(seed)
    game = random_game(rng, turns)
    if not game.turns:
        return
    before = Game.begin(game.start_event).push(*game.events[:-1])
    found = infer_play(game, seen(before.board))
    assert found.best.game.board == before.board and found.best.game.totals == before.totals
    back = game.push(*found.events)
    play = random_play(back, rng)
    if play is None or set(play.squares) & set(game.turns[-1].play.squares):  # type: ignore[union-attr]
        return
    if len(play.tiles) == 1:  # it may be the tile that was taken back, which has slipped
        return
    both = infer_play(game, seen(play.apply_to(back.board)))
    assert both.best.game.board == unnamed(play).apply_to(back.board)
