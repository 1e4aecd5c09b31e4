"""The Pi's camera module: choices and conversions, and the class on a stand-in for the Picamera2 object.

picamera2 needs libcamera, which PyPI does not have: `tests/hardware/picamera2_root.sh` runs the class on the real one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest

from device.cameras import open_camera
from device.cameras.base import BlackPictureError, CameraError, has_light_changed
from device.cameras.pi import PiCamera, describe_error, make_auto_controls, make_locked_controls, read_exposure_start_ns
from tests.support.pi_pictures import coloured, in_memory

NAMES = ("AeEnable", "AwbEnable", "AfMode", "LensPosition", "ExposureTime", "AnalogueGain", "ColourGains")
OFFERED = dict.fromkeys(NAMES, (0, 1, 0))
READ = {"ExposureTime": 8000, "AnalogueGain": 1.5, "ColourGains": (1.6, 2.1), "LensPosition": 2.5, "Lux": 300.0}
NO_FOCUS = {name: limits for name, limits in OFFERED.items() if name not in ("AfMode", "LensPosition")}
VIRTUAL = {"FrameDurationLimits": (0, 1, 0), "FaceDetectMode": (0, 1, 0)}


def test_settled_values_are_fixed() -> None:
    assert make_locked_controls(READ, OFFERED) == {
        "AeEnable": False,
        "ExposureTime": 8000,
        "AnalogueGain": 1.5,
        "AwbEnable": False,
        "ColourGains": (1.6, 2.1),
        "AfMode": 0,
        "LensPosition": 2.5,
    }


def test_only_offered_controls_are_set() -> None:
    """Camera modules 1, 2 and HQ have no focus; the virtual pipeline has nothing."""
    assert set(make_auto_controls(NO_FOCUS)) == {"AeEnable", "AwbEnable"}
    assert not {"AfMode", "LensPosition"} & set(make_locked_controls(READ, NO_FOCUS))
    assert make_auto_controls(VIRTUAL) == make_locked_controls(READ, VIRTUAL) == {}


def test_automatic_stays_on_where_its_value_was_not_read() -> None:
    assert make_locked_controls({"ColourGains": (1.0, 1.0)}, OFFERED) == {"AwbEnable": False, "ColourGains": (1.0, 1.0)}


def test_exposure_began_before_the_sensors_time_stamp() -> None:
    assert read_exposure_start_ns({"SensorTimestamp": 5_000_000_000, "ExposureTime": 20_000}) == 4_980_000_000
    assert read_exposure_start_ns({"FrameDuration": 33_000}) == float("inf")


def test_light_and_pictures() -> None:
    assert not has_light_changed(100, 130) and has_light_changed(100, 170) and has_light_changed(170, 100)
    assert not has_light_changed(0.2, 0.9)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ModuleNotFoundError("No module named 'picamera2'", name="picamera2"), "apt install python3-picamera2"),
        (IndexError("list index out of range"), "No camera module was found"),
        (RuntimeError('No camera number 0 found - use "rpicam-hello --list-cameras"'), "No camera module was found"),
        (RuntimeError("Failed to acquire camera: Device or resource busy"), "Another program is using"),
        (RuntimeError("Camera __init__ sequence did not complete."), "Another program is using"),
        (TimeoutError(), "Check its cable"),
        (RuntimeError("something\nnew"), "(something new)"),
    ],
)
def test_errors_are_put_into_words(error: Exception, said: str) -> None:
    assert said in describe_error(error) and "\n" not in describe_error(error)


class StandIn:
    """Behaves as the Picamera2 object does towards `PiCamera`: streams, metadata, controls, what can fail."""

    sensor_resolution = (640, 480)

    def __init__(self, form: str = "RGB888", controls: dict[str, Any] | None = None) -> None:
        self.form = form
        self.camera_controls = OFFERED if controls is None else controls
        self.set: list[dict[str, Any]] = []
        self.brightness = 1.0
        self.fail: Exception | None = None
        self.old_frames = 0
        self.started = self.closed = False
        self.requests_out = 0

    def create_still_configuration(self, **wanted: Any) -> dict[str, Any]:
        return wanted

    def configure(self, wanted: dict[str, Any]) -> None:
        assert wanted["main"]["format"] == "RGB888" and wanted["buffer_count"] == 2 and wanted["queue"] is False
        self.configuration = {"main": wanted["main"] | {"format": self.form}, "lores": wanted["lores"]}

    def camera_configuration(self) -> dict[str, Any]:
        return self.configuration

    def start(self) -> None:
        self.started = True

    def set_controls(self, controls: dict[str, Any]) -> None:
        assert set(controls) <= set(self.camera_controls)
        self.set.append(controls)

    def capture_request(self, wait: float) -> StandIn:
        assert self.started and wait == 2.0
        if self.fail:
            raise self.fail
        self.requests_out += 1
        return self

    def get_metadata(self) -> dict[str, Any]:
        age = 1.0 if self.old_frames > 0 else -0.001
        self.old_frames -= 1
        return READ | {"SensorTimestamp": time.monotonic_ns() - int(age * 1e9) + READ["ExposureTime"] * 1000}

    def make_array(self, stream: str) -> np.ndarray:
        width, height = self.configuration[stream]["size"]
        picture = cv2.resize(coloured(), (width, height), interpolation=cv2.INTER_NEAREST) * self.brightness
        return in_memory(picture.astype(np.uint8), self.configuration[stream]["format"])

    def release(self) -> None:
        self.requests_out -= 1

    def cancel_all_and_flush(self) -> None:
        assert self.started

    def close(self) -> None:
        self.closed = True


def opened(stand_in: StandIn, clock: Callable[[], float] = time.monotonic) -> PiCamera:
    return PiCamera(lambda: stand_in, settle_s=0.05, clock=clock)


def test_camera_settles_and_locks_before_the_first_still() -> None:
    pi = StandIn()
    camera = opened(pi)
    assert pi.set == [{"AeEnable": True, "AwbEnable": True, "AfMode": 2}, make_locked_controls(READ, OFFERED)]
    frame = camera.capture_still()
    assert frame.image.shape == (480, 640, 3) and np.abs(frame.image[240, 100].astype(int) - (40, 140, 230)).max() == 0
    assert len(pi.set) == 2 and camera.is_live and pi.requests_out == 0


def test_format_that_the_pipeline_adjusted_is_converted() -> None:
    frame = opened(StandIn("NV12", VIRTUAL)).capture_still()
    assert frame.image.shape == (480, 640, 3) and np.abs(frame.image[240, 100].astype(int) - (40, 140, 230)).max() <= 3


class WideStandIn(StandIn):
    sensor_resolution = (2304, 1296)


def test_preview_is_the_brightness_of_the_small_stream() -> None:
    camera = opened(WideStandIn())
    still, preview = camera.capture_still().image, camera.capture_preview().image
    assert preview.shape == (432, 768)
    assert abs(float(cv2.cvtColor(still, cv2.COLOR_BGR2GRAY).mean()) - float(preview.mean())) < 20


def test_still_is_taken_after_the_call() -> None:
    pi = StandIn()
    camera = opened(pi)
    pi.old_frames = 2
    camera.capture_still()
    assert pi.old_frames == -1 and pi.requests_out == 0


def test_exposure_settles_anew_when_the_light_was_switched_on() -> None:
    pi = StandIn()
    pi.brightness = 0.4
    camera = opened(pi)
    camera.capture_still()
    assert len(pi.set) == 2
    pi.brightness = 1.0
    camera.capture_still()
    camera.capture_still()
    assert len(pi.set) == 4


def test_black_picture_is_an_error() -> None:
    pi = StandIn()
    camera = opened(pi)
    pi.brightness = 0.0
    with pytest.raises(BlackPictureError, match="black"):
        camera.capture_still()
    pi.brightness = 1.0
    camera.capture_still()


def test_stalled_camera_is_opened_again_by_the_next_capture() -> None:
    made: list[StandIn] = []

    def make() -> StandIn:
        made.append(StandIn())
        if len(made) == 2:
            raise IndexError("No camera number 0 found")
        return made[-1]

    camera = PiCamera(make, settle_s=0.05)
    made[0].fail = TimeoutError()
    with pytest.raises(CameraError, match="The table keeps trying"):
        camera.capture_preview()
    assert made[0].closed
    with pytest.raises(CameraError, match="No camera module was found"):
        camera.capture_still()
    assert camera.capture_still().image.shape == (480, 640, 3) and len(made) == 3


def test_closed_camera_is_given_back() -> None:
    pi = StandIn()
    with opened(pi) as camera:
        pass
    assert pi.closed and repr(camera) == "<PiCamera: lost>"
    with pytest.raises(CameraError, match="closed"):
        camera.capture_still()


def test_missing_camera_is_an_error_at_once() -> None:
    def none() -> StandIn:
        raise IndexError("No camera number 0 found")

    with pytest.raises(CameraError, match="No camera module was found"):
        PiCamera(none)


FLICKER = OFFERED | {"AeFlickerMode": (0, 1, 0), "AeFlickerPeriod": (100, 1_000_000, 0)}


class FocusingStandIn(StandIn):
    """A camera module whose autofocus needs `focus_after` pictures."""

    def __init__(self, focus_after: int, controls: dict[str, Any] | None = None) -> None:
        super().__init__(controls=controls)
        self.focus_after = focus_after

    def get_metadata(self) -> dict[str, Any]:
        self.focus_after -= 1
        is_focused = self.focus_after < 0
        return super().get_metadata() | ({"AfState": 2} if is_focused else {"AfState": 1, "LensPosition": 11.2})


class SteppingClock:
    """A clock on which 0.1 s pass with each reading."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        self.now += 0.1
        return self.now


