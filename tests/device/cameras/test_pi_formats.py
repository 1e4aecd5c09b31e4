"""Formats and sizes of the Pi camera's pictures."""

from __future__ import annotations

import numpy as np
import pytest

from device.cameras.base import CameraError
from device.cameras.pi import fit_still_size, to_bgr, to_luma
from tests.support.pi_pictures import coloured, in_memory


@pytest.mark.parametrize(
    ("sensor", "size"),
    [
        ((2592, 1944), (2304, 1728)),  # camera module 1
        ((3280, 2464), (2304, 1730)),  # 2
        ((4608, 2592), (2304, 1296)),  # 3
        ((4056, 3040), (2304, 1726)),  # HQ
        ((1728, 1296), (1728, 1296)),  # smaller than wanted
    ],
)
def test_stills_keep_the_sensors_proportions(sensor: tuple[int, int], size: tuple[int, int]) -> None:
    assert fit_still_size(sensor) == size


FORMATS = ["RGB888", "YUV420", "NV12"]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_becomes_blue_green_red(form: str) -> None:
    image = to_bgr(in_memory(coloured(), form), form, (64, 48))
    assert image.shape == (48, 64, 3) and image.dtype == np.uint8 and image.flags.c_contiguous
    difference = np.abs(image.astype(int) - coloured())[:, np.r_[2:30, 34:62]]
    assert difference.max() <= 3


def test_padding_of_rows_is_cut_off() -> None:
    """libcamera pads rows; picamera2 leaves that in YUV420."""
    wide = np.hstack([coloured(), np.zeros((48, 32, 3), np.uint8)])
    image = to_bgr(in_memory(wide, "YUV420"), "YUV420", (64, 48))
    assert image.shape == (48, 64, 3) and np.abs(image[:, 40:60].astype(int) - coloured()[:, 40:60]).max() <= 3


def test_unknown_format_is_named() -> None:
    with pytest.raises(CameraError, match="SRGGB10"):
        to_bgr(np.zeros((4, 4), np.uint8), "SRGGB10", (4, 4))


@pytest.mark.parametrize("form", FORMATS)
def test_brightness_is_read_from_every_format(form: str) -> None:
    picture = np.full((48, 64, 3), 90, np.uint8)
    luma = to_luma(in_memory(picture, form), form, (64, 48))
    assert luma.shape == (48, 64) and np.abs(luma.astype(int) - 90).max() < 16  # YUV has 16 for black
