"""Interface of all cameras, the class of their pictures, and the errors that cameras raise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from device.catalogue import get_text
from engine.errors import TilekeeperError

Image = npt.NDArray[np.uint8]
"""A picture: `(H, W, 3) uint8 BGR`, or `(H, W) uint8` grey for a preview."""
PREVIEW_HEIGHT_PX = 432
"""Smallest height of previews, in pixels. If the board fills four fifths of the height, a square has 23 px: enough to
tell letters as similar as O and Q apart."""
BLACK_LEVEL = 6
"""Grey level (0 to 255). A picture is black if at most one pixel value in a thousand is above this level."""

LIGHT_CHANGE_RATIO = 1.6
"""Maximum ratio of two brightnesses, the larger to the smaller. Beyond this ratio, exposure is adjusted again.

This happens, for example, at dusk or when a lamp is switched on.
"""
FRAME_TIMEOUT_S = 2.0
"""Time without a picture, in seconds; if it is exceeded, a live camera counts as stalled."""
REOPEN_DELAYS_S = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Seconds before each attempt to open a camera again that stopped sending pictures; the last value is repeated."""
DEFAULT_MAINS_HZ = 50
"""Frequency of the mains in Hz; 60 in North America and some other countries."""


class CameraError(TilekeeperError):
    """Error for a camera that cannot return a picture; the message gives the reason and the remedy on one line."""


class NoMorePicturesError(CameraError):
    """Error for a camera that has already returned all pictures of its folder or list."""


class BlackPictureError(CameraError):
    """Error for a picture that is black, although the camera works."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture from a camera.

    `image` is `(H, W, 3) uint8 BGR` for a still; a preview may be grey, `(H, W) uint8`. `time` is in seconds of
    `time.monotonic()`. `name` is the path of the file, or empty for a picture from a live camera.
    """

    image: Image
    time: float
    name: str = ""


class Camera(Protocol):
    """Interface of a camera over the table.

    One thread uses a camera; only `close` may be called from another thread.
    """

    @property
    def is_live(self) -> bool:
        """True if each picture shows the table at the time of the call; False for a folder or list of files."""

    def capture_still(self) -> Frame:
        """Return a picture of the best quality that was exposed after the call. Raises `CameraError`."""

    def capture_preview(self) -> Frame | None:
        """Return a small picture that arrived after the call, or None if the camera is not live.

        Previews are compared with each other, so they have the field of view of a still and at least
        `PREVIEW_HEIGHT_PX` rows. A grey preview is enough and costs less. Raises `CameraError`.
        """

    def close(self) -> None:
        """Close the camera; further calls raise `CameraError`."""


@runtime_checkable
class AutoExposureCamera(Protocol):
    """Interface of a camera that locks exposure, white balance and focus, so that tiles look the same all the time."""

    def settle(self) -> None:
        """Adjust exposure, white balance and focus to the current light, then lock them. Raises `CameraError`.

        Called at the beginning of each game.
        """


class AbsentCamera:
    """Replacement for a camera that is not available: each capture raises `CameraError` with a given message.

    The game goes on: the players enter their plays on the page.
    """

    is_live = True

    def __init__(self, message: str) -> None:
        self._message = message

    def capture_still(self) -> Frame:
        """Raise `CameraError` with the message of this camera."""
        raise CameraError(self._message)

    def capture_preview(self) -> Frame | None:
        """Raise `CameraError` with the message of this camera."""
        raise CameraError(self._message)

    def close(self) -> None:
        """Do nothing, because no device is open."""


CLOSED_MESSAGE = get_text("camera-closed")
STALLED_MESSAGE = get_text("camera-stalled")
BLACK_MESSAGE = get_text("camera-black")


def is_black(image: Image) -> bool:
    """Return True if at most one pixel value in a thousand of `image` is above `BLACK_LEVEL`."""
    return float(np.quantile(image[::8, ::8], 0.999)) <= BLACK_LEVEL


def measure_brightness(image: Image) -> float:
    """Return the mean brightness of a picture (0 to 255)."""
    return float(np.mean(image[::8, ::8]))


def has_light_changed(before: float, now: float) -> bool:
    """Return True if two pictures with these mean brightnesses (0 to 255) were certainly taken in different light."""
    darker, brighter = sorted((max(before, 1.0), max(now, 1.0)))
    return brighter / darker > LIGHT_CHANGE_RATIO
