"""Games from notation and readings from boards, for tests of the engine."""

from __future__ import annotations

from collections.abc import Mapping

from engine.board import Board, parse_square
from engine.events import PlayMade, Ref
from engine.game import Game
from engine.ledger import Alternative, Doubt, Entry, Ledger, Source, find_disputed_squares
from engine.plays import Play
from engine.reading import EMPTY, BoardReading, SquareReading
from engine.rules import STANDARD_RULES, Rules
from engine.scoring import Status
from engine.tiles import Tile

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


def act_ref(number: int) -> Ref:
    """Return the identity of an act, from 0, that was pushed to a new game."""
    return Ref(1, number)


def as_ledger(game: Game) -> Ledger:
    """Return the ledger of a game whose events one command has recorded, with the same identities."""
    entries = (Entry(1, 1, (game.events,), source=Source.PRESS),) if game.events else ()
    return Ledger(game.start_event, entries)


def new_ledger(rules: Rules = STANDARD_RULES, players: int = 2) -> Ledger:
    return Ledger(new_game(rules, players).start_event)


def record(ledger: Ledger, *plays: str) -> Ledger:
    """Return the ledger after these plays, each recorded by a command of its own."""
    for notation in plays:
        ledger = ledger.record([((PlayMade(None, written(ledger.game, notation)),),)])
    return ledger


def record_one_of(ledger: Ledger, *plays: str, doubts: Mapping[str, Mapping[str, float]] | None = None) -> Ledger:
    """Return the ledger after a play that is in doubt: the first of `plays` counts.

    `doubts` are the candidates for squares in the reading of which the play was recorded.
    """
    answers = tuple((PlayMade(None, written(ledger.game, notation)),) for notation in plays)
    return ask(ledger, *answers, reading=seen(play(ledger.game, plays[0]).board, doubts))


def ask(ledger: Ledger, *answers: Alternative, reading: BoardReading | None = None) -> Ledger:
    """Return the ledger after an entry with an open question, which `reading` has led to; the first answer counts."""
    asked = ledger.record([answers], doubt=Doubt("which-tile"))
    if reading is None:
        return asked
    squares = find_disputed_squares(ledger.game, asked.entries[-1])
    reads = [reading.squares[square] for square in squares]
    confidence = min((read.confidence for read in reads), default=1.0)
    doubt = Doubt("which-tile", squares=squares, seen=tuple(read.symbol for read in reads), confidence=confidence)
    return ledger.record([answers], doubt=doubt)
