"""The watch between turns: camera trouble is noticed and gone again, a board at rest is seen once."""

from __future__ import annotations

import numpy as np
import pytest

from device.cameras.base import CameraError, Frame, Image
from device.capture.board_camera import (
    BACK_OFF_S,
    CHECK_INTERVAL_S,
    IDLE_CHECK_INTERVAL_S,
    LONG_REST_S,
    MIN_REST_S,
    MOTION_CHECK_INTERVAL_S,
    CameraMonitor,
    MonitorClient,
)
from device.capture.motion import RestScene


class Scene(MonitorClient):
    """A camera over a table that a test changes; time passes only as it says."""

    def __init__(self) -> None:
        self.now = 0.0
        self.image: Image = np.full((72, 96, 3), 90, np.uint8)
        self.fault: CameraError | None = None
        self.still_fault: CameraError | None = None
        self.age = 0.0
        self.busy = False
        self.looks = 0
        self.troubles: list[str | None] = []
        self.rests: list[Frame] = []
        self.motions: list[bool] = []
        self.long_rests: list[Frame] = []
        self.scenes: list[tuple[float, RestScene]] = []
        self.in_play = True
        self.watch = CameraMonitor(self, self, lambda: self.now)  # type: ignore[arg-type]

    def is_idle(self) -> bool:
        return not self.busy

    def is_in_play(self) -> bool:
        return self.in_play

    def handle_trouble(self, message: str | None) -> None:
        self.troubles.append(message)

    def handle_motion(self, is_moving: bool) -> None:
        self.motions.append(is_moving)

    def handle_scene(self, scene: RestScene) -> None:
        self.scenes.append((self.now, scene))

    def handle_rest(self, still: Frame) -> None:
        self.rests.append(still)

    def handle_long_rest(self, preview: Frame) -> None:
        self.long_rests.append(preview)

    def capture_preview(self) -> Frame | None:
        self.looks += 1
        if self.fault:
            raise self.fault
        return Frame(self.image, self.now - self.age)

    def capture_still(self) -> Frame:
        if self.still_fault:
            raise self.still_fault
        return Frame(self.image, self.now, "still")

    def tile(self, column: int) -> None:
        self.image = self.image.copy()
        self.image[30:36, column : column + 6] = 230

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            wait = self.watch.check_camera()
            assert wait is not None
            self.now += wait


@pytest.fixture
def scene() -> Scene:
    scene = Scene()
    scene.run(1.0)
    scene.rests.clear()
    return scene


def test_fault_of_the_camera_is_reported_at_once_and_only_once(scene: Scene) -> None:
    scene.fault = CameraError("unplugged")
    scene.run(CHECK_INTERVAL_S)
    assert scene.troubles == ["unplugged"]
    scene.run(20.0)
    assert scene.troubles == ["unplugged"]


def test_camera_that_fails_is_asked_less_and_less_often(scene: Scene) -> None:
    scene.fault, scene.looks = CameraError("unplugged"), 0
    scene.run(60.0)
    assert scene.looks < 5 + 60 / BACK_OFF_S[-1]


def test_recovery_of_the_camera_is_reported(scene: Scene) -> None:
    scene.fault = CameraError("unplugged")
    scene.run(5.0)
    scene.fault = None
    scene.run(BACK_OFF_S[-1] + CHECK_INTERVAL_S)
    assert scene.troubles == ["unplugged", None]


def test_camera_whose_full_pictures_fail_is_reported_until_one_succeeds(scene: Scene) -> None:
    scene.still_fault = CameraError("no full picture")
    scene.tile(10)
    scene.run(20.0)
    assert scene.troubles == ["no full picture"]
    scene.still_fault = None
    scene.run(2 * BACK_OFF_S[-1])
    assert scene.troubles == ["no full picture", None] and len(scene.rests) == 1


def test_camera_whose_full_pictures_failed_works_again_after_the_game(scene: Scene) -> None:
    scene.still_fault = CameraError("no full picture")
    scene.tile(10)
    scene.run(5.0)
    scene.in_play = False
    scene.run(2 * BACK_OFF_S[-1])
    assert scene.troubles == ["no full picture", None]


def test_black_pictures_are_noticed_within_two_seconds(scene: Scene) -> None:
    scene.image = np.zeros_like(scene.image)
    scene.run(2.0)
    assert len(scene.troubles) == 1 and "black" in str(scene.troubles[0])


