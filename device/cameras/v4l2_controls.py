"""Controls of a USB camera through V4L2: exposure, focus, and the frequency of the mains.

They are set through a second open file of the same device, which the kernel permits. OpenCV is not used, because it has
no property for the frequency of the mains, and because only one thread may use an OpenCV camera. Numbers are those of
`linux/v4l2-controls.h`.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum

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
