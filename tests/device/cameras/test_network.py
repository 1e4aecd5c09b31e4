"""Network cameras: an MJPEG stream over http is read, and its password is written nowhere."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from device.cameras import open_camera, open_reconnecting_camera
from device.cameras.base import BlackPictureError, Camera, CameraError
from device.cameras.listing import hide_credentials
from device.settings import SettingsError, parse_settings
from tests.support.stream_servers import MjpegServer
from tests.support.waiting import until

SECRET = "pass-42"


@pytest.fixture
def server() -> Iterator[str]:
    with MjpegServer(np.full((120, 160, 3), 200, np.uint8)) as server:
        yield f"127.0.0.1:{server.server_port}"


def test_network_camera_returns_the_pictures_of_its_stream(server: str) -> None:
    camera = open_camera(f"http://{server}/video")
    try:
        assert camera.is_live and camera.capture_still().image.shape == (120, 160, 3)
        preview = camera.capture_preview()
        assert preview is not None and preview.image.shape == (60, 80)
    finally:
        camera.close()


def test_missing_network_camera_is_named_without_its_password(server: str) -> None:
    with pytest.raises(CameraError, match="No video comes from http://127") as error:
        open_camera(f"http://anna:{SECRET}@{server}/nothing?token={SECRET}")
    assert SECRET not in str(error.value)


def test_address_of_single_pictures_is_opened_for_each_picture() -> None:
    with (
        MjpegServer(np.full((120, 160, 3), 200, np.uint8)) as server,
        closing(open_camera(server.address.replace("/video", "/picture"))) as camera,
    ):
        for _ in range(3):
            assert camera.capture_still().image.shape == (120, 160, 3)
            preview = camera.capture_preview()
            assert preview is not None and preview.image.shape == (60, 80)
        server.show(np.full((120, 160, 3), 60, np.uint8))
        until(lambda: bool(camera.capture_still().image.mean() < 100))


def test_stream_that_repeats_one_picture_counts_as_stalled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.cameras.stream.FROZEN_S", 0.3)
    image = np.full((120, 160, 3), 200, np.uint8)

    def is_stalled(camera: Camera) -> bool:
        try:
            camera.capture_still()
        except CameraError:
            return True
        return False

    with MjpegServer(image) as server, closing(open_camera(server.address)) as camera:
        for _ in range(10):
            camera.capture_still()  # the noise changes each picture
        server.freeze()
        until(lambda: is_stalled(camera))
        assert all(
            is_stalled(camera) for _ in range(3)
        )  # not a new picture either, although the stream is opened again
        server.show(image)
        until(lambda: not is_stalled(camera))


def test_black_stream_is_black_and_not_stalled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.cameras.stream.FROZEN_S", 0.1)
    with MjpegServer(np.zeros((120, 160, 3), np.uint8)) as server, closing(open_camera(server.address)) as camera:
        server.freeze()
        for _ in range(5):
            with pytest.raises(BlackPictureError):
                camera.capture_still()


@pytest.mark.parametrize("password", ["pa/ss-42", "12/ss-42", "p?a/ss-42", "pa#/ss-42", "pa@/ss-42"])
def test_password_with_special_characters_is_hidden(password: str) -> None:
    shown = hide_credentials(f"http://anna:{password}@camera.local:8080/video?key=ss-42")
    assert "ss-42" not in shown and "anna" not in shown


@pytest.mark.parametrize("address", ["http://camera.local/video", "https://10.0.0.7:8443/v", "rtsp://[fe80::1]:554/v"])
def test_address_without_a_password_is_shown_whole(address: str) -> None:
    assert hide_credentials(address) == address


def test_network_camera_may_be_switched_on_later(server: str) -> None:
    camera = open_reconnecting_camera(f"http://anna:{SECRET}@{server}/nothing")
    with pytest.raises(CameraError, match="Check that the camera is on"):
        camera.capture_still()
    assert SECRET not in repr(camera)


@pytest.mark.parametrize("scheme", ["http", "rtsp"])
def test_password_is_not_in_the_output_of_the_program(server: str, scheme: str) -> None:
    source = f"{scheme}://anna:{SECRET}@{server}/nothing"
    program = f"from device.cameras import open_camera\ntry: open_camera({source!r})\nexcept Exception as e: print(e)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert "No video comes from" in done.stdout and SECRET not in done.stdout
    assert done.stderr == ""


def test_unknown_kind_of_camera_in_the_settings_is_named_without_its_password() -> None:
    with pytest.raises(SettingsError, match=r"camera\.source") as error:
        parse_settings(f'[camera]\nsource = "ftp://anna:{SECRET}@camera/x"')
    assert SECRET not in str(error.value)
