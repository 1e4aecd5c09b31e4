"""Take pictures with cameras that the table does not use, for the page on which a camera is chosen."""

from __future__ import annotations

import threading
from collections.abc import Callable

from device.cameras import open_camera
from device.cameras.base import CLOSED_MESSAGE, Camera, CameraError, Image

IDLE_S = 5.0
"""Time without a request, in seconds, after which the camera is closed, because the page with its pictures was left."""

OpenCamera = Callable[[str], Camera]


class CameraPreview:
    """A camera for previews: opens one camera at a time, and closes it when no pictures are requested for some seconds.

    Safe for several threads. A picture takes seconds if the camera must be opened first. If the preview is closed
    during that time, or another camera is requested, `CameraError` is raised.
    """

    def __init__(self, opener: OpenCamera = open_camera, idle_s: float = IDLE_S) -> None:
        self._opener = opener
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._shown: _PreviewedCamera | None = None
        self._timer: threading.Timer | None = None

    def take_picture(self, source: str) -> Image:
        """Return a picture of the camera that `source` names, `(H, W, 3) uint8 BGR`. Raises `CameraError`."""
        with self._lock:
            self._stop_timer()
            if self._shown is None or self._shown.is_closed or source != self._shown.source:
                self._shown = _PreviewedCamera(source, self._opener, self._shown)
            shown = self._shown
        try:
            return shown.take_picture()
        finally:
            with self._lock:
                self._stop_timer()
                self._timer = threading.Timer(self._idle_s, self._close, kwargs={"is_idle": True})
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """Close the open camera, if there is one."""
        self._close(is_idle=False)

    def _close(self, *, is_idle: bool) -> None:
        with self._lock:
            if is_idle and self._timer is None:  # a picture was asked for at the last moment
                return
            self._stop_timer()
            shown = self._shown
            if shown is not None:
                shown.is_closed = True
        if shown is not None:
            shown.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _PreviewedCamera:
    """A camera for previews, named by `source`. The first `take_picture` closes `before`, then opens the camera."""

    def __init__(self, source: str, opener: OpenCamera, before: _PreviewedCamera | None) -> None:
        self.source = source
        self.is_closed = False
        self._opener = opener
        self._before = before
        self._camera: Camera | None = None
        self._use = threading.Lock()
        """Lock that a thread holds while it uses the camera; `close` does not wait for this lock."""

    def take_picture(self) -> Image:
        """Return a picture, `(H, W, 3) uint8 BGR`. Raises `CameraError`, also if `close` is called meanwhile."""
        with self._use:
            if self._before is not None:
                self._before.close()
                self._before.wait_for_end()
                self._before = None
            if self._camera is None and not self.is_closed:
                self._camera = self._opener(self.source)
            camera = self._camera
            if self.is_closed:  # perhaps while the camera was being opened
                self.close()
            if camera is None:
                raise CameraError(CLOSED_MESSAGE)
            return camera.capture_still().image

    def close(self) -> None:
        """Close the camera. A call of `take_picture` in progress raises `CameraError`."""
        self.is_closed = True
        if self._camera is not None:
            self._camera.close()

    def wait_for_end(self) -> None:
        """Wait until no thread uses the camera."""
        with self._use:
            pass
