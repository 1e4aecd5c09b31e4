"""A camera for pictures that players take: one picture of the board after each turn, sent by a phone."""

from __future__ import annotations

import time

from device.cameras.base import CLOSED_MESSAGE, CameraError, Frame, Image
from device.catalogue import get_text


class PictureNeededError(CameraError):
    """Error for a turn without a received picture: a player must take a picture with a phone."""


class PhoneCamera:
    """A camera that returns each picture sent by a phone once. It takes no pictures itself and has no previews."""

    is_live = False

    def __init__(self) -> None:
        self._image: Image | None = None
        self._is_closed = False

    def __repr__(self) -> str:
        return f"<PhoneCamera: {'no picture' if self._image is None else 'a picture'}>"

    def receive_picture(self, image: Image) -> None:
        """Keep a picture, `(H, W, 3) uint8 BGR`, for the next `capture_still`; it replaces an earlier picture."""
        self._image = image

    def capture_still(self) -> Frame:
        """Return the received picture. Raises `PictureNeededError` if there is none."""
        if self._is_closed:
            raise CameraError(CLOSED_MESSAGE)
        image, self._image = self._image, None
        if image is None:
            raise PictureNeededError(get_text("take-picture"))
        return Frame(image, time.monotonic())

    def capture_preview(self) -> None:
        """Return None: a phone sends no pictures between turns."""

    def close(self) -> None:
        """Close the camera; further calls of `capture_still` raise `CameraError`."""
        self._is_closed = True
