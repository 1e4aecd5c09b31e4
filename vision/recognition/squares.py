"""Classify squares as empty, tile or hidden.

The input of a fully convolutional network is the whole board at low resolution, so that each square is classified in
the context of its neighbours and of the lighting, without colour thresholds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import TILE_HEIGHT_SQUARES, BoardPose, Image, rectify
from vision.net import MODELS_DIR, Net

VIEW_PX_PER_SQUARE: Final = 16
"""Resolution of the square network's input, in pixels per square."""
VIEW_MARGIN_SQUARES: Final = 1
"""Margin around the grid in the square network's input, in squares on each side."""
VIEW_HEIGHT_SQUARES: Final = TILE_HEIGHT_SQUARES / 2
"""Height of the rectified plane above the board, in squares: half the height of a tile, a compromise between the planes
of tile tops and printed squares."""
EMPTY_KIND, TILE_KIND, HIDDEN_KIND = range(3)
"""Class indices of the square network: empty, tile, hidden (by a hand or another object)."""
_MIN_TILE_PROBABILITY: Final = 0.001
"""Minimum tile probability of a square whose letter is read."""
_MIN_CLEAR_PROBABILITY: Final = 0.9
"""Minimum probability of the best class; below this, predictions for four rotations of the board are averaged."""


def rectify_board(image: Image, pose: BoardPose) -> Image:
    """Rectify the board with a margin of one square, as input of the square network: `(272, 272, 3) uint8 BGR`."""
    return rectify(image, pose.plane_homography(VIEW_HEIGHT_SQUARES), VIEW_PX_PER_SQUARE, VIEW_MARGIN_SQUARES)


def normalise_exposure(view: Image) -> NDArray[np.float32]:
    """Normalise exposure and colour cast of a rectified board; return network input `(3, n, n) float32`.

    `view` is `(n, n, 3) uint8` with the margin of `rectify_board`. In each channel, the 3rd and the 97th percentile on
    the grid become -1 and 1; values are clipped to -3..3.
    """
    edge = view.shape[0] * VIEW_MARGIN_SQUARES // (BOARD_SIZE + 2 * VIEW_MARGIN_SQUARES)
    grid = view[edge:-edge:3, edge:-edge:3].reshape(-1, 3)
    ranked = np.sort(grid, axis=0, kind="stable")  # for uint8, numpy's stable sort is a fast radix sort
    low, high = ranked[[len(ranked) * 3 // 100, -1 - len(ranked) * 3 // 100]].astype(np.float64)
    span = np.maximum(high - low, 12.0)
    values = (np.arange(256, dtype=np.float32)[:, None] - np.float32((low + high) / 2)) / np.float32(span / 2)
    even = cv2.LUT(view, np.clip(values, -3, 3)[None])
    return np.ascontiguousarray(even.transpose(2, 0, 1), np.float32)


class SquareNet:
    """Neural network that classifies the 225 squares of a board as empty, tile or hidden."""

    def __init__(self, path: Path = MODELS_DIR / "squares.onnx", load_net: Callable[[Path], Net] = Net) -> None:
        self._net = load_net(path)

    def predict(self, view: Image) -> NDArray[np.float32]:
        """Return the probabilities of empty, tile and hidden for each square of a rectified board: `(15, 15, 3)`.

        `view` is the image from `rectify_board`. If any square is unclear, the log-probabilities for the board rotated
        by 0 to 3 quarter turns are averaged.
        """
        even = normalise_exposure(view)
        kinds = self.predict_normalised(even)
        if (kinds.max(axis=2) < _MIN_CLEAR_PROBABILITY).any():
            sides = [kinds, *(np.rot90(self.predict_normalised(np.rot90(even, k, axes=(1, 2))), -k) for k in (1, 2, 3))]
            odds = np.exp(np.mean([np.log(side + 1e-7) for side in sides], axis=0))
            kinds = np.asarray(odds / odds.sum(axis=2, keepdims=True), np.float32)
        return kinds

    def predict_normalised(self, even: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probabilities `(15, 15, 3)` for an array `(3, 272, 272)` from `normalise_exposure`, unrotated."""
        (logits,) = self._net(np.ascontiguousarray(even)[None])
        grid = logits[
            0, :, VIEW_MARGIN_SQUARES:-VIEW_MARGIN_SQUARES, VIEW_MARGIN_SQUARES:-VIEW_MARGIN_SQUARES
        ].transpose(1, 2, 0)
        odds = np.exp(grid - grid.max(axis=2, keepdims=True))
        return np.asarray(odds / odds.sum(axis=2, keepdims=True), np.float32)


def find_likely_tiles(kinds: NDArray[np.float32]) -> list[tuple[int, int]]:
    """Return (row, column) of the squares with a tile probability of at least 0.001, the most probable first.

    `kinds` `(15, 15, 3)` are the probabilities from `SquareNet.predict`.
    """
    tile = kinds[:, :, TILE_KIND]
    order = np.argsort(-tile, axis=None, kind="stable")
    cells = [(int(i) // BOARD_SIZE, int(i) % BOARD_SIZE) for i in order]
    return [cell for cell in cells if tile[cell] >= _MIN_TILE_PROBABILITY]
