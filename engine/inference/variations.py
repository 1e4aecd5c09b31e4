"""Hypotheses in which old tiles were changed under a rule variation (travel-case, rules 5 A, 5 B and 6)."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

from engine.events import BlankNamed, BlankTaken, Event, PlayMade, TileRecycled
from engine.inference.history import MIN_CLEAR_PROBABILITY
from engine.inference.hypothesis import Hypothesis
from engine.inference.placements import find_letterings, find_play_squares
from engine.plays import Play
from engine.reading import BLANK
from engine.scoring import is_one_word_rearranged
from engine.squares import Square
from engine.tiles import Tile

VARIATION_LOG_PRIOR = log(0.1)

_MAX_LETTERINGS = 4


def generate_variations(base: Hypothesis) -> Iterator[Hypothesis]:
    """Yield variants of a hypothesis in which old tiles, now read as others, were changed as the rules allow."""
    rules = base.game.rules
    changed = _find_changed_tiles(base)
    if not changed or base.game.is_over:
        return
    if rules.recycle or rules.retake_blanks:
        yield from _recycle_tiles(base, changed)
    if rules.rearrange:
        yield from _rearrange_word(base, changed)


def _find_changed_tiles(base: Hypothesis) -> dict[Square, str]:
    """Return the squares of old tiles that are clearly read as another tile, with the symbol that is read."""
    changed = {}
    marked = base.evidence.has_marked_blanks
    for square in base.board.occupied_squares():
        read, tile = base.evidence.reading.squares[square], base.board.tile(square)
        if (
            read.is_tile
            and read.confidence > MIN_CLEAR_PROBABILITY
            and read.symbol not in (tile.face, marked and tile.letter)
        ):
            changed[square] = read.symbol
    return changed


def _recycle_tiles(base: Hypothesis, changed: dict[Square, str]) -> Iterator[Hypothesis]:
    """Yield the hypothesis with blanks taken for their letters and old tiles exchanged for tiles of the rack."""
    game, player = base.game, base.game.to_move
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
        yield base.push(*events, log_prior=VARIATION_LOG_PRIOR * len(changed))


def _rearrange_word(base: Hypothesis, changed: dict[Square, str]) -> Iterator[Hypothesis]:
    """Yield hypotheses in which the letters of one word were rearranged and tiles added to it."""
    game, evidence = base.game, base.evidence
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
                yield base.push(PlayMade(game.to_move, play), log_prior=VARIATION_LOG_PRIOR + weight)
