"""What lies on each square: nothing, a tile, or something that hides it.

One fully convolutional network looks at the whole board at once, small: a square is judged with its neighbours
and by how the light falls, not by colours set by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import SIZE
from vision.geometry import TILE_HEIGHT, BoardPose, Image, rectify
from vision.net import MODELS, Net

SCALE: Final = 16
"""Pixels a square."""
MARGIN: Final = 1
"""Squares of surroundings that the network sees on each side."""
PLANE: Final = TILE_HEIGHT / 2
"""Half way up a tile, so that from low down neither its top nor the board's print is far from its place."""
EMPTY, TILE, HIDDEN = range(3)
_LOOK_CLOSER: Final = 0.001
"""A square is read as a tile where the first look leaves at least this probability that it is one."""
_CLEAR: Final = 0.9
"""Probability of the likeliest kind below which a square is unclear."""


def board_view(image: Image, pose: BoardPose) -> Image:
    """The board and a little around it as the network sees it: `(272, 272, 3) uint8 BGR`."""
    return rectify(image, pose.plane(PLANE), SCALE, MARGIN)


def balanced(view: Image) -> NDArray[np.float32]:
    """Even out exposure and colour cast over a whole board: `(3, n, n) float32`, most values in -1..1.

    `view` is `(n, n, 3) uint8` with the margin of `board_view`. Each channel runs from its darkest to its
    brightest 3 % on the grid.
    """
    edge = view.shape[0] * MARGIN // (SIZE + 2 * MARGIN)
    grid = view[edge:-edge:3, edge:-edge:3].reshape(-1, 3)
    ranked = np.sort(grid, axis=0, kind="stable")  # bytes are sorted by counting them
    low, high = ranked[[len(ranked) * 3 // 100, -1 - len(ranked) * 3 // 100]].astype(np.float64)
    span = np.maximum(high - low, 12.0)
    values = (np.arange(256, dtype=np.float32)[:, None] - np.float32((low + high) / 2)) / np.float32(span / 2)
    even = cv2.LUT(view, np.clip(values, -3, 3)[None])
    return np.ascontiguousarray(even.transpose(2, 0, 1), np.float32)


class SquareNet:
    """The network that tells empty squares, tiles and hidden squares apart."""

    def __init__(self, path: Path = MODELS / "squares.onnx", net: Callable[[Path], Net] = Net) -> None:
        self._net = net(path)

    def read(self, view: Image) -> NDArray[np.float32]:
        """Probabilities of `EMPTY`, `TILE`, `HIDDEN` from a `board_view`: `(15, 15, 3)`.

        Where a square is unclear, the board is looked at from the other three sides as well.
        """
        even = balanced(view)
        kinds = self.judge(even)
        if (kinds.max(axis=2) < _CLEAR).any():
            sides = [kinds, *(np.rot90(self.judge(np.rot90(even, k, axes=(1, 2))), -k) for k in (1, 2, 3))]
            odds = np.exp(np.mean([np.log(side + 1e-7) for side in sides], axis=0))
            kinds = np.asarray(odds / odds.sum(axis=2, keepdims=True), np.float32)
        return kinds

    def judge(self, even: NDArray[np.float32]) -> NDArray[np.float32]:
        """The same from a `balanced` view."""
        (logits,) = self._net(np.ascontiguousarray(even)[None])
        grid = logits[0, :, MARGIN:-MARGIN, MARGIN:-MARGIN].transpose(1, 2, 0)
        odds = np.exp(grid - grid.max(axis=2, keepdims=True))
        return np.asarray(odds / odds.sum(axis=2, keepdims=True), np.float32)


def perhaps_tiles(kinds: NDArray[np.float32]) -> list[tuple[int, int]]:
    """(row, column) of the squares of `(15, 15, 3)` that may be tiles and are to be read, the likeliest first."""
    tile = kinds[:, :, TILE]
    order = np.argsort(-tile, axis=None, kind="stable")
    cells = [(int(i) // SIZE, int(i) % SIZE) for i in order]
    return [cell for cell in cells if tile[cell] >= _LOOK_CLOSER]
