"""The two views that a board is read by, kept with the reading for whoever learns from it."""

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
    """One picture of a board, rectified; upright as the tiles read."""

    board: Image
    """`(272, 272, 3) uint8 BGR`: the board and a little around it, half way up the tiles
    (`vision.recognition.squares`)."""
    tops: Image
    """`(448, 448) uint8`: the plane of the tile tops in grey (`vision.recognition.tile_crops`)."""
    poses: Floats = field(default_factory=_make_zero_poses)
    """`(15, 15, 3)`: where and how on `tops` the tile of each square lies
    (`vision.recognition.tile_crops.TilePoses`)."""

    def cut_crops(self, squares: Sequence[int]) -> Image:
        """Cut squares (0..224) out of `tops`, each where its tile lies: `(n, 36, 36) uint8`."""
        cells = [divmod(square, BOARD_SIZE) for square in squares]
        lies = self.poses.reshape(BOARD_SIZE * BOARD_SIZE, 3)[list(squares)]
        return TilePoses(self.tops, cells, lies).cut_crops()
