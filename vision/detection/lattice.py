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
_MIN_ON_GRID_LOG_ODDS: Final = -1.0
"""Minimum log-odds of a cell to be on the grid, for its predicted corner to be used."""
_MIN_BASIS_AREA: Final = 0.3
"""Minimum area, in cells, of the parallelogram of a step to the right and a step down; a square has about 1."""
_MIN_GROWN_CORNERS: Final = 8
"""Minimum number of corners that fit the lattice in each round in which it is extended; with fewer, there is none."""
_MAX_AFFINE_CORNERS: Final = 60
"""Maximum number of corners to which an affine map is fitted; to more corners, a homography is fitted."""
_MAX_STEP_ERROR_CELLS: Final = 0.45
"""Maximum difference, in cells, between a step to the next corner and the expected step of one cell."""
_TUKEY_CUTOFF_MEDIANS: Final = 4.7
_MIN_TUKEY_CUTOFF_SQUARES: Final = 0.06
"""Distance of a corner from its lattice point at which it has no weight in the robust fit (Tukey's biweight):
`_TUKEY_CUTOFF_MEDIANS` median distances, but at least `_MIN_TUKEY_CUTOFF_SQUARES`."""
_MAX_AGREEING_MISS_SQUARES: Final = 0.15
"""Maximum distance, in squares, of a corner from its lattice point for its cell to agree with the fit."""
_MAX_BOARD_LINES: Final = 17
"""Maximum number of rows or columns of cells that are mostly on the grid of a board: its 16 lines and one more."""
_PATCH_RADIUS_CELLS: Final = 2
"""Radius of the square region of cells in which a fit starts, in cells: 2 means 5 x 5 cells."""


@dataclass(frozen=True, slots=True, eq=False)
class LatticeFit:
    """Homography of a grid fitted to the output of the lattice network, with a measure of its quality.

    `to_cells` `(3, 3)` maps board coordinates (squares) to cell coordinates (integers at the centres of cells).
    `seen_share` (0..1) is the share of the grid's cells whose predicted corner agrees with the fit.
    """

    to_cells: Floats
    seen_share: float


def fit_lattice(cells: NDArray[np.float32], margin: float) -> LatticeFit | None:
    """Fit a grid to the lattice network's output `(4, n, n)`; return None if too few corners form a lattice.

    `margin` is the width, in squares, of the border around the expected grid; a cell is one square wide.
    """
    predictions = _CellPredictions.from_output(cells)
    try:
        return _find_best_fit(predictions, margin)
    except np.linalg.LinAlgError:  # the corners lie on one line: no homography maps a grid to them
        return None


def _find_best_fit(predictions: _CellPredictions, margin: float) -> LatticeFit | None:
    """Return the first sufficient fit, otherwise the best one; None if no start leads to a lattice."""
    best: LatticeFit | None = None
    for H in _propose_homographies(predictions, margin):
        fit = _refine_homography(predictions, H)
        if fit is None:
            continue
        scored = _score_fit(predictions, fit @ _find_grid_shift(predictions, fit))
        if best is None or scored.seen_share > best.seen_share:
            best = scored
        if best.seen_share > _SUFFICIENT_SEEN_SHARE:
            break
    return best


def refit_lattice(cells: NDArray[np.float32], to_cells: Floats, trust: Floats) -> Floats | None:
    """Repeat a fit with a weight for each corner of squares, `trust` `(16, 16)`; return the new homography `(3, 3)`.

    Corners under tiles get small weights: in an oblique view, tile tops appear displaced from their squares. Returns
    None if too few corners agree with the given homography `to_cells`.
    """
    return _refine_homography(_CellPredictions.from_output(cells), to_cells, trust)


def is_larger_than_board(cells: NDArray[np.float32]) -> bool:
    """Return True if a grid continues beyond the 15 x 15 squares of a board: a larger board, or a chequered tablecloth.

    `cells` `(4, n, n)` is the lattice network's output for a rectified grid. Most cells are on the grid in 16 or 17 of
    its rows and columns for photographs of boards, and in 18 to 20 for rendered boards of 21 x 21 squares.
    """
    is_on_grid = cells[3] > 0
    row_count, column_count = (np.count_nonzero(is_on_grid.mean(axis=axis) > 0.5) for axis in (1, 0))
    return bool(max(row_count, column_count) > _MAX_BOARD_LINES)


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
        """Decode the output `(4, n, n)` of the lattice network."""
        n = cells.shape[1]
        offsets, log_error, grid_logits = cells[:2], cells[2], cells[3]
        middle = np.stack(np.meshgrid(np.arange(n), np.arange(n)), axis=-1).astype(np.float64)
        error = np.exp(np.clip(log_error, -5, 2).astype(np.float64))
        odds = np.clip(grid_logits.astype(np.float64), -4, 4)
        return cls(
            middle,
            middle + offsets.transpose(1, 2, 0),
            error,
            odds,
            (error < _MAX_USABLE_ERROR_SQUARES) & (odds > _MIN_ON_GRID_LOG_ODDS),
        )


