"""Opening a camera by the setting that names it, and the simulated camera."""

from __future__ import annotations

import numpy as np
import pytest

from device.cameras import open_camera
from device.cameras.base import CameraError
from device.demo.demo_table import SimulatedCamera
from vision.rendering.simulated_table import SimulatedTable


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("folder:/nowhere/at/all", "Create it, or use /var/lib/tilekeeper-pictures"),
        ("usb:77", "Plug it in, or list all cameras with tilekeeper cameras"),
        ("film", "Enter phone, phone-stream, usb:0, folder:DIR"),
        ("folder:", "Enter phone, phone-stream, usb:0, folder:DIR"),
    ],
)
def test_missing_camera_is_an_error_of_one_line(spec: str, said: str) -> None:
    with pytest.raises(CameraError, match=said) as caught:
        open_camera(spec)
    assert "\n" not in str(caught.value)


def test_simulated_table_shows_the_tiles_that_were_laid() -> None:
    camera = SimulatedCamera(SimulatedTable(seed=1, size=(640, 480)))
    empty = camera.capture_preview().image.astype(int)
    assert np.array_equal(empty, camera.capture_preview().image)
    camera.lay_tiles({(7, c): letter for c, letter in enumerate("HORN", 5)})
    assert np.abs(camera.capture_preview().image.astype(int) - empty).max() > 60
    assert camera.capture_still().image.shape == (480, 640, 3)
    camera.close()
    with pytest.raises(CameraError):
        camera.capture_still()
