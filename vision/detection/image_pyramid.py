"""Image pyramid: copies of a picture at lower resolutions, so that shrinking and rectification do not skip pixels."""

from __future__ import annotations

import math
from typing import Final

import cv2
import numpy as np

from vision.geometry import Floats, Image

_HALVING_SLACK: Final = 0.1
"""Margin, as a binary logarithm, by which a halved picture must exceed the required resolution: 0.1 means 7 %."""


class ImagePyramid:
    """Image pyramid of a picture, computed on demand. Each level has half the size of the previous one."""

    def __init__(self, image: Image) -> None:
        self.height, self.width = image.shape[:2]
        self._levels = [image]

    def find_level(self, max_px: float) -> tuple[Image, Floats]:
        """Return the coarsest level in which a pixel spans at most `max_px` pixels of the picture.

        The second result is the homography `(3, 3)` from px of the picture to px of the level.
        """
        halvings = max(0, math.floor(math.log2(max(max_px, 1.0)) - _HALVING_SLACK))
        while len(self._levels) <= halvings:
            last = self._levels[-1]
            size = (max(1, last.shape[1] // 2), max(1, last.shape[0] // 2))
            self._levels.append(np.asarray(cv2.resize(last, size, interpolation=cv2.INTER_AREA), np.uint8))
        level = self._levels[halvings]
        x, y = level.shape[1] / self.width, level.shape[0] / self.height
        return level, np.array([[x, 0, (x - 1) / 2], [0, y, (y - 1) / 2], [0, 0, 1]])