def _propose_homographies(predictions: _CellPredictions, margin: float) -> Iterator[Floats]:
    """Yield homographies `(3, 3)` from board to cell coordinates, as starting points of the fit.

    The first is that of the expected grid; it is left out if too few predicted corners agree with it. The others are
    fitted to the corners in five regions of the picture, unless an earlier one explains the surest corners of a region.
    """
    expected = np.array([[1.0, 0, margin - 0.5], [0, 1.0, margin - 0.5], [0, 0, 1.0]])
    usable_count = predictions.usable.sum()
    is_explained = _match_corners(predictions, expected)[1]
    if usable_count >= _MIN_CORNERS and is_explained.sum() > _MIN_ALIGNED_SHARE * usable_count:
        yield expected
    else:
        is_explained[:] = False
    n = len(predictions.middle)
    third = n // 3
    for row, column in ((1, 1), (1, 0), (1, 2), (0, 1), (2, 1)):
        rows = slice(row * third, n - (2 - row) * third)
        columns = slice(column * third, n - (2 - column) * third)
        patch = _find_surest_patch(predictions, rows, columns)
        grown = None if patch is None or is_explained[patch] else _grow_homography(predictions, patch, margin)
        if grown is not None:
            is_explained |= _match_corners(predictions, grown)[1]
            yield grown


