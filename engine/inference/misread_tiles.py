"""Find the recorded tiles that were misread, because later readings contradict them."""

from __future__ import annotations

from collections import Counter

from engine.board import Square
from engine.events import BlankNamed, SquareCorrected
from engine.game import Game
from engine.inference.evidence import MIN_CLEAR_PROBABILITY
from engine.inference.history import ReadingHistory
from engine.inference.placements import tile_from_face
from engine.reading import EMPTY, BoardReading
from engine.state import TurnKind

_MAX_REMOVED_TILES = 3
"""Maximum number of old tiles that are removed from the record at once; with more, the board is being cleared."""


def find_misread_tiles(game: Game, reading: BoardReading, history: ReadingHistory) -> tuple[SquareCorrected, ...]:
    """Return corrections of recorded tiles that this reading and the combined readings in `history` contradict.

    The tiles of `find_confirmed_squares` are not changed.
    """
    confirmed = find_confirmed_squares(game)
    contradictions = history.find_contradictions(game.board)
    is_cleared = sum(symbol == EMPTY for symbol in contradictions.values()) > _MAX_REMOVED_TILES
    wrong = {
        square: symbol
        for square, symbol in contradictions.items()
        if square not in confirmed
        and not (is_cleared and symbol == EMPTY)
        and reading.squares[square].probability(symbol) > MIN_CLEAR_PROBABILITY
    }
    stock = game.unseen + Counter(game.board.tile(square).face for square in wrong)
    found = []
    for square, symbol in wrong.items():
        if symbol == EMPTY or stock[symbol] > 0:
            stock[symbol] -= 1
            found.append(SquareCorrected(square, None if symbol == EMPTY else tile_from_face(symbol)))
    return tuple(found)


def find_confirmed_squares(game: Game) -> frozenset[Square]:
    """Return the squares whose tile a player has named or corrected, and those of plays that withstood a challenge."""
    told = (
        event.square
        for event in game.events
        if isinstance(event, BlankNamed) or (isinstance(event, SquareCorrected) and event.told)
    )
    targets = (turn.target for turn in game.turns if turn.kind is TurnKind.CHALLENGE and turn.target is not None)
    challenged = (game.turns[number] for number in targets if game.turns[number].stands)
    return frozenset((*told, *(square for turn in challenged for square, _ in turn.placements)))
