"""The camera of a table without a camera: each picture from a phone is returned once."""

from __future__ import annotations

import numpy as np
import pytest

from device.cameras import open_camera
from device.cameras.base import CameraError
from device.cameras.phone import PhoneCamera, PictureNeededError

GREY = np.full((30, 40, 3), 128, np.uint8)


def test_phone_camera_returns_a_received_picture_once() -> None:
    camera = open_camera("phone")
    assert isinstance(camera, PhoneCamera)
    camera.receive_picture(GREY)
    assert camera.capture_still().image is GREY
    with pytest.raises(PictureNeededError, match="take a picture"):
        camera.capture_still()


def test_phone_camera_has_no_picture_between_turns() -> None:
    camera = PhoneCamera()
    assert camera.capture_preview() is None and not camera.is_live


def test_closed_phone_camera_returns_no_picture() -> None:
    camera = PhoneCamera()
    camera.receive_picture(GREY)
    camera.close()
    with pytest.raises(CameraError, match="closed"):
        camera.capture_still()
