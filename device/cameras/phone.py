"""Phones as cameras: players take one picture after each turn, or a phone on a stand sends pictures all the time.

The page `/camera` of a phone on a stand sends its pictures over https (`web.pages.pictures`).
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from device.cameras.base import (
    BLACK_MESSAGE,
    CLOSED_MESSAGE,
    BlackPictureError,
    CameraError,
    Frame,
    Image,
    is_black,
)
from device.catalogue import get_text
from engine.errors import TilekeeperError
from vision.photo import PhotoError, decode_photo


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


PHONE_TIMEOUT_S = 3.0
"""Maximum time without a picture, in seconds. After this time, the phone counts as gone and the players get a notice.

The camera is checked at least every two seconds, so that the players get the notice within five seconds.
"""
STILL_TIMEOUT_S = 8.0
"""Maximum time until a requested picture has arrived, in seconds: long enough for a megabyte over a slow Wi-Fi."""
MAX_PICTURE_AGE_S = 10.0
"""Maximum age of a picture that a player has taken, in seconds; an older one is not used for a turn."""

NO_PHONE_MESSAGE = get_text("camera-no-phone")
PHONE_LEFT_MESSAGE = get_text("camera-phone-left")


class PhoneInUseError(TilekeeperError):
    """Error for a phone that cannot become the camera, because the phone named `device` is already the camera."""

    def __init__(self, device: str) -> None:
        super().__init__(device)
        self.device = device


class StreamEndedError(TilekeeperError):
    """Error for a picture from a phone that is no longer the camera; `device` is the present camera, or empty."""

    def __init__(self, device: str) -> None:
        super().__init__(device)
        self.device = device


@dataclass(frozen=True, slots=True)
class _Picture:
    """A received picture as JPEG data, and the time at which it arrived, in seconds of the camera's clock."""

    data: bytes
    time: float


class PhoneStreamCamera:
    """A live camera whose pictures arrive from one phone at a time; safe for several threads.

    Requests from the phone call `start`, the `receive_` methods and `stop`. These methods only store the JPEG data;
    `capture_still` and `capture_preview` decode it. `clock` returns seconds, and `wait` waits on a condition for a
    number of seconds.
    """

    is_live = True

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[threading.Condition, float], object] = threading.Condition.wait,
    ) -> None:
        self._clock, self._wait_on = clock, wait
        self._changed = threading.Condition()
        self._is_closed = False
        self._stream = self._client = self._device = ""
        self._last_time = float("-inf")
        self._preview: _Picture | None = None
        self._still: _Picture | None = None
        self._wanted: int | None = None
        self._request_count = 0
        self._taken: Frame | None = None

    def __repr__(self) -> str:
        return f"<PhoneStreamCamera: {self._device or 'no phone'}{'' if self.is_streaming else ', gone'}>"

    @property
    def is_streaming(self) -> bool:
        """True if a phone is the camera and has sent a picture in the last `PHONE_TIMEOUT_S` seconds."""
        return self._clock() - self._last_time < PHONE_TIMEOUT_S

    def start(self, client: str, device: str, *, takes_over: bool = False) -> str:
        """Make the phone with the id `client` and the name `device` the camera; return the id of its stream.

        Raises `PhoneInUseError` if another phone is the camera and `takes_over` is False.
        """
        with self._changed:
            if self.is_streaming and client != self._client and not takes_over:
                raise PhoneInUseError(self._device)
            self._stream, self._client, self._device = secrets.token_hex(8), client, device
            self._last_time = self._clock()
            self._preview = self._still = None
            self._changed.notify_all()
            return self._stream

    def receive_preview(self, stream: str, data: bytes) -> int | None:
        """Keep a small picture (JPEG data); return the number of the full picture that the phone must send, or None.

        Raises `StreamEndedError`.
        """
        with self._changed:
            self._preview = self._receive(stream, data)
            return self._wanted

    def receive_still(self, stream: str, number: int, data: bytes) -> None:
        """Keep the full picture `number` (JPEG data) if it is still needed. Raises `StreamEndedError`."""
        with self._changed:
            picture = self._receive(stream, data)
            if number == self._wanted:
                self._still, self._wanted = picture, None

    def stop(self, stream: str) -> None:
        """End the stream, because the page on the phone was hidden or closed."""
        with self._changed:
            if stream == self._stream:
                self._last_time = float("-inf")
                self._changed.notify_all()

    def receive_picture(self, image: Image) -> None:
        """Keep a picture that a player has taken, `(H, W, 3) uint8 BGR`, for the next call of `capture_still`."""
        with self._changed:
            self._taken = Frame(image, self._clock())

    def capture_still(self) -> Frame:
        """Return a full picture taken after the call, or one that a player has just taken. Raises `CameraError`."""
        with self._changed:
            if (taken := self._find_taken_picture()) is not None:
                self._taken = None
                return taken
            self._request_count += 1
            self._wanted, self._still = self._request_count, None
            try:
                picture = self._wait_for(lambda: self._still, self._clock() + STILL_TIMEOUT_S)
            finally:
                self._wanted = None
        frame = _decode(picture)
        if is_black(frame.image):
            raise BlackPictureError(BLACK_MESSAGE)
        return frame

    def capture_preview(self) -> Frame:
        """Return a small picture that arrived after the call. Raises `CameraError`."""
        with self._changed:
            if (taken := self._find_taken_picture()) is not None:
                return Frame(taken.image, self._clock())
            moment = self._clock()
            picture = self._wait_for(
                lambda: self._preview if self._preview and self._preview.time > moment else None,
                moment + PHONE_TIMEOUT_S,
            )
        return _decode(picture)

    def close(self) -> None:
        """Close the camera; waiting calls and further calls raise `CameraError`."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _receive(self, stream: str, data: bytes) -> _Picture:
        """Return the received data as a picture, and note the time of arrival. Raises `StreamEndedError`."""
        if stream != self._stream or not stream:
            raise StreamEndedError(self._device if self.is_streaming else "")
        self._last_time = self._clock()
        self._changed.notify_all()
        return _Picture(data, self._last_time)

    def _find_taken_picture(self) -> Frame | None:
        taken = self._taken
        return taken if taken is not None and self._clock() - taken.time < MAX_PICTURE_AGE_S else None

    def _wait_for(self, find: Callable[[], _Picture | None], until: float) -> _Picture:
        """Wait until the function `find` returns a picture instead of None, and return that picture.

        Raises `CameraError` if there is no picture at the time `until` (s), if the phone is gone, or if the camera is
        closed.
        """
        while True:
            if self._is_closed:
                raise CameraError(CLOSED_MESSAGE)
            if (picture := find()) is not None:
                return picture
            now = self._clock()
            left = min(until, self._last_time + PHONE_TIMEOUT_S) - now
            if left <= 0:
                raise CameraError(PHONE_LEFT_MESSAGE if self._stream else NO_PHONE_MESSAGE)
            self._wait_on(self._changed, left)


def _decode(picture: _Picture) -> Frame:
    """Return a received picture as a frame with the decoded image. Raises `CameraError`."""
    try:
        image = decode_photo(picture.data, "phone").image
    except PhotoError as error:
        raise CameraError(get_text("camera-picture", error)) from error
    return Frame(np.asarray(image, np.uint8), picture.time)
