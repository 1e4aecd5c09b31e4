"""Setting a table up: where the board is, put right by people where need be, and lessons in its tiles."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Sequence

import cv2
import numpy as np

from calibration.enrolment import check_lesson
from calibration.profile import TableKnowledge
from calibration.profile_file import KnowledgeError
from device.cameras import Image
from device.capture.board_camera import Sight
from device.session.messages import refusal
from device.session.snapshot import SetUpView
from device.storage.store import TABLE, GameStore, StoreError
from engine.messages import joined
from engine.reading import EMPTY, SIZE
from engine.squares import SQUARES, square_name
from vision.geometry import Floats
from vision.recognition.reader import PhotoReading

_log = logging.getLogger(__name__)

LONGEST = 1280
"""The longest side, in pixels, of the picture that a table is set up by."""
QUALITY = 80
NOTE = "corners"
LESSON = "lesson"

Corners = Sequence[Sequence[float]]


class SetUp:
    """The set-up of one table; used from one thread."""

    def __init__(self, sight: Sight, store: GameStore, knowledge: TableKnowledge | None) -> None:
        self._sight = sight
        self._store = store
        self._knowledge = knowledge
        self._shape: tuple[int, ...] = ()
        self._share = 1.0
        self._doubted: object = None
        self._placed_before()

    def look_around(self, tiles: Collection[str]) -> SetUpView:
        """The whole picture, and where the board is in it. Raises `CameraError`."""
        frame = self._sight.still()
        image = frame.image
        self._shape = image.shape
        self._share = min(1.0, LONGEST / max(image.shape[:2]))
        reading = self._sight.read(image, tiles)
        where = self._sight.where
        if where and where.corners is None and reading.corners is not None:
            where.settle(reading.corners)
        self._note(where.corners if where and where.placed else None)
        return self._view(image, reading, placed=where is not None and where.placed)

    def place(self, corners: Corners | None, tiles: Collection[str]) -> SetUpView:
        """Take the corners where people put them, in pixels of the last view; None: find them. Raises `Refused`."""
        where = self._sight.where
        if where is None:
            raise refusal("camera-none")
        if corners is None:
            where.forget()
        else:
            if not self._shape:
                self.look_around(tiles)
            try:
                quad = (np.asarray(corners, np.float64) + 0.5) / self._share - 0.5
                where.place(quad, self._shape)
            except ValueError:
                raise refusal("corners-wrong") from None
        return self.look_around(tiles)

    def teach(self, rows: Sequence[Sequence[str]], tiles: Collection[str]) -> tuple[str, ...]:
        """Learn from the board, which shows these faces; returns the squares that are not as they should be.

        Where there are any, nothing is learnt; but who gives the same lesson again has looked, and knows better than
        the camera which letter lies there. Raises `Refused`, `CameraError`.
        """
        if self._knowledge is None:
            raise refusal("no-lesson")
        faces = [face for row in rows for face in row]
        if len(faces) != len(SQUARES) or any(len(row) != SIZE for row in rows):
            raise refusal("lesson-rows")
        seen = self._sight.look(tiles)
        board, views = seen.reading.board, seen.reading.views
        if board is None or views is None:
            raise refusal("lesson-blind", joined("; ", seen.reading.problems))
        check = check_lesson(rows, board)
        unlike = tuple(square for square, _ in check.unlike)
        insisted, self._doubted = self._doubted == (faces, unlike), (faces, unlike)
        if not check.complete or not (check.ok or insisted):
            wrong = {*check.missing, *check.extra, *check.hidden, *unlike}
            return tuple(map(square_name, sorted(wrong)))
        self._knowledge.learn(views, rows, LESSON, told=[s for s in SQUARES if faces[s] != EMPTY])
        try:
            self._knowledge.save()
        except KnowledgeError as error:
            _log.warning("the lesson is not kept: %s", error)
        return ()

    def _view(self, image: Image, reading: PhotoReading, *, placed: bool) -> SetUpView:
        small = image
        if self._share < 1:
            small = np.asarray(cv2.resize(image, None, fx=self._share, fy=self._share, interpolation=cv2.INTER_AREA))
        _, data = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
        corners = None
        if reading.corners is not None:
            points = (reading.corners + 0.5) * self._share - 0.5
            corners = tuple((round(float(x), 1), round(float(y), 1)) for x, y in points)
        size = (small.shape[1], small.shape[0])
        return SetUpView(data.tobytes(), size, corners, reading.upright if corners else 0.0, reading.problems, placed)

    def _note(self, corners: Floats | None) -> None:
        """Keep for this table what people placed, as long as it holds."""
        data = "" if corners is None else json.dumps({"corners": corners.tolist(), "shape": list(self._shape)})
        try:
            if (self._store.noted(TABLE, NOTE) or "") != data:
                self._store.note(TABLE, NOTE, data)
        except StoreError as error:
            _log.warning("the corners are not kept: %s", error)

    def _placed_before(self) -> None:
        where = self._sight.where
        try:
            data = json.loads(self._store.noted(TABLE, NOTE) or "null")
            if where and data:
                where.place(np.asarray(data["corners"], np.float64), tuple(int(side) for side in data["shape"]))
        except (StoreError, ValueError, KeyError, TypeError) as error:
            _log.warning("the corners that were kept cannot be used: %s", error)
