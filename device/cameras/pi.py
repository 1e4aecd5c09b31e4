"""The Raspberry Pi camera modules (1, 2, 3, HQ) through picamera2.

The camera always uses the still configuration, so that no turn waits for a change of mode. Exposure, white balance and
focus adjust automatically for about two seconds, or until the focus is found. Then their values are read and locked for
the game, so that tiles look the same in every picture.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from device.cameras.base import (
    BLACK_MESSAGE,
    CLOSED_MESSAGE,
    DEFAULT_MAINS_HZ,
    FRAME_TIMEOUT_S,
    STALLED_MESSAGE,
    BlackPictureError,
    CameraError,
    Frame,
    Image,
    has_light_changed,
    is_black,
    measure_brightness,
)
from device.catalogue import get_text
from device.system.closeable import Closeable

_log = logging.getLogger(__name__)

STILL_WIDTH_PX = 2304
"""Width of stills in pixels: at least 100 for each square of the board.

Wider stills need more memory and are not read better.
"""
PREVIEW_WIDTH_PX = 768
"""Width of previews in pixels. A sensor of 16 : 9 gives `PREVIEW_HEIGHT_PX` rows, other sensors give more."""
SETTLE_S = 2.0
FOCUS_TIMEOUT_S = 5.0
"""Maximum time for the autofocus, in seconds; on a plain surface, it may never succeed (picamera2 issue 1082)."""
DEFAULT_LENS_POSITION = 1.7
"""Lens position in dioptres if the autofocus fails. At distances of 45 to 100 cm, camera module 3 then blurs by at most
3 pixels."""
AF_MANUAL, AF_CONTINUOUS = 0, 2
"""Values of libcamera's control `AfMode` (autofocus mode)."""
AF_FOCUSED = 2
"""Value of libcamera's `AfState` for a picture in focus."""
FLICKER_MANUAL = 1
"""Value of libcamera's control `AeFlickerMode` that makes exposures multiples of `AeFlickerPeriod`."""
IDLE_INTERVAL_S = 1.0
"""Maximum time between two requests for a picture, in seconds; after a longer time, the frame rate is reduced."""
FRAME_US, IDLE_FRAME_US = 33_333, 100_000
"""Shortest time of a frame in microseconds during a game (`FRAME_US`) and while idle (`IDLE_FRAME_US`). Without a
limit, some sensors give 56 frames a second."""

_YUV_CONVERSIONS: Mapping[str, int] = {"YUV420": cv2.COLOR_YUV2BGR_I420, "NV12": cv2.COLOR_YUV2BGR_NV12}
"""Formats with a plane of brightness: that of the small stream, and the only one of libcamera's virtual camera."""

Array = npt.NDArray[np.uint8]
Controls = dict[str, Any]
Converter = Callable[[Array, str, tuple[int, int]], Image]
"""A function that converts the array of a stream, given libcamera's format and the (width, height)."""


