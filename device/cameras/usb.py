"""A USB camera through V4L2 (1080p, MJPG). If it was unplugged, it is opened again when it is connected.

Exposure, focus and the frequency of the mains are set through a second open file of the same device, which the kernel
permits. OpenCV has no property for the frequency of the mains, and only one thread may use an OpenCV camera. The
numbers of the controls are those of `linux/v4l2-controls.h`.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from functools import partial

import cv2

from device.cameras.base import DEFAULT_MAINS_HZ, BlackPictureError, Frame, has_light_changed, measure_brightness
from device.cameras.stream import StreamCamera, silence_opencv
from device.catalogue import get_text

_USER_CLASS, _CAMERA_CLASS = 0x00980900, 0x009A0900
_GET_CONTROL, _SET_CONTROL = 0xC008561B, 0xC008561C
"""VIDIOC_G_CTRL and VIDIOC_S_CTRL of `linux/videodev2.h`: `_IOWR('V', n, struct v4l2_control)` with n = 27 and 28."""
_CONTROL = struct.Struct("Ii")
"""`struct v4l2_control`: number of the control, and its value."""


class Control(IntEnum):
    """Numbers of the V4L2 controls that are used here."""

    POWER_LINE_FREQUENCY = _USER_CLASS + 24
    EXPOSURE_AUTO = _CAMERA_CLASS + 1
    EXPOSURE = _CAMERA_CLASS + 2
    FOCUS_AUTO = _CAMERA_CLASS + 12


EXPOSURE_MANUAL, EXPOSURE_FULLY_AUTOMATIC, EXPOSURE_APERTURE_PRIORITY = 1, 0, 3
"""Values of `EXPOSURE_AUTO`. Most cameras have only manual and aperture priority."""
_MAINS = {50: 1, 60: 2}
"""Frequency of the mains in Hz -> value of `POWER_LINE_FREQUENCY`."""


class V4l2Controls:
    """Controls of one V4L2 device. Controls that the camera does not have are skipped."""

    def __init__(self, path: str) -> None:
        """Use the device at `path` (`/dev/video0`)."""
        self._path = path

    def adjust_automatically(self, mains_hz: int) -> None:
        """Let the camera adjust exposure and focus; exposure times are chosen so that lamps do not flicker.

        `mains_hz` is the frequency of the mains in Hz.
        """
        with suppress(OSError), self._open_device() as device:  # it may have been unplugged
            _set_control(device, Control.POWER_LINE_FREQUENCY, _MAINS[mains_hz])
            if not _set_control(device, Control.EXPOSURE_AUTO, EXPOSURE_APERTURE_PRIORITY):
                _set_control(device, Control.EXPOSURE_AUTO, EXPOSURE_FULLY_AUTOMATIC)
            _set_control(device, Control.FOCUS_AUTO, 1)

    def lock(self) -> None:
        """Lock the current exposure and focus; switching the autofocus off leaves the lens where it is."""
        with suppress(OSError), self._open_device() as device:  # it may have been unplugged
            _set_control(device, Control.FOCUS_AUTO, 0)
            exposure = _read_control(device, Control.EXPOSURE)
            if exposure is not None and _set_control(device, Control.EXPOSURE_AUTO, EXPOSURE_MANUAL):
                _set_control(device, Control.EXPOSURE, exposure)

    @contextmanager
    def _open_device(self) -> Iterator[int]:
        device = os.open(self._path, os.O_RDWR | os.O_NONBLOCK)
        try:
            yield device
        finally:
            os.close(device)


def _read_control(device: int, control: Control) -> int | None:
    """Return the value of a control, or None if the camera does not have it."""
    try:
        _, value = _CONTROL.unpack(fcntl.ioctl(device, _GET_CONTROL, _CONTROL.pack(control, 0)))
    except OSError:
        return None
    return int(value)


def _set_control(device: int, control: Control, value: int) -> bool:
    """Set a control; return False if the camera does not have it or does not accept the value."""
    try:
        fcntl.ioctl(device, _SET_CONTROL, _CONTROL.pack(control, value))
    except OSError:
        return False
    return True


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
    """Open a USB camera for large pictures as JPEG data, if it offers them; return None if it cannot be opened."""
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
