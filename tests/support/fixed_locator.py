"""A locator with a fixed answer."""

from __future__ import annotations

from dataclasses import dataclass

from vision.detection.location import BoardLocation, BoardNotFoundError
from vision.geometry import Floats, Image


@dataclass(frozen=True)
class FixedLocator:
    """A locator that finds the board at the same location in every picture, or no board if the location is None."""

    location: BoardLocation | None

    def locate(self, _: Image) -> BoardLocation:
        """Return the location. Raises `BoardNotFoundError`."""
        if self.location is None:
            raise BoardNotFoundError("No grid in the picture")
        return self.location

    def follow(self, image: Image, _: Floats) -> BoardLocation:
        """Return the location. Raises `BoardNotFoundError`."""
        return self.locate(image)
