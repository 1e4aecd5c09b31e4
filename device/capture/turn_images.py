"""One look at the board: the picture as it is kept and shown, and the squares that were in doubt."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

from device.cameras import Frame, Image
from device.session.snapshot import LookView
from engine.inference.explain import Explained
from engine.inference.history import face_of
from engine.reading import HIDDEN, SIZE
from engine.squares import SQUARES
from vision.geometry import homography, rectify
from vision.recognition.reader import PhotoReading

PHOTO_SIDE = 1600
"""The longest side, in pixels, of a photograph that is kept."""
SQUARE_PIXELS = 44
MARGIN = 0.5
"""How much more than the grid the rectified picture shows on each side, in squares."""
JPEG_QUALITY = 82
DOUBT = 0.5
"""A square is in doubt when the reading gives less than this to what the board is now said to hold there."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the camera saw: `photo` the whole picture, `crop` the board rectified, both JPEG, both of bounded size."""

    view: LookView
    photo: bytes
    crop: bytes

    def named(self, picture: str) -> Look:
        """The same look under another name."""
        return replace(self, view=replace(self.view, picture=picture))

    def jpegs(self) -> dict[str, bytes]:
        """The pictures as the store keeps them, by kind."""
        return {"photo": self.photo, "board": self.crop}


def take_look(frame: Frame, reading: PhotoReading, explained: Explained | None, name: str) -> Look:
    """What is kept and shown of a reading. Where no board was found, the whole picture stands for it."""
    photo = _shrunk(frame.image, PHOTO_SIDE)
    if reading.corners is None:
        side = round(SQUARE_PIXELS * (SIZE + 2 * MARGIN))
        crop = _letterboxed(frame.image, side)
    else:
        crop = rectify(frame.image, homography(reading.corners), SQUARE_PIXELS, MARGIN)
    hidden = _hidden(reading)
    doubtful = tuple(s for s in _doubtful(reading, explained) if s not in hidden)
    view = LookView(name, doubtful, hidden, MARGIN)
    return Look(view, _jpeg(photo), _jpeg(crop))


def _doubtful(reading: PhotoReading, explained: Explained | None) -> tuple[int, ...]:
    if reading.board is None or explained is None:
        return ()
    board, squares = explained.best.game.board, reading.board.squares
    unlike = {s for s in SQUARES if squares[s].probability(face_of(board[s])) < DOUBT}
    return tuple(sorted(unlike | set(explained.doubt)))


def _hidden(reading: PhotoReading) -> tuple[int, ...]:
    squares = reading.board.squares if reading.board else ()
    return tuple(at for at, square in enumerate(squares) if square.symbol == HIDDEN)


def _shrunk(image: Image, longest: int) -> Image:
    share = longest / max(image.shape[:2])
    if share >= 1:
        return image
    return np.asarray(cv2.resize(image, None, fx=share, fy=share, interpolation=cv2.INTER_AREA), np.uint8)


def _letterboxed(image: Image, side: int) -> Image:
    """The whole picture in the middle of a black square."""
    small = _shrunk(image, side)
    height, width = small.shape[:2]
    box = np.zeros((side, side, 3), np.uint8)
    top, left = (side - height) // 2, (side - width) // 2
    box[top : top + height, left : left + width] = small
    return box


def _jpeg(image: Image) -> bytes:
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not done:
        raise ValueError(f"OpenCV could not write a JPEG of {image.shape}")
    return data.tobytes()
