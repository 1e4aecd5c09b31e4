"""Motion detection: wait until hands have left the picture before it is read."""

from __future__ import annotations

import time
from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt

from device.cameras.base import Camera, Frame, Image

MAX_WAIT_S = 2.0
"""Longest wait for the board to come to rest, in seconds; then it is read as it is."""
MIN_STILL_S = 0.2
"""Minimum time without motion, in seconds."""
POLL_INTERVAL_S = 1 / 30
THUMBNAIL_SIZE_PX = (96, 72)
MIN_MOTION_DIFFERENCE = 12.0
"""Difference of a thumbnail pixel (of 255) that counts as motion; camera noise is smaller."""


def wait_until_still(
    camera: Camera,
    *,
    max_wait_s: float = MAX_WAIT_S,
    min_still_s: float = MIN_STILL_S,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Frame:
    """Return a still from `camera` once nothing moves, or after the longest wait.

    Raises `CameraError`.
    """
    first = camera.preview()
    if first is None:
        return camera.still()
    deadline = clock() + max_wait_s
    resting_since, before = clock(), make_thumbnail(first.image)
    while clock() < deadline and clock() - resting_since < min_still_s:
        sleep(POLL_INTERVAL_S)
        frame = camera.preview()
        if frame is None:
            break
        now = make_thumbnail(frame.image)
        if has_moved(before, now):
            resting_since = clock()
        before = now
    return camera.still()


def has_moved(before: npt.NDArray[np.float32], now: npt.NDArray[np.float32]) -> bool:
    """Return True if something moved between two thumbnails."""
    return float(np.abs(now - before).max()) > MIN_MOTION_DIFFERENCE


def make_thumbnail(image: Image) -> npt.NDArray[np.float32]:
    """Return a small grey picture with the noise averaged out: `(72, 96) float32`."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.resize(grey, THUMBNAIL_SIZE_PX, interpolation=cv2.INTER_AREA), np.float32)
