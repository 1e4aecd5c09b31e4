"""The camera over the board, with the reader of its pictures and the tracker of the board's location."""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass

from device.cameras import AutoExposureCamera, Camera, Frame
from device.capture.motion import wait_until_still
from vision.geometry import Floats, Image
from vision.recognition.reader import PhotoReader, PhotoReading
from vision.tracking import MIN_MOVED_SQUARES, BoardTracker, measure_corner_distance, rotate_like

MIN_ORIENTATION_CONFIDENCE = 0.95
"""Confidence of the orientation below which a board that was not moved keeps the one that it had before."""


@dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """A picture and what was read from it."""

    frame: Frame
    reading: PhotoReading


class BoardCamera:
    """A camera, its reader and the tracker of its board, for several threads: one at a time takes or reads a picture.

    With `follows_board` each picture is searched near the corners of the last one; without, every picture is searched
    whole, as photographs of different tables must be. Corners that a user placed count in both cases.
    """

    def __init__(self, camera: Camera, reader: PhotoReader, *, follows_board: bool = True) -> None:
        self._camera = camera
        self._reader = reader
        self._follows_board = follows_board
        self._tracker = BoardTracker()
        self._lock = threading.RLock()

    @property
    def tracker(self) -> BoardTracker:
        """What is known of the board's location now."""
        with self._lock:
            return self._tracker

    @property
    def live(self) -> bool:
        """True if a new picture can show something new (False for a list of files)."""
        return self._camera.live

    def settle_camera(self) -> None:
        """Let the camera adjust exposure and focus again. Raises `CameraError`."""
        if isinstance(self._camera, AutoExposureCamera):
            with self._lock:
                self._camera.settle()

    def preview(self) -> Frame | None:
        """Return a small picture for motion detection, None if the camera has none. Raises `CameraError`."""
        with self._lock:
            return self._camera.preview()

    def still(self) -> Frame:
        """Return a full picture. Raises `CameraError`."""
        with self._lock:
            return self._camera.still()

    def capture_board(self, tiles: Collection[str]) -> Capture:
        """Wait until nothing moves, for a limited time, then read the board. Raises `CameraError`."""
        with self._lock:
            frame = wait_until_still(self._camera)
            return Capture(frame, self.read_board(frame.image, tiles))

    def read_board(self, image: Image, tiles: Collection[str]) -> PhotoReading:
        """Read the board in a picture of this camera, `(H, W, 3) uint8 BGR`."""
        with self._lock:
            before = self._tracker.corners
            reading = self._reader.read(image, tiles, hint=self._tracker)
            self._tracker = self._tracker.update(image, reading.location)
            if (
                before is not None
                and reading.board is not None
                and reading.corners is not None
                and reading.orientation_confidence < MIN_ORIENTATION_CONFIDENCE
                and measure_corner_distance(reading.corners, before) < MIN_MOVED_SQUARES
            ):
                # A board with few tiles that was not moved is still the way up that it was.
                reading = self._reader.read(image, tiles, corners=rotate_like(reading.corners, before))
            return reading

    def confirm_location(self, reading: PhotoReading) -> None:
        """Follow the board from the corners of a reading that made sense."""
        if reading.orientation_confidence >= MIN_ORIENTATION_CONFIDENCE:
            self.adopt_location(reading)

    def adopt_location(self, reading: PhotoReading) -> None:
        """Follow the board from the corners of a reading, whatever its orientation."""
        with self._lock:
            if self._follows_board and reading.corners is not None:
                self._tracker = self._tracker.confirm(reading.corners)

    def mark_location_unreliable(self) -> None:
        """Search the next picture: the reading made no sense, so perhaps the board is elsewhere."""
        with self._lock:
            self._tracker = self._tracker.mark_unreliable()

    def place_corners(self, corners: Floats, image_shape: tuple[int, ...]) -> None:
        """Take corners that a user placed in pictures of this shape. Raises ValueError for what is no board."""
        with self._lock:
            self._tracker = self._tracker.place_corners(corners, image_shape)

    def forget_corners(self) -> None:
        """Search the next picture, without the corners that a user placed or that were confirmed."""
        with self._lock:
            self._tracker = self._tracker.reset()

    def close(self) -> None:
        """Release the camera."""
        self._camera.close()
