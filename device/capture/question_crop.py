"""Cut the squares in question out of a photograph, with a margin, as a small JPEG to show with the question."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256

import cv2

from device.cameras import Image
from device.capture.jpeg import encode_jpeg
from engine.board import Square, column_of, row_of
from vision.geometry import Floats, homography, rectify_area

MARGIN_SQUARES = 1
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
    top, bottom = min(rows) - MARGIN_SQUARES, max(rows) + 1 + MARGIN_SQUARES
    left, right = min(columns) - MARGIN_SQUARES, max(columns) + 1 + MARGIN_SQUARES
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
