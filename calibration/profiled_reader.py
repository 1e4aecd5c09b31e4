"""A reader that knows its table."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from calibration.profile import TableProfile
from vision.geometry import Floats, Image
from vision.recognition.reader import PhotoReading


class PhotoReader(Protocol):
    """Reads boards from pictures: `vision.recognition.reader.BoardReader`."""

    def read(self, image: Image, tiles: Collection[str], corners: Floats | None = None) -> PhotoReading:
        """Read the board in `image`, `(H, W, 3) uint8 BGR`."""


class ProfiledReader:
    """Reads as another reader does, then weighs what is in doubt by what the table has taught."""

    def __init__(self, reader: PhotoReader, profile: TableProfile) -> None:
        self._reader = reader
        self._profile = profile

    def read(self, image: Image, tiles: Collection[str], corners: Floats | None = None) -> PhotoReading:
        """Read the board in `image`, `(H, W, 3) uint8 BGR`."""
        return self._profile.refine_reading(self._reader.read(image, tiles, corners), tiles)
