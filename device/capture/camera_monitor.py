"""Monitor the camera between turns: report faults, and detect when the board comes to rest after motion.

It takes a small preview a few times a second. No picture is read by the networks here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from device.cameras import BlackPictureError, CameraError, Frame
from device.cameras.base import BLACK_MESSAGE, STALLED_MESSAGE, is_black
from device.capture.motion import has_moved, make_thumbnail
from device.system.backoff import Backoff

CHECK_INTERVAL_S = 0.2
MAX_FRAME_AGE_S = 1.5
"""Age of the newest frame, in seconds, from which the camera counts as stalled."""
MIN_REST_S = 0.4
"""Time without motion after which the board is at rest, in seconds."""
BACK_OFF_S = (0.5, 1.0, 2.0, 4.0)


class FrameSource(Protocol):
    """The part of `device.capture.board_camera.BoardCamera` that the monitor uses."""

    def preview(self) -> Frame | None:
        """Return a small picture. Raises `CameraError`."""

    def still(self) -> Frame:
        """Return a full picture. Raises `CameraError`."""


class CameraMonitor:
    """Monitors a camera; `check_camera` is called repeatedly by one thread.

    `report_trouble` is called once with a fault of the camera, and with None when it works again. `on_rest` gets a
    picture each time the board has come to rest and looks different. `is_idle` returns True while the monitor may use
    the camera.
    """

    def __init__(
        self,
        source: FrameSource,
        report_trouble: Callable[[str | None], None],
        on_rest: Callable[[Frame], None],
        is_idle: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._report_trouble = report_trouble
        self._on_rest = on_rest
        self._is_idle = is_idle
        self._clock = clock
        self._backoff = Backoff(BACK_OFF_S)
        self._last_thumbnail: npt.NDArray[np.float32] | None = None
        self._last_rest_thumbnail: npt.NDArray[np.float32] | None = None
        self._still_since: float | None = None

    def check_camera(self) -> float | None:
        """Check the camera once; return the seconds until the next check, None if there is nothing to monitor."""
        if not self._is_idle():
            return CHECK_INTERVAL_S
        try:
            frame = self._source.preview()
            if frame is None:
                return None
            self._check_frame(frame)
            self._detect_rest(frame)
        except CameraError as error:
            return self._handle_failure(str(error))
        if self._backoff.has_failed:
            self._backoff.reset()
            self._report_trouble(None)
        return CHECK_INTERVAL_S

    def _check_frame(self, frame: Frame) -> None:
        if self._clock() - frame.time > MAX_FRAME_AGE_S:
            raise CameraError(STALLED_MESSAGE)
        if is_black(frame.image):
            raise BlackPictureError(BLACK_MESSAGE)

    def _handle_failure(self, why: str) -> float:
        is_first_failure = not self._backoff.has_failed
        wait_s = self._backoff.record_failure()
        self._last_thumbnail = None
        if is_first_failure:
            self._report_trouble(why)
        return wait_s

    def _detect_rest(self, frame: Frame) -> None:
        """Call the rest callback if the board has come to rest and looks different."""
        now, before = make_thumbnail(frame.image), self._last_thumbnail
        self._last_thumbnail = now
        if before is None or has_moved(before, now):
            self._still_since = frame.time
        elif self._still_since is not None and frame.time - self._still_since >= MIN_REST_S:
            self._still_since = None
            if self._last_rest_thumbnail is None or has_moved(self._last_rest_thumbnail, now):
                self._last_rest_thumbnail = now
                self._on_rest(self._source.still())
