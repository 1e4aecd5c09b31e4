"""A network camera, which OpenCV reads with FFmpeg: a video stream over http (MJPEG) or rtsp, or single pictures."""

from __future__ import annotations

import os
from functools import partial

import cv2

from device.cameras.addresses import hide_credentials
from device.cameras.stream import StreamCamera, silence_opencv
from device.catalogue import get_text

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
