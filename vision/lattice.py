"""From local answers to one grid: the corners of squares seen in a rectified picture become a homography.

The network says for each cell of the rectified picture where the nearest corner of squares lies and how sure that
is. Neighbouring cells tell which corner is which (one step further on or the same), all of them together the
homography, and the cells on the playing grid which of the corners is the first.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import SIZE
from vision.geometry import Floats, project
from vision.quad import fit_homography

_SURE: Final = 0.3
"""Expected error, in squares, up to which a cell's answer is used."""
_ROUNDS: Final = 4
_FARTHEST: Final = 3
"""By how many squares the believed grid may be off."""


@dataclass(frozen=True, slots=True, eq=False)
class LatticeFit:
    """A grid fitted to the cells of a rectified picture.

    `to_cells` (3, 3) takes board coordinates to cell coordinates (whole numbers in the middles of cells), `miss` is
    the median distance of the corners of squares that were seen from the fit, in squares, `seen` the share (0..1)
    of the cells on the grid whose answers agree with it.
    """

    to_cells: Floats
    miss: float
    seen: float


def fit_lattice(cells: NDArray[np.float32], margin: float) -> LatticeFit | None:
    """Fit a grid to the network's answer (4, n, n); None when too little of a lattice is to be seen.

    `margin` is the width in squares around the believed grid, one cell to the square.
    """
    n = cells.shape[1]
    index = np.stack(np.meshgrid(np.arange(n), np.arange(n)), axis=-1).astype(np.float64)
    corners = index + cells[:2].transpose(1, 2, 0)
    error = np.exp(np.clip(cells[2], -5, 2).astype(np.float64))
    inside = 1 / (1 + np.exp(-cells[3].astype(np.float64)))
    usable = (error < _SURE) & (inside > 0.2)
    labels = _labelled(corners, usable, error, margin)
    if labels is None:
        return None
    at = ~np.isnan(labels[..., 0])
    if at.sum() < 12:
        return None
    label, corner, weight = labels[at], corners[at], 1 / error[at] ** 2
    to_cells = _robust_fit(label, corner, weight)
    # Cells that the walk over neighbours did not reach or mislabelled are named by the fit, then all fit again.
    label = np.round(project(np.linalg.inv(to_cells), corners[usable]))
    to_cells = _robust_fit(label, corners[usable], 1 / error[usable] ** 2)
    miss = np.linalg.norm(project(to_cells, label) - corners[usable], axis=1)
    to_cells = to_cells @ _first_corner(to_cells, inside, index)
    on_grid = (np.abs(project(np.linalg.inv(to_cells), index) - SIZE / 2) < SIZE / 2).all(axis=2)
    good = np.zeros((n, n), bool)
    good[usable] = miss < 0.15
    seen = float((good & on_grid).sum()) / max(int(on_grid.sum()), 1)
    return LatticeFit(to_cells, float(np.median(miss)), seen)


def _labelled(corners: Floats, usable: NDArray[np.bool_], error: Floats, margin: float) -> Floats | None:
    """Walk from the surest cell to its neighbours and count the steps: the corner's name for every cell, or NaN."""
    n = len(corners)
    labels = np.full((n, n, 2), np.nan)
    if not usable.any():
        return None
    middle = np.abs(np.arange(n) - (n - 1) / 2)
    start = np.where(usable, error + 0.01 * np.maximum(middle[:, None], middle), np.inf)
    i, j = divmod(int(np.argmin(start)), n)
    labels[i, j] = np.round(corners[i, j] - margin + 0.5)
    queue = deque([(i, j)])
    while queue:
        i, j = queue.popleft()
        for a, b in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            if 0 <= a < n and 0 <= b < n and usable[a, b] and np.isnan(labels[a, b, 0]):
                labels[a, b] = labels[i, j] + np.round(corners[a, b] - corners[i, j])
                queue.append((a, b))
    return labels


def _robust_fit(source: Floats, target: Floats, weight: Floats) -> Floats:
    """The homography by least squares with Tukey's weights on the distances."""
    trust = weight
    H = fit_homography(source, target, trust)
    for _ in range(_ROUNDS):
        miss = np.linalg.norm(project(H, source) - target, axis=1)
        reach = max(4.7 * float(np.median(miss)), 0.08)
        trust = weight * np.clip(1 - (miss / reach) ** 2, 0, None) ** 2
        if np.count_nonzero(trust) < 8:
            return H
        H = fit_homography(source, target, trust)
    return H


def _first_corner(to_cells: Floats, inside: Floats, index: Floats) -> Floats:
    """The shift (3, 3) by whole squares under which the grid covers the cells that are on it."""
    board = project(np.linalg.inv(to_cells), index)
    gain = np.log(np.clip(inside, 0.02, 0.98) / np.clip(1 - inside, 0.02, 0.98))
    best, most = np.eye(3), -np.inf
    for dy in range(-_FARTHEST, _FARTHEST + 1):
        for dx in range(-_FARTHEST, _FARTHEST + 1):
            on_grid = (np.abs(board - [dx, dy] - SIZE / 2) < SIZE / 2).all(axis=2)
            total = float(gain[on_grid].sum())
            if total > most:
                most, best = total, np.array([[1.0, 0, dx], [0, 1.0, dy], [0, 0, 1.0]])
    return best
