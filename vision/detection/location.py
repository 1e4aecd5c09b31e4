"""Result of board detection: corners, confidence, and the method by which the corners were obtained."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from engine.errors import TilekeeperError
from vision.geometry import Floats, Image


class BoardNotFoundError(TilekeeperError):
    """Error for a picture without a complete board; the message distinguishes no board from a part of a board."""


class LocationSource(Enum):
    """Method by which the location of a board was obtained."""

    SEARCHED = "searched"
    """Detected by a search of the whole picture."""
    FOLLOWED = "followed"
    """Detected near the board's corners in an earlier picture."""
    PLACED = "placed"
    """Taken from corners that a user placed."""


@dataclass(frozen=True, slots=True, eq=False)
class BoardLocation:
    """Location of a board in a picture: corners, confidence and method of detection."""

    corners: Floats
    """`(4, 2) float64` px: outer corners of the 15 x 15 grid, clockwise. After a search, the first corner is the one
    nearest the picture's top left, because the orientation of the tiles is still unknown; after tracking, the order of
    the earlier corners is kept."""
    confidence: float
    """Confidence (0..1) that the corners are the corners of a board."""
    source: LocationSource = LocationSource.SEARCHED
    is_mirrored: bool = False
    """True if the picture is mirrored, as far as is known from an earlier reading or from the letters."""


class Locator(Protocol):
    """Interface of board detectors; `vision.detection.locator.BoardLocator` implements it."""

    def locate(self, image: Image) -> BoardLocation:
        """Search the whole picture `(H, W, 3) uint8 BGR` for a board. Raises `BoardNotFoundError`."""

    def follow(self, image: Image, corners: Floats) -> BoardLocation:
        """Detect the board near its `(4, 2)` corners in an earlier picture. Raises `BoardNotFoundError`."""
