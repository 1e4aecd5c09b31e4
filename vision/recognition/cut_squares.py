"""Mark squares as hidden if a part of their tile would be outside the picture.

Rectification repeats the pixels at the edge of the picture. So half of an E at the lower edge looks like a whole F.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import TILE_HEIGHT_SQUARES, BoardPose, Floats, grid_corners, project
from vision.recognition.views import HIDDEN_KIND

_MAX_CUT_SHARE: Final = 0.2
"""Maximum share of a square that may be outside the picture; with more, a stroke of its letter may be missing. The
margin around a letter is about a fifth of a square."""
_SAMPLES: Final = 10
"""Number of rows, and of columns, of points in a square that are tested."""


def hide_cut_squares(kinds_p: NDArray[np.float32], pose: BoardPose, size: tuple[int, int]) -> NDArray[np.float32]:
    """Return the probabilities of the square network with the squares that the picture cuts off as hidden.

    `kinds_p` `(15, 15, 3)` are the probabilities of empty, tile and hidden, `pose` is the pose of the board, and `size`
    the picture's (width, height) in px. The squares are tested at the height of the tile tops.
    """
    H = pose.plane_homography(TILE_HEIGHT_SQUARES)
    if not _are_outside(project(H, grid_corners()), size).any():
        return kinds_p
    steps = (np.arange(BOARD_SIZE * _SAMPLES) + 0.5) / _SAMPLES
    is_outside = _are_outside(project(H, np.stack(np.meshgrid(steps, steps), axis=-1)), size)
    cut_share = is_outside.reshape(BOARD_SIZE, _SAMPLES, BOARD_SIZE, _SAMPLES).mean(axis=(1, 3))
    hidden = kinds_p.copy()
    hidden[cut_share > _MAX_CUT_SHARE] = np.eye(kinds_p.shape[2])[HIDDEN_KIND]
    return hidden


def _are_outside(points: Floats, size: tuple[int, int]) -> NDArray[np.bool_]:
    """Return a mask `(...)` of the points `(..., 2)` px that are outside a picture of (width, height) px."""
    return np.asarray(((points < -0.5) | (points > np.array(size) - 0.5)).any(axis=-1), np.bool_)
