"""Result of board detection: where the board is in a picture, and how that is known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from engine.errors import TilekeeperError
from vision.geometry import Floats, Image


class BoardNotFoundError(TilekeeperError):
    """No whole board is in the picture; the message explains what is there instead."""


class LocationSource(Enum):
    """How a location was determined."""

    SEARCHED = "searched"
    """Found in the whole picture."""
    FOLLOWED = "followed"
    """Found near the corners that it had in an earlier picture."""
    PLACED = "placed"
    """Taken from corners that a user placed."""


@dataclass(frozen=True, slots=True, eq=False)
class BoardLocation:
    """A board in a picture."""

    corners: Floats
    """`(4, 2) float64` px: outer corners of the 15 x 15 grid, clockwise. A board that was searched begins with the
    corner nearest the picture's top left, because the search does not know which way the tiles read; a board that was
    followed keeps its order of corners."""
    confidence: float
    """0..1."""
    source: LocationSource = LocationSource.SEARCHED


class Locator(Protocol):
    """Finds boards, as `vision.detection.locator.BoardLocator` does; tests pass their own."""

    def locate(self, image: Image) -> BoardLocation:
        """Search `(H, W, 3) uint8 BGR` for a board. Raises `BoardNotFoundError`."""

    def follow(self, image: Image, corners: Floats) -> BoardLocation:
        """Find a board near the `corners` of an earlier picture. Raises `BoardNotFoundError`."""