def test_focus_is_waited_for_if_it_takes_longer_than_the_exposure() -> None:
    pi = FocusingStandIn(focus_after=20)
    PiCamera(lambda: pi, settle_s=0.05, clock=SteppingClock())
    assert pi.set[-1]["LensPosition"] == READ["LensPosition"]


def test_focus_that_is_not_found_is_replaced_after_five_seconds() -> None:
    pi, clock = FocusingStandIn(focus_after=10_000), SteppingClock()
    PiCamera(lambda: pi, settle_s=0.05, clock=clock)
    assert pi.set[-1]["LensPosition"] == 1.7 and pi.set[-1]["AfMode"] == 0
    assert 5.0 < clock.now - 100.0 < 6.0


@pytest.mark.parametrize(("mains_hz", "period_us"), [(50, 10_000), (60, 8_333)])
def test_exposure_follows_the_flicker_of_lamps(mains_hz: int, period_us: int) -> None:
    assert make_auto_controls(FLICKER, mains_hz) == {
        "AeEnable": True,
        "AwbEnable": True,
        "AfMode": 2,
        "AeFlickerMode": 1,
        "AeFlickerPeriod": period_us,
    }


def test_sensor_is_slow_while_the_table_is_idle_and_fast_in_a_game() -> None:
    pi, now = StandIn(controls=VIRTUAL | {"FrameDurationLimits": (100, 1_000_000_000, 0)}), [100.0]
    camera = opened(pi, lambda: now[0])
    shortest = [pi.set[-1]["FrameDurationLimits"]]
    for pause in (2.0, 2.0, 0.2, 0.2):
        now[0] += pause
        camera.capture_preview()
        shortest.append(pi.set[-1]["FrameDurationLimits"])
    assert shortest == [(us, 1_000_000_000) for us in (33_333, 100_000, 100_000, 33_333, 33_333)]
    assert len(pi.set) == 3, "only changes are sent"


def test_second_camera_module_is_opened_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    opened_numbers: list[int] = []

    def make(number: int) -> StandIn:
        opened_numbers.append(number)
        return StandIn(controls=VIRTUAL)

    monkeypatch.setitem(sys.modules, "picamera2", SimpleNamespace(Picamera2=make))
    open_camera("pi:1").close()
    open_camera("pi").close()
    assert opened_numbers == [1, 0]
