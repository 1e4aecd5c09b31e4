"""Propose outlines of boards from the output of the finder network.

The output has four maps, with a value for each cell of 4 x 4 input pixels. The first is the heat map: the logit of the
probability of a corner of the grid; its local maxima are called peaks. The next two are the offset (right, down) of the
corner from the middle of the cell, in cells. The last is the grid mask: the logit of the probability of being on a
grid; a connected region of it is called a patch. Each candidate is a quad: the four corners of a board.
"""

from __future__ import annotations

from itertools import combinations
from operator import itemgetter
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats, Image, are_convex, order_corners

_MIN_PEAK_HEAT: Final = 0.08
"""Minimum corner probability of a peak, a local maximum of the heat map; lower maxima are not used."""
_MAX_PEAKS: Final = 8
"""Maximum number of peaks (local maxima of the corner heat map) used for one region of the grid mask, the best first.
"""
_PEAK_MARGIN_CELLS: Final = 3
"""Maximum distance, in cells, of a corner from the region of the grid mask to which it belongs."""
_MAX_PATCHES: Final = 2
"""Maximum number of regions of the grid mask that are examined, the largest first."""
_MAX_QUADS_PER_PATCH: Final = 6
"""Maximum number of candidates per region of the grid mask, not counting parallelograms completed from three
corners."""
_MAX_COMPLETED_QUADS: Final = 2
"""Maximum number of candidates per region of the grid mask that are parallelograms completed from three corners."""
_MIN_QUAD_IOU: Final = 0.5
"""Minimum intersection over union of a candidate and its region of the grid mask."""
_FITTED_QUAD_RANK: Final = 2
"""Place of the quad fitted to the outline of a region among the candidates of the region: two quads from detected
corners are tried first."""
_MIN_PATCH_CELLS: Final = 40
"""Minimum area of a region of the grid mask, in cells; smaller ones are ignored."""


def propose_quads(cells: NDArray[np.float32]) -> list[Floats]:
    """Return candidate board quads from the finder's output `(4, n, n)`, the best first, in cell coordinates.

    A patch is a connected region of cells that are probably on a grid. Each patch has three kinds of candidates: quads
    that overlap the patch, from four detected corners; the quad fitted to the outline of the patch; and parallelograms
    completed from three detected corners. Tiles may split the grid into several patches, so the union of all patches is
    treated as one more patch.
    """
    corner_logits, right, down, grid_logits = cells
    heat = 1 / (1 + np.exp(-corner_logits))
    is_peak = (heat >= cv2.dilate(heat, np.ones((3, 3)))) & (heat > _MIN_PEAK_HEAT)
    patches = find_grid_patches(grid_logits)
    if len(patches) > 1:
        patches.append(np.asarray(np.maximum.reduce(patches), np.uint8))
    quads: list[Floats] = []
    for patch in patches:
        # Select the best peaks on the patch or near it.
        reach = np.ones((2 * _PEAK_MARGIN_CELLS + 1, 2 * _PEAK_MARGIN_CELLS + 1), np.uint8)
        ys, xs = np.nonzero(is_peak & (cv2.dilate(patch, reach) > 0))
        order = np.argsort(-heat[ys, xs])[:_MAX_PEAKS]
        ys, xs = ys[order], xs[order]
        points = np.stack([xs + right[ys, xs], ys + down[ys, xs]], axis=1).astype(np.float64)
        heats = heat[ys, xs]
        # Combine four peaks, or complete three.
        fours = _list_combinations(len(points), 4)
        detected = _rank_quads(points[fours], heats[fours], patch)[: _MAX_QUADS_PER_PATCH - 1]
        detected.insert(_FITTED_QUAD_RANK, fit_quad_to_patch(patch))
        threes = _list_combinations(len(points), 3)
        parallelograms = _complete_parallelograms(points[threes])
        completed = _rank_quads(parallelograms, np.repeat(heats[threes], 3, axis=0), patch)[:_MAX_COMPLETED_QUADS]
        quads += [*detected, *completed]
    return quads


def _list_combinations(among: int, count: int) -> NDArray[np.intp]:
    """Return all combinations of `count` of the indices 0 to `among` - 1, as rows of an array `(n, count)`."""
    return np.array(list(combinations(range(among), count)), np.intp).reshape(-1, count)


