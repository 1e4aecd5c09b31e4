"""Doubt a tile that was read on two squares because it lies across the line between them.

The crops of both squares are moved towards the tile, so both show its letter. Two tiles cannot be that close.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vision.geometry import Floats
from vision.recognition.letters import NO_TILE_CLASS

_MIN_TILE_DISTANCE_SQUARES: Final = 0.6
"""Minimum distance between the centres of two neighbouring tiles, in squares; at a smaller distance, they are one tile.
The side of a tile is about 0.9 of a square."""


def doubt_shared_tiles(squares_p: Floats, poses: Floats) -> Floats:
    """Return the class probabilities with doubt on two neighbouring squares that show the same tile.

    `squares_p` `(15, 15, classes + 1)` are the class probabilities, and `poses` `(15, 15, 3)` is the result of
    `TilePoses.poses_by_square`. Each of the two squares is as probably empty as not, because it is not clear to which
    of them the tile belongs.
    """
    is_tile = ~np.isin(squares_p.argmax(axis=2), (NO_TILE_CLASS, squares_p.shape[2] - 1))
    centres = poses[:, :, :2] + np.indices(is_tile.shape)[::-1].transpose(1, 2, 0)
    is_shared = np.zeros_like(is_tile)
    for near, far in ((np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1], np.s_[1:])):
        distance = np.linalg.norm(centres[far] - centres[near], axis=2)
        is_same = is_tile[near] & is_tile[far] & (distance < _MIN_TILE_DISTANCE_SQUARES)
        is_shared[near] |= is_same
        is_shared[far] |= is_same
    if not is_shared.any():
        return squares_p
    doubted = squares_p.copy()
    doubted[is_shared] /= 2
    doubted[is_shared, NO_TILE_CLASS] += 0.5
    return doubted
