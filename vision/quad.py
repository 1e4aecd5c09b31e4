"""Quads: the four corners of a board in a picture, and homographies fitted to many points.

A quad is a (4, 2) float64 array of corners in picture pixels, clockwise as seen in the picture.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats

_NEXT_CORNER: Final = [1, 2, 3, 0]


def as_quad(corners: Any) -> Floats:
    """Return four (x, y) pairs as a quad. Raises ValueError if they are not four finite points."""
    quad = np.asarray(corners, dtype=np.float64)
    if quad.shape != (4, 2) or not np.isfinite(quad).all():
        raise ValueError("a board has four corners, each an x and a y in pixels")
    return quad


def is_convex(quad: Floats) -> bool:
    """Return True if the corners run clockwise and none is inside the triangle of the others, as a visible board's."""
    return bool(are_convex(quad))


def are_convex(quads: Floats) -> NDArray[np.bool_]:
    """Return the mask `(...)` of the convex quads among `quads` `(..., 4, 2)`; see `is_convex`."""
    edges = quads[..., _NEXT_CORNER, :] - quads
    following = edges[..., _NEXT_CORNER, :]
    turns = edges[..., 0] * following[..., 1] - edges[..., 1] * following[..., 0]
    return np.asarray((turns > 1e-6).all(axis=-1), np.bool_)


def order_corners(points: Floats) -> Floats:
    """Sort four points into a quad, clockwise from the one nearest the picture's top left; `(..., 4, 2)`."""
    from_middle = points - points.mean(axis=-2, keepdims=True)
    around = np.argsort(np.arctan2(from_middle[..., 1], from_middle[..., 0]), axis=-1)
    first = np.argmin(np.take_along_axis(points.sum(axis=-1), around, axis=-1), axis=-1, keepdims=True)
    order = np.take_along_axis(around, (first + np.arange(4)) % 4, axis=-1)
    return np.take_along_axis(points, order[..., None], axis=-2)


def rotate_quad(quad: Floats, quarter_turns: int) -> Floats:
    """Return the quad of a board rotated by quarter turns: it begins `quarter_turns` corners later."""
    return np.roll(quad, -quarter_turns, axis=0)


def corner_error(found: Floats, truth: Floats) -> float:
    """Return the mean distance between the corners, in squares of the true board, for the best of four rotations."""
    side = float(np.linalg.norm(truth - np.roll(truth, -1, axis=0), axis=1).mean()) / 15
    return min(float(np.linalg.norm(rotate_quad(found, k) - truth, axis=1).mean()) for k in range(4)) / side


def fit_homography(source: Floats, target: Floats, weights: Floats) -> Floats:
    """Fit the homography from source (N, 2) to target (N, 2) by weighted least squares, with the normalised DLT.

    Hartley, In defense of the eight-point algorithm (1997). Raises ValueError for fewer than four points of positive
    weight.
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