def _rank_quads(points: Floats, heats: NDArray[np.floating], patch: Image) -> list[Floats]:
    """Return the convex quads among `points` `(n, 4, 2)` that overlap `patch`, a region of the grid mask; best first.

    `heats` `(n, 4)` are the corner probabilities of the points. Quads are ranked by their intersection over union with
    the region, times the square root of their mean corner probability and of the ratios of their opposite sides.
    """
    quads = order_corners(points)
    is_likely = are_convex(quads) & _may_overlap(quads, int(np.count_nonzero(patch)))
    sides = np.linalg.norm(np.roll(quads, -1, axis=1) - quads, axis=2)[is_likely]
    ratios = np.minimum(sides[:, :2], sides[:, 2:]) / np.maximum(sides[:, :2], sides[:, 2:])
    weights = (heats.mean(axis=1)[is_likely] * ratios.prod(axis=1)) ** 0.5
    scored: list[tuple[float, Floats]] = []
    for quad, weight in zip(quads[is_likely], weights, strict=True):
        overlap = intersection_over_union(quad, patch)
        if overlap > _MIN_QUAD_IOU:
            scored.append((overlap * float(weight), quad))
    scored.sort(key=itemgetter(0), reverse=True)
    return [quad for _, quad in scored]


def _may_overlap(quads: Floats, cell_count: int) -> NDArray[np.bool_]:
    """Return a mask `(n,)`, False for `quads` `(n, 4, 2)` too small or too large for a region of `cell_count` cells.

    Their intersection over union with the region cannot exceed `_MIN_QUAD_IOU`. A drawn quad may have more cells than
    its area, along its outline.
    """
    following = np.roll(quads, -1, axis=1)
    areas = np.abs((quads[..., 0] * following[..., 1] - quads[..., 1] * following[..., 0]).sum(axis=1)) / 2
    outlines = np.linalg.norm(following - quads, axis=2).sum(axis=1)
    is_small = areas + outlines + 4 < _MIN_QUAD_IOU * cell_count
    return np.asarray(~is_small & (areas * _MIN_QUAD_IOU < cell_count), np.bool_)


def _complete_parallelograms(threes: Floats) -> Floats:
    """Complete triples of points `threes` `(n, 3, 2)` to parallelograms `(3 n, 4, 2)`, three for each triple.

    A parallelogram approximates a board of which one corner is hidden, for example by a hand.
    """
    a, b, c = threes.transpose(1, 0, 2)
    fourths = np.stack([a + b - c, b + c - a, c + a - b], axis=1)
    fours = [np.broadcast_to(threes[:, None], (len(threes), 3, 3, 2)), fourths[:, :, None]]
    return np.concatenate(fours, axis=2).reshape(-1, 4, 2)


def find_grid_patches(grid_logits: NDArray[np.float32]) -> list[Image]:
    """Return the largest connected regions of positive values in `grid_logits` `(n, n)`, as masks of 0 and 1."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats((grid_logits > 0).astype(np.uint8), connectivity=4)
    sizes = stats[:, cv2.CC_STAT_AREA]
    largest = sorted(range(1, count), key=lambda k: -sizes[k])[:_MAX_PATCHES]
    return [np.asarray(labels == k, np.uint8) for k in largest if sizes[k] >= _MIN_PATCH_CELLS]


def fit_quad_to_patch(patch: Image) -> Floats:
    """Fit a quad to `patch`, a region of the grid mask.

    The quad is the convex hull simplified to four corners or, if that fails, the minimum-area rectangle.
    """
    hull = cv2.convexHull(cv2.findNonZero(patch).reshape(-1, 2))
    length = cv2.arcLength(hull, True)
    for tolerance in np.linspace(0.02, 0.15, 14):  # shares of the length of the hull
        polygon = cv2.approxPolyDP(hull, tolerance * length, True).reshape(-1, 2)
        if len(polygon) == 4:
            return order_corners(np.asarray(polygon, np.float64))
        if len(polygon) < 4:
            break
    return order_corners(np.asarray(cv2.boxPoints(cv2.minAreaRect(hull)), np.float64))


def intersection_over_union(quad: Floats, on_grid: Image) -> float:
    """Return the intersection over union of a quad and a region of cells, the mask `on_grid` `(n, n)`.

    Parts of the quad outside the array count in the union.
    """
    drawn = np.zeros_like(on_grid)
    cv2.fillConvexPoly(drawn, np.round(quad * 16).astype(np.int32), 1, cv2.LINE_8, 4)  # in sixteenths of a cell
    intersection = int(np.count_nonzero(drawn & on_grid))
    quad_area = max(float(cv2.contourArea(quad.astype(np.float32))), float(np.count_nonzero(drawn)))
    return intersection / max(quad_area + int(np.count_nonzero(on_grid)) - intersection, 1.0)
