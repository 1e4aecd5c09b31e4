"""Projective geometry of the board: corners, homographies, camera pose, and planes parallel to the board.

Board coordinates are in squares: x to the right, y down, with (0, 0) at the outer top left corner of the grid and
(15, 15) at its bottom right corner when the tiles are upright. Heights are in squares above the board, towards the
camera. Picture coordinates are in pixels, with (0, 0) at the centre of the top left pixel, as in OpenCV. A quad is a
(4, 2) float64 array of the four board corners in picture pixels, clockwise as seen in the picture, or anticlockwise if
the picture is mirrored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE

Floats = NDArray[np.float64]
Image = NDArray[np.uint8]

TILE_HEIGHT_SQUARES: Final = 0.21
"""Height of a tile's top above the board, in squares: 4 to 5 mm on squares of 20 to 22 mm."""

_MEAN_PX_PER_OUTPUT_PX: Final = 2.0
"""Minimum mean resolution of a picture that is halved before rectification, in picture pixels per output pixel.

A picture with a lower resolution is not halved. With a higher resolution, bilinear interpolation of the full-size
picture would skip pixels, so that noise and thin lines would alias.
"""
_SHORTEST_PX_PER_OUTPUT_PX: Final = math.sqrt(2)
"""Minimum resolution of a picture that is halved before rectification, in picture pixels per output pixel.

It is measured at the most distant corner of the board. A picture with a lower resolution is not halved, because detail
at that corner would be lost.
"""
_HALVING_TRANSFORM: Final = np.array([[0.5, 0.0, -0.25], [0.0, 0.5, -0.25], [0.0, 0.0, 1.0]])
"""Homography from pixel coordinates of a picture to pixel coordinates of the same picture at half size."""
_FOCAL_CANDIDATES: Final = np.geomspace(0.5, 3.0, 73)
"""Focal lengths that are tried, in multiples of the picture's longer side."""
_USUAL_FOCAL: Final = 0.8
"""Typical focal length in multiples of the picture's longer side: 0.7 to 0.9 for phones, webcams and Pi cameras."""
_FOCAL_SPREAD: Final = 0.2
"""Scale of the Cauchy prior on the natural logarithm of the focal length."""
_ASPECT_SPREAD: Final = 0.05
"""Standard deviation of the Gaussian prior on the logarithm of a square's aspect ratio."""
_CORNER_NOISE_SQUARES: Final = 0.03
"""Standard deviation, in squares, of the errors of the four corners; used to weigh candidate focal lengths."""


def grid_corners(size: float = BOARD_SIZE) -> Floats:
    """Return the corners of a grid of `size` x `size` squares, clockwise from (0, 0): `(4, 2) float64`, in squares."""
    return np.array([[0.0, 0.0], [size, 0.0], [size, size], [0.0, size]])


def homography(corners: NDArray[np.floating]) -> Floats:
    """Return the `(3, 3)` homography from board coordinates (squares) to picture coordinates (px).

    `corners` are the `(4, 2)` outer corners of the grid in px, clockwise from the top left.
    """
    return np.asarray(
        cv2.getPerspectiveTransform(grid_corners().astype(np.float32), np.asarray(corners, np.float32)),
        np.float64,
    )


def project(H: NDArray[np.floating], points: NDArray[np.floating]) -> Floats:
    """Apply the `(3, 3)` homography `H` to points `(..., 2)`; return the mapped points `(..., 2)`."""
    p = np.asarray(points, np.float64)
    q = p @ H[:, :2].T + H[:, 2]
    return np.asarray(q[..., :2] / q[..., 2:], np.float64)


def square_side(corners: NDArray[np.floating]) -> float:
    """Return the mean side length of a square in pixels, from the `(4, 2)` corners of the grid."""
    c = np.asarray(corners, np.float64).tolist()
    return sum(map(math.dist, c, c[1:] + c[:1])) / (len(c) * BOARD_SIZE)


def rectify(image: Image, H: Floats, scale: int, margin: float = 0.0) -> Image:
    """Rectify the board, or a plane parallel to the board, to a top view of `scale` pixels per square.

    `H` maps coordinates of that plane (squares) to the picture (px). The view includes a margin of `margin` squares
    around the grid; outside the picture, edge pixels are repeated. Returns `(n, n[, channels]) uint8` with
    `n = round(scale * (15 + 2 * margin))`.
    """
    return rectify_area(image, H, scale, (-margin, -margin), (BOARD_SIZE + margin, BOARD_SIZE + margin))


