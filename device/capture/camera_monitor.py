"""The monitor of the camera between turns: it reports faults, and detects when the board has come to rest.

For this it takes a small preview picture a few times a second and compares it with the previous preview, without a
neural network.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from device.cameras.base import BLACK_MESSAGE, STALLED_MESSAGE, BlackPictureError, CameraError, Frame, is_black
from device.capture.board_camera import BoardCamera
from device.capture.motion import RestDetector, RestScene, has_moved, make_thumbnail
from device.system.periodic import Backoff

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
