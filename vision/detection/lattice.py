"""Fit one grid to local predictions of corners of squares.

For each cell of the rectified picture, the network predicts the position of the nearest corner of squares and its
error. From a patch with a regular lattice, the fit grows outwards over all corners that continue the lattice. The cells
on the playing grid decide which corner is the first one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import Floats, fit_homography, project

_MAX_USABLE_ERROR_SQUARES: Final = 0.25
"""Predicted error, in squares, up to which the prediction of a cell is used."""
_MAX_CORNER_MISS_SQUARES: Final = 0.22
"""Largest distance, in squares, of a corner from the continued lattice."""
_GROW_ROUNDS: Final = 8
_REFINE_ROUNDS: Final = 3
_SUFFICIENT_SEEN_SHARE: Final = 0.7
"""Share of the corners seen in their places from which no further patch is tried."""
_CANDIDATE_SHIFTS_SQUARES: Final = np.arange(-3.0, 4.0)
"""Offsets of the expected grid to try, in squares, right and down."""
_MIN_CORNERS: Final = 12
_MIN_ALIGNED_SHARE: Final = 0.7
"""Share of the corners at their expected positions from which the fit starts with the expected grid."""
_PATCH_RADIUS_CELLS: Final = 2
"""Cells from the middle of a patch to its edge."""


@dataclass(frozen=True, slots=True, eq=False)
class LatticeFit:
    """A grid fitted to the cells of a rectified picture.

    `to_cells` `(3, 3)` maps board coordinates to cell coordinates (integers at the centres of cells); the median
    distance of the seen corners from the fit is in squares; `seen_share` (0..1) is the share of the cells on the grid
    whose predictions agree with the fit.
    """

    to_cells: Floats
    median_miss: float
    seen_share: float


def fit_lattice(cells: NDArray[np.float32], margin: float) -> LatticeFit | None:
    """Fit a grid to the network's output `(4, n, n)`; return None if too little of a lattice is visible.

    `margin` is the width around the expected grid in squares; a cell is one square wide.
    """
    seen = _CellPredictions.from_output(cells)
    best: LatticeFit | None = None
    for H in _propose_homographies(seen, margin):
        fit = _refine_homography(seen, H)
        if fit is None:
            continue
        found = _score_fit(seen, fit @ _find_grid_shift(seen, fit))
        if best is None or found.seen_share > best.seen_share:
            best = found
        if best.seen_share > _SUFFICIENT_SEEN_SHARE:
            break
    return best


def refit_lattice(cells: NDArray[np.float32], to_cells: Floats, trust: Floats) -> Floats | None:
    """Fit the same grid again with a weight for each corner of squares, `trust` `(16, 16)`.

    Used to reduce the influence of tiles: their tops are displaced from their squares when seen from the side.
    """
    return _refine_homography(_CellPredictions.from_output(cells), to_cells, trust)


@dataclass(frozen=True, slots=True, eq=False)
class _CellPredictions:
    """The network's output for `(n, n)` cells.

    For each cell its centre, the predicted corner (x, y), the error of the prediction, the log-odds that the cell is on
    the grid, and True if the prediction is certain enough to be used.
    """

    middle: Floats
    corner: Floats
    error: Floats
    odds: Floats
    usable: NDArray[np.bool_]

    @classmethod
    def from_output(cls, cells: NDArray[np.float32]) -> _CellPredictions:
        n = cells.shape[1]
        middle = np.stack(np.meshgrid(np.arange(n), np.arange(n)), axis=-1).astype(np.float64)
        error = np.exp(np.clip(cells[2], -5, 2).astype(np.float64))
        odds = np.clip(cells[3].astype(np.float64), -4, 4)
        return cls(
            middle,
            middle + cells[:2].transpose(1, 2, 0),
            error,
            odds,
            (error < _MAX_USABLE_ERROR_SQUARES) & (odds > -1),
        )


def _propose_homographies(seen: _CellPredictions, margin: float) -> Iterator[Floats]:
    """Yield initial homographies from lattice to cells: the expected grid, then those grown from patches."""
    believed = np.array([[1.0, 0, margin - 0.5], [0, 1.0, margin - 0.5], [0, 0, 1.0]])
    if (
        seen.usable.sum() >= _MIN_CORNERS
        and _match_corners(seen, believed)[1].sum() > _MIN_ALIGNED_SHARE * seen.usable.sum()
    ):
        yield believed
    n = len(seen.middle)
    third = n // 3
    for row, column in ((1, 1), (1, 0), (1, 2), (0, 1), (2, 1)):
        rows = slice(row * third, n - (2 - row) * third)
        columns = slice(column * third, n - (2 - column) * third)
        patch = _find_surest_patch(seen, rows, columns)
        grown = None if patch is None else _grow_homography(seen, patch, margin)
        if grown is not None:
            yield grown


def _match_corners(seen: _CellPredictions, H: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the lattice corner of each cell under `H`, and a mask of the cells that see it at its place."""
    label = np.round(project(np.linalg.inv(H), seen.corner))
    miss = np.linalg.norm(project(H, label) - seen.corner, axis=2)
    return label, seen.usable & (miss < _MAX_CORNER_MISS_SQUARES)


