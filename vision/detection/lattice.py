"""Fit a homography to the corners of squares that the lattice network predicts.

The rectified picture is divided into cells of one square. For each cell, the network predicts the position of the
nearest corner where four squares meet, and the expected error of that position. Starting from a patch of cells with a
regular lattice, the fit is extended to all corners that continue the lattice. The predicted probability of each cell
to be on the playing grid determines the offset of the grid within the lattice.
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
"""Maximum predicted error of a square's corner, in squares; a corner with a larger predicted error is not used."""
_MAX_CORNER_MISS_SQUARES: Final = 0.22
"""Maximum distance, in squares, of a predicted corner from its lattice point; corners farther away are ignored."""
_GROW_ROUNDS: Final = 8
"""Number of rounds in which the fitted lattice is extended from a small part of the board."""
_REFINE_ROUNDS: Final = 3
"""Number of iterations of the last, robust fit to all corners."""
_SUFFICIENT_SEEN_SHARE: Final = 0.7
"""Share of the grid's cells that must agree with a fit to end the search for a better fit."""
_CANDIDATE_SHIFTS_SQUARES: Final = np.arange(-3.0, 4.0)
"""Shifts, in squares, that are tried to the right and down to find the place of the grid in the fitted lattice."""
_MIN_CORNERS: Final = 12
"""Minimum number of predicted corners near lattice points; with fewer, no lattice is fitted."""
_MIN_ALIGNED_SHARE: Final = 0.7
"""Minimum share of usable corners near the expected grid; with fewer, the fit does not start from the expected grid."""
_PATCH_RADIUS_CELLS: Final = 2
"""Radius of the square region of cells in which a fit starts, in cells: 2 means 5 x 5 cells."""


@dataclass(frozen=True, slots=True, eq=False)
class LatticeFit:
    """Homography of a grid fitted to the output of the lattice network, with measures of its quality.

    `to_cells` `(3, 3)` maps board coordinates (squares) to cell coordinates (integers at the centres of cells).
    `median_miss` is the median distance, in squares, between predicted corners and the fitted grid. `seen_share` (0..1)
    is the share of the grid's cells whose predicted corner agrees with the fit.
    """

    to_cells: Floats
    median_miss: float
    seen_share: float


