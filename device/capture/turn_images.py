"""The images of a turn, as they are stored and shown, and its uncertain squares."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

from device.cameras import Frame, Image
from device.session.snapshot import LookView
from engine.board import SQUARES
from engine.inference.explain import Inference
from engine.inference.history import face_of
from engine.reading import BOARD_SIZE, HIDDEN
from vision.geometry import homography, rectify
from vision.recognition.reader import PhotoReading

MAX_PHOTO_SIDE_PX = 1600
"""Longest side of a stored photograph, in pixels."""
SQUARE_SIDE_PX = 44
MARGIN_SQUARES = 0.5
"""Margin of the rectified picture around the grid, in squares."""
JPEG_QUALITY = 82
MIN_FACE_PROBABILITY = 0.5
"""Probability of the accepted face below which a square is marked as uncertain."""


@dataclass(frozen=True, slots=True)
class TurnImages:
    """Images of a turn: `photo` is the whole picture, `crop` the rectified board; both are JPEG of bounded size."""

    view: LookView
    photo: bytes
    crop: bytes

    def with_name(self, picture: str) -> TurnImages:
        """Return the same images under another name."""
        return replace(self, view=replace(self.view, picture=picture))

    def jpegs(self) -> dict[str, bytes]:
        """Return the images by their kind in the store."""
        return {"photo": self.photo, "board": self.crop}


def make_turn_images(frame: Frame, reading: PhotoReading, explained: Inference | None, name: str) -> TurnImages:
    """Return the images to store and show for a reading; without a board the whole picture is used for both."""
    photo = _shrink_image(frame.image, MAX_PHOTO_SIDE_PX)
    if reading.corners is None:
        side = round(SQUARE_SIDE_PX * (BOARD_SIZE + 2 * MARGIN_SQUARES))
        crop = _letterbox_image(frame.image, side)
    else:
        crop = rectify(frame.image, homography(reading.corners), SQUARE_SIDE_PX, MARGIN_SQUARES)
    hidden = _find_hidden_squares(reading)
    doubtful = tuple(s for s in _find_doubtful_squares(reading, explained) if s not in hidden)
    view = LookView(name, doubtful, hidden, MARGIN_SQUARES)
    return TurnImages(view, _encode_jpeg(photo), _encode_jpeg(crop))


def _find_doubtful_squares(reading: PhotoReading, explained: Inference | None) -> tuple[int, ...]:
    if reading.board is None or explained is None:
        return ()
    board, squares = explained.best.game.board, reading.board.squares
    unlike = {s for s in SQUARES if squares[s].probability(face_of(board[s])) < MIN_FACE_PROBABILITY}
    return tuple(sorted(unlike | set(explained.doubtful_squares)))


def _find_hidden_squares(reading: PhotoReading) -> tuple[int, ...]:
    squares = reading.board.squares if reading.board else ()
    return tuple(at for at, square in enumerate(squares) if square.symbol == HIDDEN)


def _shrink_image(image: Image, longest: int) -> Image:
    share = longest / max(image.shape[:2])
    if share >= 1:
        return image
    return np.asarray(cv2.resize(image, None, fx=share, fy=share, interpolation=cv2.INTER_AREA), np.uint8)


def _letterbox_image(image: Image, side: int) -> Image:
    """Return the whole picture, centred in a black square."""
    small = _shrink_image(image, side)
    height, width = small.shape[:2]
    box = np.zeros((side, side, 3), np.uint8)
    top, left = (side - height) // 2, (side - width) // 2
    box[top : top + height, left : left + width] = small
    return box


def _encode_jpeg(image: Image) -> bytes:
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not done:
        raise ValueError(f"OpenCV could not write a JPEG of {image.shape}")
    return data.tobytes()
