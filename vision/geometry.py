"""The board as a plane in front of a camera: homography, pose, and planes parallel to the board.

Board coordinates count squares: x to the right, y down, (0, 0) the outer top left corner of the grid and
(15, 15) the bottom right one, as the tiles read upright. Heights are in squares above the board, towards the
camera.
Picture coordinates are pixels with (0, 0) the centre of the top left pixel, as OpenCV has it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE

Floats = NDArray[np.float64]
Image = NDArray[np.uint8]

TILE_HEIGHT_SQUARES: Final = 0.21
"""Height of a tile's top above the board, in squares: 4 to 5 mm on squares of 20 to 22 mm."""

_MEAN_PX_PER_OUTPUT_PX: Final = 2.0
"""Mean scale, in picture pixels for one output pixel, above which the picture is halved first: linear interpolation
would skip pixels, and noise and thin lines would alias."""
_SHORTEST_PX_PER_OUTPUT_PX: Final = math.sqrt(2)
"""Least scale at the farthest or most foreshortened corner for halving, so that no detail is lost there."""
_HALVING_TRANSFORM: Final = np.array([[0.5, 0.0, -0.25], [0.0, 0.5, -0.25], [0.0, 0.0, 1.0]])
"""Homography from a picture to the picture halved, with (0, 0) at the centre of the first pixel."""
_FOCAL_CANDIDATES: Final = np.geomspace(0.5, 3.0, 73)
"""Focal lengths to try, in multiples of the picture's longer side."""
_USUAL_FOCAL: Final = 0.8
"""Typical focal length: phones (26 mm equivalent), webcams and Pi cameras have 0.7 to 0.9 of the longer side."""
_FOCAL_SPREAD: Final = 0.2
"""Standard deviation of the prior of the log focal length."""
_ASPECT_SPREAD: Final = 0.05
"""Standard deviation of the prior of the log aspect ratio of a square."""
_CORNER_NOISE_SQUARES: Final = 0.03
"""Standard deviation of the corner positions, in squares, in the likelihood of a focal length."""


def grid_corners(size: float = BOARD_SIZE) -> Floats:
    """Return the corners of a `size` x `size` square, clockwise from the top left: `(4, 2) float64`."""
    return np.array([[0.0, 0.0], [size, 0.0], [size, size], [0.0, size]])


def homography(corners: NDArray[np.floating]) -> Floats:
    """Return the homography from board to picture.

    `corners` are the `(4, 2)` outer corners of the grid in px, clockwise from the top left.
    """
    return np.asarray(
        cv2.getPerspectiveTransform(grid_corners().astype(np.float32), np.asarray(corners, np.float32)),
        np.float64,
    )


def project(H: NDArray[np.floating], points: NDArray[np.floating]) -> Floats:
    """Map `(..., 2)` points through a homography."""
    p = np.asarray(points, np.float64)
    q = p @ H[:, :2].T + H[:, 2]
    return np.asarray(q[..., :2] / q[..., 2:], np.float64)


def square_side(corners: NDArray[np.floating]) -> float:
    """Return the mean side of a square in pixels."""
    c = np.asarray(corners, np.float64).tolist()
    return sum(map(math.dist, c, c[1:] + c[:1])) / (len(c) * BOARD_SIZE)


