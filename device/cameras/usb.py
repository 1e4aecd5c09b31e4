"""A USB camera through V4L2: 1080p, MJPG, opened again after it was unplugged."""

from __future__ import annotations

import threading
import time

import cv2
import numpy as np

from device.cameras.base import ALL_BLACK, NO_PICTURES, WAS_CLOSED, BlackPicture, CameraError, Frame, is_black
from engine.messages import said

WIDTH, HEIGHT = 1920, 1080
STALLED_S = 2.0
"""A camera that gave no frame for so long is in trouble."""
RETRY_S = (0.25, 0.5, 1.0, 2.0, 4.0)


class UsbCamera:
    """The newest frame of a V4L2 device, kept by a thread of its own.

    `where` is a number (`0`) or, better, the device's path by id (`/dev/v4l/by-id/...`): numbers change when cameras
    are plugged in another order. A thread takes every frame, so that a still is never an old one out of the driver's
    queue. Its health is judged by frames alone: after an unplug `isOpened()` stays true.
    """

    live = True

    def __init__(self, where: str) -> None:
        self._where: int | str = int(where) if where.isdecimal() else where
        self._fresh = threading.Condition()
        self._newest: Frame | None = None
        self._lost = False
        self._closing = threading.Event()
        capture = self._open()
        if capture is None:
            text = "no camera at usb:{0}: is it plugged in, and does no other program use it?"
            raise CameraError(said("camera-no-usb", text, where))
        self._thread = threading.Thread(target=self._run, args=(capture,), name=f"camera-usb-{where}", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        newest = self._newest
        age = "no frame yet" if newest is None else f"newest frame {time.monotonic() - newest.time:.2f} s old"
        return f"<UsbCamera {self._where!r}: {age}>"

    def still(self) -> Frame:
        """The first frame that arrives after the call."""
        asked = time.monotonic()
        frame = self._newer_than(asked)
        if is_black(frame.image):
            raise BlackPicture(ALL_BLACK)
        return frame

    def preview(self) -> Frame:
        """The newest frame, at a third of the size. One that is too old is not waited for again."""
        frame = self._newer_than(time.monotonic() - STALLED_S, 0.0 if self._newest else STALLED_S)
        small = np.ascontiguousarray(frame.image[::3, ::3])
        return Frame(small, frame.time)

    def close(self) -> None:
        """Stop the thread and give the device back."""
        self._closing.set()
        with self._fresh:
            self._fresh.notify_all()
        self._thread.join(timeout=5)

    def __enter__(self) -> UsbCamera:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _newer_than(self, moment: float, patience: float = STALLED_S) -> Frame:
        def arrived() -> bool:
            return self._newest is not None and self._newest.time > moment and not self._lost

        with self._fresh:
            self._fresh.wait_for(lambda: self._closing.is_set() or self._lost or arrived(), patience)
            if self._closing.is_set():
                raise CameraError(WAS_CLOSED)
            if self._newest is None or not arrived():
                raise CameraError(NO_PICTURES)
            return self._newest

    def _open(self) -> cv2.VideoCapture | None:
        try:
            capture = cv2.VideoCapture(self._where, cv2.CAP_V4L2)
        except cv2.error:  # a number too large for any device
            return None
        if not capture.isOpened():
            return None
        capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        capture.set(cv2.CAP_PROP_FRAME_WIDTH, WIDTH)
        capture.set(cv2.CAP_PROP_FRAME_HEIGHT, HEIGHT)
        capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        return capture

    def _run(self, capture: cv2.VideoCapture | None) -> None:
        failures = 0
        while not self._closing.is_set():
            good, image = capture.read() if capture is not None else (False, None)
            if good and image is not None:
                failures = 0
                with self._fresh:
                    self._newest, self._lost = Frame(np.asarray(image, np.uint8), time.monotonic()), False
                    self._fresh.notify_all()
                continue
            with self._fresh:
                self._lost = True  # nobody waits for a camera that was pulled out
                self._fresh.notify_all()
            if capture is not None:
                capture.release()
            self._closing.wait(RETRY_S[min(failures, len(RETRY_S) - 1)])
            failures += 1
            capture = None if self._closing.is_set() else self._open()
        if capture is not None:
            capture.release()
