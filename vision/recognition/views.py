"""Rectified views of a board, and crops of the tops of its tiles.

Tile tops are in a plane above the board, so a camera at an angle sees them displaced from their squares. The
displacement is only known approximately: corners have errors, tiles vary in thickness, and players place them off the
centre of their squares. So each crop can be shifted and rotated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import TILE_HEIGHT_SQUARES, BoardPose, Floats, Image, rectify

TOPS_PX_PER_SQUARE: Final = 28
"""Resolution of the view of the tops, in pixels a square."""
CROP_SIDE_PX: Final = 36
"""Side of a crop, in pixels: a square and a margin for tiles that are off centre."""
TOPS_MARGIN_SQUARES: Final = 0.5
"""Margin of the view around the grid, in squares: room for shifted crops at its edge."""
MAX_POSE_OFFSET: Final = np.array([0.3, 0.3, 0.6])
"""Largest shift right and down of a crop, in squares, and rotation, in radians: from half a square on it would show the
neighbouring tile."""
_CROP_ORIGIN_PX: Final = round(TOPS_PX_PER_SQUARE * TOPS_MARGIN_SQUARES) - (CROP_SIDE_PX - TOPS_PX_PER_SQUARE) // 2


def rectify_tops(image: Image, pose: BoardPose) -> Image:
    """Return the plane of the tile tops in grey, `(448, 448) uint8`."""
    return rectify(
        cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).astype(np.uint8),
        pose.plane_homography(TILE_HEIGHT_SQUARES),
        TOPS_PX_PER_SQUARE,
        TOPS_MARGIN_SQUARES,
    )


def cut_square_crops(view: Image, cells: Sequence[tuple[int, int]]) -> Image:
    """Cut the squares `(row, column)` out of a view from `rectify_tops`: `(n, 36, 36) uint8`."""
    return TilePoses.at_centres(view, cells).cut_crops()


@dataclass(frozen=True, slots=True, eq=False)
class TilePoses:
    """Estimated poses of the tiles of n squares in a view from `rectify_tops`."""

    view: Image
    cells: Sequence[tuple[int, int]]
    """(row, column) of each of the n squares."""
    poses: Floats
    """`(n, 3)`: shift right and down of a tile from the centre of its square, in squares, and its rotation, in radians
    clockwise."""

    @classmethod
    def at_centres(cls, view: Image, cells: Sequence[tuple[int, int]]) -> TilePoses:
        """Return poses without shift or rotation."""
        return cls(view, cells, np.zeros((len(cells), 3)))

    def shift_tiles(self, which: NDArray[np.intp], by: Floats) -> TilePoses:
        """Return the poses with the tiles at the indices `which` shifted and rotated further.

        `by` `(len(which), 3)` is right, down (squares) and clockwise (radians) in the rotated crop, as the network
        predicts it. The result is limited to `MAX_POSE_OFFSET`.
        """
        right, down, turn = by.T
        cos, sin = np.cos(self.poses[which, 2]), np.sin(self.poses[which, 2])
        further = self.poses.copy()
        further[which] += np.column_stack([cos * right - sin * down, sin * right + cos * down, turn])
        return replace(self, poses=np.clip(further, -MAX_POSE_OFFSET, MAX_POSE_OFFSET))

    def poses_by_square(self) -> Floats:
        """Return the poses of all squares, `(15, 15, 3)`; 0 for squares that are not in `cells`."""
        lies = np.zeros((BOARD_SIZE, BOARD_SIZE, 3))
        for cell, lie in zip(self.cells, self.poses, strict=True):
            lies[cell] = lie
        return lies

    def cut_crops(self, which: NDArray[np.intp] | None = None, offset_px: ArrayLike = (0, 0)) -> Image:
        """Cut out the crops of all tiles, or of those at the indices `which`: `(n, 36, 36) uint8` grey.

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
    """Return the affine maps from crops to the view, `(n, 2, 3)`, for tiles with the poses `lies` `(n, 3)`.

    `first` `(n, 2)` are the first row and column of each crop without shift.
    """
    half = (CROP_SIDE_PX - 1) / 2
    cos, sin = np.cos(lies[:, 2]), np.sin(lies[:, 2])
    axes = np.stack([cos, -sin, sin, cos], axis=1).reshape(-1, 2, 2)
    middles = first[:, ::-1] + half + TOPS_PX_PER_SQUARE * lies[:, :2]
    return np.concatenate([axes, (middles - half * axes.sum(axis=2))[:, :, None]], axis=2)


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
