"""Find the earlier plays to which tiles may belong that were missed when these plays were read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.board import NEIGHBOURS, Square
from engine.inference.placements import is_legal_placement
from engine.state import State, Turn, TurnKind


def find_overlooked_turn(state: State, square: Square) -> Turn | None:
    """Return the last turn in which a tile on `square` may have been placed and missed, or None."""
    return next((turn for turn in reversed(state.turns) if can_be_overlooked(state, turn, (square,))), None)


def can_be_overlooked(state: State, turn: Turn, squares: Sequence[Square]) -> bool:
    """Return True if tiles on `squares` may have been placed in `turn` and missed in the reading of that turn.

    With these tiles, a play must still be legal. A position may have missed one tile beside others. It has one turn for
    each player, and the function returns True only for the first of them, so that the tile is not added twice.
    """
    if turn.kind is TurnKind.POSITION:
        is_beside = any(state.board[near] for square in squares for near in NEIGHBOURS[square])
        return turn.number == 0 and len(squares) == 1 and is_beside
    placed = {*squares, *(square for square, _ in turn.placements)}
    before = replace(state, board=state.board_before(turn))
    return turn.kind is TurnKind.PLAY and turn.stands and is_legal_placement(before, sorted(placed))
