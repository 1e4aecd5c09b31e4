"""What every camera can do, and what it hands over."""

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
"""A picture without one pixel in a thousand brighter than this (of 255) shows nothing."""


class CameraError(TilekeeperError):
    """The camera gives no picture; the message says why and what to do next, on one line."""


class NoMorePicturesError(CameraError):
    """A folder has no picture that was not asked for yet."""


class BlackPictureError(CameraError):
    """Frames come, but nothing can be seen on them."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture: `image` `(H, W, 3) uint8 BGR`, `time` in seconds of `time.monotonic()`, its name if it has one."""

    image: Image
    time: float
    name: str = ""


class Camera(Protocol):
    """A source of pictures of the table. Used from one thread; `close` may come from another."""

    @property
    def live(self) -> bool:
        """True when asking again shows the table anew; False when each picture can be asked for once (a folder)."""

    def still(self) -> Frame:
        """A picture of the best quality that there is, taken after the call. Raises `CameraError`."""

    def preview(self) -> Frame | None:
        """A cheap picture to see motion by, or None from a camera whose pictures do not move. Raises `CameraError`."""

    def close(self) -> None:
        """Give the camera back; further calls raise `CameraError`."""


@runtime_checkable
class AutoExposureCamera(Protocol):
    """A camera that finds exposure, white balance and focus and then keeps them, so that tiles look the same."""

    def settle(self) -> None:
        """Find them anew: at the beginning of each game. Raises `CameraError`."""


CLOSED_MESSAGE = said("camera-closed", "the camera was closed")
STALLED_MESSAGE = said("camera-stalled", "the camera gives no pictures: check its cable; it is tried again by itself")
BLACK_MESSAGE = said("camera-black", "the camera's picture is black: is its cap on, or the light off?")


def is_black(image: Image) -> bool:
    """True when nothing can be seen on `image`."""
    return float(np.quantile(image[::8, ::8], 0.999)) <= BLACK_LEVEL
