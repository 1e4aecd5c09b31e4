"""Stories of random games: what players do beside a press explains readings that differ from the recorded turns."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from engine.board import RAYS_BACK, RAYS_FORWARD, Board, Square
from engine.events import PlayMade
from engine.game import Game
from engine.inference.explain import Inference, infer_play
from engine.inference.history import EMPTY_HISTORY, ReadingHistory
from engine.ledger import Ledger, Source
from engine.plays import Play
from engine.scoring import Status
from engine.tiles import Tile
from tests.support.engine_table import new_ledger, seen
from tests.support.play_at_random import random_play, unnamed

SEEDS = range(12)


@dataclass(frozen=True)
class PressedTable:
    """A ledger whose turns are recorded from clear readings at presses of a shared button."""

    ledger: Ledger = field(default_factory=new_ledger)
    history: ReadingHistory = EMPTY_HISTORY

    @property
    def game(self) -> Game:
        return self.ledger.game

    def press(self, board: Board) -> tuple[Inference, PressedTable]:
        """Return the inference from a board, and the table after a press that records its best explanation."""
        found = infer_play(self.game, seen(board), self.history)
        return found, PressedTable(self.ledger.record([(found.events,)], source=Source.PRESS), found.history)


def find_play(game: Game, rng: random.Random, least: int = 1) -> Play:
    """Return a legal play of at least `least` and at most five tiles; its blanks are unnamed."""
    for _ in range(100):
        play = random_play(game, rng, 5)
        if play is not None and len(play.tiles) >= least:
            return unnamed(play)
    raise AssertionError("no play was found")


def begin(rng: random.Random) -> PressedTable:
    """Return a table after three plays."""
    table = PressedTable()
    for _ in range(3):
        _, table = table.press(find_play(table.game, rng).apply_to(table.game.board))
    assert len(table.game.turns) == 3
    return table


def add(game: Game, play: Play) -> Game:
    """Return the game after a play by the player to move."""
    return game.push(PlayMade(game.to_move, play))


def list_plays(game: Game) -> list[tuple[int, object]]:
    """Return the player and the tiles of each play that stands."""
    return [(turn.player, turn.placements) for turn in game.turns if turn.stands and turn.play]


@pytest.mark.parametrize("seed", range(8))
def test_clear_games_ask_nothing(seed: int) -> None:
    rng, table = random.Random(seed), PressedTable()
    for _ in range(8):
        game, play = table.game, find_play(table.game, rng)
        found, table = table.press(play.apply_to(game.board))
        assert found.events == (PlayMade(game.to_move, play),) and found.is_certain


def is_loose(board: Board, square: Square) -> bool:
    """Return True if no tile is next to a square, or one square farther in its row and column."""
    rays = [rays[across][square][:2] for rays in (RAYS_BACK, RAYS_FORWARD) for across in (True, False)]
    return not any(board[near] for ray in rays for near in ray)


def test_loose_tile_at_a_press_belongs_to_the_next_play() -> None:
    """The next player was quick, and placed a tile before the press."""
    tried = 0
    for seed in SEEDS:
        rng = random.Random(seed)
        table = begin(rng)
        after = add(table.game, find_play(table.game, rng))
        following = find_play(after, rng, 2)
        loose = [placed for placed in following.tiles if is_loose(after.board, placed[0])]
        if loose:
            tried += 1
            square, tile = rng.choice(loose)
            _, table = table.press(after.board.with_tiles({square: tile}))
            assert list_plays(table.game) == list_plays(after), seed
            found, _ = table.press(following.apply_to(after.board))
            assert found.events == (PlayMade(after.to_move, following),) and found.is_certain, seed
    assert tried > len(SEEDS) / 4


def take_end_off(game: Game, play: Play, rng: random.Random) -> Play | None:
    """Return the play without its first or last tile, or None if that is not legal."""
    shorter = Play(rng.choice((play.tiles[1:], play.tiles[:-1])))
    return shorter if game.check_play(shorter) == Status.VALID else None


def exchange_letter(game: Game, play: Play, rng: random.Random) -> Play:
    """Return the play with another letter on one of its squares."""
    square, tile = rng.choice(play.tiles)
    letter = rng.choice([face for face in game.tiles.letters if face != tile.face and game.unseen[face] > 1])
    return Play.from_tiles({**dict(play.tiles), square: Tile(letter)})


def put_elsewhere(game: Game, play: Play, rng: random.Random) -> Play | None:
    """Return a play of the same tiles on other squares, or None if it is not legal."""
    squares = find_play(game, rng, len(play.tiles)).squares[: len(play.tiles)]
    moved = Play(tuple(zip(squares, (tile for _, tile in play.tiles), strict=True)))
    is_legal = set(squares).isdisjoint(play.squares) and game.check_play(moved) == Status.VALID
    return moved if is_legal else None


def is_ambiguous(recorded: Game, truth: Game) -> bool:
    """Return True if the change of the last recorded play may also be a part of the next play.

    Then the next play is in one line with that play, or all new tiles are one play of the next player, or one of them
    is where the player took a tile back.
    """
    recorded_play, play, following = recorded.turns[-1].play, truth.turns[-2].play, truth.turns[-1].play
    assert recorded_play and play and following, "all three are plays"
    changed = recorded.board.differences(truth.board)
    new = {square: truth.board.tile(square) for square in changed if truth.board[square]}
    is_added = not any(recorded.board[square] for square in changed)
    lines = [set(truth.board.tile_run(following.squares[0], across)) for across in (True, False)]
    return (
        any(line.issuperset((*play.squares, *following.squares)) for line in lines)
        or (is_added and recorded.check_play(Play.from_tiles(new)) == Status.VALID)
        or not set(recorded_play.squares).isdisjoint(following.squares)
    )


def assert_truth_is_offered(table: PressedTable, truth: Game, seed: int) -> None:
    """Press with the board of the true game: it is among the explanations, and the players are asked."""
    found, _ = table.press(truth.board)
    assert list_plays(truth) in [list_plays(one.game) for one in found.explanations], seed
    assert not found.is_certain, seed


Change = Callable[[Game, Play, random.Random], Play | None]


@pytest.mark.parametrize(
    ("change", "is_reversed"),
    [(take_end_off, True), (take_end_off, False), (exchange_letter, False), (put_elsewhere, False)],
    ids=["completed", "taken back", "exchanged", "elsewhere"],
)
def test_true_turns_are_offered_if_a_play_was_changed_after_the_press(change: Change, is_reversed: bool) -> None:
    """The next player makes a play after the change, and presses."""
    tried = 0
    for seed in SEEDS:
        rng = random.Random(seed)
        table = begin(rng)
        before, first = table.game, find_play(table.game, rng, 2)
        second = change(before, first, rng)
        if second is None:
            continue
        pressed, meant = (second, first) if is_reversed else (first, second)
        truth = add(before, meant)
        truth = add(truth, find_play(truth, rng))
        _, table = table.press(pressed.apply_to(before.board))
        assert list_plays(table.game) == list_plays(add(before, pressed)), seed
        if not is_ambiguous(table.game, truth):
            tried += 1
            assert_truth_is_offered(table, truth, seed)
    assert tried > len(SEEDS) / 4


def cover(game: Game, first: Play, rng: random.Random) -> Play | None:
    """Return a legal play that covers a part of `first` and has its tiles there; None if there is none in 50 tries."""
    on_board = dict(first.tiles)
    for _ in range(50):
        found = find_play(game, rng, 2)
        play = Play.from_tiles({square: on_board.get(square, tile) for square, tile in found.tiles})
        covered = on_board.keys() & {*play.squares}
        if covered and len(covered) < len(first.tiles) and game.check_play(play) == Status.VALID:
            return play
    return None


def test_true_turns_are_offered_if_the_next_play_repeats_tiles_of_a_play_that_was_put_elsewhere() -> None:
    """The opponent's word covers squares of the first play, and has the same letters there."""
    tried = 0
    for seed in SEEDS:
        rng = random.Random(seed)
        table = begin(rng)
        before, first = table.game, find_play(table.game, rng, 2)
        second = put_elsewhere(before, first, rng)
        following = second and cover(add(before, second), first, rng)
        if second and following:
            tried += 1
            truth = add(add(before, second), following)
            _, table = table.press(first.apply_to(before.board))
            assert_truth_is_offered(table, truth, seed)
    assert tried > len(SEEDS) / 4
