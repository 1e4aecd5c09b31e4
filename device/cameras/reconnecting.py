"""Cameras that are opened later: one that may be missing at start-up, and those that the page shows before a choice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress

from device.cameras.base import CLOSED_MESSAGE, AutoExposureCamera, Camera, CameraError, Frame, Image

_POLL_INTERVAL_S = 0.1


class ReconnectingCamera:
    """A live camera that is opened at once if possible, and otherwise when a picture is captured.

    `opener` opens the camera, or raises `CameraError` if none is connected. `CameraMonitor` delays further attempts. If
    a network camera does not answer, an attempt to open it takes seconds. The event `ended` ends the wait for it, as
    `close` does.
    """

    is_live = True

    def __init__(self, opener: Callable[[], Camera], ended: threading.Event | None = None) -> None:
        self._opener = opener
        self._lock = threading.Lock()
        self._camera: Camera | None = None
        self._closing, self._ended = threading.Event(), ended or threading.Event()
        self.trouble = ""
        """The reason why the camera is not open, on one line; empty if the camera is open."""
        with suppress(CameraError):  # the reason is kept in `trouble` and raised by each capture
            self._get_camera()

    def __repr__(self) -> str:
        return f"<ReconnectingCamera: {self._camera or self.trouble}>"

    def capture_still(self) -> Frame:
        """Return a picture of the best quality that was exposed after the call. Raises `CameraError`."""
        return self._get_camera().capture_still()

    def capture_preview(self) -> Frame | None:
        """Return a small picture for motion detection. Raises `CameraError`."""
        return self._get_camera().capture_preview()

    def settle(self) -> None:
        """Adjust exposure, white balance and focus, if the camera is open and supports it. Raises `CameraError`.

        If the camera is not open, nothing is done, because a camera adjusts itself when it is opened.
        """
        if isinstance(camera := self._camera, AutoExposureCamera):
            camera.settle()

    def close(self) -> None:
        """Close the camera; further calls raise `CameraError`."""
        self._closing.set()
        with self._lock:
            if self._camera is not None:
                self._camera.close()

    def _get_camera(self) -> Camera:
        with self._lock:
            if self._camera is None:
                self._camera = self._try_open()
            return self._camera

    def _try_open(self) -> Camera:
        """Open the camera, and keep the reason if this fails. Raises `CameraError`."""
        if self._is_closing:
            raise CameraError(CLOSED_MESSAGE)
        try:
            camera = self._open()
        except CameraError as error:
            self.trouble = str(error)
            raise
        self.trouble = ""
        return camera

    @property
    def _is_closing(self) -> bool:
        return self._closing.is_set() or self._ended.is_set()

    def _open(self) -> Camera:
        """Open the camera on another thread, and return it. Raises `CameraError`, at once when the camera is closed."""
        opened: Future[Camera] = Future()
        threading.Thread(target=_run, args=(self._opener, opened), name="camera-opening", daemon=True).start()
        while not opened.done() and not self._is_closing:
            wait([opened], _POLL_INTERVAL_S)
        if opened.done():
            return opened.result()
        opened.add_done_callback(_close_opened)
        raise CameraError(CLOSED_MESSAGE)


def _run(opener: Callable[[], Camera], opened: Future[Camera]) -> None:
    try:
        opened.set_result(opener())
    except Exception as error:  # raised again by `result`
        opened.set_exception(error)


def _close_opened(opened: Future[Camera]) -> None:
    if opened.exception() is None:
        opened.result().close()


PREVIEW_IDLE_S = 5.0
"""Time without a request, in seconds, after which the camera is closed, because the page with its pictures was left."""


class CameraPreview:
    """A camera for the page on which one is chosen: it is open as long as pictures of it are requested.

    `opener` opens the camera that a setting names. Safe for several threads; one picture is taken at a time, and takes
    seconds if the camera must be opened first.
    """

    def __init__(self, opener: Callable[[str], Camera], idle_s: float = PREVIEW_IDLE_S) -> None:
        self._opener = opener
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._source = ""
        self._camera: Camera | None = None
        self._timer = threading.Timer(idle_s, self.close)

    def take_picture(self, source: str) -> Image:
        """Return a picture of the camera that `source` names, `(H, W, 3) uint8 BGR`. Raises `CameraError`."""
        with self._lock:
            self._timer.cancel()
            if source != self._source or self._camera is None:
                self._close_camera()
                self._source, self._camera = source, self._opener(source)
            try:
                return self._camera.capture_still().image
            finally:
                self._timer = threading.Timer(self._idle_s, self.close)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """Close the open camera, if there is one."""
        with self._lock:
            self._timer.cancel()
            self._close_camera()

    def _close_camera(self) -> None:
        camera, self._camera = self._camera, None
        if camera is not None:
            camera.close()
