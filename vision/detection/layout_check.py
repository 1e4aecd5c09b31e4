"""The standard layout as a fiducial: how well do the colours under a grid agree with its premium squares?

Colours differ from edition to edition, positions do not: whatever they are, uncovered squares of one kind look
alike. So a grid can be judged without knowing the board, and one that is off by a square, or that took the
board's frame for the grid, explains its colours worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.board import Premium, layout
from engine.reading import SIZE
from vision.geometry import Floats, Image

_KINDS: Final = tuple(Premium)


def layout_kinds() -> NDArray[np.int64]:
    """The standard layout, (15, 15): 0 plain, 1 double letter, 2 triple letter, 3 double word, 4 triple word."""
    return np.array([_KINDS.index(premium) for premium in layout().premiums]).reshape(SIZE, SIZE)


@dataclass(frozen=True, slots=True)
class LayoutFit:
    """How well colours agree with the layout at one place.

    `explained` is the share (0..1) of the squares' differences in colour that the kinds of square explain, tiles
    and hands counted as outliers; about 0 for a wrong grid.
    """

    explained: float
    shift: tuple[int, int]


def square_colours(flat: Image, pixels_per_square: int, inner: float = 0.6) -> Floats:
    """Mean colour of the inner part of every square of a rectified picture, (rows, columns, 3), in Lab.

    `flat` is (n * pixels_per_square, m * pixels_per_square, 3) uint8 BGR with squares from its first pixel on.
    """
    rows, columns = flat.shape[0] // pixels_per_square, flat.shape[1] // pixels_per_square
    bright = max(float(np.percentile(flat[::4, ::4], 98)), _DARKEST)  # a dark picture is lifted to the usual light
    lab = cv2.cvtColor(np.minimum(flat.astype(np.float32) / bright, 1), cv2.COLOR_BGR2Lab)
    blocks = lab[: rows * pixels_per_square, : columns * pixels_per_square].reshape(
        rows, pixels_per_square, columns, pixels_per_square, 3
    )
    rim = round(pixels_per_square * (1 - inner) / 2)
    return np.asarray(blocks[:, rim:-rim, :, rim:-rim].mean(axis=(1, 3)), np.float64)


def layout_fit(colours: Floats, around: int = 2) -> list[LayoutFit]:
    """Try the layout at every shift of up to `around` squares, best first.

    `colours` is (15 + 2 * around, 15 + 2 * around, 3): the squares of the grid and so many more on each side.
    """
    side = SIZE + 2 * around
    flat = colours.reshape(-1, 3)
    near = _alike(flat)
    number = np.arange(side * side).reshape(side, side)
    fits = []
    for dy in range(2 * around + 1):
        for dx in range(2 * around + 1):
            window = number[dy : dy + SIZE, dx : dx + SIZE].ravel()
            explained = _explained(flat[window], near[np.ix_(window, window)])
            fits.append(LayoutFit(explained, (dx - around, dy - around)))
    return sorted(fits, key=lambda f: -f.explained)


def bare_squares(colours: Floats) -> NDArray[np.bool_]:
    """Which squares show the board's own print and not a tile or a hand, (15, 15).

    `colours` is (15, 15, 3), of a grid that agrees with the layout.
    """
    flat = colours.reshape(-1, 3)
    near = _alike(flat)
    beta = _fitted(_TOLD_APART, flat, near, _tile(near))
    board, tiles = _misses(_TOLD_APART, flat, beta)
    return np.asarray((board < tiles) & (board < _UNLIKE), np.bool_).reshape(SIZE, SIZE)


def _alike(colours: Floats) -> Floats:
    """How alike each two of `colours` `(n, 3)` are: `(n, n)` in 0..1."""
    apart = sum(np.subtract.outer(channel, channel) ** 2 for channel in colours.T)
    return np.asarray(np.exp(-apart / (2 * _SCALE**2)), np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Kinds:
    """Which of 225 squares are alike, and the linear model of their colours: kinds, tiles, and a fall of the light."""

    members: tuple[NDArray[np.int64], ...]
    board: Floats
    """(225, kinds + 1 + 3): each square as one of its kind."""
    tiles: Floats
    """(225, kinds + 1 + 3): each square as a tile."""

    @classmethod
    def of(cls, kinds: NDArray[np.int64]) -> _Kinds:
        present = int(kinds.max()) + 1
        step = (np.stack(np.meshgrid(np.arange(SIZE), np.arange(SIZE)), axis=-1).reshape(-1, 2) - 7) / 7
        light = np.column_stack([step, step[:, 0] * step[:, 1]])
        board = np.column_stack([np.eye(present + 1)[kinds], light])
        tiles = np.column_stack([np.eye(present + 1)[np.full(len(kinds), present)], light])
        return cls(tuple(np.flatnonzero(kinds == k) for k in range(present)), board, tiles)


def _explained(colours: Floats, near: Floats) -> float:
    """1 less the ratio of what is left unexplained with the five kinds told apart and with all taken as one.

    `colours` (225, 3) and how alike they are, `near` (225, 225) in 0..1.
    """
    tile = _tile(near)
    told_apart = _unexplained(_TOLD_APART, colours, near, tile)
    as_one = _unexplained(_AS_ONE, colours, near, tile)
    return (as_one - told_apart) / (as_one + _LITTLE)


def _tile(near: Floats) -> int:
    """The plain square that shows best what tiles look like: of the commonest colour that most squares do not have."""
    plain = _TOLD_APART.members[0]
    among = near[np.ix_(plain, plain)]
    away = 1 - among[int(np.argmax(among.sum(axis=1)))]
    return int(plain[int(np.argmax((among @ away) * away))])


def _unexplained(kinds: _Kinds, colours: Floats, near: Floats, tile: int) -> float:
    """What is left when each square has the colour of its kind or of a tile; a square unlike either counts as 1."""
    least = np.minimum(*_misses(kinds, colours, _fitted(kinds, colours, near, tile)))
    return float((_SHARE * least / (1 + least)).sum())


def _fitted(kinds: _Kinds, colours: Floats, near: Floats, tile: int) -> Floats:
    """The colours of the kinds and of tiles, and how the light falls off: expectation and maximisation by turns."""
    # A kind begins with its commonest colour that is not the tiles'.
    free = 1 - 0.9 * near[tile]
    typical = [m[int(np.argmax((near[np.ix_(m, m)] @ free[m]) * free[m]))] for m in kinds.members]
    beta = np.vstack([colours[[*typical, tile]], np.zeros((3, 3))])
    steady = 1e-3 * np.eye(len(beta))
    for _ in range(_ROUNDS):
        board, tiles = _misses(kinds, colours, beta)
        design = np.where((tiles < board)[:, None], kinds.tiles, kinds.board)
        scaled = design * (_SHARE / (1 + np.minimum(board, tiles)) ** 2)[:, None]
        beta = np.linalg.solve(design.T @ scaled + steady, scaled.T @ colours + 1e-3 * beta)
    return beta


def _misses(kinds: _Kinds, colours: Floats, beta: Floats) -> tuple[Floats, Floats]:
    """How far each square is, squared and in units of `_SCALE`, from the colour of its kind and from that of tiles."""
    board, tiles = (((colours - d @ beta) ** 2).sum(axis=1) / _SCALE**2 for d in (kinds.board, kinds.tiles))
    return board, tiles


_SCALE: Final = 8.0
"""How far apart (CIE Lab) two squares of one kind may be."""
_UNLIKE: Final = 4.0
_ROUNDS: Final = 4
_DARKEST: Final = 30.0
_LITTLE: Final = 4.0
"""Differences that could be chance; a picture of two plain colours has none to be explained."""
_TOLD_APART: Final = _Kinds.of(layout_kinds().ravel())
_AS_ONE: Final = _Kinds.of(np.zeros(SIZE * SIZE, np.int64))
_SHARE: Final = np.where(layout_kinds().ravel() > 0, 164 / 61, 1.0)
"""Premium squares together count as much as the plain ones."""
