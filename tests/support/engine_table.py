"""Games from notation and readings from boards, for tests of the engine."""

from __future__ import annotations

from collections.abc import Mapping

from engine.board import Board, parse_square
from engine.events import PlayMade, QuestionDeferred
from engine.game import Game
from engine.plays import Play
from engine.reading import EMPTY, BoardReading, SquareReading
from engine.rules import STANDARD_RULES, Rules
from engine.scoring import Status
from engine.tiles import Tile
from engine.validation.deferred_questions import defer_question

NAMES = ("Anna", "Ben", "Cleo", "Dan")


def new_game(rules: Rules = STANDARD_RULES, players: int = 2, tile_set: str = "en") -> Game:
    return Game.start(NAMES[:players], rules, tile_set)


def written(game: Game, notation: str) -> Play:
    """Return a play from notation such as `8F HORN`, on the current board."""
    position, word = notation.split()
    return Play.from_gcg(game.board, position, word, game.tiles)


def play(game: Game, *plays: str) -> Game:
    """Return the game after these plays, each by the player to move."""
    for notation in plays:
        game = game.push(PlayMade(game.to_move, written(game, notation)))
    return game


def with_plays(*plays: str) -> Game:
    """Return a game of two players with these plays."""
    return play(new_game(), *plays)


def board_after(game: Game, *plays: str) -> Board:
    """Return the board after more plays of a game."""
    return play(game, *plays).board


def tiles_at(tiles: Mapping[str, str]) -> Play:
    """Return a play from squares and letters, such as `{"H8": "A", "H9": "b"}`; lower case is a blank."""
    return Play.from_tiles({parse_square(at): Tile(t.upper(), is_blank=t.islower()) for at, t in tiles.items()})


def status(game: Game, tiles: Mapping[str, str]) -> Status:
    return game.check_play(tiles_at(tiles))


def scores(game: Game, notation: str) -> dict[str, int]:
    """Return the score of each word of a play."""
    return {word.word: word.score for word in game.score_play(written(game, notation)).words}


def total(game: Game, notation: str) -> int:
    return game.score_play(written(game, notation)).total


def seen(board: Board, doubts: Mapping[str, Mapping[str, float]] | None = None) -> BoardReading:
    """Return a perfect reading of the board, but for the candidates in `doubts`; blanks have no letter."""
    squares = [SquareReading(((EMPTY if tile is None else tile.face, 1.0),)) for tile in board.squares]
    for name, candidates in (doubts or {}).items():
        squares[parse_square(name)] = SquareReading(tuple(candidates.items()))
    return BoardReading(tuple(squares))


def defer(game: Game, *others: str, doubts: dict[str, dict[str, float]] | None = None) -> Game:
    """Return the game after the last play became provisional, with the plays `others` as the other answers."""
    last, before = game.events[-1], Game.from_events(game.events[:-1])
    assert isinstance(last, PlayMade)
    answers = ((last,), *((PlayMade(last.player, written(before, other)),) for other in others))
    texts = tuple(map(str, range(len(answers))))
    question = QuestionDeferred(0, "Which word?", texts, answers, 1)
    for event in defer_question(game, question, seen(game.board, doubts)):
        game = game.push(event)
    return game
