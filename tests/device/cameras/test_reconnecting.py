"""Cameras that are opened later, when they are plugged in."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from device.cameras import open_reconnecting_camera
from device.cameras.base import CameraError
from device.cameras.reconnecting import ReconnectingCamera
from device.demo.demo_table import SimulatedCamera
from tests.support.waiting import PATIENCE_S, until
from vision.rendering.simulated_table import SimulatedTable


def test_camera_that_is_plugged_in_later_is_opened_then() -> None:
    there = [False]

    def open_it() -> SimulatedCamera:
        if not there[0]:
            raise CameraError("no camera at usb:0: is it plugged in?")
        return SimulatedCamera(SimulatedTable(seed=1, size=(320, 240)))

    camera = ReconnectingCamera(open_it)
    assert "plugged in" in camera.trouble and camera.is_live
    camera.settle()
    for look in (camera.capture_still, camera.capture_preview):
        with pytest.raises(CameraError, match="plugged in"):
            look()
    there[0] = True
    assert camera.capture_still().image.shape == (240, 320, 3) and camera.trouble == ""
    camera.close()
    with pytest.raises(CameraError, match="closed"):
        camera.capture_still()


def test_end_of_the_program_does_not_wait_for_a_camera_that_does_not_answer() -> None:
    ended, answers = threading.Event(), threading.Event()
    opened: list[SimulatedCamera] = []

    def open_slowly() -> SimulatedCamera:
        if not opened:
            opened.append(SimulatedCamera(SimulatedTable(seed=1, size=(320, 240))))
            raise CameraError("no video")
        answers.wait(PATIENCE_S)
        opened.append(SimulatedCamera(SimulatedTable(seed=1, size=(320, 240))))
        return opened[1]

    camera = ReconnectingCamera(open_slowly, ended=ended)
    threading.Timer(0.05, ended.set).start()
    with pytest.raises(CameraError, match="closed"):
        camera.capture_still()
    assert not answers.is_set()
    answers.set()
    until(lambda: len(opened) == 2)
    camera.close()


def test_only_a_camera_with_a_cable_is_waited_for(tmp_path: Path) -> None:
    assert isinstance(open_reconnecting_camera("usb:77"), ReconnectingCamera)
    for spec in ("usb:x", f"folder:{tmp_path / 'nowhere'}", "film"):
        with pytest.raises(CameraError):
            open_reconnecting_camera(spec)
