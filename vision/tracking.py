"""Follow the board from picture to picture: search near its last corners first, and in the whole picture if that fails.

Tracking costs less than a search, and keeps the order of the corners, so that the reading stays upright.

    tracker = BoardTracker()
    for image in images:
        reading = reader.read(image, tiles, hint=tracker)
        tracker = tracker.update(image, reading.location)
        if is_plausible(reading):
            tracker = tracker.confirm(reading.corners, reading.memory)

With the memory of a plausible reading, only squares that changed are read again (see `vision.recognition.memory`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from vision.detection.location import BoardLocation, BoardNotFoundError, LocationSource, Locator
from vision.geometry import Floats, Image, as_quad, is_convex, reverse_quad, rotate_quad, square_side
from vision.recognition.memory import BoardMemory, RecalledBoard

MIN_TRACKING_CONFIDENCE: Final = 0.6
"""Minimum confidence (0..1) of a tracked location; if it is lower, the whole picture is searched as well. It is lower
for a grid whose colours do not agree with the layout, which may be another grid than the board."""
MIN_REPLACING_CONFIDENCE: Final = 0.95
"""Minimum confidence (0..1) with which a location found by search replaces the corners that a user placed."""
MIN_MOVED_SQUARES: Final = 1.0
"""Minimum distance, in squares, between the corners in two pictures for the board to count as moved. A grid that a
search finds nearer to the corners that a user placed is the marked grid, unless that grid was detected before."""
MAX_USER_CORNER_SHIFT_SQUARES: Final = 0.5
"""Maximum distance, in squares, by which tracking may move corners that a user placed. After a larger movement, the
tracked grid is another grid than the one that the user marked, or the board has moved."""
_MAX_DISTANCE_OUTSIDE: Final = 1.0
"""Maximum distance of a placed corner from the picture, as a share of the picture's longer side."""


