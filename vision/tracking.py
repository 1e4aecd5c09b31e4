"""Board tracking: find the board where it was in the last picture, and search only where that fails.

Following a board costs less than searching for it, and keeps the order of its corners, so that the reading stays the
right way up.

    tracker = BoardTracker()
    for image in images:
        reading = reader.read(image, tiles, hint=tracker)
        tracker = tracker.update(image, reading.location)
        if is_plausible(reading):
            tracker = tracker.confirm(reading.corners)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from vision.detection.location import BoardLocation, BoardNotFoundError, LocationSource, Locator
from vision.geometry import Floats, Image, as_quad, is_convex, rotate_quad, square_side

MIN_TRACKING_CONFIDENCE: Final = 0.5
"""Confidence of a followed location below which the board is searched for."""
MIN_REPLACING_CONFIDENCE: Final = 0.95
"""Confidence from which a searched location replaces corners that a user placed."""
MIN_MOVED_SQUARES: Final = 1.0
"""Distance in squares between two locations from which the board has been moved."""
MAX_USER_CORNER_SHIFT_SQUARES: Final = 0.5
"""Distance in squares up to which following may refine corners that a user placed; farther off, it found another grid
than the user meant."""


@dataclass(frozen=True, slots=True, eq=False)
class BoardTracker:
    """What is known of a board's location before the next picture.

    An immutable value: every method returns a new one. It belongs to the pictures of one camera.
    """

    corners: Floats | None = None
    """`(4, 2)` px in the last picture whose reading was confirmed, clockwise from the top left as the tiles read
    upright; None before the first."""
    has_user_corners: bool = False
    """True while the corners are those that a user placed."""
    image_shape: tuple[int, ...] = ()
    """Shape of the pictures that the corners belong to."""
    is_unreliable: bool = False
    """True after a reading that made no sense: the next picture is searched."""

    def locate(self, image: Image, locator: Locator) -> BoardLocation:
        """Follow the board into `image`, or search for it. Raises `BoardNotFoundError`."""
        expected = self._for_shape(image.shape)
        if expected.corners is None or (expected.is_unreliable and not expected.has_user_corners):
            return locator.locate(image)
        try:
            followed = locator.follow(image, expected.corners)
        except BoardNotFoundError:
            return expected._search(image, locator, expected.corners)
        is_near = (
            not expected.has_user_corners
            or measure_corner_distance(followed.corners, expected.corners) <= MAX_USER_CORNER_SHIFT_SQUARES
        )
        if followed.confidence >= MIN_TRACKING_CONFIDENCE and is_near:
            return followed
        return expected._search(image, locator, expected.corners)

    def update(self, image: Image, location: BoardLocation | None) -> BoardTracker:
        """Return the tracker after `image` was located by it; `location` is None where no board was found.

        A searched location has replaced the corners of a user. New corners are taken over by `confirm` only.
        """
        after = self._for_shape(image.shape)
        is_replaced = location is not None and location.source is LocationSource.SEARCHED
        return replace(after, is_unreliable=False, has_user_corners=after.has_user_corners and not is_replaced)

    def confirm(self, corners: Floats) -> BoardTracker:
        """Return the tracker after the board was read at these corners, upright, and the reading made sense."""
        return replace(self, corners=corners, is_unreliable=False)

    def mark_unreliable(self) -> BoardTracker:
        """Return a tracker that searches the next picture, unless a user placed the corners."""
        return replace(self, is_unreliable=True)

    def place_corners(self, corners: Floats, image_shape: tuple[int, ...]) -> BoardTracker:
        """Return a tracker with the corners that a user placed in pictures of this shape.

        They hold until the board is found elsewhere with certainty. Raises ValueError for corners that no board has.
        """
        quad = as_quad(corners)
        if not is_convex(quad):
            raise ValueError("corners must run clockwise from the top left of the tiles")
        return replace(self, corners=quad, has_user_corners=True, image_shape=image_shape)

    def reset(self) -> BoardTracker:
        """Return a tracker without corners: the next picture is searched."""
        return replace(self, corners=None, has_user_corners=False)

    def _for_shape(self, image_shape: tuple[int, ...]) -> BoardTracker:
        """Return the tracker for pictures of another shape: pixels of one mean nothing in the other."""
        return self if image_shape == self.image_shape else replace(self.reset(), image_shape=image_shape)

    def _search(self, image: Image, locator: Locator, corners: Floats) -> BoardLocation:
        """Search for a board that could not be followed; without a clear result, corners of a user still hold."""
        try:
            found = locator.locate(image)
        except BoardNotFoundError:
            if self.has_user_corners:
                return BoardLocation(corners, 1.0, LocationSource.PLACED)
            raise
        is_moved = (
            found.confidence >= MIN_REPLACING_CONFIDENCE
            and measure_corner_distance(found.corners, corners) >= MIN_MOVED_SQUARES
        )
        if self.has_user_corners and not is_moved:
            return BoardLocation(corners, 1.0, LocationSource.PLACED)
        return found


def measure_corner_distance(one: Floats, other: Floats) -> float:
    """Return the largest distance between corners of two quads, in squares of `other`, under the best of four turns."""
    turns = (np.abs(rotate_quad(one, turn) - other).max() for turn in range(4))
    return float(min(turns)) / square_side(other)


def rotate_like(corners: Floats, before: Floats) -> Floats:
    """Return the quad `corners`, begun with the corner that is nearest to the first one of `before`."""
    turns = [rotate_quad(corners, turn) for turn in range(4)]
    return min(turns, key=lambda quad: float(np.abs(quad - before).max()))
