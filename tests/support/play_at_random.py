"""Random legal plays, games and readings; there is no word list, so plays need not be words."""

from __future__ import annotations

import random

from engine.board import SQUARES, Board, square_at
from engine.events import EndReason, PlayMade
from engine.game import Game
from engine.plays import Play
from engine.reading import BOARD_SIZE, EMPTY, BoardReading, SquareReading
from engine.scoring import Status
from engine.tiles import Tile


def random_play(game: Game, rng: random.Random, longest: int = 7) -> Play | None:
    """Return a legal play of up to `longest` tiles, blanks included; None if none was found in 200 attempts."""
    bag = list(game.unseen.elements())
    for _ in range(200):
        across = rng.random() < 0.5
        count = min(rng.randint(1, longest), len(bag), game.rules.rack_size)
        line = rng.randrange(BOARD_SIZE)
        squares = [square_at(line, n) if across else square_at(n, line) for n in range(BOARD_SIZE)]
        free = [s for s in squares[rng.randrange(BOARD_SIZE) :] if game.board[s] is None][:count]
        if not free:
            continue
        play = Play.from_tiles(
            {s: random_tile(game, face, rng) for s, face in zip(free, rng.sample(bag, len(free)), strict=True)}
        )
        if game.check_play(play) == Status.VALID:
            return play
    return None


def random_tile(game: Game, face: str, rng: random.Random) -> Tile:
    return Tile(rng.choice(game.tiles.letters), is_blank=True) if face == "?" else Tile(face)


def random_game(rng: random.Random, turns: int, game: Game | None = None) -> Game:
    """Return a game after up to `turns` random plays; it stops when a player has used the last letter."""
    game = game or Game.start(("Anna", "Ben"))
    for _ in range(turns):
        if game.end_due is EndReason.PLAYED_OUT:
            break
        if play := random_play(game, rng):
            game = game.push(PlayMade(game.to_move, play))
    return game


LOOK_ALIKE = {
    "E": "F", "F": "E", "I": "L", "L": "I", "U": "J", "J": "U", "O": "Q", "Q": "O", "C": "G", "G": "C", "M": "W",
    "W": "M", "V": "Y", "Y": "V", "P": "R", "R": "P", "B": "D", "D": "B", "H": "N", "N": "H", "S": "Z", "Z": "S",
    "T": "I", "K": "X", "X": "K", "A": "R", "?": "I",
}  # fmt: skip


def noisy(board: Board, rng: random.Random) -> BoardReading:
    """Return a reading with the errors of a fair camera: similar letters, false tiles, letters read as blanks."""
    squares = []
    for square in SQUARES:
        tile, chance = board[square], rng.random()
        if tile is None:
            candidates = {EMPTY: 0.999} if chance > 0.01 else {EMPTY: 0.55, rng.choice("IOTL"): 0.4}
        else:
            face = tile.face
            other = LOOK_ALIKE.get(face, "E")
            if chance < 0.004:
                candidates = {other: 0.6, face: 0.35}
            elif chance < 0.03:
                candidates = {face: 0.6, other: 0.3}
            elif chance < 0.035 and face != "?":
                candidates = {"?": 0.7, face: 0.2}
            else:
                candidates = {face: 0.97, other: 0.02}
        squares.append(SquareReading(tuple(sorted(candidates.items(), key=lambda c: -c[1]))))
    return BoardReading(tuple(squares))


def unnamed(play: Play) -> Play:
    """Return the play with its blanks unnamed, as a camera reads it."""
    return Play(
        tuple((s, Tile.unnamed() if t.is_blank else t) for s, t in play.tiles),
        tuple((s, Tile.unnamed() if t.is_blank else t) for s, t in play.rearranged),
    )


def play_of(game: Game, count: int, rng: random.Random) -> Play:
    """Return a legal play of exactly `count` tiles. Raises AssertionError if none is found."""
    for _ in range(2000):
        play = random_play(game, rng, count)
        if play and len(play.tiles) == count:
            return play
    raise AssertionError(f"no play of {count} tiles found")


def drawn_out(game: Game, seed: int = 1) -> Game:
    """Return the game continued until the bag is empty."""
    rng = random.Random(seed)
    while game.bag_count:
        game = game.push(PlayMade(game.to_move, play_of(game, min(5, game.bag_count), rng)))
    return game


def played_out(game: Game, seed: int = 1) -> Game:
    """Return the game continued until a player has used the last letter."""
    game = drawn_out(game, seed)
    play = play_of(game, game.state.rack_counts[game.to_move], random.Random(seed))
    return game.push(PlayMade(game.to_move, play))