def test_camera_that_stalls_is_noticed_within_two_seconds(scene: Scene) -> None:
    begun = scene.now
    while not scene.troubles:
        scene.age = scene.now - begun
        scene.now += scene.watch.check_camera() or 0.0
    assert scene.now - begun < 2.0 + BACK_OFF_S[0]


def test_tiles_that_were_laid_are_seen_once_they_lie_still(scene: Scene) -> None:
    scene.tile(40)
    scene.run(MIN_REST_S + 3 * CHECK_INTERVAL_S)
    scene.run(5.0)
    assert [frame.name for frame in scene.rests] == ["still"]


def test_hand_that_moves_on_is_not_rest(scene: Scene) -> None:
    for column in range(0, 80, 2):
        scene.tile(column)
        scene.run(CHECK_INTERVAL_S)
    assert scene.rests == []


def test_hand_that_only_passed_changed_nothing(scene: Scene) -> None:
    bare = scene.image
    scene.tile(20)
    scene.run(2 * CHECK_INTERVAL_S)
    scene.image = bare
    scene.run(3.0)
    assert scene.rests == []


def test_camera_is_not_checked_while_the_table_is_busy(scene: Scene) -> None:
    scene.busy, scene.looks = True, 0
    scene.run(2.0)
    assert scene.looks == 0


def test_camera_whose_pictures_do_not_move_is_not_watched(scene: Scene) -> None:
    scene.capture_preview = lambda: None  # type: ignore[method-assign]
    assert scene.watch.check_camera() is None


def test_motion_is_reported_when_it_begins_and_when_it_ends(scene: Scene) -> None:
    scene.motions.clear()
    scene.tile(10)
    scene.run(CHECK_INTERVAL_S)
    assert scene.motions == [True]
    scene.run(2 * MIN_REST_S)
    assert scene.motions == [True, False]


def test_board_that_changed_is_reported_once_after_a_long_rest(scene: Scene) -> None:
    scene.run(2 * LONG_REST_S)
    scene.long_rests.clear()
    scene.tile(10)
    scene.run(LONG_REST_S)
    assert not scene.long_rests
    scene.run(3 * LONG_REST_S)
    assert len(scene.long_rests) == 1


def test_board_that_is_as_before_is_reported_after_a_long_rest_too(scene: Scene) -> None:
    scene.run(2 * LONG_REST_S)
    scene.long_rests.clear()
    before = scene.image
    scene.tile(10)
    while not scene.motions or not scene.motions[-1]:
        scene.run(MOTION_CHECK_INTERVAL_S)
    scene.image = before
    scene.run(2 * LONG_REST_S)
    assert len(scene.long_rests) == 1 and not scene.rests


def test_scene_is_reported_as_soon_as_nothing_moves(scene: Scene) -> None:
    scene.scenes.clear()
    laid = scene.now
    scene.tile(40)
    scene.run(2.0)
    (at, rest), *others = scene.scenes
    assert not others and at - laid < MIN_REST_S
    assert rest.still is scene.rests[0]
    assert np.array_equal(rest.before, scene.image) and np.array_equal(rest.after, scene.image)


def test_table_without_a_game_in_play_is_looked_at_for_faults_only(scene: Scene) -> None:
    scene.in_play, scene.looks = False, 0
    scene.tile(40)
    scene.run(10 * IDLE_CHECK_INTERVAL_S)
    assert scene.looks == 10 and scene.rests == []
    scene.fault = CameraError("unplugged")
    scene.run(IDLE_CHECK_INTERVAL_S)
    assert scene.troubles == ["unplugged"]


def test_board_is_a_scene_again_after_a_hand_that_paused(scene: Scene) -> None:
    board = scene.image
    scene.tile(40)
    scene.run(0.25)
    scene.image = board
    scene.scenes.clear()
    scene.run(5.0)
    assert len(scene.scenes) == 1 and np.array_equal(scene.scenes[0][1].still.image, board)
    assert scene.rests == []


def test_board_is_a_scene_again_after_a_fault(scene: Scene) -> None:
    scene.scenes.clear()
    scene.fault = CameraError("unplugged")
    scene.run(5.0)
    scene.fault = None
    scene.run(5.0)
    assert len(scene.scenes) == 1 and scene.rests == []


def test_board_at_rest_is_a_scene_again_after_the_scene_was_forgotten(scene: Scene) -> None:
    scene.scenes.clear()
    scene.watch.forget_scene()
    scene.run(5.0)
    assert len(scene.scenes) == 1 and len(scene.rests) == 1
