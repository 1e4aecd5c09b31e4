"""Network cameras: an MJPEG stream over http is read, and its password is written nowhere."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cv2
import numpy as np
import pytest

from device.cameras import CameraError, open_camera, open_reconnecting_camera
from device.settings import SettingsError, parse_settings

SECRET = "pass-42"
JPEG = cv2.imencode(".jpg", np.full((120, 160, 3), 200, np.uint8))[1].tobytes()


class MjpegServer(ThreadingHTTPServer):
    """Serves the same picture over and over at `/video`, as the application of a phone does."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), MjpegHandler)
        self.stopped = threading.Event()


class MjpegHandler(BaseHTTPRequestHandler):
    server: MjpegServer

    def do_GET(self) -> None:
        if self.path != "/video":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(JPEG)}\r\n\r\n".encode()
        try:
            while not self.server.stopped.wait(0.02):
                self.wfile.write(head + JPEG + b"\r\n")
        except OSError:
            pass  # the camera was closed

    def log_message(self, *_: object) -> None:
        """Do not log."""


@pytest.fixture
def server() -> Iterator[str]:
    with MjpegServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.stopped.set()
        server.shutdown()


def test_network_camera_returns_the_pictures_of_its_stream(server: str) -> None:
    camera = open_camera(f"http://{server}/video")
    try:
        assert camera.live and camera.still().image.shape == (120, 160, 3)
        preview = camera.preview()
        assert preview is not None and preview.image.shape == (60, 80)
    finally:
        camera.close()


def test_missing_network_camera_is_named_without_its_password(server: str) -> None:
    with pytest.raises(CameraError, match="No video comes from http://127") as error:
        open_camera(f"http://anna:{SECRET}@{server}/nothing?token={SECRET}")
    assert SECRET not in str(error.value)


def test_network_camera_may_be_switched_on_later(server: str) -> None:
    camera = open_reconnecting_camera(f"http://anna:{SECRET}@{server}/nothing")
    with pytest.raises(CameraError, match="Check that the camera is on"):
        camera.still()
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
