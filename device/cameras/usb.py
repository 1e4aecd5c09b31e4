"""A USB camera through V4L2 (1080p, MJPG) that is opened again after it was unplugged."""

from __future__ import annotations

from functools import partial

import cv2

from device.cameras.stream import StreamCamera
from engine.messages import make_message

WIDTH, HEIGHT = 1920, 1080
MOTION_JPEG = cv2.VideoWriter.fourcc(*"MJPG")


class UsbCamera(StreamCamera):
    """A USB camera (V4L2 device).

    `device` is a number (`0`) or, better, the path by id (`/dev/v4l/by-id/...`), because numbers change if cameras are
    plugged in in another order. Raises `CameraError` if the camera cannot be opened.
    """

    def __init__(self, device: str) -> None:
        text = "no camera at usb:{0}: is it plugged in, and does no other program use it?"
        missing = make_message("camera-no-usb", text, device)
        super().__init__(partial(_open_device, device), f"usb:{device}", missing)


def _open_device(device: str) -> cv2.VideoCapture | None:
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
