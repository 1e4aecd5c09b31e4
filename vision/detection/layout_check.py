"""Check a grid against the standard layout: how well the kinds of square explain the colours under the grid.

Colours differ between editions, positions do not, and uncovered squares of one kind have the same colour. So a grid can
be checked for any edition: one that is off by a square, or fitted to the frame of the board, explains its colours
worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.board import Premium, load_layout
from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image

_PREMIUMS: Final = tuple(Premium)


def layout_kinds() -> NDArray[np.int64]:
    """Return the kind of each square of the standard layout, `(15, 15)`.

    0 plain, 1 double letter, 2 triple letter, 3 double word, 4 triple word.
    """
    return np.array([_PREMIUMS.index(premium) for premium in load_layout().premiums]).reshape(BOARD_SIZE, BOARD_SIZE)


@dataclass(frozen=True, slots=True)
class LayoutFit:
    """Agreement of colours with the layout at one shift.

    `explained_share` (0..1) is the share of the colour differences that the kinds of square explain, with tiles and
    hands as outliers; about 0 for a wrong grid.
    """

    explained_share: float
    shift: tuple[int, int]


def measure_lab_colours(flat: Image, pixels_per_square: int, inner: float = 0.6) -> Floats:
    """Return the mean Lab colour of the inner part of each square of a rectified picture, `(rows, columns, 3)`.

    `flat` is `(n * pixels_per_square, m * pixels_per_square, 3) uint8 BGR`, the first square at its top left.
    """
    rows, columns = flat.shape[0] // pixels_per_square, flat.shape[1] // pixels_per_square
    bright = max(
        float(np.percentile(flat[::4, ::4], 98)), _MIN_WHITE_LEVEL
    )  # a dark picture is lifted to the usual light
    lab = cv2.cvtColor(np.minimum(flat.astype(np.float32) / bright, 1), cv2.COLOR_BGR2Lab)
    blocks = lab[: rows * pixels_per_square, : columns * pixels_per_square].reshape(
        rows, pixels_per_square, columns, pixels_per_square, 3
    )
    rim = round(pixels_per_square * (1 - inner) / 2)
    return np.asarray(blocks[:, rim:-rim, :, rim:-rim].mean(axis=(1, 3)), np.float64)


def fit_layout_shifts(colours: Floats, around: int = 2) -> list[LayoutFit]:
    """Fit the layout at every shift of up to `around` squares; return the fits, best first.

    `colours` is `(15 + 2 * around, 15 + 2 * around, 3)`: the squares of the grid and `around` more on each side.
    """
    side = BOARD_SIZE + 2 * around
    flat = colours.reshape(-1, 3)
    near = _compare_colours(flat)
    number = np.arange(side * side).reshape(side, side)
    fits = []
    for dy in range(2 * around + 1):
        for dx in range(2 * around + 1):
            window = number[dy : dy + BOARD_SIZE, dx : dx + BOARD_SIZE].ravel()
            explained = _compute_explained_share(flat[window], near[np.ix_(window, window)])
            fits.append(LayoutFit(explained, (dx - around, dy - around)))
    return sorted(fits, key=lambda f: -f.explained_share)


def find_uncovered_squares(colours: Floats) -> NDArray[np.bool_]:
    """Return a mask `(15, 15)` of the squares that show the board, not a tile or a hand.

    `colours` is (15, 15, 3), of a grid that agrees with the layout.
    """
    flat = colours.reshape(-1, 3)
    near = _compare_colours(flat)
    beta = _fit_colours(_PREMIUM_MODEL, flat, near, _find_typical_tile(near))
    board, tiles = _compute_squared_errors(_PREMIUM_MODEL, flat, beta)
    return np.asarray((board < tiles) & (board < _MAX_SQUARED_ERROR), np.bool_).reshape(BOARD_SIZE, BOARD_SIZE)


def _compare_colours(colours: Floats) -> Floats:
    """Return the similarity of each pair of `colours` `(n, 3)`: `(n, n)` in 0..1."""
    apart = sum(np.subtract.outer(channel, channel) ** 2 for channel in colours.T)
    return np.asarray(np.exp(-apart / (2 * _KIND_SPREAD_LAB**2)), np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _LayoutModel:
    """Linear model of the colours of 225 squares: kinds of square, tiles, and a linear change of the light."""

    members: tuple[NDArray[np.int64], ...]
    board_design: Floats
    """`(225, kinds + 1 + 3)`: design matrix with each square as an uncovered one of its kind."""
    tile_design: Floats
    """`(225, kinds + 1 + 3)`: design matrix with each square as a tile."""

    @classmethod
    def from_kinds(cls, kinds: NDArray[np.int64]) -> _LayoutModel:
        present = int(kinds.max()) + 1
        step = (np.stack(np.meshgrid(np.arange(BOARD_SIZE), np.arange(BOARD_SIZE)), axis=-1).reshape(-1, 2) - 7) / 7
        light = np.column_stack([step, step[:, 0] * step[:, 1]])
        board = np.column_stack([np.eye(present + 1)[kinds], light])
        tiles = np.column_stack([np.eye(present + 1)[np.full(len(kinds), present)], light])
        return cls(tuple(np.flatnonzero(kinds == k) for k in range(present)), board, tiles)


def _compute_explained_share(colours: Floats, near: Floats) -> float:
    """Return 1 minus the ratio of the residuals with five kinds of square and with one kind for all.

    `colours` are `(225, 3)`, `near` `(225, 225)` their similarities in 0..1.
    """
    tile = _find_typical_tile(near)
    told_apart = _compute_residual(_PREMIUM_MODEL, colours, near, tile)
    as_one = _compute_residual(_UNIFORM_MODEL, colours, near, tile)
    return (as_one - told_apart) / (as_one + _CHANCE_RESIDUAL)


def _find_typical_tile(near: Floats) -> int:
    """Return the plain square with the most common colour that most squares do not have: a typical tile."""
    plain = _PREMIUM_MODEL.members[0]
    among = near[np.ix_(plain, plain)]
    away = 1 - among[int(np.argmax(among.sum(axis=1)))]
    return int(plain[int(np.argmax((among @ away) * away))])


def _compute_residual(kinds: _LayoutModel, colours: Floats, near: Floats, tile: int) -> float:
    """Return the residual if each square has the colour of its kind or of a tile; an outlier counts as 1."""
    least = np.minimum(*_compute_squared_errors(kinds, colours, _fit_colours(kinds, colours, near, tile)))
    return float((_SQUARE_WEIGHTS * least / (1 + least)).sum())


def _fit_colours(kinds: _LayoutModel, colours: Floats, near: Floats, tile: int) -> Floats:
    """Fit the colours of the kinds and of tiles, and the change of the light (expectation maximisation)."""
    # A kind begins with its commonest colour that is not the tiles'.
    free = 1 - 0.9 * near[tile]
    typical = [m[int(np.argmax((near[np.ix_(m, m)] @ free[m]) * free[m]))] for m in kinds.members]
    beta = np.vstack([colours[[*typical, tile]], np.zeros((3, 3))])
    steady = 1e-3 * np.eye(len(beta))
    for _ in range(_EM_ROUNDS):
        board, tiles = _compute_squared_errors(kinds, colours, beta)
        design = np.where((tiles < board)[:, None], kinds.tile_design, kinds.board_design)
        scaled = design * (_SQUARE_WEIGHTS / (1 + np.minimum(board, tiles)) ** 2)[:, None]
        beta = np.linalg.solve(design.T @ scaled + steady, scaled.T @ colours + 1e-3 * beta)
    return beta


def _compute_squared_errors(kinds: _LayoutModel, colours: Floats, beta: Floats) -> tuple[Floats, Floats]:
    """Return the squared distances of each square from the colour of its kind and from that of tiles, `(225,)` each.

    The unit is `_KIND_SPREAD_LAB`.
    """
    board, tiles = (
        ((colours - d @ beta) ** 2).sum(axis=1) / _KIND_SPREAD_LAB**2 for d in (kinds.board_design, kinds.tile_design)
    )
    return board, tiles


_KIND_SPREAD_LAB: Final = 8.0
"""Standard deviation of the colours of one kind of square (CIE Lab)."""
_MAX_SQUARED_ERROR: Final = 4.0
_EM_ROUNDS: Final = 4
_MIN_WHITE_LEVEL: Final = 30.0
_CHANCE_RESIDUAL: Final = 4.0
"""Residual that may be chance (CIE Lab squared units of the spread); a picture of one or two plain colours has no
more."""
_PREMIUM_MODEL: Final = _LayoutModel.from_kinds(layout_kinds().ravel())
_UNIFORM_MODEL: Final = _LayoutModel.from_kinds(np.zeros(BOARD_SIZE * BOARD_SIZE, np.int64))
_SQUARE_WEIGHTS: Final = np.where(layout_kinds().ravel() > 0, 164 / 61, 1.0)
"""Weights of the squares: premium squares together count as much as plain ones."""
