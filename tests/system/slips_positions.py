"""Random positions in the middle of a game, and the plays that may follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

from device.storage.lexicons import open_lexicon, read_lexicon
from engine.board import NEIGHBOURS, Board, Square
from engine.events import Event, PlayMade
from engine.game import Game
from engine.lexicon import Lexicon, load_shipped_lexicon
from engine.plays import Play
from engine.reading import BLANK
from engine.rules import Rules
from engine.scoring import Status
from engine.tiles import Tile, load_tile_set
from tests.support.self_play import PlayFinder

NAMES = ("Anna", "Ben")
OPENING_TURNS = range(6, 15)
"""Numbers of turns of which one is drawn for a position."""
MIN_TILES_LEFT = 22
"""Tiles that nobody has played at a position, so that the game goes on for some turns."""


@cache
def find_words(language: str, file: Path | None = None) -> Lexicon:
    """Return the words that players know: those of the file, of the system, or of the list in this program.

    Without a German list, the plays of a German table have English words.
    """
    if file is not None:
        return read_lexicon(file, load_tile_set(language))
    found = open_lexicon(None, language) or load_shipped_lexicon("en")
    assert found is not None, "the English word list is part of this program"
    return found


def find_session_words(language: str) -> Lexicon | None:
    """Return the word list that a session has: that in this program, or none."""
    return load_shipped_lexicon(language)


@cache
def find_plays(language: str, file: Path | None) -> PlayFinder:
    """Return the generator of plays with the words that players know."""
    return PlayFinder(find_words(language, file), "".join(load_tile_set(language).letters))


@dataclass
class Position:
    """A game, and random plays that may follow it, of at most `most_tiles` tiles.

    `held` are tiles that a player has taken back from the board, so that the next player does not have them.
    """

    game: Game
    finder: PlayFinder
    words: Lexicon
    chance: Random
    has_blanks: bool = False
    most_tiles: int = 7
    held: Counter[str] = field(default_factory=Counter)

    def draw_rack(self, game: Game, *wanted: str) -> Counter[str]:
        """Return a rack of unplayed tiles with the tiles `wanted`."""
        bag = game.unseen - Counter(wanted) - self.held
        if not self.has_blanks:
            bag[BLANK] = 0
        tiles = list((+bag).elements())
        count = max(0, min(game.rules.rack_size - len(wanted), len(tiles)))
        return Counter([*wanted, *self.chance.sample(tiles, count)])

    def list_plays(self, board: Board, rack: Counter[str], least: int = 1) -> list[Play]:
        """Return the plays of a rack with at least `least` tiles, in random order."""
        plays = dict.fromkeys(self.finder.plays(board, rack))
        found = [play for play in plays if least <= len(play.tiles) <= self.most_tiles]
        self.chance.shuffle(found)
        return found

    def draw_plays(self, game: Game, least: int = 1, racks: int = 3) -> Iterator[Play]:
        """Yield plays of several random racks; as people do, they prefer plays with more points."""
        for _ in range(racks):
            plays = self.list_plays(game.board, self.draw_rack(game), least)[:24]
            yield from sorted(plays, key=lambda play: -game.score_play(play).total + 8 * self.chance.random())

    def draw_play(self, game: Game, least: int = 1) -> Play | None:
        """Return a random play, None if there is none."""
        plays = self.list_plays(game.board, self.draw_rack(game), least) or self.list_plays(
            game.board, self.draw_rack(game), least
        )
        return max(plays[:3], key=lambda play: game.score_play(play).total, default=None)

    def is_word_play(self, game: Game, play: Play) -> bool:
        """Return True if a play is legal, and all its words are in the list."""
        if game.check_play(play) != Status.VALID:
            return False
        return all(word.word in self.words for word in game.score_play(play).words)

    def split_play(self, game: Game, play: Play, count: int | None = None) -> Play | None:
        """Return a part of a play from one of its ends that is a legal play in the same line; None if there is none.

        If `count` is given, it is the number of tiles that the part lacks.
        """
        tiles, is_across = play.tiles, play.is_across(game.board)
        counts = range(1, len(tiles)) if count is None else [len(tiles) - count]
        parts = [part for n in counts for part in (tiles[:n], tiles[-n:]) if 0 < n < len(tiles)]
        self.chance.shuffle(parts)
        plays = (Play(part) for part in parts)
        return next((part for part in plays if self._is_word_in_line(game, part, is_across)), None)

    def _is_word_in_line(self, game: Game, play: Play, is_across: bool) -> bool:
        is_in_line = len(play.apply_to(game.board).tile_run(play.squares[0], is_across)) > 1
        return is_in_line and self.is_word_play(game, play)


def find_loose_square(board: Board, play: Play) -> Square | None:
    """Return the first square of a play, or the last, if it touches no tile of the board; None if both do."""
    ends = (play.squares[0], play.squares[-1]) if len(play.squares) > 1 else ()
    return next((square for square in ends if not any(board[near] for near in NEIGHBOURS[square])), None)


@cache
def _draw_opening(language: str, seed: int, file: Path | None) -> tuple[Event, ...]:
    """Return the turns of a random game up to a position."""
    chance = Random(f"position/{language}/{seed}")
    game = Game.start(NAMES, tile_set=language)
    position = Position(game, find_plays(language, file), find_words(language, file), chance)
    for _ in range(chance.choice(OPENING_TURNS)):
        play = position.draw_play(game)
        if game.unseen.total() <= MIN_TILES_LEFT or play is None:
            break
        game = game.push(PlayMade(game.to_move, play))
    return game.events


def make_position(
    language: str, seed: int, rules: Rules, chance: Random, file: Path | None = None, *, is_new: bool = False
) -> Position:
    """Return the position of a seed, the same for all slips and rules; if `is_new` is True, the game has no turns yet.

    `chance` draws what follows.
    """
    words = find_session_words(language)
    game = Game.start(NAMES, rules, language, lexicon=words.name if words else None)
    events = () if is_new else _draw_opening(language, seed, file)
    return Position(game.push(*events), find_plays(language, file), find_words(language, file), chance)


def with_letter(play: Play, square: Square, letter: str) -> Play:
    """Return a play with another letter on one of its squares."""
    return play.with_tile(square, Tile(letter))
