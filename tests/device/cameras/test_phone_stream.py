"""A phone on a stand: one phone at a time, full pictures on request, and a phone that leaves is noticed."""

from __future__ import annotations

import threading
from collections.abc import Callable

import cv2
import numpy as np
import pytest

from device.cameras import open_camera
from device.cameras.base import BlackPictureError, CameraError
from device.cameras.phone import (
    MAX_PICTURE_AGE_S,
    PHONE_TIMEOUT_S,
    STILL_TIMEOUT_S,
    PhoneInUseError,
    PhoneStreamCamera,
    StreamEndedError,
)
from tests.support.waiting import PATIENCE_S

MAX_NOTICE_S = 5.0
FRAME_INTERVAL_S = 0.2


def jpeg(grey: int = 128, size: tuple[int, int] = (432, 576)) -> bytes:
    return cv2.imencode(".jpg", np.full((*size, 3), grey, np.uint8))[1].tobytes()


SMALL, FULL = jpeg(), jpeg(size=(960, 1280))


class Phone:
    """A phone in fast time: whenever a caller waits for a picture, `send` is called, and time goes on."""

    def __init__(self) -> None:
        self.now = 100.0
        self.camera = PhoneStreamCamera(lambda: self.now, self._wait)
        self.stream = ""
        self.send: Callable[[], object] = lambda: None

    def _wait(self, _: threading.Condition, seconds: float) -> None:
        self.now += min(seconds, FRAME_INTERVAL_S)
        self.send()

    def start(self) -> None:
        self.stream = self.camera.start("1", "Pixel 8")
        self.send = self.send_all

    def send_all(self) -> None:
        """Send a small picture, and the full one that the camera wants."""
        wanted = self.camera.receive_preview(self.stream, SMALL)
        if wanted is not None:
            self.camera.receive_still(self.stream, wanted, FULL)


@pytest.fixture
def phone() -> Phone:
    return Phone()


def test_source_opens_the_camera() -> None:
    camera = open_camera("phone-stream")
    assert isinstance(camera, PhoneStreamCamera) and camera.is_live


def test_pictures_of_the_phone_are_those_of_the_camera(phone: Phone) -> None:
    phone.start()
    before = phone.now
    assert phone.camera.capture_preview().image.shape == (432, 576, 3)
    still = phone.camera.capture_still()
    assert still.image.shape == (960, 1280, 3) and still.time > before


def test_preview_is_no_picture_from_before_the_call(phone: Phone) -> None:
    phone.start()
    phone.camera.receive_preview(phone.stream, jpeg(20))
    assert phone.camera.capture_preview().image.mean() > 100


def test_full_picture_is_wanted_only_while_a_caller_waits(phone: Phone) -> None:
    phone.start()
    assert phone.camera.receive_preview(phone.stream, SMALL) is None
    phone.camera.capture_still()
    assert phone.camera.receive_preview(phone.stream, SMALL) is None


def test_full_picture_for_an_earlier_request_is_not_used(phone: Phone) -> None:
    phone.start()
    phone.camera.capture_still()

    def send() -> None:
        phone.camera.receive_still(phone.stream, 1, jpeg(20, (960, 1280)))
        phone.send_all()

    phone.send = send
    assert phone.camera.capture_still().image.mean() > 100


def test_missing_phone_is_explained_at_once(phone: Phone) -> None:
    before = phone.now
    for take in (phone.camera.capture_preview, phone.camera.capture_still):
        with pytest.raises(CameraError, match="No phone is the camera"):
            take()
    assert phone.now == before


@pytest.mark.parametrize("name", ["capture_preview", "capture_still"])
def test_phone_that_is_gone_is_noticed_within_five_seconds(phone: Phone, name: str) -> None:
    phone.start()
    phone.camera.capture_preview()
    last, phone.send = phone.now, lambda: None
    phone.now += 2.0  # until the next check of a table without a game
    with pytest.raises(CameraError, match="Unlock it"):
        getattr(phone.camera, name)()
    assert phone.now - last <= PHONE_TIMEOUT_S < MAX_NOTICE_S
    assert not phone.camera.is_streaming and "gone" in repr(phone.camera)


