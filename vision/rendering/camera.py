"""Pinhole camera above a board: projection of table points to pixels.

Table coordinates are in squares: x to the right along a row, y down along a column, with the grid's top left corner at
(0, 0) and its bottom right corner at (15, 15). `height` is the height above the board in squares, towards the camera.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.geometry import grid_corners

Matrix = npt.NDArray[np.float64]
CENTRE = 7.5


@dataclass(frozen=True)
class Camera:
    """A pinhole camera with known intrinsics, radial distortion and pose relative to the board.

    size        (width, height) of the picture in px; pixel centres are at whole numbers, as in OpenCV
    focal       focal length in px; the principal point is the centre of the picture
    rotation    (3, 3) from table to camera coordinates; the z axis of the table points away from the camera
    position    (3,) translation from table to camera coordinates, in squares
    distortion  radial distortion k1 on the normalised image plane (0 = none)
    stretch     length of a square along a column divided by its length along a row; 1.05 to 1.1 on many boards
    """

    size: tuple[int, int]
    focal: float
    rotation: Matrix
    position: Matrix
    distortion: float = 0.0
    stretch: float = 1.0

    def plane_homography(self, height: float = 0.0) -> Matrix:
        """Return the (3, 3) homography from table coordinates in the plane at `height` to undistorted pixels."""
        x, y = self._centre
        intrinsic = np.array([[self.focal, 0, x], [0, self.focal, y], [0, 0, 1]])
        r = self.rotation
        return np.asarray(
            intrinsic @ np.column_stack([r[:, 0], self.stretch * r[:, 1], self.position - height * r[:, 2]])
        )

    @property
    def _centre(self) -> tuple[float, float]:
        return (self.size[0] - 1) / 2, (self.size[1] - 1) / 2

    def project(self, points: npt.ArrayLike, height: float = 0.0) -> Matrix:
        """Project table points (N, 2) at `height` to pixel coordinates (N, 2), with lens distortion."""
        flat = cv2.perspectiveTransform(
            np.asarray(points, np.float64).reshape(-1, 1, 2), self.plane_homography(height)
        ).reshape(-1, 2)
        if not self.distortion:
            return np.asarray(flat)
        centre = np.array(self._centre)
        n = (flat - centre) / self.focal
        return np.asarray(centre + (flat - centre) * (1 + self.distortion * (n**2).sum(axis=1, keepdims=True)))

    def distortion_maps(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return the x and y maps, (H, W) float32 each, with which `cv2.remap` distorts an undistorted picture."""
        w, h = self.size
        cx, cy = self._centre
        x, y = np.meshgrid((np.arange(w) - cx) / self.focal, (np.arange(h) - cy) / self.focal)
        radius2 = x**2 + y**2
        scale = 1 - self.distortion * radius2 + 3 * self.distortion**2 * radius2**2  # two terms of the inverse series
        return (x * scale * self.focal + cx).astype(np.float32), (y * scale * self.focal + cy).astype(np.float32)


def look_at_board(
    size: tuple[int, int],
    focal: float,
    tilt: float,
    azimuth: float,
    roll: float,
    fill: float,
    shift: tuple[float, float] = (0.0, 0.0),
    distortion: float = 0.0,
    stretch: float = 1.0,
) -> Camera:
    """Return a camera whose optical axis passes near the board's centre, tilted by `tilt` radians from the vertical.

    size     (width, height) of the picture in px
    focal    focal length in px
    azimuth  direction of the tilt, radians
    roll     rotation of the camera about its optical axis, radians
    fill     the larger of two fractions: grid width / picture width, and grid height / picture height
    shift    offset of the board's centre from the picture's centre, as a fraction of the picture's width and height

    The camera is as far away as `fill` requires.
    """
    ca, sa, ct, st = math.cos(azimuth), math.sin(azimuth), math.cos(tilt), math.sin(tilt)
    cr, sr = math.cos(roll), math.sin(roll)
    spin = np.array([[ca, sa, 0], [-sa, ca, 0], [0, 0, 1]])
    lean = np.array([[1, 0, 0], [0, ct, -st], [0, st, ct]])
    back = np.array([[ca, -sa, 0], [sa, ca, 0], [0, 0, 1]])
    turn = np.array([[cr, -sr, 0], [sr, cr, 0], [0, 0, 1]])
    rotation = turn @ back @ lean @ spin

    def at(distance: float) -> Camera:
        centre = rotation @ np.array([CENTRE, CENTRE * stretch, 0])
        ray = np.array([shift[0] * size[0] / focal, shift[1] * size[1] / focal, 1.0])
        return Camera(size, focal, rotation, ray * distance - centre, distortion, stretch)

    # The closer the camera, the larger the board in the picture: find the distance that gives `fill`.
    near, far = 8.0, 600.0
    for _ in range(30):
        middle = math.sqrt(near * far)
        spread = np.ptp(project_grid(at(middle)), axis=0)
        if max(spread[0] / size[0], spread[1] / size[1]) > fill:
            near = middle
        else:
            far = middle
    return at(far)


def project_grid(camera: Camera) -> Matrix:
    """Return the corners of the grid in the picture, `(4, 2)` px, clockwise from the top left."""
    return camera.project(grid_corners())


def measure_square(camera: Camera) -> float:
    """Return the mean side of a square in the picture, in px."""
    return float(np.sqrt(abs(cv2.contourArea(project_grid(camera).astype(np.float32)))) / 15)


def compute_hidden_shares(covered: npt.NDArray[np.uint8], camera: Camera, height: float) -> npt.NDArray[np.float64]:
    """Return the share (15, 15) of each square, at tile height, that is under a hand or outside the picture."""
    cell = 6
    to_grid = np.diag([cell, cell, 1.0]) @ np.linalg.inv(camera.plane_homography(height))
    flat = cv2.warpPerspective(
        covered, to_grid, (15 * cell, 15 * cell), borderMode=cv2.BORDER_CONSTANT, borderValue=255
    )
    return np.asarray(flat.reshape(15, cell, 15, cell).mean(axis=(1, 3)) / 255, np.float64)
