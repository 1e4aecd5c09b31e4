"""A tile that lies diagonally on its square is not surely a blank."""

from __future__ import annotations

import numpy as np
import pytest

from engine.reading import BLANK
from engine.tiles import load_tile_set
from vision.recognition.reader import BoardReader
from vision.rendering.simulated_table import SimulatedTable
from vision.rendering.tile_art import PlacedTile

ENGLISH = load_tile_set("en")


@pytest.mark.parametrize(("letter", "degrees"), [("F", 40), ("F", 45), ("P", 45)])
def test_diagonal_letter_is_not_surely_a_blank(letter: str, degrees: float) -> None:
    table = SimulatedTable(seed=3, tilt=12, turn=4, values=ENGLISH.values)
    table.lay_tiles({(7, 2 + index): tile for index, tile in enumerate("REPLACED")})
    scene = table.photograph(loose_tiles=[PlacedTile(letter, 11.5, 4.5, np.deg2rad(degrees))])
    board = BoardReader().read(scene.image, ENGLISH.letters, corners=scene.corners).board
    assert board is not None
    assert board.squares[4 * 15 + 11].probability(BLANK) < 0.9
