"""Unplayed letters at the end of a game, compared with racks that were really dealt. The engine sees only the board."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.board import SQUARES, square_at
from engine.events import (
    Challenged,
    EndReason,
    Exchanged,
    GameEnded,
    GameStarted,
    Passed,
    PlayMade,
    PositionEntered,
    RackRevealed,
    read_start,
    to_json,
)
from engine.game import Game
from engine.gcg import build_game, build_record, format_gcg, parse_gcg
from engine.plays import Play
from engine.reading import BOARD_SIZE
from engine.rules import STANDARD_RULES, UnplayedRule
from engine.scoring import Status
from engine.tiles import Tile
from tests.support.engine_table import new_game
from tests.support.examples import try_examples
from tests.support.play_at_random import drawn_out, play_of, played_out

SEEDS = st.integers(0, 2**32)


class DealtGame:
    """A game with the bag and the racks of its players, in which any letters make a word."""

    def __init__(self, game: Game, rng: random.Random) -> None:
        self.game, self.rng = game, rng
        self.bag = [tile for tile, count in game.tiles.counts.items() for _ in range(count)]
        rng.shuffle(self.bag)
        self.racks: list[list[str]] = [[] for _ in game.players]
        for rack in self.racks:
            self.fill(rack)

    def fill(self, rack: list[str]) -> None:
        while self.bag and len(rack) < self.game.rules.rack_size:
            rack.append(self.bag.pop())

    def find_play(self, rack: list[str]) -> Play | None:
        for _ in range(100):
            across, line = self.rng.random() < 0.5, self.rng.randrange(BOARD_SIZE)
            squares = [square_at(line, n) if across else square_at(n, line) for n in range(BOARD_SIZE)]
            free = [s for s in squares[self.rng.randrange(BOARD_SIZE) :] if self.game.board[s] is None]
            faces = self.rng.sample(rack, min(self.rng.randint(1, len(rack)), len(free)))
            tiles = {
                s: Tile("E", is_blank=True) if face == "?" else Tile(face) for s, face in zip(free, faces, strict=False)
            }
            play = Play.from_tiles(tiles)
            if self.game.check_play(play) is Status.VALID:
                return play
        return None

    def take_turn(self) -> None:
        """Play, or else exchange or pass. One play in ten is challenged, half of them with success."""
        player = self.game.to_move
        rack = self.racks[player]
        play = self.find_play(rack)
        if play is None and self.game.can_exchange(1):
            self.bag.insert(0, rack.pop(0))
            self.fill(rack)
            self.game = self.game.push(Exchanged(player, 1))
        elif play is None:
            self.game = self.game.push(Passed(player))
        elif self.rng.random() < 0.1:
            upheld = self.rng.random() < 0.5
            self.game = self.game.push(PlayMade(player, play), Challenged((player + 1) % len(self.racks), upheld))
            if not upheld:
                self.draw(rack, play)
        else:
            self.game = self.game.push(PlayMade(player, play))
            self.draw(rack, play)

    def draw(self, rack: list[str], play: Play) -> None:
        for _, tile in play.tiles:
            rack.remove(tile.face)
        self.fill(rack)

    def expected_totals(self) -> list[int]:
        """Return the totals after the unplayed letters, by Scoring 9 and by the rule of tournaments."""
        totals, left = list(self.game.totals), list(map(self.game.tiles.points, self.racks))
        out = next((player for player, rack in enumerate(self.racks) if not rack), None)
        is_twice = out is not None and self.game.rules.unplayed is UnplayedRule.TWICE
        for player in range(len(totals)):
            totals[player] -= 0 if is_twice else left[player]
        if out is not None:
            totals[out] += sum(left) * (2 if is_twice else 1)
        return totals

    def end(self) -> Game:
        """Return the game after its end, with the racks that the players must enter."""
        game = self.game.push(GameEnded(self.game.end_due or EndReason.AGREED))
        while game.racks_wanted:
            player = game.racks_wanted[0]
            game = game.push(RackRevealed(player, tuple(self.racks[player])))
        return game


def deal(rng: random.Random, players: int, unplayed: UnplayedRule) -> DealtGame:
    rules = replace(STANDARD_RULES, unplayed=unplayed, rack_size=rng.choice([7, 9]))
    return DealtGame(new_game(rules, players, rng.choice(["en", "es", "pt"])), rng)


UNPLAYED = pytest.mark.parametrize("unplayed", [UnplayedRule.BOTH, UnplayedRule.TWICE])


@UNPLAYED
@given(seed=SEEDS, players=st.integers(2, 4))
@try_examples(6)
def test_unplayed_letters_are_those_of_the_racks_that_were_dealt(
    unplayed: UnplayedRule, seed: int, players: int
) -> None:
    dealt = deal(random.Random(seed), players, unplayed)
    while dealt.game.end_due is None:
        dealt.take_turn()
    ended = dealt.end()
    assert list(ended.totals) == dealt.expected_totals()
    assert build_game(parse_gcg(format_gcg(build_record(ended)))).outcome == ended.outcome


@UNPLAYED
@given(seed=SEEDS, players=st.integers(2, 4))
@try_examples(6)
def test_unplayed_letters_after_a_position_with_known_racks(unplayed: UnplayedRule, seed: int, players: int) -> None:
    dealt = deal(random.Random(seed), players, unplayed)
    while dealt.bag:
        dealt.take_turn()
    if dealt.game.end_due:
        return
    board = tuple((square, tile) for square in SQUARES if (tile := dealt.game.board[square]))
    racks = tuple(map(tuple, dealt.racks))
    position = PositionEntered(board, dealt.game.totals, dealt.game.to_move, racks)
    dealt.game = new_game(dealt.game.rules, players, dealt.game.tiles.name).push(position)
    while dealt.game.end_due is None:
        dealt.take_turn()
    assert list(dealt.end().totals) == dealt.expected_totals()


def test_bonus_goes_to_who_went_out_first_if_play_goes_on() -> None:
    rng = random.Random(3)
    game = drawn_out(new_game(players=3))
    while game.to_move != 2:
        game = game.push(Passed(game.to_move))
    for player in (2, 0):  # both play all their letters
        game = game.push(PlayMade(player, play_of(game, game.state.rack_counts[player], rng)))
    points = game.tiles.points(game.unseen.elements())
    assert points > 0 and game.state.rack_counts[1] == game.unseen.total()
    ended = game.push(GameEnded(EndReason.PLAYED_OUT))
    assert [after - before for before, after in zip(game.totals, ended.totals, strict=True)] == [0, -points, points]


@pytest.mark.parametrize("players", [2, 3])
def test_letters_entered_for_who_went_out_do_not_count(players: int) -> None:
    game = played_out(new_game(players=players))
    out = game.state.rack_counts.index(0)
    entered = game.push(RackRevealed(out, tuple(game.unseen.elements())[:2]), GameEnded(EndReason.PLAYED_OUT))
    assert entered.totals == game.push(GameEnded(EndReason.PLAYED_OUT)).totals
    assert out not in entered.racks_wanted
    assert build_game(parse_gcg(format_gcg(build_record(entered)))).totals == entered.totals


def test_lost_tile_is_neither_in_the_bag_nor_on_a_rack() -> None:
    started = GameStarted(("Anna", "Ben"), lost=("Q",))
    game = Game.begin(started)
    assert (game.bag_count, game.unseen["Q"]) == (85, 0) and "Q" in game.tiles.letters
    ended = played_out(game).push(GameEnded(EndReason.PLAYED_OUT))
    assert all("Q" not in line.tiles for line in ended.turns) and not ended.racks_wanted
    assert read_start(to_json(started)) == started


def test_entered_rack_without_a_lost_tile_corrects_both_players() -> None:
    game = played_out(new_game())
    out = game.state.rack_counts.index(0)
    *held, _ = game.unseen.elements()
    entered = game.push(GameEnded(EndReason.PLAYED_OUT)).push(RackRevealed(1 - out, tuple(held)))
    changes = [after - before for before, after in zip(game.totals, entered.totals, strict=True)]
    assert (changes[out], changes[1 - out]) == (game.tiles.points(held), -game.tiles.points(held))
    assert build_game(parse_gcg(format_gcg(build_record(entered)))).totals == entered.totals
