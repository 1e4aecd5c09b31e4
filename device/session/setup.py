"""Set-up of a table: find the board, use corners that a user placed, and enrol the table's tiles (learn their look)."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from calibration.enrolment import check_enrolment
from calibration.profile import ProfileError, TableProfile
from device.cameras.base import CameraError, Image, NoMorePicturesError
from device.capture.board_camera import BoardCamera
from device.capture.turn_images import encode_jpeg, shrink_image
from device.catalogue import get_text
from device.session.messages import make_refusal
from device.storage.errors import log_store_errors
from device.storage.files import write_file
from device.storage.notes import load_note
from device.storage.store import TABLE_NOTES, GameStore
from engine.board import SQUARES, square_name
from engine.messages import join_messages
from engine.reading import BOARD_SIZE
from vision.geometry import reverse_quad
from vision.recognition.reader import PhotoReading
from vision.tracking import BoardTracker

_log = logging.getLogger(__name__)

MAX_SIDE_PX = 1280
"""Longest side of the camera's picture on the set-up page, in pixels."""
JPEG_QUALITY = 80
NOTE_NAME = "corners"
ENROLMENT_SOURCE = "lesson"
"""Name that the examples of an enrolment have in place of a game's name. It is stored in the profile, so it stays."""

Corners = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class SetupView:
    """The camera's whole picture for the set-up page, as a JPEG of `size` (width, height) in pixels.

    `corners` are the four corners (x, y) of the grid in pixels, clockwise from the top left as the tiles read upright;
    None if no board was found. `placed` is True if a user placed the corners. `confidence` (0 to 1) refers to the
    orientation of the board.
    """

    jpeg: bytes
    size: tuple[int, int]
    corners: tuple[tuple[float, float], ...] | None
    confidence: float
    problems: tuple[str, ...] = ()
    placed: bool = False


class _StoredCorners(msgspec.Struct, frozen=True, omit_defaults=True):
    """Contents of the note: corners that a user placed, in pixels of a picture with this shape.

    `mirrored` is True for corners in a mirrored picture. `detected` is True if the grid was found near the corners.
    """

    corners: tuple[tuple[float, float], ...]
    shape: tuple[int, ...]
    mirrored: bool = False
    detected: bool = False


