"""Where a board lies in a picture: what the finding of boards tells the reading of them."""

from __future__ import annotations

from dataclasses import dataclass

from vision.geometry import Floats


class BoardNotFoundError(Exception):
    """No whole board is in the picture; the message says what was seen, for a person."""


@dataclass(frozen=True, slots=True, eq=False)
class BoardLocation:
    """A board in a picture.

    `corners` (4, 2) float64 px: outer corners of the 15 x 15 grid, clockwise, beginning with the one nearest the
    picture's top left (which way the tiles read is not known here). `confidence` 0..1.
    """

    corners: Floats
    confidence: float
