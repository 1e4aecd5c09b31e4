"""The two rectified views of a board, kept with a reading so that a profile can learn from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image
from vision.recognition.tile_crops import TilePoses


def _make_zero_poses() -> Floats:
    return np.zeros((BOARD_SIZE, BOARD_SIZE, 3))


@dataclass(frozen=True, slots=True, eq=False)
class BoardViews:
    """Rectified views of one picture of a board, upright."""

    board: Image
    """`(272, 272, 3) uint8 BGR`: the board with a margin, in the plane half way up the tiles
    (`vision.recognition.squares`)."""
    tops: Image
    """`(448, 448) uint8`: the plane of the tile tops in grey (`vision.recognition.tile_crops`)."""
    poses: Floats = field(default_factory=_make_zero_poses)
    """`(15, 15, 3)`: position and rotation of the tile of each square in `tops`
    (`vision.recognition.tile_crops.TilePoses`)."""

    def cut_crops(self, squares: Sequence[int]) -> Image:
        """Cut the tiles of these squares (0..224) out of `tops`: `(n, 36, 36) uint8` grey."""
        cells = [divmod(square, BOARD_SIZE) for square in squares]
        lies = self.poses.reshape(BOARD_SIZE * BOARD_SIZE, 3)[list(squares)]
        return TilePoses(self.tops, cells, lies).cut_crops()