def test_phone_that_was_locked_is_noticed_at_once(phone: Phone) -> None:
    phone.start()
    before = phone.now
    phone.camera.stop(phone.stream)
    with pytest.raises(CameraError, match="Unlock it"):
        phone.camera.capture_preview()
    assert phone.now == before


def test_phone_that_returns_is_the_camera_again(phone: Phone) -> None:
    phone.start()
    phone.now += 60
    phone.send_all()
    assert phone.camera.capture_preview().time > 160


def test_full_picture_that_does_not_come_is_not_waited_for_forever(phone: Phone) -> None:
    phone.start()
    phone.send = lambda: phone.camera.receive_preview(phone.stream, SMALL)
    before = phone.now
    with pytest.raises(CameraError):
        phone.camera.capture_still()
    assert phone.now - before <= STILL_TIMEOUT_S + FRAME_INTERVAL_S


def test_second_phone_takes_over_only_when_it_was_asked(phone: Phone) -> None:
    phone.start()
    with pytest.raises(PhoneInUseError) as refused:
        phone.camera.start("2", "iPhone")
    assert refused.value.device == "Pixel 8"
    second = phone.camera.start("2", "iPhone", takes_over=True)
    with pytest.raises(StreamEndedError) as ended:
        phone.camera.receive_preview(phone.stream, SMALL)
    assert ended.value.device == "iPhone"
    assert phone.camera.receive_preview(second, SMALL) is None


def test_phone_that_was_replaced_stops_no_other(phone: Phone) -> None:
    phone.start()
    phone.camera.start("2", "iPhone", takes_over=True)
    phone.camera.stop(phone.stream)
    assert phone.camera.is_streaming


def test_same_phone_and_the_successor_of_one_that_is_gone_start_without_asking(phone: Phone) -> None:
    phone.start()
    phone.camera.start("1", "Pixel 8")
    phone.now += PHONE_TIMEOUT_S
    assert phone.camera.start("2", "iPhone")


@pytest.mark.parametrize("stream", ["", "unknown"])
def test_phone_of_before_a_restart_has_to_start_again(phone: Phone, stream: str) -> None:
    with pytest.raises(StreamEndedError) as ended:
        phone.camera.receive_preview(stream, SMALL)
    assert ended.value.device == ""


@pytest.mark.parametrize("data", [b"", b"no picture", SMALL[:-200]])
def test_damaged_picture_is_an_error_of_the_camera(phone: Phone, data: bytes) -> None:
    phone.start()
    phone.send = lambda: phone.camera.receive_preview(phone.stream, data)
    with pytest.raises(CameraError, match="phone"):
        phone.camera.capture_preview()


def test_black_picture_is_named(phone: Phone) -> None:
    phone.start()
    phone.send = lambda: phone.camera.receive_still(phone.stream, 1, jpeg(0))
    with pytest.raises(BlackPictureError):
        phone.camera.capture_still()


def test_picture_that_a_player_has_taken_is_used_once(phone: Phone) -> None:
    image = np.full((300, 400, 3), 90, np.uint8)
    phone.camera.receive_picture(image)
    assert phone.camera.capture_preview().image is image and phone.camera.capture_still().image is image
    with pytest.raises(CameraError, match="No phone"):
        phone.camera.capture_still()


def test_picture_that_no_turn_used_is_discarded(phone: Phone) -> None:
    phone.camera.receive_picture(np.full((300, 400, 3), 90, np.uint8))
    phone.now += MAX_PICTURE_AGE_S
    with pytest.raises(CameraError, match="No phone"):
        phone.camera.capture_still()


def test_close_ends_a_waiting_call() -> None:
    camera = PhoneStreamCamera()
    camera.start("1", "Pixel 8")
    reasons: list[str] = []

    def wait() -> None:
        try:
            camera.capture_preview()
        except CameraError as error:
            reasons.append(str(error))

    waiting = threading.Thread(target=wait)
    waiting.start()
    camera.close()
    waiting.join(PATIENCE_S)
    assert reasons == ["The camera was closed."]
