"""A camera that may not be there yet: the table comes up without it, and it is opened when it is plugged in."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from device.cameras.base import CLOSED_MESSAGE, AutoExposureCamera, Camera, CameraError, Frame
from device.system.backoff import Backoff

RETRY_DELAYS_S = (0.5, 1.0, 2.0, 4.0)


class ReconnectingCamera:
    """Any live camera, opened by `open_it` at once, or again and again with back-off until it is there."""

    live = True

    def __init__(self, opener: Callable[[], Camera], clock: Callable[[], float] = time.monotonic) -> None:
        self._opener = opener
        self._clock = clock
        self._lock = threading.Lock()
        self._camera: Camera | None = None
        self._closed = False
        self._backoff = Backoff(RETRY_DELAYS_S)
        self._next_try = clock()
        self.trouble = ""
        """Why there is no camera, one line; empty once there is."""
        with suppress(CameraError):  # it is in `trouble`, and every picture asked for says it
            self._get_camera()

    def __repr__(self) -> str:
        return f"<PatientCamera: {self._camera or self.trouble}>"

    def still(self) -> Frame:
        """A picture of the best quality that there is, taken after the call. Raises `CameraError`."""
        return self._get_camera().still()

    def preview(self) -> Frame | None:
        """A cheap picture to see motion by. Raises `CameraError`."""
        return self._get_camera().preview()

    def settle(self) -> None:
        """Let a camera that can find exposure and focus anew; one that is not there yet does so when it is opened."""
        if isinstance(camera := self._camera, AutoExposureCamera):
            camera.settle()

    def close(self) -> None:
        """Give the camera back; further calls raise `CameraError`."""
        with self._lock:
            self._closed = True
            if self._camera is not None:
                self._camera.close()

    def _get_camera(self) -> Camera:
        with self._lock:
            if self._camera is None:
                self._camera = self._try_open()
            return self._camera

    def _try_open(self) -> Camera:
        if self._closed:
            raise CameraError(CLOSED_MESSAGE)
        if self._clock() < self._next_try:
            raise CameraError(self.trouble)
        try:
            camera = self._opener()
        except CameraError as error:
            self.trouble = str(error)
            self._next_try = self._clock() + self._backoff.record_failure()
            raise
        self.trouble = ""
        return camera
