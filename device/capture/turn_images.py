"""The images of a turn that are stored and shown: the photograph, the rectified board, and the squares in question.

A photograph contains its reading, so that the two are never separated. The reading is a JSON text in a comment segment
of the JPEG (ITU-T T.81, B.2.4.5), which programs that show pictures ignore.
"""

from __future__ import annotations

import io
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Annotated

import cv2
import msgspec
import numpy as np
import PIL.Image
from msgspec import Meta

from device.cameras.base import Frame, Image
from device.session.snapshot import LookView
from engine.board import Square, column_of, row_of
from engine.inference.explain import Inference
from engine.reading import BOARD_SIZE, HIDDEN, BoardReading, SquareReading
from vision.geometry import Floats, homography, rectify, rectify_area
from vision.recognition.reader import PhotoReading


def encode_jpeg(image: Image, quality: int) -> bytes:
    """Return a picture as JPEG data; `quality` is from 0 to 100. Raises `ValueError` if OpenCV cannot write it."""
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise ValueError(f"OpenCV could not write a JPEG of {image.shape}")
    return data.tobytes()


def shrink_image(image: Image, max_side_px: int) -> Image:
    """Return a picture whose longer side is reduced to `max_side_px`; a smaller picture is not changed."""
    scale = max_side_px / max(image.shape[:2])
    if scale >= 1:
        return image
    width, height = (max(1, round(side * scale)) for side in (image.shape[1], image.shape[0]))
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


MAX_PHOTO_SIDE_PX = 1600
"""Longest side of a stored photograph, in pixels."""
SQUARE_SIDE_PX = 44
MARGIN_SQUARES = 0.5
"""Margin around the grid in the rectified picture, in squares."""
JPEG_QUALITY = 82
MIN_FACE_PROBABILITY = 0.5
"""Minimum probability of a square's recorded symbol in the reading; below it, the square is marked as doubtful."""

MIN_STORED_PROBABILITY = 0.001
"""Minimum probability of a symbol to be stored as a candidate of a square."""
MAX_COMMENT_BYTES = 65_533
"""Maximum size of a comment in a JPEG, in bytes: a segment has a 16-bit length, which includes its own two bytes."""
_START, _JFIF, _COMMENT = b"\xff\xd8", b"\xff\xe0", b"\xff\xfe"

_Candidate = tuple[Annotated[str, Meta(min_length=1, max_length=4)], Annotated[float, Meta(ge=0, le=1)]]
_Square = Annotated[tuple[_Candidate, ...], Meta(min_length=1, max_length=60)]


@dataclass(frozen=True, slots=True)
class TurnImages:
    """Images of a turn: `photo` is the whole picture, `crop` the rectified board; both are JPEGs of limited size.

    The photo contains the reading as a comment. `view` is the description of the crop for snapshots.
    """

    view: LookView
    photo: bytes
    crop: bytes

    def with_name(self, picture: str) -> TurnImages:
        """Return a copy of these images in which `picture` is the name of the crop (in `view`)."""
        return replace(self, view=replace(self.view, picture=picture))

    def list_jpegs(self) -> dict[str, bytes]:
        """Return the JPEG data of the images by their kind in the store (`photo`, `board`)."""
        return {"photo": self.photo, "board": self.crop}


@dataclass(frozen=True, slots=True)
class EncodedPictures:
    """The pictures of a turn as JPEG data: the whole picture, without the reading, and the rectified board."""

    photo: bytes
    crop: bytes


def encode_pictures(frame: Frame, reading: PhotoReading) -> EncodedPictures:
    """Return the pictures of a turn as JPEGs. If no board was found, `crop` is the whole picture on a black square."""
    photo = shrink_image(frame.image, MAX_PHOTO_SIDE_PX)
    if reading.corners is None:
        side = round(SQUARE_SIDE_PX * (BOARD_SIZE + 2 * MARGIN_SQUARES))
        crop = _letterbox_image(frame.image, side)
    else:
        crop = rectify(frame.image, homography(reading.corners), SQUARE_SIDE_PX, MARGIN_SQUARES)
    return EncodedPictures(encode_jpeg(photo, JPEG_QUALITY), encode_jpeg(crop, JPEG_QUALITY))


def make_turn_images(pictures: EncodedPictures, reading: PhotoReading, inference: Inference | None) -> TurnImages:
    """Return the images of a turn to store and show, with its reading and inference."""
    hidden = _find_hidden_squares(reading)
    doubtful = tuple(square for square in _find_doubtful_squares(reading, inference) if square not in hidden)
    view = LookView(make_crop_name(pictures.crop), doubtful, hidden, MARGIN_SQUARES)
    photo = add_reading(pictures.photo, reading.board) if reading.board else pictures.photo
    return TurnImages(view, photo, pictures.crop)


def _find_doubtful_squares(reading: PhotoReading, inference: Inference | None) -> tuple[int, ...]:
    """Return the squares where the recorded board has an improbable symbol, or the inference is in doubt."""
    if reading.board is None or inference is None:
        return ()
    recorded_symbols = inference.best.game.board.symbols()
    uncertain = {
        square
        for square, symbol in enumerate(recorded_symbols)
        if reading.board.squares[square].probability(symbol) < MIN_FACE_PROBABILITY
    }
    return tuple(sorted(uncertain | set(inference.doubtful_squares)))


