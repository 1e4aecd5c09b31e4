"""The camera over the board: it takes pictures, reads the board in them and tracks the board's location."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from device.cameras.base import (
    BLACK_MESSAGE,
    STALLED_MESSAGE,
    AutoExposureCamera,
    BlackPictureError,
    Camera,
    CameraError,
    Frame,
    Image,
    is_black,
)
from device.cameras.folder import FolderCamera
from device.capture.motion import RestDetector, RestScene, SceneReference, has_moved, make_thumbnail, wait_for_rest
from device.system.periodic import Backoff
from engine.board import Board
from engine.inference.evidence import find_inconsistent_squares
from vision.geometry import Floats
from vision.recognition.problems import MIN_ORIENTATION_CONFIDENCE
from vision.recognition.reader import PhotoReader, PhotoReading
from vision.tracking import MIN_MOVED_SQUARES, BoardTracker, measure_corner_distance, rotate_like


@dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """A picture of the table and the reading of the board in the picture."""

    frame: Frame
    reading: PhotoReading


@dataclass(frozen=True, slots=True, eq=False)
class AdvanceReading:
    """A reading of the board at rest that was made before a caller asked for it.

    The reading is valid while later previews match `reference`. `before` is the tracker of the board before the
    reading, `after` the tracker after the reading.
    """

    capture: Capture
    reference: SceneReference
    before: BoardTracker
    after: BoardTracker


class BoardCamera:
    """A camera with the reader of its pictures and the tracker of the board's location; safe for several threads.

    If `follows_board` is True, the board is first searched near its corners in the last picture. If it is False, the
    whole picture is searched each time, which is needed for photographs of different tables. Corners that a user placed
    are used in both cases.
    """

    def __init__(
        self,
        camera: Camera,
        reader: PhotoReader,
        *,
        follows_board: bool = True,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], bool | None] = time.sleep,
    ) -> None:
        self._clock, self._wait = clock, wait
        self._camera = camera
        self._reader = reader
        self._follows_board = follows_board
        self._tracker = BoardTracker()
        self._unsure_flip: PhotoReading | None = None
        """The last reading if `is_flip_unsure`; None if a user has placed or discarded corners since."""
        self._before_flip: BoardTracker | None = None
        """The tracker before the recorded tiles confirmed `_unsure_flip`; None if they have not."""
        self._newest_preview: Frame | None = None
        self._lock = threading.RLock()

    @property
    def tracker(self) -> BoardTracker:
        """Tracker with the present location of the board."""
        with self._lock:
            return self._tracker

    @property
    def is_live(self) -> bool:
        """True if each picture shows the table at the time of the call; False for pictures from files."""
        return self._camera.is_live

    def settle_camera(self) -> None:
        """Adjust exposure, white balance and focus again, if the camera supports it. Raises `CameraError`."""
        if isinstance(self._camera, AutoExposureCamera):
            with self._lock:
                self._camera.settle()

    def capture_preview(self) -> Frame | None:
        """Return a small picture for motion detection, or None if the camera is not live. Raises `CameraError`."""
        with self._lock:
            self._newest_preview = self._camera.capture_preview()
            return self._newest_preview

    def capture_still(self) -> Frame:
        """Return a picture of the best quality that was exposed after the call. Raises `CameraError`."""
        with self._lock:
            return self._camera.capture_still()

    def peek_still(self) -> Frame:
        """Return a picture like `capture_still`, but leave a new picture of a folder for the next turn.

        Raises `CameraError`.
        """
        with self._lock:
            return self._camera.peek_still() if isinstance(self._camera, FolderCamera) else self._camera.capture_still()

    def capture_board(self, tiles: Collection[str], advance: AdvanceReading | None = None) -> Capture:
        """Wait up to `MAX_WAIT_S` seconds until nothing moves, then read the board. Raises `CameraError`.

        If the board still looks as in the reading `advance`, that reading and its picture are returned at once.
        `advance` is not used if the tracked corners have changed since. `tiles` are the letters of the tile set.
        """
        call_time = self._clock()
        with self._lock:
            usable = advance if advance is not None and self._tracker.has_same_corners(advance.before) else None

            def is_unchanged(preview: Frame) -> bool:
                return usable is not None and usable.reference.matches(preview.image)

            # While this thread waited for the camera, another one may have taken a preview that is new enough.
            newest = self._newest_preview
            is_known = newest is not None and call_time < newest.time <= self._clock() and is_unchanged(newest)
            if not is_known:
                is_known = wait_for_rest(self._camera, is_enough=is_unchanged, clock=self._clock, wait=self._wait)
            if usable is not None and is_known:
                self._tracker, capture = usable.after, usable.capture
            else:
                frame = self._camera.capture_still()
                capture = Capture(frame, self.read_board(frame.image, tiles))
            self._unsure_flip = capture.reading if capture.reading.is_flip_unsure else None
            self._before_flip = None
            return capture

    def settle_flip(self, board: Board) -> None:
        """Decide whether the pictures are mirrored if only a few tiles of the last reading show it.

        `board` is the recorded board. If it has the tiles of the flipped picture, and not those of the picture as it
        is, the players have confirmed the flip. Otherwise they have not, or have undone it.
        """
        # While another thread reads a picture, the players do not wait for it: the next command decides.
        if self._unsure_flip is None or not self._lock.acquire(blocking=False):
            return
        try:
            reading = self._unsure_flip
            if reading is None or reading.board is None or reading.board.alternative is None or reading.corners is None:
                return
            is_flipped, is_as_it_is = (
                not find_inconsistent_squares(seen, board) for seen in (reading.board, reading.board.alternative)
            )
            is_confirmed = is_flipped and not is_as_it_is and self._follows_board
            if is_confirmed and self._before_flip is None:
                self._before_flip = self._tracker
                self._tracker = replace(self._tracker, is_mirrored=reading.is_mirrored).confirm(reading.corners)
            elif not is_confirmed and self._before_flip is not None:
                self._tracker, self._before_flip = self._before_flip, None
        finally:
            self._lock.release()

    def use_advance(self, advance: AdvanceReading) -> None:
        """Continue to track the board from the location in `advance`, unless the tracked corners have changed since."""
        with self._lock:
            if self._tracker.has_same_corners(advance.before):
                self._tracker = advance.after

    def is_unchanged(self, advance: AdvanceReading, preview: Frame) -> bool:
        """Return True if a preview certainly shows the same board as the reading `advance`.

        Return False if the tracked corners have changed since that reading.
        """
        tracker = self.tracker
        is_tracked = tracker.corners is advance.capture.reading.corners or tracker.has_same_corners(advance.before)
        return is_tracked and advance.reference.matches(preview.image)

    def read_board(self, image: Image, tiles: Collection[str]) -> PhotoReading:
        """Return the reading of the board in a picture of this camera, `(H, W, 3) uint8 BGR`, and update the tracker.

        `tiles` are the letters of the tile set.
        """
        with self._lock:
            reading, self._tracker = self._read_with(self._tracker, image, tiles)
            return reading

    def read_photograph(self, image: Image, tiles: Collection[str]) -> PhotoReading:
        """Return the reading of a photograph that is not of this camera, and leave the tracker as it is."""
        return self._reader.read(image, tiles)

    def read_in_advance(self, scene: RestScene, tiles: Collection[str]) -> AdvanceReading | None:
        """Read a scene before a caller needs the reading; return None if no board was found.

        Other threads can use the camera meanwhile, and `tracker` is not changed. A later `capture_board` uses the
        reading if the scene has certainly not changed.
        """
        before = self.tracker
        reading, after = self._read_with(before, scene.still.image, tiles)
        if reading.board is None or reading.corners is None:
            return None
        return AdvanceReading(Capture(scene.still, reading), SceneReference(scene, reading.corners), before, after)

    def read_scene_again(self, advance: AdvanceReading, tiles: Collection[str]) -> Capture | None:
        """Take and read another picture of a scene that was read in advance, because that reading was implausible.

        The whole picture is searched. Return None if the scene has changed or no board was found. Raises `CameraError`.
        """
        with self._lock:
            frame, preview = self._camera.capture_still(), self._camera.capture_preview()
        if preview is None or not self.is_unchanged(advance, preview):
            return None
        reading, _ = self._read_with(advance.after.mark_unreliable(), frame.image, tiles)
        return None if reading.board is None else Capture(frame, reading)

    def _read_with(
        self, tracker: BoardTracker, image: Image, tiles: Collection[str]
    ) -> tuple[PhotoReading, BoardTracker]:
        """Return the reading of the board in a picture, and the tracker to use for the next picture."""
        reading = self._reader.read(image, tiles, hint=tracker)
        after = tracker.update(image, reading.location)
        board, found, before = reading.board, reading.corners, tracker.corners
        if board is None or found is None or before is None or not _keeps_orientation(tracker, reading):
            return reading, after
        # With few tiles the orientation is uncertain; a board that was not moved keeps its orientation.
        kept = rotate_like(found, before)
        if not board.shows_tiles and (kept == found).all():
            return reading, after
        upright = self._reader.read(image, tiles, corners=kept)
        if upright.board is not None:  # the given corners are as certain as they were when they were detected
            upright = replace(upright, board=replace(upright.board, offset_confidence=board.offset_confidence))
        return upright, after

    def renew_memory(self, last: Capture, tiles: Collection[str]) -> None:
        """Read all squares of the last picture again, so that the next picture need not be read completely.

        This is done between two turns, so that no press waits for it. `last` is the last confirmed reading. If its
        board is read differently this time, the memory is not renewed, and the next picture is read completely.
        """
        tracker, board = self.tracker, last.reading.board
        if tracker.corners is not last.reading.corners:
            return
        reading, _ = self._read_with(replace(tracker, memory=None), last.frame.image, tiles)
        is_same = board is not None and reading.board is not None and reading.board.symbols == board.symbols
        with self._lock:
            if is_same and reading.memory is not None and self._tracker is tracker:
                self._tracker = replace(tracker, memory=reading.memory)

    def confirm_location(self, reading: PhotoReading) -> None:
        """Track the board from the corners of a plausible reading; do nothing if its orientation is uncertain."""
        if reading.orientation_confidence >= MIN_ORIENTATION_CONFIDENCE:
            self.adopt_location(reading)

    def adopt_location(self, reading: PhotoReading) -> None:
        """Track the board from the corners of a reading, even if its orientation is uncertain.

        Do nothing if only a few tiles show that the picture is mirrored: the order of the corners depends on it.
        """
        with self._lock:
            if self._follows_board and reading.corners is not None and not reading.is_flip_unsure:
                is_upright = _shows_orientation(reading) or _keeps_orientation(self._tracker, reading)
                self._tracker = self._tracker.confirm(reading.corners, reading.memory, is_upright=is_upright)

    def mark_location_unreliable(self) -> None:
        """Search the whole of the next picture for the board, because the last reading was implausible."""
        with self._lock:
            self._tracker = self._tracker.mark_unreliable()

    def place_corners(
        self, corners: Floats, image_shape: tuple[int, ...], *, is_mirrored: bool = False, is_detected: bool = False
    ) -> None:
        """Use corners, `(4, 2)` in pixels, that a user placed in a picture of the shape `image_shape`.

        `is_mirrored` is True if the picture was read as a mirrored one, and `is_detected` if the grid of
        these corners was detected as well. Raises ValueError if the corners cannot form a board.
        """
        with self._lock:
            self._unsure_flip = self._before_flip = None
            tracker = replace(self._tracker, is_mirrored=is_mirrored or self._tracker.is_mirrored)
            self._tracker = tracker.place_corners(corners, image_shape, is_detected=is_detected)

    def forget_corners(self) -> None:
        """Discard all corners, including those that a user placed; the whole of the next picture is then searched.

        That picture also shows again whether the camera delivers mirrored pictures.
        """
        with self._lock:
            self._unsure_flip = self._before_flip = None
            self._tracker = replace(self._tracker.reset(), is_mirrored=False)

    def close(self) -> None:
        """Release the camera."""
        self._camera.close()


def _shows_orientation(reading: PhotoReading) -> bool:
    """Return True if the tiles on the board show which way up it is."""
    is_certain = reading.orientation_confidence >= MIN_ORIENTATION_CONFIDENCE
    return is_certain and reading.board is not None and reading.board.shows_tiles


def _keeps_orientation(tracker: BoardTracker, reading: PhotoReading) -> bool:
    """Return True if the tiles do not show which way up the board is, but `tracker` does, as it has not moved.

    If the picture seems to be mirrored unlike those before, the tracker does not show it.
    """
    if tracker.corners is None or not tracker.is_upright or reading.corners is None or _shows_orientation(reading):
        return False
    if reading.is_mirrored is not tracker.is_mirrored:
        return False
    return measure_corner_distance(reading.corners, tracker.corners) < MIN_MOVED_SQUARES


CHECK_INTERVAL_S = 0.2
MOTION_CHECK_INTERVAL_S = 0.1
"""Seconds between two checks while something moves: short, so that the board is read soon after the motion."""
IDLE_CHECK_INTERVAL_S = 2.0
"""Seconds between two checks while no game is in play, when only faults of the camera matter."""
MAX_FRAME_AGE_S = 1.5
"""Maximum age of the newest frame in seconds; if it is greater, the camera counts as stalled."""
MIN_SCENE_REST_S = 0.08
"""Time without motion, in seconds, before `CameraMonitor` takes a still. It is less than `MOTION_CHECK_INTERVAL_S`, so
that one check without motion is enough."""
MIN_REST_S = 0.4
"""Time without motion, in seconds, before `CameraMonitor` regards the board as at rest."""
LONG_REST_S = 5.0
"""Time at rest, in seconds, before the board is compared with the recorded tiles; most players press sooner."""
BACK_OFF_S = (0.5, 1.0, 2.0, 4.0)


class MonitorClient:
    """Client of a `CameraMonitor`: it says when the monitor may use the camera, and handles what the monitor detects.

    A subclass overrides the methods that it needs.
    """

    def is_idle(self) -> bool:
        """Return True while the monitor may use the camera."""
        return True

    def is_in_play(self) -> bool:
        """Return True while a game is in play. Otherwise the monitor reports only faults of the camera."""
        return True

    def handle_trouble(self, message: str | None) -> None:
        """Handle a fault of the camera; `message` is None when the camera works again."""

    def handle_motion(self, is_moving: bool) -> None:
        """Handle that something begins to move (`is_moving` is True), or that the board has come to rest."""

    def handle_scene(self, scene: RestScene) -> None:
        """Handle a board that has stopped moving and looks different."""

    def handle_rest(self, still: Frame) -> None:
        """Handle a board that looks different and has been at rest for `MIN_REST_S`; `still` is that of the scene."""

    def handle_long_rest(self, preview: Frame) -> None:
        """Handle that nothing has moved for `LONG_REST_S` seconds, even if the board looks as before the movement."""


class CameraMonitor:
    """Monitor of a camera for faults and for motion of the board; one thread calls `check_camera` repeatedly."""

    def __init__(self, source: BoardCamera, client: MonitorClient, clock: Callable[[], float]) -> None:
        self._source = source
        self._client = client
        self._clock = clock
        self._idle_check_time = 0.0
        """Time (s) of the next check of the camera while no game is in play."""
        self._long_rest_time: float | None = None
        self._backoff = Backoff(BACK_OFF_S)
        self._has_failed = False
        self._rest_detector = RestDetector(MIN_REST_S)
        self._still: Frame | None = None
        self._has_still_failed = False
        """True from a still that failed until one succeeds: meanwhile previews do not show that the camera works."""
        self._was_at_rest = False
        self._last_rest_thumbnail: npt.NDArray[np.float32] | None = None
        self._last_scene_thumbnail: npt.NDArray[np.float32] | None = None
        self._is_scene_forgotten = threading.Event()

    def forget_scene(self) -> None:
        """Pass the board to the client again as a new scene when it is at rest, even if nothing has changed.

        May be called on any thread.
        """
        self._is_scene_forgotten.set()

    def check_camera(self) -> float | None:
        """Check the camera once; return the seconds until the next check, or None if the camera is not live."""
        if not self._client.is_idle():
            return CHECK_INTERVAL_S
        is_in_play = self._client.is_in_play()
        if not is_in_play and self._clock() < self._idle_check_time:
            return CHECK_INTERVAL_S  # after a pause, the board may have changed: it is watched again at once
        try:
            frame = self._source.capture_preview()
            if frame is None:
                return None
            self._check_frame(frame)
            if is_in_play:
                self._detect_rest(frame)
        except CameraError as error:
            return self._handle_failure(str(error))
        if self._has_failed and not (is_in_play and self._has_still_failed):
            self._has_failed = False
            self._backoff.reset()
            self._client.handle_trouble(None)
        if not is_in_play:
            self._idle_check_time = self._clock() + IDLE_CHECK_INTERVAL_S
            return CHECK_INTERVAL_S
        return MOTION_CHECK_INTERVAL_S if self._rest_detector.still_s < MIN_SCENE_REST_S else CHECK_INTERVAL_S

    def _check_frame(self, frame: Frame) -> None:
        if self._clock() - frame.time > MAX_FRAME_AGE_S:
            raise CameraError(STALLED_MESSAGE)
        if is_black(frame.image):
            raise BlackPictureError(BLACK_MESSAGE)

    def _handle_failure(self, message: str) -> float:
        self._rest_detector = RestDetector(MIN_REST_S)
        self._still = self._last_scene_thumbnail = None
        self._was_at_rest = False
        if not self._has_failed:
            self._has_failed = True
            self._client.handle_trouble(message)
        return self._backoff.record_failure()

    def _detect_rest(self, preview: Frame) -> None:
        """Detect motion and rest in a preview, and notify the client."""
        if self._is_scene_forgotten.is_set():
            self._is_scene_forgotten.clear()
            self._rest_detector, self._was_at_rest = RestDetector(MIN_REST_S), False
            self._still = self._last_scene_thumbnail = self._last_rest_thumbnail = None
        was_at_rest, self._was_at_rest = self._was_at_rest, self._rest_detector.update(preview.image, preview.time)
        if self._was_at_rest is not was_at_rest:
            self._client.handle_motion(not self._was_at_rest)
        if self._rest_detector.still_s < MIN_SCENE_REST_S:
            self._still = self._long_rest_time = None
        elif not was_at_rest:
            self._handle_rest(preview)
        elif self._long_rest_time is not None and preview.time >= self._long_rest_time:
            self._long_rest_time = None
            self._client.handle_long_rest(preview)

    def _handle_rest(self, preview: Frame) -> None:
        """Take a still when the board has stopped moving and has changed, and pass it to the client.

        A hand that pauses over the board counts as a change, so the board is read again when the hand is gone.
        """
        thumbnail = make_thumbnail(preview.image)
        has_board_changed = _differs(self._last_rest_thumbnail, thumbnail)
        if self._still is None and (has_board_changed or _differs(self._last_scene_thumbnail, thumbnail)):
            self._has_still_failed = True
            self._still = self._source.capture_still()
            self._has_still_failed = False
            self._last_scene_thumbnail = thumbnail
            if (after := self._source.capture_preview()) is not None:
                self._client.handle_scene(RestScene(self._still, preview.image, after.image))
        if self._was_at_rest:
            self._long_rest_time = preview.time + LONG_REST_S
        if self._was_at_rest and self._still is not None and has_board_changed:
            self._last_rest_thumbnail = thumbnail
            self._client.handle_rest(self._still)


def _differs(before: npt.NDArray[np.float32] | None, thumbnail: npt.NDArray[np.float32]) -> bool:
    """Return True if a thumbnail differs from the earlier one, or if there is no earlier one."""
    return before is None or has_moved(before, thumbnail)