class TableSetup:
    """Set-up of one table: the corners of its board and the profile of its tiles; used by one thread."""

    def __init__(self, board_camera: BoardCamera, store: GameStore, profile: TableProfile | None) -> None:
        self._board_camera = board_camera
        self._store = store
        self._profile = profile
        self._last_image: Image | None = None
        self._image_shape: tuple[int, ...] = ()
        self._scale = 1.0
        self._last_mismatch: object = None
        """The entered faces and the squares that differed in the last call of `enrol_tiles`."""
        self._restore_corners()

    def capture_setup_view(self, tiles: Collection[str]) -> SetupView:
        """Take a picture and return it with the corners of the board; `tiles` are the letters of the tile set.

        If the camera is a folder without a new picture, the last one is used again, because the page asks for a view
        repeatedly. A new picture is left for the next turn, during which the page may be open. Raises `CameraError`.
        """
        image = self._take_picture()
        self._image_shape = image.shape
        self._scale = min(1.0, MAX_SIDE_PX / max(image.shape[:2]))
        reading = self._board_camera.read_board(image, tiles)
        if reading.is_flip_unsure and reading.is_mirrored and reading.corners is not None:
            # Show the corners of the picture as it is: corners that the user moves must not make it a mirrored one.
            reading = replace(reading, corners=reverse_quad(reading.corners), is_mirrored=False)
        if self._board_camera.tracker.corners is None:
            self._board_camera.adopt_location(reading)
        tracker = self._board_camera.tracker
        self._save_corners(tracker)
        return self._make_view(image, reading, placed=tracker.has_user_corners)

    def place_corners(self, corners: Corners | None, tiles: Collection[str]) -> SetupView:
        """Use the corners that a user placed, in pixels of the last view; if `corners` is None, search the board again.

        Return the new view. `tiles` are the letters of the tile set. Raises `CommandRefusedError` if the corners cannot
        form a board.
        """
        if corners is None:
            self._board_camera.forget_corners()
        else:
            if not self._image_shape:
                self.capture_setup_view(tiles)
            try:
                quad = (np.asarray(corners, np.float64) + 0.5) / self._scale - 0.5
                self._board_camera.place_corners(quad, self._image_shape)
            except ValueError:
                raise make_refusal("corners-wrong") from None
        return self.capture_setup_view(tiles)

    def enrol_tiles(self, rows: Sequence[Sequence[str]], tiles: Collection[str]) -> tuple[str, ...]:
        """Add the tiles on the board to the profile; return the squares on which the reading differs from `rows`.

        If any square differs, the profile is not changed. There is one exception: if only letters differ, and the user
        sends the same rows again, the rows are accepted as correct. Raises `CommandRefusedError`, `CameraError`.
        """
        if self._profile is None:
            raise make_refusal("no-enrolment")
        faces = [face for row in rows for face in row]
        if len(faces) != len(SQUARES) or any(len(row) != BOARD_SIZE for row in rows):
            raise make_refusal("enrolment-rows")
        reading = self._board_camera.capture_board(tiles).reading
        board, views = reading.board, reading.views
        if board is None or views is None:
            raise make_refusal("enrolment-unread", join_messages(" ", reading.problems))
        check = check_enrolment(rows, board)
        mismatched = tuple(square for square, _ in check.mismatched)
        mismatch = (faces, mismatched)
        is_repeated, self._last_mismatch = self._last_mismatch == mismatch, mismatch
        if not check.is_complete or not (check.is_clean or is_repeated):
            differing = {*check.missing, *check.extra, *check.hidden, *mismatched}
            return tuple(map(square_name, sorted(differing)))
        self._profile.learn(views, rows, ENROLMENT_SOURCE)
        try:
            self._profile.save(write_file)
        except ProfileError as error:
            _log.warning("the examples of the tiles are not saved: %s", error)
        return ()

    def _take_picture(self) -> Image:
        """Return the next picture. If a folder has no new picture, return the last one again. Raises `CameraError`."""
        try:
            image = self._board_camera.peek_still().image
        except NoMorePicturesError:
            if self._last_image is None:
                raise CameraError(get_text("camera-none-to-set-up")) from None
            return self._last_image
        if not self._board_camera.is_live:
            self._last_image = image
        return image

    def _make_view(self, image: Image, reading: PhotoReading, *, placed: bool) -> SetupView:
        """Return a small copy of the picture with the corners of the board in it."""
        small = shrink_image(image, MAX_SIDE_PX)
        corners, confidence = None, 0.0
        if reading.corners is not None:
            points = (reading.corners + 0.5) * self._scale - 0.5
            corners = tuple((round(float(x), 1), round(float(y), 1)) for x, y in points)
            confidence = reading.orientation_confidence
        size = (small.shape[1], small.shape[0])
        return SetupView(encode_jpeg(small, JPEG_QUALITY), size, corners, confidence, reading.problems, placed)

    def _save_corners(self, tracker: BoardTracker) -> None:
        """Save the corners of `tracker` if a user placed them; otherwise delete the saved corners."""
        data = ""
        if tracker.corners is not None and tracker.has_user_corners:
            corners, is_detected = tracker.corners.tolist(), tracker.is_user_grid_detected
            stored = _StoredCorners(corners, self._image_shape, tracker.is_mirrored, is_detected)
            data = msgspec.json.encode(stored).decode()
        with log_store_errors("the corners are not kept"):
            if (self._store.read_note(TABLE_NOTES, NOTE_NAME) or "") != data:
                self._store.save_note(TABLE_NOTES, NOTE_NAME, data)

    def _restore_corners(self) -> None:
        """Use the corners that were saved before the last end of the program, if the camera accepts them."""
        warning = "the corners that were kept cannot be used"
        stored = load_note(self._store, TABLE_NOTES, NOTE_NAME, _StoredCorners, warning)
        if stored is None:
            return
        corners = np.asarray(stored.corners, np.float64)
        try:
            self._board_camera.place_corners(
                corners, stored.shape, is_mirrored=stored.mirrored, is_detected=stored.detected
            )
        except ValueError as error:
            _log.warning("%s: %s", warning, error)
