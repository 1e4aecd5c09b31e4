"""Board candidates from the finder's output: quads from peaks of the corner heat map and patches of the grid mask."""

from __future__ import annotations

from itertools import combinations
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats, Image, are_convex, order_corners

_MIN_PEAK_HEAT: Final = 0.08
_MAX_PEAKS: Final = 8
_PEAK_MARGIN_CELLS: Final = 3
"""Largest distance of a corner from the patch of grid cells, in cells."""
_MAX_PATCHES: Final = 2
_MAX_QUADS_PER_PATCH: Final = 6
_MAX_COMPLETED_QUADS: Final = 2
_MIN_PATCH_CELLS: Final = 40
"""Smallest patch that may be a board, in cells."""


def propose_quads(cells: NDArray[np.float32]) -> list[Floats]:
    """Return candidate quads from the finder's output `(4, n, n)`, in cells, patch by patch, most likely first.

    Candidates are quads of four corner peaks that cover a patch of grid cells, the quad around that patch, and
    parallelograms over three peaks. All patches together are tried as one, because tiles may split the grid.
    """
    heat = 1 / (1 + np.exp(-cells[0]))
    peak = (heat >= cv2.dilate(heat, np.ones((3, 3)))) & (heat > _MIN_PEAK_HEAT)
    quads: list[Floats] = []
    apart = find_grid_patches(cells[3])
    whole = [np.asarray(np.maximum.reduce(apart), np.uint8)] if len(apart) > 1 else []
    for patch in [*apart, *whole]:
        around = cv2.dilate(patch, np.ones((2 * _PEAK_MARGIN_CELLS + 1, 2 * _PEAK_MARGIN_CELLS + 1), np.uint8)) > 0
        ys, xs = np.nonzero(peak & around)
        order = np.argsort(-heat[ys, xs])[:_MAX_PEAKS]
        ys, xs = ys[order], xs[order]
        points = np.stack([xs + cells[1, ys, xs], ys + cells[2, ys, xs]], axis=1).astype(np.float64)
        fours = _list_combinations(len(points), 4)
        best = _rank_quads(points[fours], heat[ys, xs][fours], patch)[: _MAX_QUADS_PER_PATCH - 1]
        best.insert(min(len(best), 2), fit_quad_to_patch(patch))
        threes = _list_combinations(len(points), 3)
        completed = _complete_parallelograms(points[threes]), np.repeat(heat[ys, xs][threes], 3, axis=0)
        quads += [*best, *_rank_quads(*completed, patch)[:_MAX_COMPLETED_QUADS]]
    return quads


def _list_combinations(among: int, count: int) -> NDArray[np.intp]:
    """Return all combinations of `count` out of `among` indices, `(n, count)`."""
    return np.array(list(combinations(range(among), count)), np.intp).reshape(-1, count)


def _rank_quads(fours: Floats, heats: NDArray[np.floating], patch: Image) -> list[Floats]:
    """Return the quads `(n, 4, 2)` that cover a patch, ranked by coverage and by the heat of their peaks."""
    quads = order_corners(fours)
    convex = are_convex(quads)
    warmth = heats.mean(axis=1)[convex] ** 0.5
    scored = [
        (cover * float(w), quad)
        for quad, w in zip(quads[convex], warmth, strict=True)
        if (cover := intersection_over_union(quad, patch)) > 0.5
    ]
    scored.sort(key=lambda s: -s[0])
    return [quad for _, quad in scored]


def _complete_parallelograms(threes: Floats) -> Floats:
    """Return the parallelograms over three peaks `(n, 3, 2)`, `(3 n, 4, 2)`: a hand may cover the fourth corner."""
    a, b, c = threes.transpose(1, 0, 2)
    fourths = np.stack([a + b - c, b + c - a, c + a - b], axis=1)
    fours = [np.broadcast_to(threes[:, None], (len(threes), 3, 3, 2)), fourths[:, :, None]]
    return np.concatenate(fours, axis=2).reshape(-1, 4, 2)


def find_grid_patches(on_grid: NDArray[np.float32]) -> list[Image]:
    """Return the largest patches of cells that are probably on a grid, each as a mask `(n, n)` of 0 and 1."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats((on_grid > 0).astype(np.uint8), connectivity=4)
    sizes = stats[:, cv2.CC_STAT_AREA]
    largest = sorted(range(1, count), key=lambda k: -sizes[k])[:_MAX_PATCHES]
    return [np.asarray(labels == k, np.uint8) for k in largest if sizes[k] >= _MIN_PATCH_CELLS]


def fit_quad_to_patch(patch: Image) -> Floats:
    """Return the quad around a patch: its convex hull simplified to four corners, otherwise its bounding box."""
    hull = cv2.convexHull(cv2.findNonZero(patch).reshape(-1, 2))
    length = cv2.arcLength(hull, True)
    for part in np.linspace(0.02, 0.15, 14):
        simple = cv2.approxPolyDP(hull, part * length, True).reshape(-1, 2)
        if len(simple) == 4:
            return order_corners(np.asarray(simple, np.float64))
        if len(simple) < 4:
            break
    return order_corners(np.asarray(cv2.boxPoints(cv2.minAreaRect(hull)), np.float64))


def intersection_over_union(quad: Floats, on_grid: Image) -> float:
    """Return the intersection over union of a quad and a patch; parts of the quad outside the picture count."""
    drawn = np.zeros_like(on_grid)
    cv2.fillConvexPoly(drawn, np.round(quad * 16).astype(np.int32), 1, cv2.LINE_8, 4)
    both = int(np.count_nonzero(drawn & on_grid))
    whole = max(float(cv2.contourArea(quad.astype(np.float32))), float(np.count_nonzero(drawn)))
    return both / max(whole + int(np.count_nonzero(on_grid)) - both, 1.0)