def fit_lattice(cells: NDArray[np.float32], margin: float) -> LatticeFit | None:
    """Fit a grid to the lattice network's output `(4, n, n)`; return None if too few corners form a lattice.

    `margin` is the width, in squares, of the border around the expected grid; a cell is one square wide.
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
    """Repeat a fit with a weight for each corner of squares, `trust` `(16, 16)`; return the new homography `(3, 3)`.

    Small weights reduce the influence of tiles: at an oblique view, tile tops appear displaced from their squares.
    Returns None if too few corners agree with the given homography `to_cells`.
    """
    return _refine_homography(_CellPredictions.from_output(cells), to_cells, trust)


@dataclass(frozen=True, slots=True, eq=False)
class _CellPredictions:
    """Decoded output of the lattice network for a picture of `(n, n)` cells, as parallel arrays."""

    middle: Floats
    """`(n, n, 2)`: centre (x, y) of each cell, in cells."""
    corner: Floats
    """`(n, n, 2)`: predicted position (x, y) of the nearest corner of squares, in cells."""
    error: Floats
    """`(n, n)`: predicted error of `corner`, in cells."""
    odds: Floats
    """`(n, n)`: log-odds that the cell is on the playing grid."""
    usable: NDArray[np.bool_]
    """`(n, n)`: True if the predicted corner is certain enough to be used."""

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
    """Yield homographies `(3, 3)` from board to cell coordinates, as starting points of the fit.

    The first is that of the expected grid; it is left out if too few predicted corners agree with it. The others are
    fitted to the corners in five regions of the picture.
    """
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
    """Assign the predicted corner of each cell to the nearest lattice point under the homography `H`.

    Returns the integer lattice coordinates `(n, n, 2)`, and a mask `(n, n)` of the cells whose usable prediction is
    within `_MAX_CORNER_MISS_SQUARES` of the lattice point.
    """
    label = np.round(project(np.linalg.inv(H), seen.corner))
    miss = np.linalg.norm(project(H, label) - seen.corner, axis=2)
    return label, seen.usable & (miss < _MAX_CORNER_MISS_SQUARES)


def _find_surest_patch(seen: _CellPredictions, rows: slice, columns: slice) -> tuple[int, int] | None:
    """Return the centre (row, column) of the block of 5 x 5 cells with the smallest mean error.

    Only centres in the slices `rows` and `columns` are considered. Returns None if no cell in the slices is usable.
    """
    error = np.where(seen.usable, seen.error, 1.0)
    cost = np.asarray(cv2.blur(error, (2 * _PATCH_RADIUS_CELLS + 1,) * 2, borderType=cv2.BORDER_REFLECT))
    part = np.where(seen.usable, cost, np.inf)[rows, columns]
    i, j = divmod(int(np.argmin(part)), part.shape[1])
    return (rows.start + i, columns.start + j) if np.isfinite(part[i, j]) else None


def _grow_homography(seen: _CellPredictions, patch: tuple[int, int], margin: float) -> Floats | None:
    """Fit a homography to the corners near the cell `patch`, then extend it to all corners that continue the lattice.

    Returns the homography `(3, 3)` from board to cell coordinates, or None if these corners form no regular lattice.
    """
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
    # Give the corner at the centre of the patch the lattice coordinates of the nearest corner of the expected grid.
    origin = seen.corner[i, j]
    H = np.vstack([np.column_stack([basis, origin - basis @ np.round(origin - margin + 0.5)]), [0.0, 0.0, 1.0]])
    weight = 1 / seen.error**2
    for growth in range(_GROW_ROUNDS):
        label, fits = _match_corners(seen, H)
        fits &= near
        if fits.sum() < 8:
            return None
        # A few neighbouring corners do not determine the perspective: fit an affine map first, later a homography.
        fit = fit_homography if fits.sum() > 60 else _fit_affine
        H = fit(label[fits], seen.corner[fits], weight[fits])
        reach = 3 if growth < 2 else 5
        near = cv2.dilate(fits.astype(np.uint8), np.ones((reach, reach), np.uint8)) > 0
    return H


def _refine_homography(seen: _CellPredictions, H: Floats, trust: Floats | None = None) -> Floats | None:
    """Refine the homography `H` by a robust fit (Tukey's biweight) to all corners near its lattice points.

    `trust` `(16, 16)` are additional weights for the corners of squares. Returns None if too few corners are near a
    lattice point.
    """
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
    """Return the median vector between corners of neighbouring cells along `axis` (1 right, 0 down), in cells."""
    both = usable[1:] & usable[:-1] if axis == 0 else usable[:, 1:] & usable[:, :-1]
    ways = np.diff(corners, axis=axis)[both]
    plain = np.array([1.0, 0.0]) if axis == 1 else np.array([0.0, 1.0])
    ways = ways[np.linalg.norm(ways - plain, axis=1) < 0.45]
    return np.median(ways, axis=0) if len(ways) else plain


def _fit_affine(source: Floats, target: Floats, weight: Floats) -> Floats:
    """Fit an affine map from `source` (n, 2) to `target` (n, 2) by weighted least squares; return a `(3, 3)` matrix."""
    design = np.column_stack([source, np.ones(len(source))])
    scaled = design * weight[:, None]
    solved = np.linalg.solve(design.T @ scaled + 1e-9 * np.eye(3), scaled.T @ target)
    return np.vstack([solved.T, [0.0, 0.0, 1.0]])


def _score_fit(seen: _CellPredictions, to_cells: Floats) -> LatticeFit:
    """Measure the quality of the homography `to_cells`: median error, and share of cells that agree with the grid."""
    inverse = np.linalg.inv(to_cells)
    at = project(inverse, seen.corner)
    miss = np.linalg.norm(at - np.round(at), axis=2)
    on_grid = (np.abs(project(inverse, seen.middle) - BOARD_SIZE / 2) < BOARD_SIZE / 2 + 0.5).all(axis=2)
    good = seen.usable & on_grid & (miss < 0.15)
    share = float(good.sum()) / max(int(on_grid.sum()), 1)
    return LatticeFit(to_cells, float(np.median(miss[good])) if good.any() else 1.0, share)


def _find_grid_shift(seen: _CellPredictions, to_cells: Floats) -> Floats:
    """Return the translation `(3, 3)`, by whole squares, that moves the grid onto the cells most probably on a board.

    It maximises the sum of the on-grid log-odds of the covered cells.
    """
    board = project(np.linalg.inv(to_cells), seen.middle).reshape(-1, 2)
    covered = np.abs(board.T[:, None] - _CANDIDATE_SHIFTS_SQUARES[:, None] - BOARD_SIZE / 2) < BOARD_SIZE / 2 + 0.5
    odds = (covered[1] * seen.odds.ravel()) @ covered[0].T
    down, right = np.unravel_index(int(np.argmax(odds)), odds.shape)
    return np.array(
        [[1.0, 0, _CANDIDATE_SHIFTS_SQUARES[right]], [0, 1.0, _CANDIDATE_SHIFTS_SQUARES[down]], [0, 0, 1.0]]
    )