def _find_surest_patch(seen: _CellPredictions, rows: slice, columns: slice) -> tuple[int, int] | None:
    """Return the centre of the patch with the smallest errors, among the given cells."""
    error = np.where(seen.usable, seen.error, 1.0)
    cost = np.asarray(cv2.blur(error, (2 * _PATCH_RADIUS_CELLS + 1,) * 2, borderType=cv2.BORDER_REFLECT))
    part = np.where(seen.usable, cost, np.inf)[rows, columns]
    i, j = divmod(int(np.argmin(part)), part.shape[1])
    return (rows.start + i, columns.start + j) if np.isfinite(part[i, j]) else None


def _grow_homography(seen: _CellPredictions, patch: tuple[int, int], margin: float) -> Floats | None:
    """Grow a homography from lattice to cells from a patch over all corners that continue it."""
    n = len(seen.middle)
    i, j = patch
    near = np.zeros((n, n), bool)
    near[
        max(i - _PATCH_RADIUS_CELLS, 0) : i + _PATCH_RADIUS_CELLS + 1,
        max(j - _PATCH_RADIUS_CELLS, 0) : j + _PATCH_RADIUS_CELLS + 1,
    ] = True
    basis = np.column_stack([_estimate_step(seen.corner, seen.usable & near, axis) for axis in (1, 0)])
    if abs(np.linalg.det(basis)) < 0.3:
        return None
    # The corner at the patch keeps the lattice coordinates that it has in the expected grid.
    origin = seen.corner[i, j]
    H = np.vstack([np.column_stack([basis, origin - basis @ np.round(origin - margin + 0.5)]), [0.0, 0.0, 1.0]])
    weight = 1 / seen.error**2
    for growth in range(_GROW_ROUNDS):
        label, fits = _match_corners(seen, H)
        fits &= near
        if fits.sum() < 8:
            return None
        # A few corners close together say little of perspective: first an affine map, then a homography.
        fit = fit_homography if fits.sum() > 60 else _fit_affine
        H = fit(label[fits], seen.corner[fits], weight[fits])
        reach = 3 if growth < 2 else 5
        near = cv2.dilate(fits.astype(np.uint8), np.ones((reach, reach), np.uint8)) > 0
    return H


def _refine_homography(seen: _CellPredictions, H: Floats, trust: Floats | None = None) -> Floats | None:
    """Fit the homography to all corners that continue the lattice (Tukey's biweight); None if there are too few."""
    label, fits = _match_corners(seen, H)
    for _ in range(_REFINE_ROUNDS):
        if fits.sum() < _MIN_CORNERS:
            return None
        corner, name, weight = seen.corner[fits], label[fits], 1 / seen.error[fits] ** 2
        if trust is not None:
            x, y = np.clip(name, 0, BOARD_SIZE).astype(int).T
            weight = weight * trust[y, x]
        miss = np.linalg.norm(project(H, name) - corner, axis=1)
        reach = max(4.7 * float(np.median(miss)), 0.06)
        H = fit_homography(name, corner, weight * np.clip(1 - (miss / reach) ** 2, 1e-6, None) ** 2)
        label, fits = _match_corners(seen, H)
    return H


def _estimate_step(corners: Floats, usable: NDArray[np.bool_], axis: int) -> Floats:
    """Return the median step from a corner to the next one along `axis` (1 right, 0 down) in a patch."""
    both = usable[1:] & usable[:-1] if axis == 0 else usable[:, 1:] & usable[:, :-1]
    ways = np.diff(corners, axis=axis)[both]
    plain = np.array([1.0, 0.0]) if axis == 1 else np.array([0.0, 1.0])
    ways = ways[np.linalg.norm(ways - plain, axis=1) < 0.45]
    return np.median(ways, axis=0) if len(ways) else plain


def _fit_affine(source: Floats, target: Floats, weight: Floats) -> Floats:
    """Return the weighted least-squares affine map as a homography `(3, 3)`."""
    design = np.column_stack([source, np.ones(len(source))])
    scaled = design * weight[:, None]
    solved = np.linalg.solve(design.T @ scaled + 1e-9 * np.eye(3), scaled.T @ target)
    return np.vstack([solved.T, [0.0, 0.0, 1.0]])


def _score_fit(seen: _CellPredictions, to_cells: Floats) -> LatticeFit:
    """Score a fit by the share of corners that were seen at their places."""
    inverse = np.linalg.inv(to_cells)
    at = project(inverse, seen.corner)
    miss = np.linalg.norm(at - np.round(at), axis=2)
    on_grid = (np.abs(project(inverse, seen.middle) - BOARD_SIZE / 2) < BOARD_SIZE / 2 + 0.5).all(axis=2)
    good = seen.usable & on_grid & (miss < 0.15)
    share = float(good.sum()) / max(int(on_grid.sum()), 1)
    return LatticeFit(to_cells, float(np.median(miss[good])) if good.any() else 1.0, share)


def _find_grid_shift(seen: _CellPredictions, to_cells: Floats) -> Floats:
    """Return the translation `(3, 3)` by whole squares for which the grid agrees best with the seen corners."""
    board = project(np.linalg.inv(to_cells), seen.middle).reshape(-1, 2)
    covered = np.abs(board.T[:, None] - _CANDIDATE_SHIFTS_SQUARES[:, None] - BOARD_SIZE / 2) < BOARD_SIZE / 2 + 0.5
    odds = (covered[1] * seen.odds.ravel()) @ covered[0].T
    down, right = np.unravel_index(int(np.argmax(odds)), odds.shape)
    return np.array(
        [[1.0, 0, _CANDIDATE_SHIFTS_SQUARES[right]], [0, 1.0, _CANDIDATE_SHIFTS_SQUARES[down]], [0, 0, 1.0]]
    )