def rectify_area(image: Image, H: Floats, scale: int, start: tuple[float, float], end: tuple[float, float]) -> Image:
    """Rectify a rectangle of a plane to a top view of `scale` pixels per square.

    `H` maps coordinates of the plane (squares) to the picture (px). `start` and `end` are opposite corners `(x, y)` of
    the rectangle, in squares.
    """
    width, height = (round(scale * (last - first)) for first, last in zip(start, end, strict=True))
    step = 1 / scale
    to_board = np.array([[step, 0.0, step / 2 + start[0]], [0.0, step, step / 2 + start[1]], [0.0, 0.0, 1.0]])
    image, H = reduce_image(image, H, scale)
    pixels, fractions = _make_remap_maps((H @ to_board).tobytes(), width, height)
    rectified = cv2.remap(image, pixels, fractions, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(rectified, np.uint8)


@lru_cache(maxsize=4)
def _make_remap_maps(transform: bytes, width: int, height: int) -> tuple[NDArray[np.int16], NDArray[np.uint16]]:
    """Return where the pixels of a rectified view are in the picture, as the maps of `cv2.remap`; read-only.

    `transform` is the `(3, 3) float64` homography from the view to the picture. The maps of the last four calls are
    cached, because a board that has not moved is rectified in picture after picture. They have 1.6 MB for both views of
    a board.
    """
    (a, b, c), (d, e, f), (g, h, i) = np.frombuffer(transform).reshape(3, 3)
    x, y = np.arange(width), np.arange(height)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):  # the horizon of a plane may be in the view
        scale = 1 / (g * x + (h * y + i))
        columns, rows = (a * x + (b * y + c)) * scale, (d * x + (e * y + f)) * scale
    pixels, fractions = cv2.convertMaps(columns.astype(np.float32), rows.astype(np.float32), cv2.CV_16SC2)
    pixels.flags.writeable = fractions.flags.writeable = False  # cached: all callers share them
    return np.asarray(pixels, np.int16), np.asarray(fractions, np.uint16)


def reduce_image(image: Image, H: Floats, scale: int) -> tuple[Image, Floats]:
    """Halve a picture while its resolution is higher than rectification to `scale` pixels per square needs.

    `H` maps squares to pixels of `image`. Returns the reduced picture and the homography to its pixels.
    """
    # The resolution must be higher than needed both on average and at the most distant corner.
    mean_excess = square_side(project(H, grid_corners())) / _MEAN_PX_PER_OUTPUT_PX
    least_excess = _find_shortest_side(H) / _SHORTEST_PX_PER_OUTPUT_PX
    excess = min(mean_excess, least_excess) / scale
    while excess > 1 and min(image.shape[:2]) > 1:
        image, H, excess = halve_image(image), _HALVING_TRANSFORM @ H, excess / 2
    return image, H


def _find_shortest_side(H: Floats) -> float:
    """Return the smallest length of a square's side in the picture, in pixels, over all corners and directions."""
    projected = np.column_stack([grid_corners(), np.ones(4)]) @ H.T
    pixels = projected[:, :2] / projected[:, 2:]
    # The smallest singular value of the Jacobian of the projection is the shortest side over all directions.
    jacobians = (H[None, :2, :2] - pixels[:, :, None] * H[None, 2:, :2]) / projected[:, 2, None, None]
    return float(np.linalg.svd(jacobians, compute_uv=False).min())


