"""Cameras with one common interface: phones, a folder, USB, network and Raspberry Pi cameras.

`open_camera` opens a camera by the value of the setting `camera.source`, such as `phone`, `usb:0` or `pi`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from device.cameras.base import DEFAULT_MAINS_HZ, Camera, CameraError
from device.cameras.listing import hide_credentials, is_network_address
from device.catalogue import get_text

if TYPE_CHECKING:
    from device.cameras.folder import ShownPictures


def open_camera(
    spec: str, open_record: Callable[[Path], ShownPictures] | None = None, mains_hz: int = DEFAULT_MAINS_HZ
) -> Camera:
    """Open the camera that `spec` names.

    `spec` is `phone`, `phone-stream`, `folder:DIR`, `usb:N`, `usb:/dev/v4l/by-id/...`, an address, `pi`, or `pi:1` for
    the second camera module. `mains_hz` is the frequency of the mains, with which lamps flicker.

    `open_record` is called only for a folder. It returns the record of the pictures that a camera has already returned;
    these pictures are skipped. If `open_record` is None, no picture is skipped. Raises `CameraError` if there is no
    such camera; the message explains what to do.
    """
    kind, _, where = spec.partition(":")
    if kind == "folder" and where:
        from device.cameras.folder import FolderCamera

        # A shell expands ~ only at the beginning of a word.
        folder = Path(where).expanduser() if where.startswith("~/") else Path(where)
        return FolderCamera.from_folder(folder, open_record and open_record(folder))
    if _is_usb_camera(spec):
        from device.cameras.usb import UsbCamera

        return UsbCamera(where, mains_hz)
    if is_network_address(spec):
        from device.cameras.stream import NetworkCamera

        return NetworkCamera(spec)
    if spec == "phone":
        from device.cameras.phone import PhoneCamera

        return PhoneCamera()
    if spec == "phone-stream":
        from device.cameras.phone import PhoneStreamCamera

        return PhoneStreamCamera()
    if _is_camera_module(spec):
        from device.cameras.pi import PiCamera

        return PiCamera(number=int(where or 0), mains_hz=mains_hz)
    raise CameraError(get_text("camera-unknown", hide_credentials(spec)))


def is_camera_spec(spec: str) -> bool:
    """Return True if `spec` is a value of the setting `camera.source`; such a camera need not exist."""
    return _is_reconnectable(spec) or re.fullmatch(r"auto|phone(-stream)?|folder:.+", spec) is not None


def _is_reconnectable(spec: str) -> bool:
    """Return True if `spec` names a camera that may be missing at first, or be lost and return."""
    return _is_camera_module(spec) or _is_usb_camera(spec) or is_network_address(spec)


def _is_camera_module(spec: str) -> bool:
    """Return True if `spec` names a camera module of a Raspberry Pi: `pi`, `pi:0` or `pi:1`."""
    return re.fullmatch(r"pi(:\d)?", spec) is not None


def _is_usb_camera(spec: str) -> bool:
    """Return True if `spec` names a USB camera by its number or path: `usb:0` or `usb:/dev/v4l/by-id/...`."""
    return re.fullmatch(r"usb:(\d+|/.+)", spec) is not None


def open_reconnecting_camera(
    spec: str,
    open_record: Callable[[Path], ShownPictures] | None = None,
    mains_hz: int = DEFAULT_MAINS_HZ,
    ended: threading.Event | None = None,
) -> Camera:
    """Open the camera that `spec` names; a USB, network or Pi camera that is missing is opened once it is connected.

    `open_record` and `mains_hz` have the same meaning as in `open_camera`, `ended` as in `ReconnectingCamera`. Raises
    `CameraError` if a folder does not exist or `spec` is invalid.
    """
    if not _is_reconnectable(spec):
        return open_camera(spec, open_record, mains_hz)
    from device.cameras.reconnecting import ReconnectingCamera

    return ReconnectingCamera(lambda: open_camera(spec, mains_hz=mains_hz), ended=ended)
