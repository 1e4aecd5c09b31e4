"""Old tiles that were changed as a variation of the rules allows (travel-case, rules 5 A, 5 B and 6)."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import TYPE_CHECKING

from engine.events import BlankNamed, BlankTaken, Event, PlayMade, TileRecycled
from engine.inference.history import CLEAR
from engine.inference.placements import laid_squares, letters
from engine.plays import Play
from engine.reading import BLANK
from engine.scoring import rearranges_one_word
from engine.squares import Square
from engine.tiles import Tile

if TYPE_CHECKING:
    from engine.inference.hypotheses import Hypothesis

VARIATION = log(0.1)

_LETTERINGS = 4


def varied(base: Hypothesis) -> Iterator[Hypothesis]:
    """The hypothesis with the old tiles changed that are read as others, as far as the rules allow."""
    rules = base.game.rules
    changed = _changed(base)
    if not changed or base.game.is_over:
        return
    if rules.recycle or rules.retake_blanks:
        yield from _exchanged(base, changed)
    if rules.rearrange:
        yield from _rearranged(base, changed)


def _changed(base: Hypothesis) -> dict[Square, str]:
    """The old tiles that are clearly read as another tile."""
    changed = {}
    marked = base.evidence.marked
    for square in base.board.occupied():
        read, tile = base.evidence.reading.squares[square], base.board.tile(square)
        if read.is_tile and read.confidence > CLEAR and read.symbol not in (tile.face, marked and tile.letter):
            changed[square] = read.symbol
    return changed


def _exchanged(base: Hypothesis, changed: dict[Square, str]) -> Iterator[Hypothesis]:
    """Blanks taken back for their letters, tiles of the board taken for tiles of the rack."""
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
            continue  # nothing that the rules allow: it was read wrong
        stock[tile.face] += 1
        stock[face] -= 1
    if events and min(stock.values()) >= 0:
        yield base.push(*events, prior=VARIATION * len(changed))


def _rearranged(base: Hypothesis, changed: dict[Square, str]) -> Iterator[Hypothesis]:
    """The letters of one word put in another order, and tiles added to it."""
    game, evidence = base.game, base.evidence
    blank = next((tile for square in changed if (tile := game.board.tile(square)).is_blank), Tile.unnamed())

    def same(face: str) -> Tile:
        """A blank of the word keeps the letter it has."""
        return blank if face == BLANK else Tile(face)

    moved = {square: same(face) for square, face in changed.items()}
    stock = game.state.stock()
    stock.update(game.board.tile(square).face for square in changed)
    stock.subtract(changed.values())
    for squares in laid_squares(game.state, evidence):
        for value, tiles in letters(evidence, squares, stock, _LETTERINGS):
            play = Play.of({s: same(tile.face) for s, tile in zip(squares, tiles, strict=True)}, moved)
            if rearranges_one_word(game.board, play):
                weight = value - sum(evidence.of(s, tile) for s, tile in zip(squares, tiles, strict=True))
                yield base.push(PlayMade(game.to_move, play), prior=VARIATION + weight)