class PiCamera(Closeable):
    """A camera module; the constructor opens the camera and locks exposure, white balance and focus.

    `number` is the camera's place in the list of `rpicam-hello --list-cameras`; a Raspberry Pi 5 has two sockets.
    `picamera` creates the `Picamera2` object, at the start and after each failure. `settle_s` is the time in seconds
    for the automatic adjustment, and `mains_hz` the frequency of the mains, which makes lamps flicker. Raises
    `CameraError`.
    """

    is_live = True

    def __init__(
        self,
        picamera: Callable[[], Any] | None = None,
        *,
        number: int = 0,
        settle_s: float = SETTLE_S,
        mains_hz: int = DEFAULT_MAINS_HZ,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._picamera_factory = picamera or partial(_make_picamera2, number)
        self._settle_s = settle_s
        self._mains_hz = mains_hz
        self._clock = clock
        self._frame_us = FRAME_US
        self._last_capture = clock()
        self._closed = False
        self._brightness = 0.0
        self._camera: Any = None
        self._open()

    def __repr__(self) -> str:
        return f"<PiCamera: {'lost' if self._camera is None else 'open'}>"

    def capture_still(self) -> Frame:
        """Return a picture that was exposed after the call; adjust the exposure first if the light has changed much.

        Raises `CameraError`.
        """
        frame = self._capture_frame("main")
        if not is_black(frame.image) and has_light_changed(self._brightness, measure_brightness(frame.image)):
            self.settle()
            frame = self._capture_frame("main")
        if is_black(frame.image):
            raise BlackPictureError(BLACK_MESSAGE)
        return frame

    def capture_preview(self) -> Frame:
        """Return a small grey picture from the low-resolution stream. Raises `CameraError`."""
        return self._capture_frame("lores", convert=to_luma, fresh=False)

    def settle(self) -> None:
        """Adjust exposure, white balance and focus, then lock the three. Raises `CameraError`."""
        self._ensure_open()
        try:
            self._settle_controls(self._camera)
        except Exception as error:
            raise self._close_failed(error) from error

    def close(self) -> None:
        """Close the camera; further calls raise `CameraError`."""
        self._closed = True
        self._close_camera()

    def _open(self) -> None:
        """Open, configure and start the camera, then adjust and lock its controls. Raises `CameraError`."""
        try:
            self._camera = self._picamera_factory()
            _configure_streams(self._camera)
            self._camera.start()
            self._settle_controls(self._camera)
        except Exception as error:
            raise self._close_failed(error) from error

    def _settle_controls(self, camera: Any) -> None:
        """Wait until exposure, white balance and focus have settled, then lock them: all pictures shall look alike."""
        offered = camera.camera_controls
        if "FrameDurationLimits" in offered:
            camera.set_controls(make_frame_limits(self._frame_us, offered))
        if controls := make_auto_controls(offered, self._mains_hz):
            camera.set_controls(controls)
            begin = self._clock()
            metadata = _read_metadata(camera)
            while self._clock() < begin + self._settle_s or (
                is_focusing(metadata, offered) and self._clock() < begin + FOCUS_TIMEOUT_S
            ):
                metadata = _read_metadata(camera)
            camera.set_controls(make_locked_controls(metadata, offered))
        self._brightness = measure_brightness(self._capture_image(camera, "main", convert=to_bgr))

    def _capture_frame(self, stream: str, *, convert: Converter | None = None, fresh: bool = True) -> Frame:
        self._ensure_open()
        try:
            self._adapt_frame_rate(self._camera)
            image = self._capture_image(self._camera, stream, convert=convert or to_bgr, fresh=fresh)
            return Frame(image, self._clock())
        except Exception as error:
            raise self._close_failed(error) from error

    def _adapt_frame_rate(self, camera: Any) -> None:
        """Reduce the sensor's frame rate while fewer than one picture a second is needed, for less heat and load."""
        now = self._clock()
        is_idle, self._last_capture = now - self._last_capture > IDLE_INTERVAL_S, now
        frame_us = IDLE_FRAME_US if is_idle else FRAME_US
        if frame_us != self._frame_us and "FrameDurationLimits" in camera.camera_controls:
            self._frame_us = frame_us
            camera.set_controls(make_frame_limits(frame_us, camera.camera_controls))

    def _capture_image(self, camera: Any, stream: str, *, convert: Converter, fresh: bool = True) -> Image:
        """Return the next picture of `stream`; if `fresh` is True, skip pictures that were exposed before the call.

        `convert` converts the array of the stream to a picture.
        """
        earliest_ns = time.monotonic_ns() if fresh else 0
        end = self._clock() + FRAME_TIMEOUT_S
        while True:
            request = camera.capture_request(wait=FRAME_TIMEOUT_S)
            try:
                if read_exposure_start_ns(request.get_metadata()) >= earliest_ns or self._clock() >= end:
                    form = camera.camera_configuration()[stream]
                    return convert(request.make_array(stream), str(form["format"]), form["size"])
            finally:
                request.release()

    def _ensure_open(self) -> None:
        """Open the camera again if it has failed. Raises `CameraError`."""
        if self._closed:
            raise CameraError(CLOSED_MESSAGE)
        if self._camera is None:
            self._open()

    def _close_failed(self, error: Exception) -> CameraError:
        """Close the camera, so that the next capture opens it again, and return the `CameraError` to raise."""
        self._close_camera()
        return error if isinstance(error, CameraError) else CameraError(describe_error(error))

    def _close_camera(self) -> None:
        camera, self._camera = self._camera, None
        if camera is None:
            return
        try:
            camera.cancel_all_and_flush()
            camera.close()
        except Exception as error:  # closing a disconnected camera may fail, too
            _log.info("the lost camera did not close: %s", error)


def make_auto_controls(offered: Container[str], mains_hz: int = DEFAULT_MAINS_HZ) -> Controls:
    """Return the controls for automatic exposure, white balance and focus, as far as their names are in `offered`.

    Exposure times are multiples of the period of flickering lamps, which is half a period of the mains.
    """
    wanted: Controls = {"AeEnable": True, "AwbEnable": True, "AfMode": AF_CONTINUOUS}
    if "AeFlickerMode" in offered and "AeFlickerPeriod" in offered:
        wanted |= {"AeFlickerMode": FLICKER_MANUAL, "AeFlickerPeriod": 1_000_000 // (2 * mains_hz)}
    return {name: value for name, value in wanted.items() if name in offered}


def make_frame_limits(shortest_us: int, offered: Mapping[str, Sequence[Any]]) -> Controls:
    """Return the camera control that limits the frame duration (microseconds). In dim light, frames may take longer."""
    return {"FrameDurationLimits": (shortest_us, max(shortest_us, int(offered["FrameDurationLimits"][1])))}


def is_focusing(metadata: Mapping[str, Any], offered: Container[str]) -> bool:
    """Return True if the camera has an autofocus, and the picture with this metadata is not in focus."""
    return "AfMode" in offered and metadata.get("AfState", AF_FOCUSED) != AF_FOCUSED


def make_locked_controls(metadata: Mapping[str, Any], offered: Container[str]) -> Controls:
    """Return the controls that lock exposure, white balance and focus, as far as their names are in `offered`.

    The values are those in the `metadata` of a picture. Switching an automatic control off does not lock its value, so
    the value is set as well (picamera2 issues 7 and 977). If no focus was found, the lens is set to
    `DEFAULT_LENS_POSITION`.
    """
    wanted: Controls = {}
    for switch, names in (("AeEnable", ("ExposureTime", "AnalogueGain")), ("AwbEnable", ("ColourGains",))):
        read = {name: metadata[name] for name in names if name in metadata and name in offered}
        if read:
            wanted |= {switch: False} | read
    if "LensPosition" in metadata and "LensPosition" in offered:
        lens = DEFAULT_LENS_POSITION if is_focusing(metadata, offered) else metadata["LensPosition"]
        wanted |= {"AfMode": AF_MANUAL, "LensPosition": lens}
    return {name: value for name, value in wanted.items() if name in offered}


def fit_still_size(sensor: tuple[int, int], width: int = STILL_WIDTH_PX) -> tuple[int, int]:
    """Return the size (width, height) of the sensor, scaled down to at most `width` pixels; both numbers are even."""
    scale = min(1.0, width / sensor[0])
    return round(sensor[0] * scale) // 2 * 2, round(sensor[1] * scale) // 2 * 2


def to_bgr(array: Array, form: str, size: tuple[int, int]) -> Image:
    """Convert a stream's array to `(H, W, 3) uint8 BGR`; `form` is libcamera's format, `size` is (width, height).

    libcamera names formats by the order in a little-endian word, so `RGB888` is blue, green, red in memory. Rows of
    `array` may be longer than the picture is wide; the rest is cut off. Raises `CameraError` for an unknown format.
    """
    width, height = size
    if form in _YUV_CONVERSIONS:
        image = cv2.cvtColor(array, _YUV_CONVERSIONS[form])
    elif form == "RGB888":
        image = array
    else:
        raise CameraError(get_text("camera-format", form))
    return np.ascontiguousarray(image[:height, :width], np.uint8)


def to_luma(array: Array, form: str, size: tuple[int, int]) -> Image:
    """Convert a stream's array to brightness, `(H, W) uint8`; the arguments are those of `to_bgr`.

    In formats with planes, the first plane is the brightness, so it is returned without a computation. Raises
    `CameraError`.
    """
    width, height = size
    if form in _YUV_CONVERSIONS:
        return np.ascontiguousarray(array[:height, :width], np.uint8)
    return np.asarray(cv2.cvtColor(to_bgr(array, form, size), cv2.COLOR_BGR2GRAY), np.uint8)


def read_exposure_start_ns(metadata: Mapping[str, Any]) -> float:
    """Return the start of a picture's exposure in ns of the monotonic clock; infinity if it is unknown."""
    if "SensorTimestamp" not in metadata or "ExposureTime" not in metadata:
        return float("inf")
    return float(metadata["SensorTimestamp"]) - 1000.0 * float(metadata["ExposureTime"])


def describe_error(error: Exception) -> str:
    """Return a message for an error of picamera2 or libcamera, with the reason and the remedy."""
    text = " ".join(str(error).split())
    if isinstance(error, ModuleNotFoundError):
        wanted = "sudo apt install python3-picamera2 --no-install-recommends"
        return get_text("camera-not-installed", error.name, wanted)
    if isinstance(error, TimeoutError):
        return STALLED_MESSAGE
    if isinstance(error, IndexError) or "No camera number" in text:  # older picamera2, and picamera2 of 2026
        return get_text("camera-no-module")
    if "acquire" in text or "busy" in text.lower() or "__init__ sequence" in text:
        return get_text("camera-in-use")
    return get_text("camera-module", text or type(error).__name__)


def _make_picamera2(number: int) -> Any:
    from picamera2 import Picamera2

    return Picamera2(number)


def _configure_streams(camera: Any) -> None:
    """Configure a stream of stills, and one of small pictures for motion detection."""
    size = fit_still_size(camera.sensor_resolution)
    main = {"format": "RGB888", "size": size}
    small = {"format": "YUV420", "size": fit_still_size(size, PREVIEW_WIDTH_PX)}
    camera.configure(camera.create_still_configuration(main=main, lores=small, buffer_count=2, queue=False))


def _read_metadata(camera: Any) -> Mapping[str, Any]:
    request = camera.capture_request(wait=FRAME_TIMEOUT_S)
    try:
        found: Mapping[str, Any] = request.get_metadata()
        return found
    finally:
        request.release()
