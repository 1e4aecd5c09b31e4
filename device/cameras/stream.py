"""Cameras that OpenCV reads as a stream of frames: the base of `UsbCamera`, and cameras in the network."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import partial
from math import inf

import cv2
import numpy as np

from device.cameras.base import (
    BLACK_MESSAGE,
    CLOSED_MESSAGE,
    FRAME_TIMEOUT_S,
    REOPEN_DELAYS_S,
    STALLED_MESSAGE,
    BlackPictureError,
    CameraError,
    Frame,
    Image,
    is_black,
)
from device.cameras.listing import hide_credentials
from device.catalogue import get_text
from device.system.closeable import Closeable
from device.system.periodic import Backoff

_SAMPLE_STEP_PX = 8
"""Distance of the pixels that are compared to find a repeated picture, in pixels."""
_CLOSE_TIMEOUT_S, _LOST_CLOSE_TIMEOUT_S = 5.0, 0.2
"""Longest time to wait for the end of a camera's thread, in seconds: of a working camera, and of a lost one.

The thread of a lost camera holds no device. It may be opening an address that does not answer, which takes long.
"""


class StreamCamera(Closeable):
    """A camera whose thread takes each frame from the driver, so that it never returns an old, queued frame.

    Decoding every frame would take more than half a core of a Raspberry Pi 4. So a frame is decoded only if a caller
    waits for it. For a preview, the frame is decoded in grey and at half the size.

    `open_capture` opens the stream, and opens it again after it has ended; it returns None on failure. `where` is
    the name of the camera in its `repr`. Raises `CameraError` with the text `missing_message` if the camera cannot be
    opened. A camera counts as lost when no new frames arrive, because `isOpened()` remains true after it was unplugged.
    It also counts as lost when the same picture arrives for more than `frozen_s` seconds.
    """

    is_live = True

    def __init__(
        self,
        open_capture: Callable[[], cv2.VideoCapture | None],
        where: str,
        missing_message: str,
        frozen_s: float = inf,
    ) -> None:
        self._open_capture = open_capture
        self._where = where
        self._frame_arrived = threading.Condition()
        self._newest_time: float | None = None
        self._retrieved: Frame | None = None
        self._waiting_count = 0
        self._lost = False
        self._closing = threading.Event()
        self._frozen_s = frozen_s
        self._sample: Image | None = None
        self._sample_since = 0.0
        capture = open_capture()
        if capture is None:
            raise CameraError(missing_message)
        self._thread = threading.Thread(target=self._run, args=(capture,), name=f"camera-{where}", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        newest = self._newest_time
        age = "no frame yet" if newest is None else f"newest frame {time.monotonic() - newest:.2f} s old"
        return f"<{type(self).__name__} {self._where}: {age}>"

    def capture_still(self) -> Frame:
        """Return the first frame that arrives after the call. Raises `CameraError`."""
        frame = self._wait_for_frame(_decode_still)
        if is_black(frame.image):
            raise BlackPictureError(BLACK_MESSAGE)
        return frame

    def capture_preview(self) -> Frame:
        """Return the first frame that arrives after the call, in grey and at half the size.

        Raises `CameraError`. If the newest frame is older than `FRAME_TIMEOUT_S`, the error is raised without waiting.
        """
        newest = self._newest_time
        if newest is not None and time.monotonic() - newest > FRAME_TIMEOUT_S:
            raise CameraError(STALLED_MESSAGE)
        return self._wait_for_frame(_decode_preview)

    def close(self) -> None:
        """Close the camera; waiting calls and further calls raise `CameraError`. The thread closes the device."""
        self._closing.set()
        with self._frame_arrived:  # end the calls that wait for a frame
            self._frame_arrived.notify_all()
        self._thread.join(timeout=_LOST_CLOSE_TIMEOUT_S if self._lost else _CLOSE_TIMEOUT_S)

    def _wait_for_frame(self, decode: Callable[[Image], Image | None]) -> Frame:
        """Return the first new frame that `decode` can decode; damaged JPEGs are skipped. Raises `CameraError`."""
        moment = time.monotonic()
        until = moment + FRAME_TIMEOUT_S
        while True:
            frame = self._wait_for_data(moment, until)
            image = decode(frame.image)
            if image is not None:
                return Frame(image, frame.time)
            moment = frame.time

    def _wait_for_data(self, moment: float, until: float) -> Frame:
        """Return the first frame that arrives after the time `moment` (s), without decoding it.

        Raises `CameraError` if none has arrived by the time `until` (s).
        """

        def has_arrived() -> bool:
            return self._retrieved is not None and self._retrieved.time > moment and not self._lost

        with self._frame_arrived:
            self._waiting_count += 1
            try:
                self._frame_arrived.wait_for(
                    lambda: self._closing.is_set() or self._lost or has_arrived(), until - time.monotonic()
                )
            finally:
                self._waiting_count -= 1
            if self._closing.is_set():
                raise CameraError(CLOSED_MESSAGE)
            if self._retrieved is None or not has_arrived():
                raise CameraError(STALLED_MESSAGE)
            return self._retrieved

    def _run(self, capture: cv2.VideoCapture | None) -> None:
        """Take each frame from the driver until the camera is closed. If the stream ends, open it again."""
        backoff, frame_count = Backoff(REOPEN_DELAYS_S), 0
        while not self._closing.is_set():
            if capture is not None and capture.grab() and self._keep_frame(capture):
                backoff.reset()
                frame_count += 1
                continue
            if frame_count != 1:  # some network cameras send one picture each time the address is opened
                with self._frame_arrived:
                    self._lost = True  # ends waiting calls at once; an unplugged camera will not return a frame
                    self._frame_arrived.notify_all()
            frame_count = 0
            if capture is not None:
                capture.release()
            self._closing.wait(backoff.record_failure())
            capture = None if self._closing.is_set() else self._open_capture()
        if capture is not None:
            capture.release()

    def _keep_frame(self, capture: cv2.VideoCapture) -> bool:
        """Read the data of the grabbed frame if a caller waits for a frame; return False if this fails."""
        now = time.monotonic()
        with self._frame_arrived:
            self._newest_time, self._lost = now, False
            if not self._waiting_count:
                self._retrieved = None
                return True
        good, data = capture.retrieve()
        if not good or data is None or self._is_frozen(np.asarray(data, np.uint8), now):
            return False
        with self._frame_arrived:
            self._retrieved = Frame(np.asarray(data, np.uint8), now)
            self._frame_arrived.notify_all()
        return True

    def _is_frozen(self, data: Image, now: float) -> bool:
        """Return True if a frame that arrived at the time `now` (s) repeats a picture that came `_frozen_s` before.

        A black picture is not frozen: a caller reports it as black.
        """
        sample = data if _is_jpeg(data) else data[::_SAMPLE_STEP_PX, ::_SAMPLE_STEP_PX]
        if self._sample is None or not np.array_equal(sample, self._sample):
            self._sample, self._sample_since = sample.copy(), now
        return now - self._sample_since > self._frozen_s and not is_black(data)


LOG_LEVEL_SILENT = 0
"""Value of `LOG_LEVEL_SILENT` of OpenCV, for which its versions have different names."""


def silence_opencv() -> None:
    """Switch OpenCV's own warnings off: a `CameraError` reports that a camera cannot be opened."""
    set_log_level = getattr(cv2, "setLogLevel", None) or cv2.utils.logging.setLogLevel  # the second since 4.13
    set_log_level(LOG_LEVEL_SILENT)


