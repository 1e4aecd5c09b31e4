"""Servers of video streams for tests of network cameras: MJPEG over http, and H.264 over RTSP."""

from __future__ import annotations

import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

import cv2
import numpy as np

from vision.geometry import Image

FRAMES_PER_S = 10
SYSTEM_PYTHON = "/usr/bin/python3"
"""Debian's Python, which has the bindings of GStreamer."""
RTSP_PACKAGES = "python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-good gstreamer1.0-plugins-bad"
"""Debian packages of a server for H.264 over RTSP."""

_RTSP_PROGRAM = """
import sys
import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer

Gst.init(None)
for name in ("multifilesrc", "jpegdec", "videoconvert", "openh264enc", "h264parse", "rtph264pay"):
    if Gst.ElementFactory.find(name) is None:
        sys.exit(f"GStreamer has no {name}")
if len(sys.argv) == 1:
    sys.exit()
picture, rate = sys.argv[1:]
factory = GstRtspServer.RTSPMediaFactory(shared=True)
factory.set_launch(
    f"( multifilesrc location={picture} loop=true caps=image/jpeg,framerate={rate}/1 ! identity sync=true ! jpegdec"
    f" ! videoconvert ! video/x-raw,format=I420 ! openh264enc bitrate=8000000 gop-size={rate} ! h264parse"
    " ! rtph264pay name=pay0 pt=96 config-interval=1 )"
)
server = GstRtspServer.RTSPServer(address="127.0.0.1", service="0")
server.get_mount_points().add_factory("/board", factory)
server.attach(None)
print(server.get_bound_port(), flush=True)
GLib.MainLoop().run()
"""
"""Program of an RTSP server: it encodes the JPEG file `picture` again for each frame, so the file may be replaced."""


def can_serve_rtsp() -> bool:
    """Return whether `RTSP_PACKAGES` are installed."""
    if not Path(SYSTEM_PYTHON).exists():
        return False
    return subprocess.run([SYSTEM_PYTHON, "-c", _RTSP_PROGRAM], capture_output=True, timeout=60).returncode == 0


class MjpegServer(ThreadingHTTPServer):
    """Sends one picture over and over at `/video`, as the application of a phone does; use it with `with`.

    At `/picture`, it sends the picture once.
    """

    daemon_threads = True

    def __init__(self, image: Image) -> None:
        super().__init__(("127.0.0.1", 0), _MjpegHandler)
        self.stopped = threading.Event()
        self.address = f"http://127.0.0.1:{self.server_port}/video"
        self.show(image)

    def show(self, image: Image) -> None:
        """Send this picture from now on, with the noise of a camera, which changes every picture."""
        noise = np.random.default_rng(1)
        noisy = (cv2.add(image, noise.integers(0, 3, image.shape, np.uint8)) for _ in range(4))
        self.jpegs = tuple(map(_encode_jpeg, noisy))

    def freeze(self) -> None:
        """Send exactly the same picture from now on."""
        self.jpegs = self.jpegs[:1]

    def __enter__(self) -> MjpegServer:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.shutdown()
        self.server_close()


class _MjpegHandler(BaseHTTPRequestHandler):
    server: MjpegServer

    def do_GET(self) -> None:
        if self.path == "/picture":
            self.send_response(200)
            self.send_header("Content-Type", "image/jpeg")
            self.end_headers()
            self.wfile.write(self.server.jpegs[0])
            return
        if self.path != "/video":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        try:
            for number in count():
                if self.server.stopped.wait(1 / FRAMES_PER_S):
                    break
                jpegs = self.server.jpegs
                jpeg = jpegs[number % len(jpegs)]
                head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
                self.wfile.write(head.encode() + jpeg + b"\r\n")
        except OSError:
            pass  # the camera was closed

    def log_message(self, *_: object) -> None:
        """Do not log."""


class RtspServer:
    """Sends one picture over and over as H.264 at `/board`, as a surveillance camera does; use it with `with`."""

    def __init__(self, image: Image, folder: Path) -> None:
        self._picture = folder / "board.jpg"
        self.show(image)

    def show(self, image: Image) -> None:
        """Send this picture from now on."""
        new = self._picture.with_suffix(".new")
        new.write_bytes(_encode_jpeg(image))
        new.replace(self._picture)

    def __enter__(self) -> RtspServer:
        command = [SYSTEM_PYTHON, "-c", _RTSP_PROGRAM, str(self._picture), str(FRAMES_PER_S)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self._process.stdout is not None
        self.address = f"rtsp://127.0.0.1:{int(self._process.stdout.readline())}/board"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def _encode_jpeg(image: Image) -> bytes:
    return cv2.imencode(".jpg", image)[1].tobytes()
