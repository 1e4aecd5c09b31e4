"""The tops of a board's tiles, seen from straight above, and where to cut each out.

They lie in a plane of their own, seen from low down well beside their squares. How far is known only nearly: corners
are found a little off, tiles are thicker or thinner than most, and laid beside the middle of their squares. So each
crop can be moved and turned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import TILE_HEIGHT_SQUARES, BoardPose, Floats, Image, rectify

TOPS_PX_PER_SQUARE: Final = 28
"""Pixels a square."""
CROP_SIDE_PX: Final = 36
"""Pixels of a crop: the square and a little more, for tiles beside their squares."""
TOPS_MARGIN_SQUARES: Final = 0.5
"""Squares of a view beyond the grid: room for a crop at its edge that is moved, and looked at from beside."""
MAX_POSE_OFFSET: Final = np.array([0.3, 0.3, 0.6])
"""Squares right and down, and radians, by which a crop is moved at most: from half a square on it shows a neighbour."""
_CROP_ORIGIN_PX: Final = round(TOPS_PX_PER_SQUARE * TOPS_MARGIN_SQUARES) - (CROP_SIDE_PX - TOPS_PX_PER_SQUARE) // 2


def rectify_tops(image: Image, pose: BoardPose) -> Image:
    """The plane of the tile tops in grey, `(448, 448) uint8`."""
    return rectify(
        cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).astype(np.uint8),
        pose.plane_homography(TILE_HEIGHT_SQUARES),
        TOPS_PX_PER_SQUARE,
        TOPS_MARGIN_SQUARES,
    )


def cut_square_crops(view: Image, cells: Sequence[tuple[int, int]]) -> Image:
    """Cut `(row, column)` squares from a `rectify_tops`: `(n, 36, 36) uint8`."""
    return TilePoses.at_centres(view, cells).cut_crops()


@dataclass(frozen=True, slots=True, eq=False)
class TilePoses:
    """Where and how on a `rectify_tops` the tiles of n squares lie, as far as is known."""

    view: Image
    cells: Sequence[tuple[int, int]]
    """Their rows and columns."""
    poses: Floats
    """`(n, 3)`: squares right and down from the middle of each square to that of its tile, and how far the tile is
    turned on it, in radians clockwise."""

    @classmethod
    def at_centres(cls, view: Image, cells: Sequence[tuple[int, int]]) -> TilePoses:
        """Straight in the middles of their squares."""
        return cls(view, cells, np.zeros((len(cells), 3)))

    def shift_tiles(self, which: NDArray[np.intp], by: Floats) -> TilePoses:
        """With those of these numbers further right, down and clockwise, `(len(which), 3)`, as far as may be.

        Right and down are those of the crop, which slants as its tile does so far.
        """
        right, down, turn = by.T
        cos, sin = np.cos(self.poses[which, 2]), np.sin(self.poses[which, 2])
        further = self.poses.copy()
        further[which] += np.column_stack([cos * right - sin * down, sin * right + cos * down, turn])
        return replace(self, poses=np.clip(further, -MAX_POSE_OFFSET, MAX_POSE_OFFSET))

    def poses_by_square(self) -> Floats:
        """`lies` of all squares, `(15, 15, 3)`; 0 where none is looked for."""
        lies = np.zeros((BOARD_SIZE, BOARD_SIZE, 3))
        for cell, lie in zip(self.cells, self.poses, strict=True):
            lies[cell] = lie
        return lies

    def cut_crops(self, which: NDArray[np.intp] | None = None, offset_px: ArrayLike = (0, 0)) -> Image:
        """Cut out the crops of all tiles, or of those numbered `which`: `(n, 36, 36) uint8` grey.

        `offset_px` (down, right) shifts the crops: one offset for all, or `(n, 2)`.
        """
        numbers = np.arange(len(self.cells)) if which is None else which
        first = (
            TOPS_PX_PER_SQUARE * np.array(self.cells, np.intp).reshape(-1, 2)[numbers]
            + _CROP_ORIGIN_PX
            + np.asarray(offset_px)
        )
        cut = np.empty((len(numbers), CROP_SIDE_PX, CROP_SIDE_PX), np.uint8)
        for k, (y, x) in enumerate(np.clip(first, 0, len(self.view) - CROP_SIDE_PX).tolist()):
            cut[k] = self.view[y : y + CROP_SIDE_PX, x : x + CROP_SIDE_PX]
        lies = self.poses[numbers]
        moved = np.flatnonzero(lies.any(axis=1))
        if len(moved):
            flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
            for n, matrix in zip(moved, _compute_crop_transforms(first[moved], lies[moved]), strict=True):
                cut[n] = cv2.warpAffine(
                    self.view, matrix, (CROP_SIDE_PX, CROP_SIDE_PX), flags=flags, borderMode=cv2.BORDER_REPLICATE
                )
        return cut


def _compute_crop_transforms(first: NDArray[np.intp], lies: Floats) -> Floats:
    """From crops to the view, `(n, 2, 3)`, of tiles that lie so in squares whose crops begin with the `first` rows and
    columns, `(n, 2)`."""
    half = (CROP_SIDE_PX - 1) / 2
    cos, sin = np.cos(lies[:, 2]), np.sin(lies[:, 2])
    axes = np.stack([cos, -sin, sin, cos], axis=1).reshape(-1, 2, 2)
    middles = first[:, ::-1] + half + TOPS_PX_PER_SQUARE * lies[:, :2]
    return np.concatenate([axes, (middles - half * axes.sum(axis=2))[:, :, None]], axis=2)
