"""Pictures of the board after each turn of a recorded game, drawn with the simulated table."""

from __future__ import annotations

from collections.abc import Iterator

from device.demo.demo_table import load_demo_games
from engine.board import SQUARES, Board, column_of, row_of
from engine.gcg import replay
from engine.tiles import load_tile_set
from vision.geometry import Image
from vision.rendering.simulated_table import SimulatedTable

TURNS = 10
GAME = "three-of-us"
"""A recorded game whose first ten turns have no blank: nine plays and a pass."""


def render_boards(turns: int) -> Iterator[tuple[Image, int]]:
    """Yield a picture of the board after each turn of the recorded game, and the score of the turn."""
    record = load_demo_games()[GAME]
    table, board = SimulatedTable(seed=3, size=(1600, 1200), values=load_tile_set("en").values), Board()
    for event in replay(record).events[:turns]:
        board = event.play.apply_to(board) if event.play else board
        faces = {(row_of(s), column_of(s)): tile.face for s in SQUARES if (tile := board[s]) is not None}
        table.lay_tiles(faces)
        yield table.photograph().image, event.counted_score
