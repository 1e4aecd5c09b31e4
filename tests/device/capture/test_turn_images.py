"""The reading that is stored in a picture."""

from __future__ import annotations

import io

import cv2
import numpy as np
import pytest
from PIL import Image

from device.capture.turn_images import add_reading, find_reading, shrink_image
from engine.reading import BoardReading, SquareReading
from tests.support.text_table import FARM, HORN, rows


@pytest.fixture
def jpeg() -> bytes:
    return cv2.imencode(".jpg", np.full((60, 80, 3), 128, np.uint8))[1].tobytes()


def test_reading_is_read_from_its_picture(jpeg: bytes) -> None:
    squares = list(BoardReading.from_rows(rows(HORN, FARM)).squares)
    squares[3] = SquareReading((("Ä", 0.61239), ("?", 0.3), ("CH", 0.08), (".", 0.0001)))
    found = find_reading(add_reading(jpeg, BoardReading(tuple(squares), 0.75, 0.5)))
    assert found is not None and found.symbols == BoardReading(tuple(squares)).symbols
    assert found.squares[3].candidates == (("Ä", 0.6124), ("?", 0.3), ("CH", 0.08))
    assert (found.orientation_confidence, found.offset_confidence) == (0.75, 0.5)


def test_picture_with_a_reading_shows_the_same(jpeg: bytes) -> None:
    with_reading = add_reading(jpeg, BoardReading.from_rows(rows(HORN)))
    assert len(with_reading) < len(jpeg) + 6000
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(jpeg))), np.asarray(Image.open(io.BytesIO(with_reading))))
    assert np.array_equal(*(cv2.imdecode(np.frombuffer(data, np.uint8), 1) for data in (jpeg, with_reading)))


@pytest.mark.parametrize("data", [b"", b"no picture", b"\xff\xd8\xff"])
def test_data_without_a_picture_has_no_reading(data: bytes) -> None:
    assert find_reading(data) is None


def test_picture_without_a_reading_has_none(jpeg: bytes) -> None:
    assert find_reading(jpeg) is None


@pytest.mark.parametrize("comment", ["a holiday", '{"squares": []}', '{"squares": [[["A", 2]]]}', "[" * 5000])
def test_comment_of_another_program_is_no_reading(jpeg: bytes, comment: str) -> None:
    out = io.BytesIO()
    Image.open(io.BytesIO(jpeg)).save(out, "JPEG", comment=comment)
    assert find_reading(out.getvalue()) is None


def test_picture_that_is_one_pixel_wide_can_be_shrunk() -> None:
    assert shrink_image(np.zeros((5000, 1, 3), np.uint8), 704).shape == (704, 1, 3)
