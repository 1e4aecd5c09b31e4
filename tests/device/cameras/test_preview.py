"""Pictures of a camera that the table does not use: one camera is open at a time, and only while it is looked at."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from device.cameras.base import CameraError, Frame
from device.cameras.reconnecting import CameraPreview
from tests.support.waiting import PATIENCE_S


class CountedCamera:
    """A camera that notes when it was closed."""

    is_live = True

    def __init__(self, brightness: int) -> None:
        self.brightness = brightness
        self.closed = threading.Event()

    def capture_still(self) -> Frame:
        if self.closed.is_set():
            raise CameraError("The camera was closed.")
        return Frame(np.full((30, 40, 3), self.brightness, np.uint8), 0.0)

    def capture_preview(self) -> Frame:
        return self.capture_still()

    def close(self) -> None:
        self.closed.set()


class Machine:
    """The cameras `usb:0`, `usb:1` ... and those that were opened."""

    def __init__(self) -> None:
        self.opened: list[CountedCamera] = []

    def open(self, source: str) -> CountedCamera:
        if not source.startswith("usb:"):
            raise CameraError("no such camera")
        self.opened.append(CountedCamera(int(source[4:])))
        return self.opened[-1]


@pytest.fixture
def machine() -> Machine:
    return Machine()


def test_camera_stays_open_for_the_next_picture(machine: Machine) -> None:
    preview = CameraPreview(machine.open)
    for _ in range(3):
        assert preview.take_picture("usb:7").max() == 7
    assert len(machine.opened) == 1 and not machine.opened[0].closed.is_set()
    preview.close()
    assert machine.opened[0].closed.is_set()


def test_camera_is_closed_before_another_one_is_opened(machine: Machine) -> None:
    preview = CameraPreview(machine.open)
    preview.take_picture("usb:0")
    assert preview.take_picture("usb:1").max() == 1
    assert [camera.closed.is_set() for camera in machine.opened] == [True, False]
    preview.close()


def test_camera_is_closed_when_no_more_pictures_are_asked_for(machine: Machine) -> None:
    preview = CameraPreview(machine.open, idle_s=0.01)
    preview.take_picture("usb:0")
    assert machine.opened[0].closed.wait(PATIENCE_S)
    preview.take_picture("usb:0")
    assert len(machine.opened) == 2
    preview.close()


def test_missing_camera_is_an_error_each_time(machine: Machine) -> None:
    preview = CameraPreview(machine.open)
    for _ in range(2):
        with pytest.raises(CameraError, match="no such"):
            preview.take_picture("pi")
    preview.close()
