"""The board is read when nothing moves before the camera, and at the latest when patience ends."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from device.cameras.base import CameraError, Frame
from device.capture.motion import MAX_WAIT_S, MIN_STILL_S, POLL_INTERVAL_S, wait_for_rest


class Scene:
    """A live camera before which something moves until `rests_at`; its clock is the number of looks."""

    is_live = True

    def __init__(self, rests_at: float, noise: int = 0) -> None:
        self.rests_at = rests_at
        self.now = 0.0
        self.noise = np.random.default_rng(1)
        self.grain = noise
        self.looks = count()

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def capture_preview(self) -> Frame:
        image = self.noise.integers(100 - self.grain, 101 + self.grain, (240, 320, 3)).astype(np.uint8)
        if self.now < self.rests_at:
            at = 15 * next(self.looks) % 300
            image[100:140, at : at + 20] = 255
        return Frame(image, self.now)

    def capture_still(self) -> Frame:
        return Frame(np.zeros((2, 2, 3), np.uint8), self.now)

    def close(self) -> None:
        raise AssertionError("not here")


def taken_at(scene: Scene) -> float:
    wait_for_rest(scene, is_enough=lambda _: False, clock=scene.clock, wait=scene.sleep)
    return scene.capture_still().time


def test_still_board_is_taken_after_the_quiet_time() -> None:
    assert taken_at(Scene(0.0)) == pytest.approx(MIN_STILL_S, abs=2 * POLL_INTERVAL_S)


def test_camera_noise_is_no_motion() -> None:
    assert taken_at(Scene(0.0, noise=20)) == pytest.approx(MIN_STILL_S, abs=2 * POLL_INTERVAL_S)


def test_hand_is_waited_for() -> None:
    assert taken_at(Scene(0.8)) == pytest.approx(0.8 + MIN_STILL_S, abs=4 * POLL_INTERVAL_S)


def test_wait_for_rest_ends_while_the_board_moves() -> None:
    assert taken_at(Scene(1000.0)) == pytest.approx(MAX_WAIT_S, abs=2 * POLL_INTERVAL_S)


def test_photographs_are_not_waited_for() -> None:
    class Photographs(Scene):
        def capture_preview(self) -> None:  # type: ignore[override]
            return None

    assert taken_at(Photographs(0.0)) == 0.0


def test_trouble_of_the_camera_comes_through() -> None:
    class Unplugged(Scene):
        def capture_preview(self) -> Frame:
            raise CameraError("the camera sends no pictures")

    with pytest.raises(CameraError):
        taken_at(Unplugged(0.0))
