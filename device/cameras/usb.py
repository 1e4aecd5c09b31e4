"""A USB camera through V4L2 (1080p, MJPG) that is opened again after it was unplugged."""

from __future__ import annotations

import threading
import time

import cv2
import numpy as np

from device.cameras.base import (
    BLACK_MESSAGE,
    CLOSED_MESSAGE,
    STALLED_MESSAGE,
    BlackPictureError,
    CameraError,
    Frame,
    is_black,
)
from device.system.backoff import Backoff
from engine.messages import make_message

WIDTH, HEIGHT = 1920, 1080
FRAME_TIMEOUT_S = 2.0
"""Time without a frame, in seconds, after which the camera counts as stalled."""
RETRY_DELAYS_S = (0.25, 0.5, 1.0, 2.0, 4.0)


class UsbCamera:
    """A USB camera (V4L2 device); a thread reads all frames of the camera and keeps the newest frame.

    `device` is a number (`0`) or, better, the path by id (`/dev/v4l/by-id/...`), because numbers change if cameras are
    plugged in in another order. Every frame is read, so that a still is never an old frame from the driver's queue.
    Only new frames prove that the camera works, because `isOpened()` remains true after the camera was unplugged.
    Raises `CameraError` if the camera cannot be opened.
    """

    live = True

    def __init__(self, device: str) -> None:
        self._device: int | str = int(device) if device.isdecimal() else device
        self._frame_arrived = threading.Condition()
        self._newest_frame: Frame | None = None
        self._lost = False
        self._closing = threading.Event()
        capture = self._open_capture()
        if capture is None:
            text = "no camera at usb:{0}: is it plugged in, and does no other program use it?"
            raise CameraError(make_message("camera-no-usb", text, device))
        self._thread = threading.Thread(target=self._run, args=(capture,), name=f"camera-usb-{device}", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        newest = self._newest_frame
        age = "no frame yet" if newest is None else f"newest frame {time.monotonic() - newest.time:.2f} s old"
        return f"<UsbCamera {self._device!r}: {age}>"

    def still(self) -> Frame:
        """Return the first frame that arrives after the call. Raises `CameraError`."""
        asked = time.monotonic()
        frame = self._wait_for_frame(asked)
        if is_black(frame.image):
            raise BlackPictureError(BLACK_MESSAGE)
        return frame

    def preview(self) -> Frame:
        """Return the newest frame at a third of the size. Raises `CameraError` if the newest frame is too old."""
        frame = self._wait_for_frame(time.monotonic() - FRAME_TIMEOUT_S, 0.0 if self._newest_frame else FRAME_TIMEOUT_S)
        small = np.ascontiguousarray(frame.image[::3, ::3])
        return Frame(small, frame.time)

    def close(self) -> None:
        """Stop the thread and close the device."""
        self._closing.set()
        with self._frame_arrived:
            self._frame_arrived.notify_all()
        self._thread.join(timeout=5)

    def __enter__(self) -> UsbCamera:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait_for_frame(self, moment: float, patience: float = FRAME_TIMEOUT_S) -> Frame:
        def arrived() -> bool:
            return self._newest_frame is not None and self._newest_frame.time > moment and not self._lost

        with self._frame_arrived:
            self._frame_arrived.wait_for(lambda: self._closing.is_set() or self._lost or arrived(), patience)
            if self._closing.is_set():
                raise CameraError(CLOSED_MESSAGE)
            if self._newest_frame is None or not arrived():
                raise CameraError(STALLED_MESSAGE)
            return self._newest_frame

    def _open_capture(self) -> cv2.VideoCapture | None:
        try:
            capture = cv2.VideoCapture(self._device, cv2.CAP_V4L2)
        except cv2.error:  # raised if the device number is too large
            return None
        if not capture.isOpened():
            return None
        capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        capture.set(cv2.CAP_PROP_FRAME_WIDTH, WIDTH)
        capture.set(cv2.CAP_PROP_FRAME_HEIGHT, HEIGHT)
        capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        return capture

    def _run(self, capture: cv2.VideoCapture | None) -> None:
        backoff = Backoff(RETRY_DELAYS_S)
        while not self._closing.is_set():
            good, image = capture.read() if capture is not None else (False, None)
            if good and image is not None:
                backoff.reset()
                with self._frame_arrived:
                    self._newest_frame, self._lost = Frame(np.asarray(image, np.uint8), time.monotonic()), False
                    self._frame_arrived.notify_all()
                continue
            with self._frame_arrived:
                self._lost = True  # ends waiting calls at once; an unplugged camera will not return a frame
                self._frame_arrived.notify_all()
            if capture is not None:
                capture.release()
            self._closing.wait(backoff.record_failure())
            capture = None if self._closing.is_set() else self._open_capture()
        if capture is not None:
            capture.release()
