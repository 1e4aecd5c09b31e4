"""Recorded games, the positions in them, and scenarios: disturbed presses and the good ones that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from random import Random

from engine.board import Board, Square
from engine.errors import NotationError, RulesError
from engine.events import Challenged, Event, Exchanged, Passed, PlayMade, PlayWithdrawn, ScoreCorrected
from engine.game import Game
from engine.gcg import build_game, parse_gcg
from engine.lexicon import WordList, load_shipped_lexicon
from engine.reading import BoardReading, SquareReading

MIN_GAME_TURNS = 8
"""Games with fewer turns are left out."""
FOLLOWING_TURNS = 3
"""Turns with good readings after the disturbed ones."""
HALF_FULL_TILES = range(25, 51)
MIN_OTHER_BOARD_TILES = 7
Squares = Mapping[Square, SquareReading]


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """A game of a file: `states[n]` is the game before `events[n]`, the last one the game at the end."""

    name: str
    states: tuple[Game, ...]
    events: tuple[Event, ...]

    def find_turns(self, count: int) -> list[int]:
        """Return where a play begins `count` turns in a row that all stand: plays, exchanges and passes."""
        return [
            at
            for at in range(len(self.events) - count + 1)
            if isinstance(self.events[at], PlayMade)
            and all(isinstance(event, PlayMade | Exchanged | Passed) for event in self.events[at : at + count])
            and not any(
                isinstance(event, PlayWithdrawn | Challenged | ScoreCorrected)
                for event in self.events[at + count : at + count + 1]
            )
        ]


def load_game(file: Path) -> RecordedGame | None:
    """Return the game of a GCG file; None if a line cannot be read. Raises `NotationError`, `RulesError`."""
    record = parse_gcg(file.read_bytes())
    if record.problems or not record.entries:
        return None
    final = build_game(record)
    game = Game.begin(final.start_event)
    states = [game]
    for event in final.events:
        game = game.push(event)
        states.append(game)
    return RecordedGame(f"{file.parent.name}/{file.name}", tuple(states), final.events)


@dataclass(frozen=True)
class Position:
    """A turn of a recorded game, and the board of another game."""

    recorded: RecordedGame
    at: int
    other_board: Board | None = None

    @property
    def before(self) -> Game:
        """The game before the turn."""
        return self.recorded.states[self.at]

    @property
    def after(self) -> Game:
        """The game after the turn."""
        return self.recorded.states[self.at + 1]

    @property
    def event(self) -> PlayMade:
        """The play of the turn."""
        event = self.recorded.events[self.at]
        assert isinstance(event, PlayMade), "a position is that of a play"
        return event

    @cached_property
    def new_letters(self) -> list[Square]:
        """The squares of the play that hold a letter, not a blank."""
        return [square for square, tile in self.event.play.tiles if not tile.is_blank]

    @cached_property
    def old_letters(self) -> list[Square]:
        """The squares of earlier plays that hold a letter, not a blank."""
        board = self.before.board
        return [square for square in board.occupied_squares() if not board.tile(square).is_blank]

    def play_on(self, game: Game, skipped: int, count: int = FOLLOWING_TURNS) -> tuple[Game, ...] | None:
        """Return the game after each of the next `count` turns; None if the record does not have so many.

        The turns are those of the record from the one `skipped` after this turn, made by whoever is to move. A turn
        that the rules do not allow on this board is left out.
        """
        games: list[Game] = []
        for event in self.recorded.events[self.at + skipped :]:
            if len(games) == count:
                break
            if not isinstance(event, PlayMade | Exchanged | Passed):
                continue
            event = replace(event, player=game.to_move)
            if isinstance(event, PlayMade) and game.check_play(event.play):
                continue
            game = game.push(event)
            games.append(game)
        return tuple(games) if len(games) == count else None


@dataclass(frozen=True, slots=True)
class Picture:
    """The reading of one picture."""

    reading: BoardReading


@dataclass(frozen=True, slots=True)
class Press:
    """One press of the button: the picture, and the true game after it."""

    picture: Picture
    truth: Game


@dataclass(frozen=True, slots=True)
class Scenario:
    """The game that the session has, the disturbed presses, and the good presses after them."""

    start: Game
    disturbed: tuple[Press, ...]
    following: tuple[Press, ...]


BuildScenario = Callable[[Position, Random], Scenario | None]
"""Returns None for a position that the row cannot disturb."""
ChangeSquares = Callable[[Position, Random], Squares | None]
"""Returns the squares that are read wrong, None for a position that the row cannot disturb."""


@dataclass(frozen=True, slots=True)
class Row:
    """A kind of disturbance: how it is made, how many turns it takes with those after it, and where it applies."""

    name: str
    build: BuildScenario
    turns: int = 1 + FOLLOWING_TURNS
    is_first_word: bool = False


def find_words(recorded: RecordedGame) -> WordList | None:
    """Return the packaged word list of the game's language, None if there is none."""
    return _load_words(recorded.states[0].tiles.name)


@lru_cache
def _load_words(tiles: str) -> WordList | None:
    return load_shipped_lexicon(tiles)


def load_games(folders: Iterable[Path], count: int, seed: int) -> tuple[list[RecordedGame], int]:
    """Return up to `count` games of all GCG files in the folders, chosen by the seed, and how many cannot be used."""
    files = sorted({file for folder in folders for file in folder.rglob("*.gcg")})
    Random(f"{seed}/games").shuffle(files)
    games: list[RecordedGame] = []
    unusable = 0
    for file in files:
        if len(games) == count:
            break
        try:
            recorded = load_game(file)
        except (NotationError, RulesError):
            recorded = None
        if recorded and recorded.find_turns(MIN_GAME_TURNS):
            games.append(recorded)
        else:
            unusable += 1
    return games, unusable