def _match_corners(predictions: _CellPredictions, H: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Assign the predicted corner of each cell to the nearest lattice point under the homography `H`.

    Returns the integer lattice coordinates `(n, n, 2)`, and a mask `(n, n)` of the cells whose usable prediction is
    within `_MAX_CORNER_MISS_SQUARES` of the lattice point.
    """
    label = np.round(project(np.linalg.inv(H), predictions.corner))
    # Corners on one line give a homography that maps some points to infinity: these match nothing.
    with np.errstate(divide="ignore", invalid="ignore"):
        miss = np.linalg.norm(project(H, label) - predictions.corner, axis=2)
    return label, predictions.usable & (miss < _MAX_CORNER_MISS_SQUARES)


def _find_surest_patch(predictions: _CellPredictions, rows: slice, columns: slice) -> tuple[int, int] | None:
    """Return the centre (row, column) of the block of 5 x 5 cells with the smallest mean error.

    Only centres in the slices `rows` and `columns` are considered. Returns None if no cell in the slices is usable.
    """
    error = np.where(predictions.usable, predictions.error, 1.0)
    cost = np.asarray(cv2.blur(error, (2 * _PATCH_RADIUS_CELLS + 1,) * 2, borderType=cv2.BORDER_REFLECT))
    part = np.where(predictions.usable, cost, np.inf)[rows, columns]
    i, j = divmod(int(np.argmin(part)), part.shape[1])
    return (rows.start + i, columns.start + j) if np.isfinite(part[i, j]) else None


def _grow_homography(predictions: _CellPredictions, patch: tuple[int, int], margin: float) -> Floats | None:
    """Fit a homography to the corners near the cell `patch`, then extend it to all corners that continue the lattice.

    Returns the homography `(3, 3)` from board to cell coordinates, or None if these corners form no regular lattice.
    """
    n = len(predictions.middle)
    i, j = patch
    near = np.zeros((n, n), bool)
    near[
        max(i - _PATCH_RADIUS_CELLS, 0) : i + _PATCH_RADIUS_CELLS + 1,
        max(j - _PATCH_RADIUS_CELLS, 0) : j + _PATCH_RADIUS_CELLS + 1,
    ] = True
    basis = np.column_stack([_estimate_step(predictions.corner, predictions.usable & near, axis) for axis in (1, 0)])
    if abs(np.linalg.det(basis)) < _MIN_BASIS_AREA:
        return None
    # Give the corner at the centre of the patch the lattice coordinates of the nearest corner of the expected grid.
    origin = predictions.corner[i, j]
    H = np.vstack([np.column_stack([basis, origin - basis @ np.round(origin - margin + 0.5)]), [0.0, 0.0, 1.0]])
    weight = 1 / predictions.error**2
    for growth in range(_GROW_ROUNDS):
        label, is_matched = _match_corners(predictions, H)
        is_matched &= near
        if is_matched.sum() < _MIN_GROWN_CORNERS:
            return None
        # A few neighbouring corners do not determine the perspective: fit an affine map first, later a homography.
        fit = fit_homography if is_matched.sum() > _MAX_AFFINE_CORNERS else _fit_affine
        H = fit(label[is_matched], predictions.corner[is_matched], weight[is_matched])
        # Grow by one cell in each direction while the fit is rough, later by two.
        reach = 3 if growth < 2 else 5
        near = cv2.dilate(is_matched.astype(np.uint8), np.ones((reach, reach), np.uint8)) > 0
    return H


def _refine_homography(predictions: _CellPredictions, H: Floats, trust: Floats | None = None) -> Floats | None:
    """Refine the homography `H` by a robust fit (Tukey's biweight) to all corners near its lattice points.

    `trust` `(16, 16)` are additional weights for the corners of squares. Returns None if too few corners are near a
    lattice point.
    """
    for _ in range(_REFINE_ROUNDS):
        all_labels, is_matched = _match_corners(predictions, H)
        if is_matched.sum() < _MIN_CORNERS:
            return None
        corner, label = predictions.corner[is_matched], all_labels[is_matched]
        weight = 1 / predictions.error[is_matched] ** 2
        if trust is not None:
            x, y = np.clip(label, 0, BOARD_SIZE).astype(int).T
            weight = weight * trust[y, x]
        miss = np.linalg.norm(project(H, label) - corner, axis=1)
        cutoff = max(_TUKEY_CUTOFF_MEDIANS * float(np.median(miss)), _MIN_TUKEY_CUTOFF_SQUARES)
        H = fit_homography(label, corner, weight * np.clip(1 - (miss / cutoff) ** 2, 1e-6, None) ** 2)
    return H


def _estimate_step(corners: Floats, usable: NDArray[np.bool_], axis: int) -> Floats:
    """Return the median vector between corners of neighbouring cells along `axis` (1 right, 0 down), in cells."""
    are_both_usable = usable[1:] & usable[:-1] if axis == 0 else usable[:, 1:] & usable[:, :-1]
    steps = np.diff(corners, axis=axis)[are_both_usable]
    expected = np.array([1.0, 0.0]) if axis == 1 else np.array([0.0, 1.0])
    steps = steps[np.linalg.norm(steps - expected, axis=1) < _MAX_STEP_ERROR_CELLS]
    return np.median(steps, axis=0) if len(steps) else expected


def _fit_affine(source: Floats, target: Floats, weight: Floats) -> Floats:
    """Fit an affine map from `source` (n, 2) to `target` (n, 2) by weighted least squares; return a `(3, 3)` matrix."""
    design = np.column_stack([source, np.ones(len(source))])
    scaled = design * weight[:, None]
    solved = np.linalg.solve(design.T @ scaled + 1e-9 * np.eye(3), scaled.T @ target)
    return np.vstack([solved.T, [0.0, 0.0, 1.0]])


def _score_fit(predictions: _CellPredictions, to_cells: Floats) -> LatticeFit:
    """Measure the quality of the homography `to_cells`: the share of cells that agree with the grid."""
    inverse = np.linalg.inv(to_cells)
    on_board = project(inverse, predictions.corner)
    miss = np.linalg.norm(on_board - np.round(on_board), axis=2)
    on_grid = (np.abs(project(inverse, predictions.middle) - BOARD_SIZE / 2) < BOARD_SIZE / 2 + 0.5).all(axis=2)
    agrees = predictions.usable & on_grid & (miss < _MAX_AGREEING_MISS_SQUARES)
    return LatticeFit(to_cells, float(agrees.sum()) / max(int(on_grid.sum()), 1))


def _find_grid_shift(predictions: _CellPredictions, to_cells: Floats) -> Floats:
    """Return the translation `(3, 3)`, by whole squares, that moves the grid onto the cells most probably on a board.

    It maximises the sum of the on-grid log-odds of the covered cells.
    """
    board = project(np.linalg.inv(to_cells), predictions.middle).reshape(-1, 2)
    covered = np.abs(board.T[:, None] - _CANDIDATE_SHIFTS_SQUARES[:, None] - BOARD_SIZE / 2) < BOARD_SIZE / 2 + 0.5
    odds = (covered[1] * predictions.odds.ravel()) @ covered[0].T
    down, right = np.unravel_index(int(np.argmax(odds)), odds.shape)
    return np.array(
        [[1.0, 0, _CANDIDATE_SHIFTS_SQUARES[right]], [0, 1.0, _CANDIDATE_SHIFTS_SQUARES[down]], [0, 0, 1.0]]
    )
