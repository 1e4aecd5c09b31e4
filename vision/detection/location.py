"""Result of board detection: corners, confidence, and the method by which the corners were obtained."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

import numpy as np

from engine.errors import TilekeeperError
from engine.messages import make_message
from vision.geometry import Floats, Image, square_side


class BoardNotFoundError(TilekeeperError):
    """Error for a picture without a complete board; its message says whether a part of a board is visible."""


class LocationSource(Enum):
    """Method by which the location of a board was obtained."""

    SEARCHED = "searched"
    """The board was detected by a search of the whole picture."""
    FOLLOWED = "followed"
    """The board was detected near its corners in an earlier picture."""
    PLACED = "placed"
    """A user placed the board's corners; nothing was detected."""


@dataclass(frozen=True, slots=True, eq=False)
class BoardLocation:
    """Location of a board in a picture: corners, confidence and method of detection."""

    corners: Floats
    """`(4, 2) float64` px: outer corners of the 15 x 15 grid, clockwise. After a search, the first corner is the one
    nearest the picture's top left, because the orientation of the tiles is unknown. After tracking, the first corner is
    the same as in the earlier picture."""
    confidence: float
    """Confidence (0..1) that the corners are the corners of a board."""
    source: LocationSource = LocationSource.SEARCHED
    is_mirrored: bool = False
    """True if the picture is mirrored, according to an earlier reading, the given corners or the letters."""


CUT_OFF_MESSAGES: Final = (
    make_message(
        "board-cut-left",
        "The board is cut off on the left side of the picture. Move the camera towards that side, or farther away.",
    ),
    make_message(
        "board-cut-top",
        "The board is cut off at the top of the picture. Move the camera towards that side, or farther away.",
    ),
    make_message(
        "board-cut-right",
        "The board is cut off on the right side of the picture. Move the camera towards that side, or farther away.",
    ),
    make_message(
        "board-cut-bottom",
        "The board is cut off at the bottom of the picture. Move the camera towards that side, or farther away.",
    ),
)
"""Messages for a board that is cut off on the left, top, right or bottom side (the order of `measure_overhangs`)."""

OTHER_GRID_MESSAGE: Final = make_message(
    "board-other",
    "The grid in the picture does not look like a board of 15 x 15 squares. Make sure that the camera sees the board.",
)
"""Message for a grid that is no board, or that has more squares than a board."""


def measure_overhangs(corners: Floats, width: int, height: int) -> Floats:
    """Return how far a quad extends beyond the left, top, right and bottom side of a picture: `(4,)`, in squares.

    The distance is negative on a side where all corners are in the picture of `width` x `height` px.
    """
    beyond = np.concatenate([-0.5 - corners.min(axis=0), corners.max(axis=0) - [width - 0.5, height - 0.5]])
    return np.asarray(beyond / square_side(corners), np.float64)


class Locator(Protocol):
    """Interface of board detectors; `vision.detection.locator.BoardLocator` implements it."""

    def locate(self, image: Image) -> BoardLocation:
        """Search the whole picture `(H, W, 3) uint8 BGR` for a board. Raises `BoardNotFoundError`."""

    def follow(self, image: Image, corners: Floats) -> BoardLocation:
        """Detect the board near its `(4, 2)` corners in an earlier picture. Raises `BoardNotFoundError`."""