def rectify(image: Image, H: Floats, scale: int, margin: float = 0.0) -> Image:
    """Rectify a plane of the board: `scale` pixels a square, with a margin of `margin` squares.

    `H` maps board coordinates to the picture; outside the picture its edge is repeated. Returns
    `(n, n[, channels]) uint8` with `n = round(scale * (15 + 2 * margin))`.
    """
    n = round(scale * (BOARD_SIZE + 2 * margin))
    step = 1 / scale
    to_board = np.array([[step, 0.0, step / 2 - margin], [0.0, step, step / 2 - margin], [0.0, 0.0, 1.0]])
    to_spare = (
        min(
            square_side(project(H, grid_corners())) / _MEAN_PX_PER_OUTPUT_PX,
            _find_shortest_side(H) / _SHORTEST_PX_PER_OUTPUT_PX,
        )
        / scale
    )
    while to_spare > 1 and min(image.shape[:2]) > 1:
        image, H, to_spare = _halve_image(image), _HALVING_TRANSFORM @ H, to_spare / 2
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    seen = cv2.warpPerspective(image, H @ to_board, (n, n), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(seen, np.uint8)


def _find_shortest_side(H: Floats) -> float:
    """Return the shortest extent, in any direction, of a square at a corner of the grid, in picture pixels."""
    seen = np.column_stack([grid_corners(), np.ones(4)]) @ H.T
    at = seen[:, :2] / seen[:, 2:]
    slopes = (H[None, :2, :2] - at[:, :, None] * H[None, 2:, :2]) / seen[:, 2, None, None]
    return float(np.linalg.svd(slopes, compute_uv=False).min())


def _halve_image(image: Image) -> Image:
    """Return the picture at half size (area average); an odd last row or column is dropped."""
    height, width = image.shape[0] // 2, image.shape[1] // 2
    even = image[: 2 * height, : 2 * width]
    return np.asarray(cv2.resize(even, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class BoardPose:
    """Pose of the board: its homography, and how height above the board changes it."""

    homography: Floats
    height_column: Floats
    """Change of the last column of the homography for one square of height, `(3,)`."""
    focal_px: float
    """Focal length in pixels."""
    square_aspect: float
    """Height of a square divided by its width."""

    def plane_homography(self, height: float) -> Floats:
        """Return the homography of the plane `height` squares above the board."""
        H = self.homography.copy()
        H[:, 2] += height * self.height_column
        return H

    def tilt_degrees(self) -> float:
        """Return the angle between the camera's view of the middle of the board and the vertical, in degrees."""
        middle, step = np.array([BOARD_SIZE / 2, BOARD_SIZE / 2]), 1e-3
        above = project(np.linalg.inv(self.homography), project(self.plane_homography(step), middle))
        return float(np.degrees(np.arctan(np.linalg.norm((above - middle) * [1, self.square_aspect]) / step)))


def estimate_board_pose(
    corners: NDArray[np.floating], size: tuple[int, int], focal_px: float | None = None
) -> BoardPose:
    """Estimate the camera pose from the four corners of the grid.

    `size` is the picture's (width, height). Pixels are assumed to be square, with the principal point at the centre. A
    plane seen at an angle determines the focal length (Zhang, A flexible new technique for camera calibration, 2000);
    seen from above it does not, so priors for the focal length and the aspect ratio of squares are used. `focal_px` is
    used if it is known.
    """
    H = homography(corners)
    width, height = size
    long_side = float(max(width, height))
    centre = np.array([(width - 1) / 2, (height - 1) / 2])
    f = np.array([focal_px]) if focal_px else _FOCAL_CANDIDATES * long_side

    # In rays, the first two columns of a true camera's homography are orthogonal, with lengths in the ratio of a
    # square's width to its height. For each focal length, take the nearest such camera and its error at the corners.
    rays = np.array([[1.0, 0.0, -centre[0]], [0.0, 1.0, -centre[1]], [0.0, 0.0, 1.0]]) @ H
    rays = np.stack([rays[0] / f[:, None], rays[1] / f[:, None], np.broadcast_to(rays[2], (len(f), 3))], axis=1)
    lengths = np.linalg.norm(rays[:, :, :2], axis=1)
    stretch = lengths[:, 1] / lengths[:, 0]
    u, _, vt = np.linalg.svd(rays[:, :, :2] / lengths[:, None], full_matrices=False)
    rotation = u @ vt
    middle = rays @ np.array([BOARD_SIZE / 2, BOARD_SIZE / 2, 1.0])
    seen = (grid_corners() - BOARD_SIZE / 2) * lengths[:, None] @ rotation.transpose(0, 2, 1) + middle[:, None]
    pixels = seen[:, :, :2] / seen[:, :, 2:] * f[:, None, None] + centre
    error = np.sqrt(((pixels - corners) ** 2).sum(axis=2).mean(axis=1)) / square_side(corners)
    unusual = np.log(f / (long_side * _USUAL_FOCAL)) / _FOCAL_SPREAD if focal_px is None else np.zeros_like(f)
    uneven = np.log(stretch) / _ASPECT_SPREAD
    best = int(np.argmin((error / _CORNER_NOISE_SQUARES) ** 2 + 2 * np.log1p(unusual**2) + uneven**2))

    into_board = np.cross(rotation[best, :, 0], rotation[best, :, 1]) * lengths[best, 0]
    vertical = -np.array(
        [
            into_board[0] * f[best] + centre[0] * into_board[2],
            into_board[1] * f[best] + centre[1] * into_board[2],
            into_board[2],
        ]
    )
    return BoardPose(H, vertical, float(f[best]), float(stretch[best]))