def halve_image(image: Image) -> Image:
    """Scale the picture to half its size by averaging 2 x 2 pixels; an odd last row or column is dropped."""
    height, width = image.shape[0] // 2, image.shape[1] // 2
    even = image[: 2 * height, : 2 * width]
    return np.asarray(cv2.resize(even, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class BoardPose:
    """Pose of the board relative to the camera, as a homography for every plane parallel to the board."""

    homography: Floats
    """`(3, 3)`: from board coordinates (squares) to picture coordinates (px), for the plane of the board itself."""
    height_column: Floats
    """`(3,)`: vector that is added to the last column of `homography` per square of height above the board."""

    def plane_homography(self, height: float) -> Floats:
        """Return the `(3, 3)` homography from squares to px for the plane `height` squares above the board."""
        H = self.homography.copy()
        H[:, 2] += height * self.height_column
        return H

    @property
    def corners(self) -> Floats:
        """The `(4, 2)` corners of the grid in px."""
        return project(self.homography, grid_corners())

    def rotate(self, quarter_turns: int) -> BoardPose:
        """Return the pose for the coordinates of the board after anticlockwise quarter turns of its rectified view."""
        turn = np.array([[0.0, -1.0, BOARD_SIZE], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        return BoardPose(self.homography @ np.linalg.matrix_power(turn, quarter_turns), self.height_column)


def estimate_board_pose(corners: NDArray[np.floating], size: tuple[int, int]) -> BoardPose:
    """Estimate the board's pose and the camera's focal length from the four corners of the grid, `(4, 2)` px.

    `size` is the picture's (width, height) in px. Pixels are assumed to be square, and the principal point to be the
    centre of the picture. If the board is seen at an angle, the corners determine the focal length (Zhang, A flexible
    new technique for camera calibration, 2000). In a view from straight above they do not. So priors for the focal
    length and the aspect ratio of squares are used as well.
    """
    H = homography(corners)
    width, height = size
    long_side = float(max(width, height))
    centre = np.array([(width - 1) / 2, (height - 1) / 2])
    f = _FOCAL_CANDIDATES * long_side

    # Multiply H by the inverse intrinsic matrix of each candidate focal length. For the true focal length, the first
    # two columns are then orthogonal, and the ratio of their norms is the aspect ratio of a square.
    rays = np.array([[1.0, 0.0, -centre[0]], [0.0, 1.0, -centre[1]], [0.0, 0.0, 1.0]]) @ H
    rays = np.stack([rays[0] / f[:, None], rays[1] / f[:, None], np.broadcast_to(rays[2], (len(f), 3))], axis=1)
    lengths = np.linalg.norm(rays[:, :, :2], axis=1)
    aspects = lengths[:, 1] / lengths[:, 0]

    # Project the columns onto the nearest orthogonal pair, and measure the reprojection error at the corners. The sum
    # and the difference of two unit vectors are orthogonal; scaled to equal length, they give that pair.
    columns = rays[:, :, :2] / lengths[:, None]
    halves = np.stack([columns.sum(axis=2), columns[:, :, 0] - columns[:, :, 1]], axis=2)
    halves /= np.sqrt(2) * np.linalg.norm(halves, axis=1, keepdims=True)
    rotation = np.stack([halves.sum(axis=2), halves[:, :, 0] - halves[:, :, 1]], axis=2)
    middle = rays @ np.array([BOARD_SIZE / 2, BOARD_SIZE / 2, 1.0])
    in_camera = (grid_corners() - BOARD_SIZE / 2) * lengths[:, None] @ rotation.transpose(0, 2, 1) + middle[:, None]
    pixels = in_camera[:, :, :2] / in_camera[:, :, 2:] * f[:, None, None] + centre
    error = np.sqrt(((pixels - corners) ** 2).sum(axis=2).mean(axis=1)) / square_side(corners)

    # Select the candidate with the highest posterior: Gaussian errors of corners and aspect, a Cauchy prior of focal.
    focal_deviation = np.log(_FOCAL_CANDIDATES / _USUAL_FOCAL) / _FOCAL_SPREAD
    aspect_deviation = np.log(aspects) / _ASPECT_SPREAD
    loss = (error / _CORNER_NOISE_SQUARES) ** 2 + 2 * np.log1p(focal_deviation**2) + aspect_deviation**2
    best = int(np.argmin(loss))

    # Take the vector from the board downwards, as long as a square, and project it with the intrinsic matrix.
    into_board = np.cross(rotation[best, :, 0], rotation[best, :, 1]) * lengths[best, 0]
    vertical = -np.array(
        [
            into_board[0] * f[best] + centre[0] * into_board[2],
            into_board[1] * f[best] + centre[1] * into_board[2],
            into_board[2],
        ]
    )
    return BoardPose(H, vertical)


_NEXT_CORNER: Final = [1, 2, 3, 0]


def as_quad(corners: Any) -> Floats:
    """Convert four (x, y) pairs to a quad, `(4, 2) float64`. Raises ValueError unless there are four finite points."""
    quad = np.asarray(corners, dtype=np.float64)
    if quad.shape != (4, 2) or not np.isfinite(quad).all():
        raise ValueError("a board has four corners, each an x and a y in pixels")
    return quad


def is_convex(quad: Floats) -> bool:
    """Return True if `quad` `(4, 2)` is strictly convex with its corners in clockwise order."""
    return bool(are_convex(quad))


def are_convex(quads: Floats) -> NDArray[np.bool_]:
    """Return a mask `(...)` that is True for each strictly convex, clockwise quad of `quads` `(..., 4, 2)`."""
    edges = quads[..., _NEXT_CORNER, :] - quads
    following = edges[..., _NEXT_CORNER, :]
    turns = edges[..., 0] * following[..., 1] - edges[..., 1] * following[..., 0]
    return np.asarray((turns > 1e-6).all(axis=-1), np.bool_)


def order_corners(points: Floats) -> Floats:
    """Sort four points `(..., 4, 2)` into clockwise order, beginning with the point that has the smallest x + y."""
    from_middle = points - points.mean(axis=-2, keepdims=True)
    around = np.argsort(np.arctan2(from_middle[..., 1], from_middle[..., 0]), axis=-1)
    first = np.argmin(np.take_along_axis(points.sum(axis=-1), around, axis=-1), axis=-1, keepdims=True)
    order = np.take_along_axis(around, (first + np.arange(4)) % 4, axis=-1)
    return np.take_along_axis(points, order[..., None], axis=-2)


def rotate_quad(quad: Floats, quarter_turns: int) -> Floats:
    """Return `quad` `(4, 2)` with its corners in the same cyclic order, starting at corner number `quarter_turns`."""
    return np.roll(quad, -quarter_turns, axis=0)


def reverse_quad(quad: Floats) -> Floats:
    """Return the corners of `quad` `(4, 2)` in the opposite direction, with the same first corner."""
    return quad[[0, 3, 2, 1]]


def flip_points(points: Floats, width: int) -> Floats:
    """Return the positions of `points` `(..., 2)` px in the horizontally flipped picture of `width` px."""
    return np.asarray([width - 1, 0] + points * [-1, 1], np.float64)


def fit_homography(source: Floats, target: Floats, weights: Floats) -> Floats:
    """Fit a homography from points `source` (N, 2) to points `target` (N, 2) with the normalised, weighted DLT.

    `weights` (N,) are the weights of the point pairs in the least-squares problem. Normalisation after Hartley, In
    defense of the eight-point algorithm (1997). Raises ValueError for fewer than four points of positive weight.
    """
    if np.count_nonzero(weights > 0) < 4:
        raise ValueError("a homography needs four points")
    s_mean, t_mean = source.mean(axis=0), target.mean(axis=0)
    s_scale = math.sqrt(2) / max(float(np.linalg.norm(source - s_mean, axis=1).mean()), 1e-9)
    t_scale = math.sqrt(2) / max(float(np.linalg.norm(target - t_mean, axis=1).mean()), 1e-9)
    x, y = ((source - s_mean) * s_scale).T
    u, v = ((target - t_mean) * t_scale).T
    zero, one = np.zeros_like(x), np.ones_like(x)
    rows = np.concatenate(
        [
            np.stack([x, y, one, zero, zero, zero, -u * x, -u * y, -u], axis=1),
            np.stack([zero, zero, zero, x, y, one, -v * x, -v * y, -v], axis=1),
        ]
    )
    rows *= np.sqrt(np.concatenate([weights, weights]))[:, None]
    _, vectors = np.linalg.eigh(rows.T @ rows)
    to_source = np.array([[s_scale, 0, -s_scale * s_mean[0]], [0, s_scale, -s_scale * s_mean[1]], [0, 0, 1]])
    from_target = np.array([[1 / t_scale, 0, t_mean[0]], [0, 1 / t_scale, t_mean[1]], [0, 0, 1]])
    H = from_target @ vectors[:, 0].reshape(3, 3) @ to_source
    return np.asarray(H / H[2, 2], np.float64)
