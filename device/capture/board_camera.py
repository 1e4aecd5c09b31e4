"""What the table sees: its camera, its reader, and where the board lies from one picture to the next.

A board that lies where it lay is not searched: it is followed from its last place, which costs less and keeps the turn
in which its tiles read. Where following is not sure of itself, the board is searched for in the same picture.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from device.cameras import AutoExposureCamera, Camera, Frame
from device.capture.motion import wait_until_still
from vision.detection.location import BoardLocation, BoardNotFoundError
from vision.geometry import Floats, Image, square_side
from vision.quad import as_quad, is_convex
from vision.recognition.reader import PhotoReading

MIN_TRACKING_CONFIDENCE = 0.5
"""A place that following is less sure of than this is not believed: the board is searched for."""
MIN_SURE_CONFIDENCE = 0.95
"""A reading less sure of which way is up is turned as the board lay before."""
MIN_MOVED_SQUARES = 1.0
"""Squares between where people put a corner and where it is found, from which the board has been moved."""


class PhotoReader(Protocol):
    """Reads boards from pictures: `vision.recognition.reader.BoardReader`."""

    def read(self, image: Image, tiles: Collection[str], corners: Floats | None = None) -> PhotoReading:
        """Read the board in `image`, `(H, W, 3) uint8 BGR`."""


class Locator(Protocol):
    """Finds boards: `vision.detection.locator.BoardLocator`."""

    def locate(self, image: Image) -> BoardLocation:
        """Find the board. Raises `BoardNotFoundError`."""

    def follow(self, image: Image, corners: Floats) -> BoardLocation:
        """The same board, about where it was. Raises `BoardNotFoundError`."""


class BoardTracker:
    """Where the board lies, from picture to picture: what a reader of a table's pictures locates boards by.

    Used from one thread. `corners` `(4, 2)` px are those of the last picture whose reading made sense, clockwise from
    the top left as the tiles read upright; None before there was one.
    """

    def __init__(self, locator: Locator) -> None:
        self._locator = locator
        self._image_shape: tuple[int, ...] = ()
        self._is_unreliable = False
        self.corners: Floats | None = None
        self.has_user_corners = False
        """True while the corners are those that people put there."""
        self.search_count = 0
        """How often a board was searched for in a whole picture."""

    def __call__(self, image: Image) -> BoardLocation:
        """Where the board is. Raises `BoardNotFoundError`."""
        if image.shape != self._image_shape:
            self.reset()
        self._image_shape = image.shape
        doubted, self._is_unreliable = self._is_unreliable, False
        if self.corners is None or (doubted and not self.has_user_corners):
            return self._search_image(image)
        try:
            followed = self._locator.follow(image, self.corners)
        except BoardNotFoundError:
            return self._recover_location(image, self.corners)
        if followed.confidence >= MIN_TRACKING_CONFIDENCE and not (
            self.has_user_corners and _measure_corner_distance(followed.corners, self.corners) > 0.5
        ):
            return followed
        return self._recover_location(image, self.corners)

    def confirm(self, corners: Floats) -> None:
        """The board was read with these corners, upright, and what was read made sense."""
        self.corners, self._is_unreliable = corners, False

    def mark_unreliable(self) -> None:
        """What was read made no sense: search for the board in the next picture."""
        self._is_unreliable = True

    def set_corners(self, corners: Floats, shape: tuple[int, ...]) -> None:
        """People say where the corners are, in pictures of this shape. Raises ValueError for what is no board."""
        quad = as_quad(corners)
        if not is_convex(quad):
            raise ValueError("corners must run clockwise from the top left of the tiles")
        self.corners, self.has_user_corners, self._image_shape = quad, True, shape

    def reset(self) -> None:
        """Search for the board in the next picture."""
        self.corners, self.has_user_corners = None, False

    def _search_image(self, image: Image) -> BoardLocation:
        self.search_count += 1
        return self._locator.locate(image)

    def _recover_location(self, image: Image, corners: Floats) -> BoardLocation:
        """The board is not followed: it lies elsewhere, or else people know better where it is."""
        try:
            found = self._search_image(image)
        except BoardNotFoundError:
            if self.has_user_corners:
                return BoardLocation(corners, 1.0)
            raise
        if self.has_user_corners and (
            found.confidence < MIN_SURE_CONFIDENCE
            or _measure_corner_distance(found.corners, corners) < MIN_MOVED_SQUARES
        ):
            return BoardLocation(corners, 1.0)
        self.has_user_corners = False
        return found


def _measure_corner_distance(one: Floats, other: Floats) -> float:
    """How far apart two quads lie, in squares, whichever corner they begin with."""
    turns = (np.abs(np.roll(one, turn, axis=0) - other).max() for turn in range(4))
    return float(min(turns)) / square_side(other)


@dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """A picture and what was read from it."""

    frame: Frame
    reading: PhotoReading


class BoardCamera:
    """A camera and a reader, for several threads: each picture is taken and read by one of them at a time."""

    def __init__(self, camera: Camera, reader: PhotoReader, tracker: BoardTracker | None = None) -> None:
        """`where` is what the reader locates boards by; without it each picture is searched by itself."""
        self._camera = camera
        self._reader = reader
        self.tracker = tracker
        self._lock = threading.RLock()

    @property
    def live(self) -> bool:
        """True when looking again shows the table anew."""
        return self._camera.live

    def settle_camera(self) -> None:
        """Let the camera find exposure and focus anew. Raises `CameraError`."""
        if isinstance(self._camera, AutoExposureCamera):
            with self._lock:
                self._camera.settle()

    def preview(self) -> Frame | None:
        """A cheap picture to see motion by, None where pictures do not move. Raises `CameraError`."""
        with self._lock:
            return self._camera.preview()

    def still(self) -> Frame:
        """A picture as things stand now. Raises `CameraError`."""
        with self._lock:
            return self._camera.still()

    def capture_board(self, tiles: Collection[str]) -> Capture:
        """Wait until nothing moves before the board, for a while at most, then read it. Raises `CameraError`."""
        with self._lock:
            frame = wait_until_still(self._camera)
            return Capture(frame, self.read_board(frame.image, tiles))

    def read_board(self, image: Image, tiles: Collection[str]) -> PhotoReading:
        """Read the board in a picture of this camera, `(H, W, 3) uint8 BGR`."""
        with self._lock:
            where = self.tracker
            before = where.corners if where else None
            reading = self._reader.read(image, tiles)
            if where is None or reading.board is None or reading.corners is None:
                return reading
            if (
                before is not None
                and reading.orientation_confidence < MIN_SURE_CONFIDENCE
                and _measure_corner_distance(reading.corners, before) < MIN_MOVED_SQUARES
            ):
                reading = self._reader.read(image, tiles, _rotate_corners_like(reading.corners, before))
            return reading

    def confirm_location(self, reading: PhotoReading) -> None:
        """What was read makes sense: the board is looked for there in the next picture."""
        if self.tracker and reading.corners is not None and reading.orientation_confidence >= MIN_SURE_CONFIDENCE:
            self.tracker.confirm(reading.corners)

    def mark_location_unreliable(self) -> None:
        """What was read makes no sense: perhaps the board lies elsewhere."""
        if self.tracker:
            self.tracker.mark_unreliable()

    def close(self) -> None:
        """Give the camera back."""
        self._camera.close()


def _rotate_corners_like(corners: Floats, before: Floats) -> Floats:
    """The corners, beginning with the one that they began with before."""
    turns = [np.roll(corners, turn, axis=0) for turn in range(4)]
    return min(turns, key=lambda quad: float(np.abs(quad - before).max()))
