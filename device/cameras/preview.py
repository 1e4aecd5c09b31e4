"""Pictures of a camera that the table does not use, for the choice of a camera."""

from __future__ import annotations

import threading
from collections.abc import Callable

from device.cameras import open_camera
from device.cameras.base import Camera, Image

IDLE_S = 5.0
"""Seconds after the last picture at which the camera is closed: the page that shows it was left."""


class CameraPreview:
    """One open camera at a time, which is closed when no more pictures are asked for; safe for several threads."""

    def __init__(self, opener: Callable[[str], Camera] = open_camera, idle_s: float = IDLE_S) -> None:
        self._opener = opener
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._source = ""
        self._camera: Camera | None = None
        self._timer: threading.Timer | None = None

    def take_picture(self, source: str) -> Image:
        """Return a picture of the camera that `source` names, `(H, W, 3) uint8 BGR`. Raises `CameraError`."""
        with self._lock:
            self._stop_timer()
            if source != self._source:
                self._close_camera()
            camera = self._camera = self._camera or self._opener(source)
            self._source = source
            try:
                return camera.still().image
            finally:
                self._timer = threading.Timer(self._idle_s, self.close)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """Close the open camera, if there is one."""
        with self._lock:
            self._stop_timer()
            self._close_camera()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_camera(self) -> None:
        camera, self._camera, self._source = self._camera, None, ""
        if camera is not None:
            camera.close()