def _is_jpeg(data: Image) -> bool:
    return data.ndim == 2 and len(data) == 1


def _decode_still(data: Image) -> Image | None:
    """Return a frame as `(H, W, 3) uint8 BGR`, or None for a damaged JPEG.

    `data` is a row of JPEG data, or an image for cameras without JPEG.
    """
    return cv2.imdecode(data, cv2.IMREAD_COLOR) if _is_jpeg(data) else data  # type: ignore[return-value]


def _decode_preview(data: Image) -> Image | None:
    """Return a frame as `(H / 2, W / 2) uint8` grey, or None for a damaged JPEG."""
    if _is_jpeg(data):
        return cv2.imdecode(data, cv2.IMREAD_REDUCED_GRAYSCALE_2)  # type: ignore[return-value]
    grey = cv2.cvtColor(data, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8)


OPEN_TIMEOUT_MS = 5000
READ_TIMEOUT_MS = 5000
FROZEN_S = 30.0
"""Time with exactly the same picture, in seconds; if it is exceeded, the stream counts as stalled.

The noise of a sensor changes every picture, but some cameras and applications repeat their last one when they hang.
A compressed video of a table at rest may repeat a picture too, but only until its next key frame.
"""
_QUIET = "-8"
"""FFmpeg's log level without messages (`AV_LOG_QUIET`), because messages may contain the address with the password."""


class NetworkCamera(StreamCamera):
    """A network camera at an address such as `http://192.168.1.5:8080/video` or `rtsp://user:password@camera/stream`.

    An address that sends one picture, such as `http://192.168.1.5:8080/shot.jpg`, is opened again for each picture.
    If the stream ends or repeats one picture, it is opened again, with growing delays. Messages contain the address
    without user, password and query. Raises `CameraError` if the stream cannot be opened.
    """

    def __init__(self, address: str) -> None:
        where = hide_credentials(address)
        super().__init__(partial(_open_stream, address), where, get_text("camera-no-network", where), FROZEN_S)


def _open_stream(address: str) -> cv2.VideoCapture | None:
    os.environ["OPENCV_FFMPEG_LOGLEVEL"] = _QUIET
    silence_opencv()  # its warnings contain the address as well
    timeouts = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, OPEN_TIMEOUT_MS, cv2.CAP_PROP_READ_TIMEOUT_MSEC, READ_TIMEOUT_MS]
    capture = cv2.VideoCapture(address, cv2.CAP_FFMPEG, timeouts)
    return capture if capture.isOpened() else None
