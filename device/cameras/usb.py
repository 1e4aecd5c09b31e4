"""A USB camera through V4L2 (1080p, MJPG). If it was unplugged, it is opened again when it is connected."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import cv2

from device.cameras.base import DEFAULT_MAINS_HZ, BlackPictureError, Frame, has_light_changed, measure_brightness
from device.cameras.stream import StreamCamera, silence_opencv
from device.cameras.v4l2_controls import V4l2Controls
from device.catalogue import get_text

WIDTH, HEIGHT = 1920, 1080
SETTLE_S = 2.0
"""Time for the camera to adjust exposure and focus automatically, in seconds."""
LOCK_DELAY_S = 0.3
"""Time after the exposure was locked, in seconds, until every new frame certainly has the locked exposure."""
MOTION_JPEG = cv2.VideoWriter.fourcc(*"MJPG")


class UsbCamera(StreamCamera):
    """A USB camera (V4L2 device).

    `device` is a number (`0`) or, better, the path by id (`/dev/v4l/by-id/...`): numbers depend on the order in which
    cameras are plugged in. `mains_hz` is the frequency of the mains in Hz, and `wait` sleeps for a number of seconds.
    Raises `CameraError` if the camera cannot be opened.
    """

    def __init__(
        self,
        device: str,
        mains_hz: int = DEFAULT_MAINS_HZ,
        *,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        missing = get_text("camera-no-usb", device)
        self._controls = V4l2Controls(f"/dev/video{device}" if device.isdecimal() else device)
        self._mains_hz = mains_hz
        self._wait = wait
        self._locked_brightness: float | None = None
        super().__init__(partial(self._open, device), f"usb:{device}", missing)

    def capture_still(self) -> Frame:
        """Return the first frame that arrives after the call. If the light has changed, adjust a locked exposure first.

        Raises `CameraError`.
        """
        frame = super().capture_still()
        locked = self._locked_brightness
        if locked is not None and has_light_changed(locked, measure_brightness(frame.image)):
            self.settle()
            frame = super().capture_still()
        return frame

    def settle(self) -> None:
        """Adjust exposure and focus, then lock them if the camera supports this. Raises `CameraError`.

        Some cameras do not report the exposure that they have found. Locking it would make their pictures brighter or
        darker, or even black, so their exposure remains automatic.
        """
        self._locked_brightness = None
        self._controls.adjust_automatically(self._mains_hz)
        self._wait(SETTLE_S)
        adjusted = measure_brightness(super().capture_still().image)
        self._controls.lock()
        self._wait(LOCK_DELAY_S)
        try:
            locked = measure_brightness(super().capture_still().image)
        except BlackPictureError:
            locked = 0.0
        if has_light_changed(adjusted, locked):
            self._controls.adjust_automatically(self._mains_hz)
        else:
            self._locked_brightness = locked

    def _open(self, device: str) -> cv2.VideoCapture | None:
        """Open the device and set its controls, which a camera loses when it is unplugged. Return None on failure."""
        capture = _open_device(device)
        if capture is not None:
            self._controls.adjust_automatically(self._mains_hz)
            self._locked_brightness = None
        return capture


def _open_device(device: str) -> cv2.VideoCapture | None:
    silence_opencv()
    try:
        capture = cv2.VideoCapture(int(device) if device.isdecimal() else device, cv2.CAP_V4L2)
    except cv2.error:  # raised if the device number is too large
        return None
    if not capture.isOpened():
        return None
    capture.set(cv2.CAP_PROP_FOURCC, MOTION_JPEG)
    capture.set(cv2.CAP_PROP_FRAME_WIDTH, WIDTH)
    capture.set(cv2.CAP_PROP_FRAME_HEIGHT, HEIGHT)
    capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
    if int(capture.get(cv2.CAP_PROP_FOURCC)) == MOTION_JPEG:
        capture.set(cv2.CAP_PROP_CONVERT_RGB, 0)  # frames are returned as JPEG data
    return capture