def _find_hidden_squares(reading: PhotoReading) -> tuple[int, ...]:
    symbols = reading.board.symbols if reading.board else ()
    return tuple(square for square, symbol in enumerate(symbols) if symbol == HIDDEN)


def _letterbox_image(image: Image, side: int) -> Image:
    """Return the whole picture, centred in a black square with a side of `side` pixels."""
    small = shrink_image(image, side)
    height, width = small.shape[:2]
    box = np.zeros((side, side, 3), np.uint8)
    top, left = (side - height) // 2, (side - width) // 2
    box[top : top + height, left : left + width] = small
    return box


class _StoredReading(msgspec.Struct, frozen=True):
    squares: Annotated[tuple[_Square, ...], Meta(min_length=BOARD_SIZE**2, max_length=BOARD_SIZE**2)]
    orientation: float = 1.0
    offset: float = 1.0


def add_reading(jpeg: bytes, reading: BoardReading) -> bytes:
    """Return the JPEG with the reading as a comment, or the JPEG unchanged if the comment would be too long."""
    squares = tuple(map(_list_stored_candidates, reading.squares))
    stored = _StoredReading(squares, reading.orientation_confidence, reading.offset_confidence)
    comment = msgspec.json.encode(stored)
    if len(comment) > MAX_COMMENT_BYTES:
        return jpeg
    start = len(_START)
    if jpeg[start : start + 2] == _JFIF:  # this segment must be the first one: the comment follows it
        start += 2 + int.from_bytes(jpeg[start + 2 : start + 4], "big")
    return jpeg[:start] + _COMMENT + (len(comment) + 2).to_bytes(2, "big") + comment + jpeg[start:]


def _list_stored_candidates(square: SquareReading) -> tuple[_Candidate, ...]:
    """Return the candidates of a square that are stored: the probable ones, but at least the most probable one."""
    probable = [(symbol, share) for symbol, share in square.candidates if share >= MIN_STORED_PROBABILITY]
    return tuple((symbol, round(share, 4)) for symbol, share in probable or [(square.symbol, square.confidence)])


def find_reading(jpeg: bytes) -> BoardReading | None:
    """Return the reading in the comment of a JPEG, or None if the JPEG has no comment with a valid reading."""
    with suppress(PIL.UnidentifiedImageError, OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError):
        comment = PIL.Image.open(io.BytesIO(jpeg), formats=["JPEG"]).info.get("comment", b"")
        stored = msgspec.json.decode(comment, type=_StoredReading)
        return BoardReading(tuple(map(SquareReading, stored.squares)), stored.orientation, stored.offset)
    return None


CROP_MARGIN_SQUARES = 1
"""Margin around the squares in question, in squares: the crop shows them even if the grid is half a square off."""
MAX_SIDE_PX = 480
"""Longest side of the crop, in pixels: the width at which the page shows it on a phone."""
MAX_SQUARE_PX = 96
"""Largest side of a square in the crop, in pixels; few cameras resolve more."""
MAX_JPEG_BYTES = 60_000
_JPEG_QUALITIES = (80, 60, 40, 20)
_OUTLINE_BGR = (40, 190, 255)


def crop_squares(image: Image, corners: Floats, squares: Collection[Square]) -> bytes:
    """Return a top view of `squares` with a margin as a JPEG of at most `MAX_JPEG_BYTES`, with the squares outlined.

    `image` is a picture `(H, W, 3) uint8 BGR`, and `corners` are the `(4, 2)` corners of the grid in its pixels.
    """
    rows, columns = [row_of(square) for square in squares], [column_of(square) for square in squares]
    top, bottom = min(rows) - CROP_MARGIN_SQUARES, max(rows) + 1 + CROP_MARGIN_SQUARES
    left, right = min(columns) - CROP_MARGIN_SQUARES, max(columns) + 1 + CROP_MARGIN_SQUARES
    scale = min(MAX_SQUARE_PX, MAX_SIDE_PX // max(bottom - top, right - left))
    crop = rectify_area(image, homography(corners), scale, (left, top), (right, bottom))
    for row, column in zip(rows, columns, strict=True):
        x, y = (column - left) * scale, (row - top) * scale
        cv2.rectangle(crop, (x, y), (x + scale - 1, y + scale - 1), _OUTLINE_BGR, max(1, scale // 24))
    return _encode_small_jpeg(crop)


def make_crop_name(jpeg: bytes) -> str:
    """Return a name for a crop that depends only on its content, so that it is never the name of another picture."""
    return f"crop-{sha256(jpeg).hexdigest()[:16]}"


def _encode_small_jpeg(image: Image) -> bytes:
    """Encode an image as a JPEG, with the best quality that needs at most `MAX_JPEG_BYTES`."""
    for quality in _JPEG_QUALITIES:
        jpeg = encode_jpeg(image, quality)
        if len(jpeg) <= MAX_JPEG_BYTES:
            return jpeg
    raise ValueError(f"OpenCV could not write a small JPEG of {image.shape}")
