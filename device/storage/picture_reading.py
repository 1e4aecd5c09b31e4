"""The reading of a picture, stored in the picture itself, so that picture and reading are never separated.

The reading is a JSON text in a comment segment of the JPEG (ITU-T T.81, B.2.4.5), which programs that show pictures
ignore.
"""

from __future__ import annotations

import io
from contextlib import suppress
from typing import Annotated

import msgspec
from msgspec import Meta
from PIL import Image, UnidentifiedImageError

from engine.reading import BOARD_SIZE, BoardReading, SquareReading

MIN_PROBABILITY = 0.001
"""Probability below which a candidate of a square is not stored."""
MAX_COMMENT_BYTES = 65_533
"""Largest comment in a JPEG: the length of a segment, with its own two bytes, is a number of 16 bits."""
_START, _JFIF, _COMMENT = b"\xff\xd8", b"\xff\xe0", b"\xff\xfe"

_Candidate = tuple[Annotated[str, Meta(min_length=1, max_length=4)], Annotated[float, Meta(ge=0, le=1)]]
_Square = Annotated[tuple[_Candidate, ...], Meta(min_length=1, max_length=60)]


class _StoredReading(msgspec.Struct, frozen=True):
    squares: Annotated[tuple[_Square, ...], Meta(min_length=BOARD_SIZE**2, max_length=BOARD_SIZE**2)]
    orientation: float = 1.0
    offset: float = 1.0


def add_reading(jpeg: bytes, reading: BoardReading) -> bytes:
    """Return the JPEG with the reading as a comment, or the JPEG unchanged if the comment would be too long."""
    squares = tuple(
        tuple((symbol, round(p, 4)) for symbol, p in square.candidates if p >= MIN_PROBABILITY)
        or ((square.symbol, round(square.confidence, 4)),)
        for square in reading.squares
    )
    stored = _StoredReading(squares, reading.orientation_confidence, reading.offset_confidence)
    comment = msgspec.json.encode(stored)
    if len(comment) > MAX_COMMENT_BYTES:
        return jpeg
    at = len(_START)
    if jpeg[at : at + 2] == _JFIF:  # this segment must be the first one
        at += 2 + int.from_bytes(jpeg[at + 2 : at + 4], "big")
    return jpeg[:at] + _COMMENT + (len(comment) + 2).to_bytes(2, "big") + comment + jpeg[at:]


def find_reading(jpeg: bytes) -> BoardReading | None:
    """Return the reading in the comment of a JPEG, or None if it has no valid reading."""
    with suppress(UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        comment = Image.open(io.BytesIO(jpeg), formats=["JPEG"]).info.get("comment", b"")
        stored = msgspec.json.decode(comment, type=_StoredReading)
        return BoardReading(tuple(map(SquareReading, stored.squares)), stored.orientation, stored.offset)
    return None
