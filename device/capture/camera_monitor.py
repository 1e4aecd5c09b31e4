"""Watches the table between turns: is the camera well, and has the board come to rest after a hand moved?

A look costs a small picture a few times a second. Nothing is read: what was seen is read when somebody asks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from device.cameras import BlackPicture, CameraError, Frame
from device.cameras.base import ALL_BLACK, NO_PICTURES, is_black
from device.capture.motion import moved, thumbnail

STEP_S = 0.2
STALLED_S = 1.5
"""A camera whose newest picture is older than this gives none any more."""
REST_S = 0.4
"""So long nothing may move before the board is at rest."""
BACK_OFF_S = (0.5, 1.0, 2.0, 4.0)


class Eyes(Protocol):
    """What the watch needs of `device.capture.board_camera.Sight`."""

    def preview(self) -> Frame | None:
        """A cheap picture. Raises `CameraError`."""

    def still(self) -> Frame:
        """A good picture. Raises `CameraError`."""


class Watch:
    """Looks at the table; `look` is called again and again from one thread.

    `trouble` is told what is wrong with the camera, once, and None when it is well again; `at_rest` gets a picture each
    time that the board has come to rest and looks other than it did; `idle` says whether anybody may look now.
    """

    def __init__(
        self,
        eyes: Eyes,
        trouble: Callable[[str | None], None],
        at_rest: Callable[[Frame], None],
        idle: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._eyes = eyes
        self._trouble = trouble
        self._at_rest = at_rest
        self._idle = idle
        self._clock = clock
        self._failures = 0
        self._newest: npt.NDArray[np.float32] | None = None
        self._rested: npt.NDArray[np.float32] | None = None
        self._still_since: float | None = None

    def look(self) -> float | None:
        """Look once; returns the seconds until the next look, None where there is nothing to watch."""
        if not self._idle():
            return STEP_S
        try:
            frame = self._eyes.preview()
            if frame is None:
                return None
            self._check(frame)
            self._follow(frame)
        except CameraError as error:
            return self._failed(str(error))
        if self._failures:
            self._failures = 0
            self._trouble(None)
        return STEP_S

    def _check(self, frame: Frame) -> None:
        if self._clock() - frame.time > STALLED_S:
            raise CameraError(NO_PICTURES)
        if is_black(frame.image):
            raise BlackPicture(ALL_BLACK)

    def _failed(self, why: str) -> float:
        wait = BACK_OFF_S[min(self._failures, len(BACK_OFF_S) - 1)]
        self._failures += 1
        self._newest = None
        if self._failures == 1:
            self._trouble(why)
        return wait

    def _follow(self, frame: Frame) -> None:
        """Notice when the board comes to rest."""
        now, before = thumbnail(frame.image), self._newest
        self._newest = now
        if before is None or moved(before, now):
            self._still_since = frame.time
        elif self._still_since is not None and frame.time - self._still_since >= REST_S:
            self._still_since = None
            if self._rested is None or moved(self._rested, now):
                self._rested = now
                self._at_rest(self._eyes.still())
