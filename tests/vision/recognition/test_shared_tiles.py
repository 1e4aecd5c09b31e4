"""A tile across the line between two squares: it is one tile, and not one on each square."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.recognition.letters import NO_TILE_CLASS
from vision.recognition.shared_tiles import doubt_shared_tiles

LEFT, RIGHT = (7, 7), (7, 8)
LETTER, CLASS_COUNT = 5, 30


def doubt_pair(shift: float) -> NDArray[np.float64]:
    """Return the probabilities of two neighbouring squares that show a letter, moved towards each other by `shift`."""
    squares_p = np.zeros((15, 15, CLASS_COUNT + 1))
    squares_p[:, :, NO_TILE_CLASS] = 1
    squares_p[7, 7:9] = np.eye(CLASS_COUNT + 1)[LETTER]
    poses = np.zeros((15, 15, 3))
    poses[LEFT], poses[RIGHT] = (shift, 0, 0), (-shift, 0, 0)
    return doubt_shared_tiles(squares_p, poses)


def test_doubt_shared_tiles_across_a_line() -> None:
    doubted = doubt_pair(0.3)
    for square in (LEFT, RIGHT):
        assert doubted[square][LETTER] == doubted[square][NO_TILE_CLASS] == 0.5


def test_doubt_shared_tiles_pushed_together() -> None:
    doubted = doubt_pair(0.09)
    assert doubted[LEFT][LETTER] == doubted[RIGHT][LETTER] == 1