@dataclass(frozen=True, slots=True, eq=False)
class BoardTracker:
    """State of the board's location between pictures of one camera: the last corners and how they were obtained.

    An immutable value: every method returns a new tracker.
    """

    corners: Floats | None = None
    """`(4, 2)` px: corners in the last picture whose reading was confirmed; None before the first one. They are
    clockwise from the top left of the upright board, or anticlockwise if the picture was mirrored."""
    has_user_corners: bool = False
    """True while `corners` are corners that a user placed."""
    is_user_grid_detected: bool = False
    """True if the grid that a user marked has been detected in a picture since then. Its exact place is then known, so
    a grid that is detected elsewhere has moved, even by less than `MIN_MOVED_SQUARES`."""
    is_upright: bool = False
    """True if the order of `corners` is that of the upright board: its tiles showed it, or a user placed the corners.
    False after a search in which the board had no tiles."""
    image_shape: tuple[int, ...] = ()
    """Shape of the images for which `corners` are valid."""
    is_unreliable: bool = False
    """True after an implausible reading: the whole next picture is searched, unless a user placed the corners."""
    is_mirrored: bool = False
    """True if the camera delivers mirrored pictures, according to the last reading that showed it clearly, or to the
    players."""
    memory: BoardMemory | None = None
    """Memory of the last picture with a confirmed reading."""

    @property
    def has_worn_memory(self) -> bool:
        """True if the whole board must be read in the next picture, because several pictures have used the memory."""
        return self.memory is not None and self.memory.is_worn

    def recall(self, image: Image, tiles: Collection[str]) -> RecalledBoard | None:
        """Compare a picture with the memory of earlier pictures; return None if the whole board must be read."""
        expected = self._for_shape(image.shape)
        if expected.memory is None or expected.is_unreliable:
            return None
        return expected.memory.recall(image, tiles)

    def locate(self, image: Image, locator: Locator) -> BoardLocation:
        """Find the board in `image`: near `corners` if possible, else by a full search. Raises `BoardNotFoundError`.

        The corners of the result are in clockwise order, for a mirrored picture too.
        """
        expected = self._for_shape(image.shape)
        if expected.corners is not None and not is_convex(expected.corners):
            expected = replace(expected, corners=reverse_quad(expected.corners))
        if expected.corners is None or (expected.is_unreliable and not expected.has_user_corners):
            return locator.locate(image)
        try:
            followed = locator.follow(image, expected.corners)
        except BoardNotFoundError:
            return expected._search(image, locator, expected.corners)
        if expected.has_user_corners:
            is_near = measure_corner_distance(followed.corners, expected.corners) <= MAX_USER_CORNER_SHIFT_SQUARES
            return followed if is_near else expected._search(image, locator, expected.corners)
        if followed.confidence >= MIN_TRACKING_CONFIDENCE:
            return followed
        return _search_better(image, locator, followed)

    def update(self, image: Image, location: BoardLocation | None) -> BoardTracker:
        """Return the tracker for the next picture, given the location of the board in `image` (None if none was found).

        If the location is from a full search, `corners` no longer count as placed by a user. The corners stay the same
        until `confirm` replaces them, after a plausible reading. A mirrored picture deletes the memory, which has only
        pictures that are not mirrored.
        """
        after = self._for_shape(image.shape)
        source = None if location is None else location.source
        is_mirrored = after.is_mirrored if location is None else location.is_mirrored
        has_user_corners = after.has_user_corners and source is not LocationSource.SEARCHED
        is_detected = after.is_user_grid_detected or source is LocationSource.FOLLOWED
        return replace(
            after,
            is_unreliable=False,
            has_user_corners=has_user_corners,
            is_user_grid_detected=has_user_corners and is_detected,
            is_mirrored=is_mirrored,
            memory=None if is_mirrored else after.memory,
        )

    def confirm(self, corners: Floats, memory: BoardMemory | None = None, *, is_upright: bool = True) -> BoardTracker:
        """Return a tracker with the corners of a plausible reading and its memory.

        `corners` `(4, 2)` are in px, clockwise from the top left of the upright board, or anticlockwise if the picture
        is mirrored. `is_upright` is False if it is not known which corner is the top left one.
        """
        return replace(self, corners=corners, is_upright=is_upright, is_unreliable=False, memory=memory)

    def mark_unreliable(self) -> BoardTracker:
        """Return a tracker that searches the whole next picture, unless a user placed the corners.

        An implausible reading does not show that pictures are mirrored: the order of the confirmed corners does.
        """
        is_mirrored = self.is_mirrored
        if self.corners is not None and not self.has_user_corners:
            is_mirrored = not is_convex(self.corners)
        return replace(self, is_unreliable=True, is_mirrored=is_mirrored)

    def place_corners(
        self, corners: Floats, image_shape: tuple[int, ...], *, is_detected: bool = False
    ) -> BoardTracker:
        """Return a tracker with corners that a user placed in images of shape `image_shape`.

        These corners are used until a search finds the board elsewhere with high confidence. `is_detected` is True if
        their grid was also detected (`is_user_grid_detected`). Raises ValueError if a corner is far outside the picture
        or the corners are no convex quad in clockwise order; if the pictures are mirrored, either order is accepted.
        """
        quad = as_quad(corners)
        size = np.array([image_shape[1], image_shape[0]])
        outside = np.maximum(-quad, quad - size)
        if outside.max() > _MAX_DISTANCE_OUTSIDE * size.max():
            raise ValueError("a corner is too far outside the picture")
        if not is_convex(quad) and not (self.is_mirrored and is_convex(reverse_quad(quad))):
            raise ValueError("corners must run clockwise from the top left of the tiles")
        return replace(
            self,
            corners=quad,
            has_user_corners=True,
            is_user_grid_detected=is_detected,
            is_upright=True,
            image_shape=image_shape,
            memory=None,
        )

    def has_same_corners(self, other: BoardTracker) -> bool:
        """Return True if this tracker still has the corners of `other`, an earlier tracker.

        Returns False if corners were confirmed, placed or discarded after `other`, even if the coordinates are equal.
        """
        return self.corners is other.corners and self.has_user_corners == other.has_user_corners

    def reset(self) -> BoardTracker:
        """Return a tracker without corners, which searches the whole next picture.

        `is_mirrored` is kept, because it depends on the camera and not on the place of the board.
        """
        is_mirrored = self.is_mirrored
        return BoardTracker(image_shape=self.image_shape, is_unreliable=self.is_unreliable, is_mirrored=is_mirrored)

    def _for_shape(self, image_shape: tuple[int, ...]) -> BoardTracker:
        """Return this tracker if its images have `image_shape`, otherwise a tracker without corners for that shape."""
        return self if image_shape == self.image_shape else replace(self.reset(), image_shape=image_shape)

    def _search(self, image: Image, locator: Locator, corners: Floats) -> BoardLocation:
        """Search the whole picture for the board.

        If no user placed `corners`, returns the result of the search, or raises `BoardNotFoundError` if it fails. If a
        user placed `corners`, returns them unless the search finds a board in another place with high confidence.
        """
        min_moved = MAX_USER_CORNER_SHIFT_SQUARES if self.is_user_grid_detected else MIN_MOVED_SQUARES
        try:
            found = locator.locate(image)
            is_moved = (
                found.confidence >= MIN_REPLACING_CONFIDENCE
                and measure_corner_distance(found.corners, corners) >= min_moved
            )
            if is_moved or not self.has_user_corners:
                return found
        except BoardNotFoundError:
            if not self.has_user_corners:
                raise
        return BoardLocation(corners, 1.0, LocationSource.PLACED)


def _search_better(image: Image, locator: Locator, followed: BoardLocation) -> BoardLocation:
    """Search the whole picture; return the location found if its confidence is higher, otherwise `followed`."""
    try:
        found = locator.locate(image)
    except BoardNotFoundError:
        return followed
    return found if found.confidence > followed.confidence else followed


def measure_corner_distance(one: Floats, other: Floats) -> float:
    """Return the largest coordinate difference between the corners of two quads, in squares.

    Any corner may be the first: of the four possible orders, the one with the smallest difference counts.
    """
    turns = (np.abs(rotate_quad(one, turn) - other).max() for turn in range(4))
    return float(min(turns)) / square_side(other)


def rotate_like(corners: Floats, before: Floats) -> Floats:
    """Return `corners` with the first corner chosen so that they are nearest to the earlier quad `before`."""
    turns = [rotate_quad(corners, turn) for turn in range(4)]
    return min(turns, key=lambda quad: float(np.abs(quad - before).max()))
