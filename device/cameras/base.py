"""The interface of all cameras, their pictures and their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from engine.errors import TilekeeperError
from engine.messages import said

Image = npt.NDArray[np.uint8]
"""`(H, W, 3) uint8 BGR`."""
BLACK_LEVEL = 6
"""Brightness (of 255) up to which a picture is black, measured at its 99.9th percentile."""


class CameraError(TilekeeperError):
    """The camera gives no picture; the message gives the reason and what to do next, on one line."""


class NoMorePicturesError(CameraError):
    """All pictures of a folder have been returned."""


class BlackPictureError(CameraError):
    """The camera gives pictures, but they are black."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture: `image` `(H, W, 3) uint8 BGR`, `time` in seconds of `time.monotonic()`, and a file name or `""`."""

    image: Image
    time: float
    name: str = ""


class Camera(Protocol):
    """A source of pictures of the table. It is used from one thread; `close` may be called from another."""

    @property
    def live(self) -> bool:
        """True if each picture shows the table as it is now; False if each can be returned only once (a folder)."""

    def still(self) -> Frame:
        """Return a picture of the best quality, exposed after the call. Raises `CameraError`."""

    def preview(self) -> Frame | None:
        """Return a small picture for detecting motion, None from a camera without live pictures.

        Raises `CameraError`.
        """

    def close(self) -> None:
        """Close the camera; further calls raise `CameraError`."""


@runtime_checkable
class AutoExposureCamera(Protocol):
    """A camera that adjusts exposure, white balance and focus and then locks them, so that tiles look the same."""

    def settle(self) -> None:
        """Adjust and lock them again, at the beginning of each game. Raises `CameraError`."""


class AbsentCamera:
    """A camera that gives no pictures, with a message why; the game goes on with what players enter."""

    live = True

    def __init__(self, message: str) -> None:
        self._message = message

    def still(self) -> Frame:
        """Raise `CameraError`."""
        raise CameraError(self._message)

    def preview(self) -> Frame | None:
        """Raise `CameraError`."""
        raise CameraError(self._message)

    def close(self) -> None:
        """Do nothing."""


CLOSED_MESSAGE = said("camera-closed", "the camera was closed")
STALLED_MESSAGE = said("camera-stalled", "the camera gives no pictures: check its cable; it is tried again by itself")
BLACK_MESSAGE = said("camera-black", "the camera's picture is black: is its cap on, or the light off?")


def is_black(image: Image) -> bool:
    """Return True if `image` is black but for at most one pixel in a thousand."""
    return float(np.quantile(image[::8, ::8], 0.999)) <= BLACK_LEVEL
