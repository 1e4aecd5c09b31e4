"""Rectified views of a board, and crops of tile tops.

Tile tops are above the board, so they appear displaced from their squares if the camera looks at an angle. The
displacement is only known approximately: detected corners have errors, tiles vary in thickness, and players place tiles
off-centre. So each crop can be shifted and rotated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import TILE_HEIGHT_SQUARES, BoardPose, Floats, Image, rectify, reduce_image

VIEW_PX_PER_SQUARE: Final = 16
"""Resolution of the square network's input, in pixels per square."""
VIEW_MARGIN_SQUARES: Final = 1
"""Margin around the grid in the square network's input, in squares on each side."""
VIEW_HEIGHT_SQUARES: Final = TILE_HEIGHT_SQUARES / 2
"""Height, above the board, of the plane that is rectified for the square network, in squares. Half the height of a tile
is a compromise between tile tops and printed squares."""
EMPTY_KIND, TILE_KIND, HIDDEN_KIND = range(3)
"""Class indices of the square network: empty, tile, hidden (by a hand or another object)."""
TOPS_PX_PER_SQUARE: Final = 28
"""Resolution of the rectified plane of the tile tops, in pixels per square."""
CROP_SIDE_PX: Final = 36
"""Side of a tile crop in pixels: one square and a margin for off-centre tiles."""
TOPS_MARGIN_SQUARES: Final = 0.5
"""Margin around the grid in the rectified plane of the tile tops, in squares. It is needed for shifted crops at the
edge."""
MAX_POSE_OFFSET: Final = np.array([0.3, 0.3, 0.6])
"""Maximum shift of a crop (right and down, in squares) and maximum rotation (radians). A crop shifted by half a square
or more would show the neighbouring tile."""
_MIN_EXPOSURE_SPAN: Final = 12.0
"""Minimum difference, in grey levels, between the dark and the bright level of a channel, so that noise in a uniform
view is not amplified."""
_CROP_ORIGIN_PX: Final = round(TOPS_PX_PER_SQUARE * TOPS_MARGIN_SQUARES) - (CROP_SIDE_PX - TOPS_PX_PER_SQUARE) // 2


def rectify_board(image: Image, pose: BoardPose) -> Image:
    """Rectify the board with a margin of one square, as input of the square network: `(272, 272, 3) uint8 BGR`."""
    return rectify(image, pose.plane_homography(VIEW_HEIGHT_SQUARES), VIEW_PX_PER_SQUARE, VIEW_MARGIN_SQUARES)


