"""Pictures as libcamera has them in memory, in each of its formats."""

from __future__ import annotations

import cv2
import numpy as np


def coloured() -> np.ndarray:
    """Left half orange, right half blue, `(48, 64, 3) uint8 BGR`."""
    image = np.zeros((48, 64, 3), np.uint8)
    image[:, :32], image[:, 32:] = (40, 140, 230), (200, 60, 30)
    return image


def planar(image: np.ndarray, form: str) -> np.ndarray:
    """`image` as libcamera lays it out in a planar format: brightness, then the two colour planes."""
    height, width, _ = image.shape
    i420 = cv2.cvtColor(image, cv2.COLOR_BGR2YUV_I420)
    bright, colour = i420[:height], i420[height:].reshape(2, height // 2, width // 2)
    if form == "YVU420":
        colour = colour[::-1]
    if form in ("NV12", "NV21"):
        first, second = colour if form == "NV12" else colour[::-1]
        colour = np.stack([first, second], axis=-1)
    return np.vstack([bright, colour.reshape(height // 2, width)])


def interleaved(image: np.ndarray, form: str) -> np.ndarray:
    """`image` in a format with half the colours in each row: `(H, W, 2)`."""
    yuv = cv2.cvtColor(image, cv2.COLOR_BGR2YUV_I420)
    height, width, _ = image.shape
    u, v = (np.repeat(plane, 2, axis=0) for plane in yuv[height:].reshape(2, height // 2, width // 2))
    out = np.empty((height, width, 2), np.uint8)
    places = {"YUYV": (0, u, v), "YVYU": (0, v, u), "UYVY": (1, u, v)}
    at, even, odd = places[form]
    out[:, :, at] = yuv[:height]
    out[:, 0::2, 1 - at], out[:, 1::2, 1 - at] = even, odd
    return out


def in_memory(image: np.ndarray, form: str) -> np.ndarray:
    alpha = np.full((*image.shape[:2], 1), 255, np.uint8)
    match form:
        case "RGB888":
            return image  # named the other way round than it lies in memory
        case "BGR888" | "MJPEG":
            return image[..., ::-1]
        case "XRGB8888":
            return np.concatenate([image, alpha], axis=2)
        case "XBGR8888":
            return np.concatenate([image[..., ::-1], alpha], axis=2)
        case "YUYV" | "YVYU" | "UYVY":
            return interleaved(image, form)
        case _:
            return planar(image, form)
