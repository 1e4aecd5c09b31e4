"""The crop of the photograph that is shown with a question."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from device.capture.turn_images import MAX_JPEG_BYTES, MAX_SIDE_PX, crop_squares, make_crop_name
from engine.board import SQUARES, Square, parse_square

CORNERS = np.array([[100.0, 50.0], [700.0, 50.0], [700.0, 650.0], [100.0, 650.0]])
"""Squares of 40 pixels in a picture without perspective."""


def paint_square(name: str) -> np.ndarray:
    """Return a grey picture of 800 x 700 pixels in which one square is red."""
    image = np.full((700, 800, 3), 128, np.uint8)
    row, column = divmod(parse_square(name), 15)
    image[50 + 40 * row : 90 + 40 * row, 100 + 40 * column : 140 + 40 * column] = (0, 0, 255)
    return image


def decode(jpeg: bytes) -> np.ndarray:
    return np.asarray(cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR))


@pytest.mark.parametrize("name", ["H8", "A1", "O15"])
def test_crop_shows_the_square_in_its_middle(name: str) -> None:
    crop = decode(crop_squares(paint_square(name), CORNERS, [parse_square(name)]))
    assert crop.shape == (288, 288, 3)
    assert crop[144, 144, 2] > 200 > crop[144, 144, 1] and abs(int(crop[20, 20, 1]) - 128) < 20


def test_crop_of_a_word_is_as_long_as_the_word() -> None:
    squares = [parse_square(name) for name in ("F8", "G8", "H8", "I8")]
    height, width, _ = decode(crop_squares(paint_square("F8"), CORNERS, squares)).shape
    assert (height, width) == (3 * 80, 6 * 80)


@pytest.mark.parametrize("squares", [[parse_square("H8")], list(SQUARES)])
def test_crop_of_any_squares_is_small(squares: list[Square]) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (700, 800, 3), np.uint8)
    jpeg = crop_squares(noise, CORNERS, squares)
    assert len(jpeg) <= MAX_JPEG_BYTES and max(decode(jpeg).shape) <= MAX_SIDE_PX


def test_name_depends_on_the_picture() -> None:
    assert make_crop_name(b"one") == make_crop_name(b"one") != make_crop_name(b"two")
