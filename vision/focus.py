"""Measure the focus of a picture of the board by the width of its edges."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image, homography, rectify, square_side

BLURRED_EDGE_WIDTH: Final = 0.15
"""Maximum width of the edges in a sharp picture, as a share of a square; wider edges mean that the picture is blurred.

Edges in sharp photographs are 0.03 to 0.05 of a square wide; in the least sharp of 233 photographs, 0.11. The strokes
of a letter are about 0.1 wide.
"""
MIN_EDGE_WIDTH_PX: Final = 2.5
"""Minimum width of blurred edges, in pixels. Narrower edges count as sharp even on a small board, because no lens makes
much narrower edges."""
MIN_EDGE_CONTRAST: Final = 60.0
"""Smallest brightness step (0 to 255) that is measured as an edge; weaker steps may be shadows."""


def is_blurred(image: Image, corners: Floats) -> bool:
    """Return True if the picture of the board is too blurred to read letters.

    `image` is `(H, W, 3) uint8 BGR`, and `corners` are those of the board, `(4, 2)` in pixels. The measure is the width
    of edges between light and dark. If no edge is found, return False.
    """
    # The outline of a board in the picture is no longer than that of the picture. Placed corners may be far outside.
    side = min(square_side(corners), max(image.shape[:2]) / BOARD_SIZE)
    grey = cv2.cvtColor(rectify(image, homography(corners), max(1, round(side))), cv2.COLOR_BGR2GRAY)
    width = measure_edge_width(np.asarray(grey, np.uint8))
    return width is not None and width > max(BLURRED_EDGE_WIDTH * side, MIN_EDGE_WIDTH_PX)


def measure_edge_width(grey: NDArray[np.uint8]) -> float | None:
    """Return the typical width of edges in a rectified board, `(N, N) uint8`, in pixels.

    The width of an edge is its brightness step divided by its steepest slope, both within a window of a third of a
    square. The result is the median width at the 20 % of the pixels with the highest steps, or None if the picture has
    too few edges.
    """
    # Window with a side of a third of a square, rounded to an odd number of pixels.
    picture = grey.astype(np.float32)
    window = max(3, round(len(grey) / BOARD_SIZE / 3) | 1)
    around = np.ones((window, window), np.uint8)
    # Height of the brightness step in each window.
    step = cv2.dilate(picture, around) - cv2.erode(picture, around)
    # Steepest slope in each window, in grey levels per pixel.
    along_x = cv2.Sobel(picture, cv2.CV_32F, 1, 0, ksize=1) / 2
    along_y = cv2.Sobel(picture, cv2.CV_32F, 0, 1, ksize=1) / 2
    slope = cv2.dilate(np.hypot(along_x, along_y), around)
    # Median width over the highest steps.
    high = step >= max(MIN_EDGE_CONTRAST, float(np.percentile(step, 80)))
    if np.count_nonzero(high) < len(grey):
        return None
    return float(np.median(step[high] / np.maximum(slope[high], 1e-3)))
