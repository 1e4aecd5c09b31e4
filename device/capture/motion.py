"""Detect motion in the pictures of a camera, and wait until the board is at rest."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt

from device.cameras import Camera, Frame, Image
from device.capture.scene_reference import to_grey
from vision.geometry import halve_image

MAX_WAIT_S = 2.0
"""Longest wait for the board to come to rest, in seconds. After it, the board is read in spite of motion."""
MIN_STILL_S = 0.2
"""Time without motion, in seconds, after which the board is read."""
POLL_INTERVAL_S = 1 / 30
THUMBNAIL_SIZE_PX = (96, 72)
MIN_MOTION_DIFFERENCE = 12.0
"""Difference in a pixel of two thumbnails (grey levels, 0 to 255) that counts as motion; camera noise is smaller."""


class RestDetector:
    """Detector of rest in a sequence of pictures: no motion for `min_still_s` seconds."""

    def __init__(self, min_still_s: float) -> None:
        self._min_still_s = min_still_s
        self._thumbnail: npt.NDArray[np.float32] | None = None
        self._still_since = 0.0
        self.still_s = 0.0
        """Time without motion up to the last picture, in seconds."""

    def update(self, image: Image, now: float) -> bool:
        """Add a picture that was taken at time `now` (s); return True if the board is at rest."""
        before, self._thumbnail = self._thumbnail, make_thumbnail(image)
        if before is None or has_moved(before, self._thumbnail):
            self._still_since = now
        self.still_s = now - self._still_since
        return self.still_s >= self._min_still_s


def wait_for_rest(
    camera: Camera,
    *,
    is_enough: Callable[[Frame], bool],
    clock: Callable[[], float],
    wait: Callable[[float], bool | None],
) -> bool:
    """Wait until nothing moves in the previews of the camera, at most `MAX_WAIT_S` seconds.

    If `is_enough` returns True for a preview, the wait ends at once and True is returned. In all other cases, False is
    returned. The wait also ends if `wait`, which sleeps for a number of seconds, returns True. Raises `CameraError`.
    """
    detector, deadline = RestDetector(MIN_STILL_S), clock() + MAX_WAIT_S
    while (frame := camera.capture_preview()) is not None:
        if is_enough(frame):
            return True
        if detector.update(frame.image, clock()) or clock() >= deadline or wait(POLL_INTERVAL_S):
            break
    return False


def has_moved(before: npt.NDArray[np.float32], now: npt.NDArray[np.float32]) -> bool:
    """Return True if two thumbnails differ so much that something has moved."""
    return float(np.abs(now - before).max()) > MIN_MOTION_DIFFERENCE


def make_thumbnail(image: Image) -> npt.NDArray[np.float32]:
    """Return a small grey version of a picture, `(72, 96) float32`; averaging removes the camera's noise."""
    grey, (width, height) = to_grey(image), THUMBNAIL_SIZE_PX
    while grey.shape[0] >= 6 * height and grey.shape[1] >= 6 * width:  # averages of 2 x 2 pixels are fast
        grey = halve_image(grey)
    return np.asarray(cv2.resize(grey, THUMBNAIL_SIZE_PX, interpolation=cv2.INTER_AREA), np.float32)
