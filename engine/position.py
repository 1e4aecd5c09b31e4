"""Positions from which a game starts (`PositionEntered`): their effect on the state, and their defects."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from engine.board import EMPTY_BOARD, NEIGHBOURS, Board, Layout, Square
from engine.errors import RulesError
from engine.events import PositionEntered
from engine.messages import make_message
from engine.state import State, check_first_player


def set_up_position(state: State, event: PositionEntered) -> State:
    """Return the state with the tiles and the player to move of a position, but without its points.

    Raises `RulesError` if turns were recorded before, or for a position that cannot occur in a game.
    """
    count = len(state.players)
    if state.turns:
        text = "A game can start from a position only before its first turn. Start a new game, or undo the turns."
        raise RulesError(make_message("position-late", text))
    if not event.board:
        raise RulesError(
            make_message("position-empty", "A position needs at least one tile on the board. Enter the tiles.")
        )
    if len(event.totals) != count:
        text = "A position needs the points of all {0} players, not of {1} players."
        raise RulesError(make_message("position-totals", text, count, len(event.totals)))
    check_first_player(event.to_move, count)
    state = replace(state, board=EMPTY_BOARD.with_tiles(dict(event.board)))
    if excess := state.tiles.find_excess(state.board.faces()):
        text = "The board has more of these tiles than the set: {0}. Check their squares."
        raise RulesError(make_message("position-excess", text, ", ".join(excess)))
    bag_count = max(0, state.unseen().total() - count * state.rules.rack_size)
    rack_counts = _count_racks(state, event, bag_count)
    return replace(state, to_move=event.to_move, bag_count=bag_count, rack_counts=rack_counts)


def _count_racks(state: State, event: PositionEntered, bag_count: int) -> tuple[int, ...]:
    """Return the number of tiles on each rack in a position.

    The racks are full while the bag has tiles. When the bag is empty, some tiles are neither on the board nor on a
    known rack. They are divided evenly among the other racks, beginning with that of the player to move. Raises
    `RulesError` for impossible racks.
    """
    count, size = len(state.players), state.rules.rack_size
    counts = [len(rack) for rack in event.racks] or [0] * count
    if bag_count and any(counts):
        text = "The bag still has {0} tiles. Enter the letters on the racks only if the bag is empty."
        raise RulesError(make_message("position-bag", text, bag_count))
    known = Counter(tile for rack in event.racks for tile in rack)
    unknown_count = min(state.unseen().total(), count * size) - known.total()
    in_order = [(event.to_move + n) % len(counts) for n in range(len(counts))]
    unknown = [player for player in in_order if counts[player] == 0]
    is_possible = len(counts) == count and max(counts) <= size and known <= state.unseen()
    if not is_possible or not 0 <= unknown_count <= len(unknown) * size:
        text = (
            "The letters on these racks do not match the {0} tiles that are not on the board. "
            "Check the racks and the board."
        )
        raise RulesError(make_message("position-racks", text, state.unseen().total()))
    for number, player in enumerate(unknown):
        counts[player] = (unknown_count + len(unknown) - 1 - number) // len(unknown)
    return tuple(counts)


def find_loose_squares(board: Board, layout: Layout) -> tuple[Square, ...]:
    """Return the squares of the tiles that are not connected with a tile on the centre square.

    If no tile is on the centre square, return all squares with a tile.
    """
    loose = {*board.occupied_squares()}
    near = [layout.centre]
    while near:
        square = near.pop()
        if square in loose:
            loose.remove(square)
            near += NEIGHBOURS[square]
    return tuple(sorted(loose))
