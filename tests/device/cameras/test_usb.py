"""USB cameras, on a fake capture of OpenCV: stills, previews, unplugging, faults."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from device.cameras.base import CameraError
from device.cameras.usb import UsbCamera
from tests.support.waiting import PATIENCE_S, until


def grey(image: np.ndarray) -> int:
    """Return the mean brightness of a picture."""
    return round(float(image.mean()))


class Video:
    """A V4L2 device at the level of OpenCV's VideoCapture: frames until the plug is pulled."""

    def __init__(self) -> None:
        self.plugged, self.shade, self.released = True, 100, 0
        self.fourcc = cv2.VideoWriter.fourcc(*"MJPG")
        self.converts = True
        self.retrieved = 0
        self.damaged = 0
        self.grabbed = 0
        self.goes_on = threading.Event()
        """Cleared by a test: the device hangs at its next frame."""
        self.goes_on.set()

    def isOpened(self) -> bool:  # noqa: N802 (OpenCV's name)
        return True  # also after an unplug, as the real one

    def set(self, what: int, value: float) -> bool:
        if what == cv2.CAP_PROP_CONVERT_RGB:
            self.converts = bool(value)
        return True

    def get(self, what: int) -> float:
        assert what == cv2.CAP_PROP_FOURCC
        return float(self.fourcc)

    def grab(self) -> bool:
        time.sleep(0.01)
        self.grabbed += 1
        self.goes_on.wait(PATIENCE_S)
        return self.plugged

    def retrieve(self) -> tuple[bool, np.ndarray | None]:
        self.retrieved += 1
        if not self.plugged:
            return False, None
        image = np.full((36, 64, 3), self.shade, np.uint8)
        if self.converts:
            return True, image
        data = cv2.imencode(".jpg", image)[1].reshape(1, -1)
        if self.damaged:
            self.damaged -= 1
            data = data[:, :20]
        return True, data

    def release(self) -> None:
        self.released += 1


@pytest.fixture
def video(monkeypatch: pytest.MonkeyPatch) -> Video:
    device = Video()
    monkeypatch.setattr(cv2, "VideoCapture", lambda *_: device)
    monkeypatch.setattr("device.cameras.stream.FRAME_TIMEOUT_S", PATIENCE_S)
    return device


def sends_pictures(camera: UsbCamera) -> bool:
    try:
        return camera.capture_still().image is not None
    except CameraError:
        return False


def test_usb_still_is_newer_than_the_asking(video: Video) -> None:
    with UsbCamera("0") as camera:
        asked = time.monotonic()
        assert camera.capture_still().time > asked
    assert video.released == 1


@pytest.mark.parametrize("fourcc", ["MJPG", "YUYV"])
def test_usb_preview_is_grey_and_half_as_large(video: Video, fourcc: str) -> None:
    video.fourcc = cv2.VideoWriter.fourcc(*fourcc)
    with UsbCamera("0") as camera:
        preview, still = camera.capture_preview().image, camera.capture_still().image
    assert preview.shape == (18, 32) and still.shape == (36, 64, 3)
    assert grey(preview) == grey(still) == 100
    assert video.converts == (fourcc != "MJPG")


def test_usb_frames_without_a_caller_are_not_retrieved(video: Video) -> None:
    with UsbCamera("0") as camera:
        camera.capture_still()
        retrieved, grabbed = video.retrieved, video.grabbed
        until(lambda: video.grabbed > grabbed + 3)
        assert video.retrieved == retrieved
        asked = time.monotonic()
        assert camera.capture_still().time > asked


def test_usb_frame_with_damaged_data_is_skipped(video: Video) -> None:
    video.damaged = 2
    with UsbCamera("0") as camera:
        assert grey(camera.capture_still().image) == 100


def test_unplugged_usb_camera_is_noticed_and_comes_back_by_itself(video: Video) -> None:
    with UsbCamera("0") as camera:
        camera.capture_still()
        video.plugged = False
        with pytest.raises(CameraError, match="cable"):
            camera.capture_still()
        video.plugged = True
        until(lambda: sends_pictures(camera))
        assert grey(camera.capture_still().image) == 100


def test_usb_camera_that_is_pulled_out_is_noticed_before_its_time_limit(video: Video) -> None:
    with UsbCamera("0") as camera:
        camera.capture_still()
        video.plugged = False
        asked = time.monotonic()
        for look in (camera.capture_preview, camera.capture_still):
            with pytest.raises(CameraError, match="cable"):
                look()
        assert time.monotonic() - asked < PATIENCE_S


def test_usb_camera_that_hangs_is_noticed_without_a_wait_if_its_newest_frame_is_too_old(
    video: Video, monkeypatch: pytest.MonkeyPatch
) -> None:
    with UsbCamera("0") as camera:
        camera.capture_still()
        grabbed = video.grabbed
        video.goes_on.clear()
        until(lambda: video.grabbed > grabbed)
        later = SimpleNamespace(monotonic=lambda: time.monotonic() + 2 * PATIENCE_S)
        monkeypatch.setattr("device.cameras.stream.time", later)
        asked = time.monotonic()
        with pytest.raises(CameraError, match="cable"):
            camera.capture_preview()
        assert time.monotonic() - asked < PATIENCE_S
        video.goes_on.set()


def test_black_usb_picture_is_an_error(video: Video) -> None:
    video.shade = 2
    with UsbCamera("0") as camera, pytest.raises(CameraError, match="black"):
        camera.capture_still()


@pytest.mark.parametrize("where", ["99999999999999", "²"])
def test_usb_numbers_that_no_camera_has_are_refused_in_words(where: str) -> None:
    with pytest.raises(CameraError, match="There is no camera at usb"):
        UsbCamera(where)
