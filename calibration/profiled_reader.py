"""A reader that knows its table."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from calibration.profile import TableKnowledge
from vision.geometry import Floats, Image
from vision.recognition.reader import PhotoReading


class Reader(Protocol):
    """Reads boards from pictures: `vision.recognition.reader.BoardReader`."""

    def read(self, image: Image, tiles: Collection[str], corners: Floats | None = None) -> PhotoReading:
        """Read the board in `image`, `(H, W, 3) uint8 BGR`."""


class AdaptedReader:
    """Reads as another reader does, then weighs what is in doubt by what the table has taught."""

    def __init__(self, reader: Reader, knowledge: TableKnowledge) -> None:
        self._reader = reader
        self._knowledge = knowledge

    def read(self, image: Image, tiles: Collection[str], corners: Floats | None = None) -> PhotoReading:
        """Read the board in `image`, `(H, W, 3) uint8 BGR`."""
        return self._knowledge.adapt(self._reader.read(image, tiles, corners), tiles)
