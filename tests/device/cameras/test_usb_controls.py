"""Exposure, focus and mains frequency of a USB camera, on a driver that answers as the kernel does."""

from __future__ import annotations

import struct
from pathlib import Path

import cv2
import numpy as np
import pytest

from device.cameras.usb import Control, UsbCamera, V4l2Controls
from tests.support.waiting import until

GET, SET = 0xC008561B, 0xC008561C


class Driver:
    """A camera's driver: the controls that it has, and pictures whose brightness follows exposure and light."""

    def __init__(self, *missing: Control, reports_exposure: bool = True, other_exposure: int = 20) -> None:
        self.values = {control: 0 for control in Control if control not in missing}
        self.values |= {Control.EXPOSURE: 50} if Control.EXPOSURE in self.values else {}
        self.light = 100.0
        self.is_plugged = True
        self.reports_exposure = reports_exposure
        self.other_exposure = other_exposure

    @property
    def is_manual(self) -> bool:
        return self.values.get(Control.EXPOSURE_AUTO) == 1

    def ioctl(self, _device: int, request: int, data: bytes) -> bytes:
        control, value = struct.unpack("Ii", data)
        if control not in self.values:
            raise OSError(22, "Invalid argument")
        if request == SET:
            self.values[Control(control)] = value
        elif control == Control.EXPOSURE and not self.is_manual:
            value = round(10_000 / self.light) if self.reports_exposure else self.other_exposure
        else:
            value = self.values[Control(control)]
        return struct.pack("Ii", control, value)

    def brightness(self) -> float:
        return min(255.0, self.values[Control.EXPOSURE] * self.light / 100) if self.is_manual else 100.0

    # The methods of OpenCV's VideoCapture

    def isOpened(self) -> bool:  # noqa: N802 (OpenCV's name)
        return True

    def set(self, _what: int, _value: float) -> bool:
        return True

    def get(self, _what: int) -> float:
        return 0.0

    def grab(self) -> bool:
        return self.is_plugged

    def retrieve(self) -> tuple[bool, np.ndarray]:
        return True, np.full((36, 64, 3), self.brightness(), np.uint8)

    def release(self) -> None:
        pass


@pytest.fixture
def device(tmp_path: Path) -> str:
    path = tmp_path / "video0"
    path.touch()
    return str(path)


def open_usb(driver: Driver, device: str, monkeypatch: pytest.MonkeyPatch, mains_hz: int = 50) -> UsbCamera:
    monkeypatch.setattr(cv2, "VideoCapture", lambda *_: driver)
    monkeypatch.setattr("fcntl.ioctl", driver.ioctl)
    return UsbCamera(device, mains_hz, wait=lambda _: None)


@pytest.mark.parametrize(("mains_hz", "value"), [(50, 1), (60, 2)])
def test_usb_camera_knows_the_frequency_of_the_mains(
    device: str, monkeypatch: pytest.MonkeyPatch, mains_hz: int, value: int
) -> None:
    driver = Driver()
    with open_usb(driver, device, monkeypatch, mains_hz):
        assert driver.values[Control.POWER_LINE_FREQUENCY] == value


def test_usb_exposure_and_focus_are_locked_for_a_game(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    with open_usb(driver, device, monkeypatch) as camera:
        assert not driver.is_manual and driver.values[Control.FOCUS_AUTO] == 1
        camera.settle()
        assert driver.is_manual and driver.values[Control.EXPOSURE] == 100
        assert driver.values[Control.FOCUS_AUTO] == 0


def test_usb_exposure_is_adjusted_again_if_the_light_has_changed(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    with open_usb(driver, device, monkeypatch) as camera:
        camera.settle()
        driver.light = 200.0
        assert abs(float(camera.capture_still().image.mean()) - 100) < 1
        assert driver.values[Control.EXPOSURE] == 50


@pytest.mark.parametrize("exposure", [20, 1])
def test_usb_camera_that_does_not_report_its_exposure_stays_automatic(
    device: str, monkeypatch: pytest.MonkeyPatch, exposure: int
) -> None:
    """With the shortest exposure, locked pictures would be black in the whole game."""
    driver = Driver(reports_exposure=False, other_exposure=exposure)
    with open_usb(driver, device, monkeypatch) as camera:
        camera.settle()
        assert not driver.is_manual and camera.capture_still().image.mean() == 100


def test_usb_camera_without_controls_works_as_before(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(*Control)
    with open_usb(driver, device, monkeypatch) as camera:
        camera.settle()
        assert camera.capture_still().image.mean() == 100 and driver.values == {}


def test_controls_of_an_unplugged_camera_are_skipped(tmp_path: Path) -> None:
    V4l2Controls(str(tmp_path / "video9")).adjust_automatically(50)


def test_camera_that_was_unplugged_gets_its_controls_again(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    monkeypatch.setattr("device.cameras.stream.REOPEN_DELAYS_S", (0.01, 0.01))
    with open_usb(driver, device, monkeypatch, mains_hz=60) as camera:
        camera.settle()
        driver.values = dict.fromkeys(driver.values, 0)  # a camera that is plugged in has forgotten everything
        driver.is_plugged = False
        until(lambda: driver.values[Control.POWER_LINE_FREQUENCY] == 2)
        assert driver.values[Control.FOCUS_AUTO] == 1 and not driver.is_manual