def cut_inner_halves(view: Image) -> Image:
    """Return the central 8 x 8 pixels of each square of a rectified board: `(225, 64, channels)`.

    `view` is the image from `rectify_board`, or an image of the same size with other channels.
    """
    inset = slice(VIEW_PX_PER_SQUARE // 4, -VIEW_PX_PER_SQUARE // 4)
    return split_squares(view)[:, :, inset, inset].reshape(BOARD_SIZE * BOARD_SIZE, -1, view.shape[2])


def split_squares(view: Image, side: int = VIEW_PX_PER_SQUARE) -> Image:
    """Return the squares of a rectified board as `(15, 15, side, side[, channels])`, without copying the pixels.

    `view` is the image from `rectify_board`, or another view with the same margin on all sides and `side` pixels per
    square.
    """
    edge = (len(view) - BOARD_SIZE * side) // 2
    grid = view[edge:-edge, edge:-edge]
    return grid.reshape(BOARD_SIZE, side, BOARD_SIZE, side, *view.shape[2:]).swapaxes(1, 2)


@dataclass(frozen=True, slots=True, eq=False)
class ExposureRange:
    """Exposure and colour cast of a rectified board: its darkest and brightest levels in each channel."""

    low: Floats
    """`(3,)`: dark level of each channel, the 3rd percentile on the grid."""
    high: Floats
    """`(3,)`: bright level of each channel, the 97th percentile on the grid."""


def measure_exposure(view: Image) -> ExposureRange:
    """Measure the exposure of a rectified board, `(n, n, 3) uint8` with the margin of `rectify_board`."""
    edge = view.shape[0] * VIEW_MARGIN_SQUARES // (BOARD_SIZE + 2 * VIEW_MARGIN_SQUARES)
    grid = view[edge:-edge:3, edge:-edge:3].reshape(-1, 3)
    ranked = np.sort(grid, axis=0, kind="stable")  # for uint8, numpy's stable sort is a fast radix sort
    low, high = ranked[[len(ranked) * 3 // 100, -1 - len(ranked) * 3 // 100]].astype(np.float64)
    return ExposureRange(low, high)


def apply_exposure(view: Image, exposure: ExposureRange) -> NDArray[np.float32]:
    """Normalise a view `(h, w, 3) uint8`, or a part of a view; return network input `(3, h, w) float32`.

    In each channel, `low` and `high` of the exposure become -1 and 1; values are clipped to -3..3.
    """
    span = np.maximum(exposure.high - exposure.low, _MIN_EXPOSURE_SPAN)
    middle = np.float32((exposure.low + exposure.high) / 2)
    values = (np.arange(256, dtype=np.float32)[:, None] - middle) / np.float32(span / 2)
    normalised = cv2.LUT(view, np.clip(values, -3, 3)[None])
    return np.ascontiguousarray(normalised.transpose(2, 0, 1), np.float32)


def normalise_exposure(view: Image) -> NDArray[np.float32]:
    """Normalise exposure and colour cast of a rectified board `(n, n, 3) uint8`; return network input `(3, n, n)`."""
    return apply_exposure(view, measure_exposure(view))


def rectify_tops(image: Image, pose: BoardPose) -> Image:
    """Rectify the plane of the tile tops, as a grey image `(448, 448) uint8`."""
    # Reduce the picture before it is converted to grey: fewer pixels are then converted.
    reduced, H = reduce_image(image, pose.plane_homography(TILE_HEIGHT_SQUARES), TOPS_PX_PER_SQUARE)
    grey = np.asarray(cv2.cvtColor(reduced, cv2.COLOR_BGR2GRAY), np.uint8)
    return rectify(grey, H, TOPS_PX_PER_SQUARE, TOPS_MARGIN_SQUARES)


def cut_square_crops(view: Image, cells: Sequence[tuple[int, int]]) -> Image:
    """Return crops of the given squares (row, column) from an image of `rectify_tops`: `(n, 36, 36) uint8` grey."""
    return TilePoses.at_centres(view, cells).cut_crops()


@dataclass(frozen=True, slots=True, eq=False)
class TilePoses:
    """Estimated shifts and rotations of the tiles on n squares, in an image from `rectify_tops`."""

    view: Image
    """`(448, 448) uint8`: rectified plane of the tile tops, in grey."""
    cells: Sequence[tuple[int, int]]
    """(row, column) of each of the n squares."""
    poses: Floats
    """`(n, 3)`: shift (right, down) of each tile from the centre of its square, in squares, and clockwise rotation of
    the tile in radians."""

    @classmethod
    def at_centres(cls, view: Image, cells: Sequence[tuple[int, int]]) -> TilePoses:
        """Return poses of tiles at the centres of their squares, without rotation."""
        return cls(view, cells, np.zeros((len(cells), 3)))

    def shift_tiles(self, which: NDArray[np.intp], by: Floats) -> TilePoses:
        """Return new poses, in which the tiles at the indices `which` are shifted and rotated by the offsets `by`.

        `by` `(len(which), 3)` are predictions of the letter network: shift to the right and down, in squares relative
        to the rotated crop, and clockwise rotation in radians. The new poses are clipped to +-`MAX_POSE_OFFSET`.
        """
        right, down, turn = by.T
        cos, sin = np.cos(self.poses[which, 2]), np.sin(self.poses[which, 2])
        shifted = self.poses.copy()
        shifted[which] += np.column_stack([cos * right - sin * down, sin * right + cos * down, turn])
        return replace(self, poses=np.clip(shifted, -MAX_POSE_OFFSET, MAX_POSE_OFFSET))

    def poses_by_square(self) -> Floats:
        """Return the poses as an array of all squares, `(15, 15, 3)`, with 0 for squares that are not in `cells`."""
        poses = np.zeros((BOARD_SIZE, BOARD_SIZE, 3))
        for cell, pose in zip(self.cells, self.poses, strict=True):
            poses[cell] = pose
        return poses

    def cut_crops(self, which: NDArray[np.intp] | None = None, offset_px: ArrayLike = (0, 0)) -> Image:
        """Return crops of all tiles, or only of the tiles at the indices `which`: `(n, 36, 36) uint8` grey.

        `offset_px` (down, right) shifts the crops by whole pixels: one offset for all crops, or `(n, 2)`.
        """
        numbers = np.arange(len(self.cells)) if which is None else which
        cells = np.array(self.cells, np.intp).reshape(-1, 2)[numbers]
        top_left = TOPS_PX_PER_SQUARE * cells + _CROP_ORIGIN_PX + np.asarray(offset_px)
        # Copy the crops of all tiles, then replace those of displaced tiles: copying is faster than interpolation.
        crops = np.empty((len(numbers), CROP_SIDE_PX, CROP_SIDE_PX), np.uint8)
        for k, (y, x) in enumerate(np.clip(top_left, 0, len(self.view) - CROP_SIDE_PX).tolist()):
            crops[k] = self.view[y : y + CROP_SIDE_PX, x : x + CROP_SIDE_PX]
        poses = self.poses[numbers]
        displaced = np.flatnonzero(poses.any(axis=1))
        if len(displaced):
            size, flags = (CROP_SIDE_PX, CROP_SIDE_PX), cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
            transforms = _compute_crop_transforms(top_left[displaced], poses[displaced])
            for k, matrix in zip(displaced.tolist(), transforms, strict=True):
                crops[k] = cv2.warpAffine(self.view, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
        return crops


def _compute_crop_transforms(top_left: NDArray[np.intp], poses: Floats) -> Floats:
    """Return affine matrices `(n, 2, 3)` from crop pixels to view pixels, for tiles with the poses `poses` `(n, 3)`.

    `top_left` `(n, 2)` is where the top left pixel (row, column) of each crop would be in the view if its pose were 0.
    """
    half = (CROP_SIDE_PX - 1) / 2
    cos, sin = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    axes = np.stack([cos, -sin, sin, cos], axis=1).reshape(-1, 2, 2)
    middles = top_left[:, ::-1] + half + TOPS_PX_PER_SQUARE * poses[:, :2]
    return np.concatenate([axes, (middles - half * axes.sum(axis=2))[:, :, None]], axis=2)


def _make_zero_poses() -> Floats:
    return np.zeros((BOARD_SIZE, BOARD_SIZE, 3))


@dataclass(frozen=True, slots=True, eq=False)
class BoardViews:
    """Two rectified, upright views of a board from one picture, and the poses of its tiles."""

    board: Image
    """`(272, 272, 3) uint8 BGR`: the board with a margin, rectified at half the height of the tiles
    (`rectify_board`)."""
    tops: Image
    """`(448, 448) uint8`: the plane of the tile tops in grey (`rectify_tops`)."""
    poses: Floats = field(default_factory=_make_zero_poses)
    """`(15, 15, 3)`: shift and rotation of the tile on each square, as in `TilePoses.poses`."""

    def cut_crops(self, squares: Sequence[int]) -> Image:
        """Return crops of the tiles on `squares` (indices 0..224) from `tops`: `(n, 36, 36) uint8` grey."""
        cells = [divmod(square, BOARD_SIZE) for square in squares]
        poses = self.poses.reshape(BOARD_SIZE * BOARD_SIZE, 3)[list(squares)]
        return TilePoses(self.tops, cells, poses).cut_crops()
