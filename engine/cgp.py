"""Positions in CGP, the notation of analysis engines such as Macondo.

A position is `BOARD RACKS SCORES ZEROS OPTIONS`: the rows of the board with runs of empty squares as numbers, the racks
and scores with the player to move first, and the number of consecutive turns without a score. The racks are empty,
because no camera sees them. https://github.com/domino14/macondo/wiki/CGP
"""

from __future__ import annotations

from itertools import groupby

from engine.board import Board
from engine.ending import count_scoreless_turns
from engine.errors import NotationError
from engine.game import Game
from engine.reading import BOARD_SIZE
from engine.tiles import Tile

_DISTRIBUTIONS = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "pl": "polish", "ca": "catalan"}
"""Name of the letter distribution in analysis engines, by name of the tile set."""


def format_cgp(game: Game) -> str:
    """Return the current position of a game in CGP. Raises `NotationError` unless the game has two players.

    >>> from engine.events import GameStarted
    >>> format_cgp(Game.start(("Anna", "Ben")))
    '15/15/15/15/15/15/15/15/15/15/15/15/15/15/15 / 0/0 0 ld english;'
    """
    if len(game.players) != 2:
        raise NotationError("CGP has positions of two players")
    scores = (game.totals[game.to_move], game.totals[1 - game.to_move])
    zeros = count_scoreless_turns(game.state)
    distribution = _DISTRIBUTIONS.get(game.tiles.name)
    options = f" ld {distribution};" if distribution else ""
    rows = "/".join(_format_row(game.board, row) for row in range(BOARD_SIZE))
    return f"{rows} / {scores[0]}/{scores[1]} {zeros}{options}"


def _format_row(board: Board, row: int) -> str:
    tiles = board.squares[row * BOARD_SIZE : (row + 1) * BOARD_SIZE]
    parts: list[str] = []
    for is_empty, group in groupby(tiles, key=lambda tile: tile is None):
        squares = list(group)
        parts += [str(len(squares))] if is_empty else map(_format_tile, squares)
    return "".join(parts)


def _format_tile(tile: Tile | None) -> str:
    """Return a tile in CGP: its letter (lower case for a blank, in brackets if it has several characters), or `?`."""
    if tile is None or tile.is_unnamed:
        return "?"
    letter = tile.letter.lower() if tile.is_blank else tile.letter
    return letter if len(letter) == 1 else f"[{letter}]"
