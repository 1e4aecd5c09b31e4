"""Pictures as libcamera has them in memory, in each of its formats."""

from __future__ import annotations

import cv2
import numpy as np


def coloured() -> np.ndarray:
    """Left half orange, right half blue, `(48, 64, 3) uint8 BGR`."""
    image = np.zeros((48, 64, 3), np.uint8)
    image[:, :32], image[:, 32:] = (40, 140, 230), (200, 60, 30)
    return image


def in_memory(image: np.ndarray, form: str) -> np.ndarray:
    """Return `image` as libcamera lays it out in a format; in planar ones, brightness comes before the colours."""
    if form == "RGB888":
        return image  # named the other way round than it lies in memory
    height, width, _ = image.shape
    i420 = cv2.cvtColor(image, cv2.COLOR_BGR2YUV_I420)
    if form == "YUV420":
        return i420
    colour = np.stack([*i420[height:].reshape(2, height // 2, width // 2)], axis=-1)
    return np.vstack([i420[:height], colour.reshape(height // 2, width)])
