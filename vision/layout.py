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

from vision.geometry import Floats, Image

_EIGHTH: Final = ("T..d...T", ".D...t..", "..D...d.", "d..D...d", "....D...", ".t...t..", "..d...d.", "T..d...D")
"""The top left quarter with the middle row and column: T, D triple and double word, t, d triple and double letter."""

KINDS: Final = ".dtDT"


def layout_kinds() -> NDArray[np.int64]:
    """The standard layout, (15, 15): 0 plain, 1 double letter, 2 triple letter, 3 double word, 4 triple word."""
    quarter = np.array([[KINDS.index(c) for c in row] for row in _EIGHTH])
    top = np.hstack([quarter, quarter[:, -2::-1]])
    return np.vstack([top, top[-2::-1]])


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
    kinds = layout_kinds().ravel()
    fits = []
    for dy in range(-around, around + 1):
        for dx in range(-around, around + 1):
            window = colours[around + dy : around + dy + 15, around + dx : around + dx + 15].reshape(225, 3)
            fits.append(LayoutFit(_explained(window, kinds), (dx, dy)))
    return sorted(fits, key=lambda f: -f.explained)


def _explained(colours: Floats, kinds: NDArray[np.int64]) -> float:
    """1 less the ratio of what is left unexplained with the five kinds told apart and with all taken as one."""
    tile = _tile_colour(colours[kinds == 0])
    share = np.where(kinds > 0, _PLAIN / _PREMIUM, 1.0)  # premium squares count as much as the plain ones
    told_apart = _unexplained(colours, kinds, tile, share)
    as_one = _unexplained(colours, np.zeros_like(kinds), tile, share)
    return (as_one - told_apart) / (as_one + _LITTLE)


def _tile_colour(plain: Floats) -> Floats:
    """The commonest colour among the plain squares that differ from most of them, (3,)."""
    near = np.exp(-(((plain[:, None] - plain) ** 2).sum(axis=2)) / (2 * _SCALE**2))
    away = 1 - near[int(np.argmax(near.sum(axis=1)))]
    return np.asarray(plain[int(np.argmax((near * away).sum(axis=1) * away))], np.float64)


def _unexplained(colours: Floats, kinds: NDArray[np.int64], tile: Floats, share: Floats) -> float:
    """What is left when each square has the colour of its kind or of a tile, and the light falls off evenly.

    Expectation and maximisation by turns; a square unlike either (a hand, a letter) counts as 1 at most.
    """
    present = int(kinds.max()) + 1
    board = np.column_stack([np.eye(present)[kinds], np.zeros(len(kinds)), _PLACES])
    tiles = np.column_stack([np.zeros((len(kinds), present)), np.ones(len(kinds)), _PLACES])
    design = np.concatenate([board, tiles])
    # A kind begins with its commonest colour that is not the tiles'.
    free = 1 - 0.9 * np.exp(-((colours - tile) ** 2).sum(axis=1) / (2 * _SCALE**2))
    beta = np.zeros((design.shape[1], 3))
    for kind in range(present):
        member = colours[kinds == kind]
        near = np.exp(-(((member[:, None] - member) ** 2).sum(axis=2)) / (2 * _SCALE**2))
        beta[kind] = member[int(np.argmax(near @ free[kinds == kind] * free[kinds == kind]))]
    beta[present] = tile
    for _ in range(_ROUNDS):
        miss2 = (((np.tile(colours, (2, 1)) - design @ beta) ** 2).sum(axis=1) / _SCALE**2).reshape(2, -1)
        taken = miss2.argmin(axis=0)
        least = miss2.min(axis=0)
        weight = np.zeros_like(miss2)
        weight[taken, np.arange(len(kinds))] = share / (1 + least) ** 2
        scaled = design * weight.reshape(-1, 1)
        beta = np.linalg.solve(
            design.T @ scaled + 1e-3 * np.eye(len(beta)), scaled.T @ np.tile(colours, (2, 1)) + 1e-3 * beta
        )
    return float((share * least / (1 + least)).sum())


_SCALE: Final = 8.0
"""How far apart (CIE Lab) two squares of one kind may be."""
_ROUNDS: Final = 4
_DARKEST: Final = 30.0
_LITTLE: Final = 4.0
"""Differences that could be chance; a picture of two plain colours has none to be explained."""
_PLAIN, _PREMIUM = 164, 61
_GRID = (np.stack(np.meshgrid(np.arange(15), np.arange(15)), axis=-1).reshape(225, 2) - 7) / 7
_PLACES: Final = np.column_stack([_GRID, _GRID[:, 0] * _GRID[:, 1]])
