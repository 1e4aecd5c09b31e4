"""Find changes of old tiles under a rule variation (travel-case, rules 5 A, 5 B and 6)."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

from engine.board import Board
from engine.events import BlankNamed, BlankTaken, Event, PlayMade, TileRecycled
from engine.game import Game
from engine.inference.history import MIN_CLEAR_PROBABILITY, Evidence
from engine.inference.placements import find_letterings, find_play_squares
from engine.plays import Play
from engine.reading import BLANK
from engine.scoring import is_one_word_rearranged
from engine.squares import Square
from engine.tiles import Tile

VARIATION_LOG_PRIOR = log(0.1)

_MAX_LETTERINGS = 4


Variation = tuple[tuple[Event, ...], float]
"""The events of a variation and their log-prior (nats)."""


def find_variations(game: Game, evidence: Evidence) -> Iterator[Variation]:
    """Yield the events in which old tiles, now read as others, were changed as the rules allow."""
    rules = game.rules
    changed = _find_changed_tiles(game.board, evidence)
    if not changed or game.is_over:
        return
    if rules.recycle or rules.retake_blanks:
        yield from _recycle_tiles(game, changed)
    if rules.rearrange:
        yield from _rearrange_word(game, evidence, changed)


def _find_changed_tiles(board: Board, evidence: Evidence) -> dict[Square, str]:
    """Return the squares of old tiles that are clearly read as another tile, with the symbol that is read."""
    changed = {}
    marked = evidence.has_marked_blanks
    for square in board.occupied_squares():
        read, tile = evidence.reading.squares[square], board.tile(square)
        if (
            read.is_tile
            and read.confidence > MIN_CLEAR_PROBABILITY
            and read.symbol not in (tile.face, marked and tile.letter)
        ):
            changed[square] = read.symbol
    return changed


def _recycle_tiles(game: Game, changed: dict[Square, str]) -> Iterator[Variation]:
    """Yield the events by which blanks are taken for their letters and old tiles exchanged for tiles of the rack."""
    player = game.to_move
    stock = game.unseen
    events: list[Event] = []
    for square, face in changed.items():
        tile = game.board.tile(square)
        if game.rules.retake_blanks and tile.is_blank and tile.letter in (face, BLANK):
            events += [BlankNamed(square, face)] * tile.is_unnamed
            events.append(BlankTaken(player, square))
        elif game.rules.recycle and face != BLANK:
            events.append(TileRecycled(player, square, Tile(face)))
        else:
            continue  # no rule allows this change: the tile was misread
        stock[tile.face] += 1
        stock[face] -= 1
    if events and min(stock.values()) >= 0:
        yield tuple(events), VARIATION_LOG_PRIOR * len(changed)


def _rearrange_word(game: Game, evidence: Evidence, changed: dict[Square, str]) -> Iterator[Variation]:
    """Yield the plays by which the letters of one word were rearranged and tiles added to it."""
    blank = next((tile for square in changed if (tile := game.board.tile(square)).is_blank), Tile.unnamed())

    def same(face: str) -> Tile:
        """Return the tile for a symbol; a blank of the word keeps its letter."""
        return blank if face == BLANK else Tile(face)

    moved = {square: same(face) for square, face in changed.items()}
    stock = game.state.stock()
    stock.update(game.board.tile(square).face for square in changed)
    stock.subtract(changed.values())
    for squares in find_play_squares(game.state, evidence):
        for value, tiles in find_letterings(evidence, squares, stock, _MAX_LETTERINGS):
            play = Play.from_tiles({s: same(tile.face) for s, tile in zip(squares, tiles, strict=True)}, moved)
            if is_one_word_rearranged(game.board, play):
                weight = value - sum(
                    evidence.new_tile_log_likelihood(s, tile) for s, tile in zip(squares, tiles, strict=True)
                )
                yield (PlayMade(game.to_move, play),), VARIATION_LOG_PRIOR + weight
