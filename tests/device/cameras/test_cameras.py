"""Cameras: a folder's pictures come once and in order; what cannot be seen is said."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from device.cameras import CameraError, NoMorePicturesError, open_camera, open_reconnecting_camera
from device.cameras.folder import WRITE_TIMEOUT_S, FolderCamera
from device.cameras.reconnecting import ReconnectingCamera
from device.cameras.simulated import SimulatedCamera
from device.cameras.usb import UsbCamera
from tests.support.waiting import PATIENCE_S, until
from vision.photo import Photo, load_photo
from vision.rendering.simulated_table import SimulatedTable


def write(path: Path, grey: int) -> Path:
    assert cv2.imwrite(str(path), np.full((30, 40, 3), grey, np.uint8))
    return path


def grey(image: np.ndarray) -> int:
    return round(float(image.mean()))


def test_folder_gives_its_pictures_in_order_of_their_names_and_each_once(tmp_path: Path) -> None:
    for name, shade in (("b.png", 20), ("a.png", 10), ("c.PNG", 30)):
        write(tmp_path / name, shade)
    (tmp_path / "notes.txt").write_text("no picture")
    camera = open_camera(f"folder:{tmp_path}")
    assert [grey(camera.still().image) for _ in range(3)] == [10, 20, 30]
    with pytest.raises(NoMorePicturesError, match="Add one"):
        camera.still()
    write(tmp_path / "d.png", 40)
    assert grey(camera.still().image) == 40
    assert camera.preview() is None and not camera.live


def test_folder_may_be_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "Bilder vom Tisch").mkdir()
    write(tmp_path / "Bilder vom Tisch" / "a.png", 10)
    assert grey(open_camera("folder:~/Bilder vom Tisch").still().image) == 10


def test_hidden_files_in_a_folder_are_no_pictures(tmp_path: Path) -> None:
    (tmp_path / "._a.jpg").write_bytes(b"\0\5\x16\7")  # AppleDouble, which a Mac writes beside each file it copies
    write(tmp_path / "a.png", 10)
    assert grey(open_camera(f"folder:{tmp_path}").still().image) == 10


class PictureRecord:
    """The pictures that were shown, kept in memory."""

    def __init__(self) -> None:
        self.times: dict[str, int] = {}

    def load(self) -> dict[str, int]:
        return dict(self.times)

    def save(self, times: Mapping[str, int]) -> None:
        self.times = dict(times)


def test_folder_after_a_restart_gives_only_new_pictures(tmp_path: Path) -> None:
    record = PictureRecord()
    for name, shade in (("1.png", 10), ("2.png", 20), ("3.png", 30)):
        write(tmp_path / name, shade)
    camera = FolderCamera.from_folder(tmp_path, record)
    assert [grey(camera.still().image) for _ in range(2)] == [10, 20]
    camera = FolderCamera.from_folder(tmp_path, record)
    assert grey(camera.still().image) == 30
    with pytest.raises(NoMorePicturesError):
        camera.still()


def test_picture_written_again_under_the_same_name_is_a_new_one(tmp_path: Path) -> None:
    record = PictureRecord()
    write(tmp_path / "board.png", 10)
    assert grey(FolderCamera.from_folder(tmp_path, record).still().image) == 10
    write(tmp_path / "board.png", 20)
    os.utime(tmp_path / "board.png", ns=(0, record.times["board.png"] + 1_000_000_000))
    assert grey(FolderCamera.from_folder(tmp_path, record).still().image) == 20


def test_picture_whose_date_was_set_after_it_was_shown_is_not_a_new_one(tmp_path: Path) -> None:
    record = PictureRecord()
    camera = FolderCamera.from_folder(tmp_path, record)
    picture = write(tmp_path / "board.png", 10)
    camera.still()
    os.utime(picture, (0, 0))  # as programs do that copy a file with its date
    with pytest.raises(NoMorePicturesError):
        camera.still()
    with pytest.raises(NoMorePicturesError):
        FolderCamera.from_folder(tmp_path, record).still()
    write(picture, 20)
    assert grey(camera.still().image) == 20


def test_picture_that_is_replaced_while_it_is_read_is_shown_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = write(tmp_path / "board.png", 10)
    os.utime(picture, (0, 0))

    def load_and_replace(path: Path) -> Photo:
        photo = load_photo(path)
        monkeypatch.undo()
        write(picture, 20)
        return photo

    monkeypatch.setattr("device.cameras.folder.load_photo", load_and_replace)
    camera = FolderCamera.from_folder(tmp_path)
    assert [grey(camera.still().image) for _ in range(2)] == [10, 20]


def test_broken_picture_is_not_shown_again_after_a_restart(tmp_path: Path) -> None:
    record = PictureRecord()
    (tmp_path / "a.jpg").write_bytes(b"\xff\xd8\xff\xe0 cut short")
    os.utime(tmp_path / "a.jpg", (time.time() - 60,) * 2)
    with pytest.raises(CameraError, match=r"a\.jpg"):
        FolderCamera.from_folder(tmp_path, record).still()
    with pytest.raises(NoMorePicturesError):
        FolderCamera.from_folder(tmp_path, record).still()


def test_broken_picture_with_a_date_in_the_future_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "a.jpg"
    broken.write_bytes(b"\xff\xd8\xff\xe0 cut short")
    os.utime(broken, (time.time() + 3600,) * 2)  # the clock of the table was set back
    slept: list[float] = []
    clock = SimpleNamespace(time=time.time, monotonic=lambda: sum(slept), sleep=slept.append)
    monkeypatch.setattr("device.cameras.folder.time", clock)
    with pytest.raises(CameraError, match=r"a\.jpg"):
        FolderCamera.from_folder(tmp_path).still()
    assert sum(slept) == pytest.approx(WRITE_TIMEOUT_S, abs=0.2)


def test_list_of_pictures_may_name_one_twice(tmp_path: Path) -> None:
    picture = write(tmp_path / "a.png", 10)
    camera = FolderCamera([picture, picture])
    assert [camera.still().name for _ in range(2)] == [str(picture)] * 2
    with pytest.raises(NoMorePicturesError):
        camera.still()


def test_picture_that_is_still_being_written_is_waited_for(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.png", 50).read_bytes()
    folder = tmp_path / "table"
    folder.mkdir()
    growing = folder / "a.png"
    growing.write_bytes(whole[: len(whole) // 2])
    writer = threading.Timer(0.3, growing.write_bytes, [whole])
    writer.start()
    assert grey(FolderCamera.from_folder(folder).still().image) == 50
    writer.join()


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "table"
    folder.mkdir()
    camera = FolderCamera.from_folder(folder)
    folder.rmdir()
    with pytest.raises(CameraError, match="put the pictures in /var/lib/tilekeeper-pictures"):
        camera.still()


def test_folder_that_may_not_be_seen_names_one_that_may(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:  # as the service is in /home, by ProtectHome=
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(CameraError, match=r"\(Permission denied\)\. .*/var/lib/tilekeeper-pictures"):
        FolderCamera.from_folder(Path("/home/pi/pics"))


def test_broken_picture_is_named_and_the_next_one_comes(tmp_path: Path) -> None:
    broken = tmp_path / "a.jpg"
    broken.write_bytes(b"\xff\xd8\xff\xe0 cut short")
    os.utime(broken, (time.time() - 60,) * 2)
    write(tmp_path / "b.png", 20)
    camera = FolderCamera.from_folder(tmp_path)
    with pytest.raises(CameraError, match=r"a\.jpg"):
        camera.still()
    assert grey(camera.still().image) == 20


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("folder:/nowhere/at/all", "Create it, or use /var/lib/tilekeeper-pictures"),
        ("usb:77", "Plug it in, or list all cameras with tilekeeper cameras"),
        ("film", "Enter phone, phone-stream, usb:0, folder:DIR"),
        ("folder:", "Enter phone, phone-stream, usb:0, folder:DIR"),
    ],
)
def test_missing_camera_is_an_error_of_one_line(spec: str, said: str) -> None:
    with pytest.raises(CameraError, match=said) as caught:
        open_camera(spec)
    assert "\n" not in str(caught.value)


def test_closed_camera_says_so(tmp_path: Path) -> None:
    camera = FolderCamera([write(tmp_path / "a.png", 10)])
    camera.close()
    with pytest.raises(CameraError, match="closed"):
        camera.still()


def test_simulated_table_shows_the_tiles_that_were_laid() -> None:
    camera = SimulatedCamera(SimulatedTable(seed=1, size=(640, 480)))
    empty = camera.preview().image.astype(int)
    assert np.array_equal(empty, camera.preview().image)
    camera.lay_tiles({(7, c): letter for c, letter in enumerate("HORN", 5)})
    assert np.abs(camera.preview().image.astype(int) - empty).max() > 60
    assert camera.still().image.shape == (480, 640, 3)
    camera.close()
    with pytest.raises(CameraError):
        camera.still()


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
        return camera.still().image is not None
    except CameraError:
        return False


def test_usb_still_is_newer_than_the_asking(video: Video) -> None:
    with UsbCamera("0") as camera:
        asked = time.monotonic()
        assert camera.still().time > asked
    assert video.released == 1


@pytest.mark.parametrize("fourcc", ["MJPG", "YUYV"])
def test_usb_preview_is_grey_and_half_as_large(video: Video, fourcc: str) -> None:
    video.fourcc = cv2.VideoWriter.fourcc(*fourcc)
    with UsbCamera("0") as camera:
        preview, still = camera.preview().image, camera.still().image
    assert preview.shape == (18, 32) and still.shape == (36, 64, 3)
    assert grey(preview) == grey(still) == 100
    assert video.converts == (fourcc != "MJPG")


def test_usb_frames_without_a_caller_are_not_retrieved(video: Video) -> None:
    with UsbCamera("0") as camera:
        camera.still()
        retrieved, grabbed = video.retrieved, video.grabbed
        until(lambda: video.grabbed > grabbed + 3)
        assert video.retrieved == retrieved
        asked = time.monotonic()
        assert camera.still().time > asked


def test_usb_frame_with_damaged_data_is_skipped(video: Video) -> None:
    video.damaged = 2
    with UsbCamera("0") as camera:
        assert grey(camera.still().image) == 100


def test_unplugged_usb_camera_is_noticed_and_comes_back_by_itself(video: Video) -> None:
    with UsbCamera("0") as camera:
        camera.still()
        video.plugged = False
        with pytest.raises(CameraError, match="cable"):
            camera.still()
        video.plugged = True
        until(lambda: sends_pictures(camera))
        assert grey(camera.still().image) == 100


def test_usb_camera_that_is_pulled_out_is_noticed_before_its_time_limit(video: Video) -> None:
    with UsbCamera("0") as camera:
        camera.still()
        video.plugged = False
        asked = time.monotonic()
        for look in (camera.preview, camera.still):
            with pytest.raises(CameraError, match="cable"):
                look()
        assert time.monotonic() - asked < PATIENCE_S


def test_usb_camera_that_hangs_is_noticed_without_a_wait_if_its_newest_frame_is_too_old(
    video: Video, monkeypatch: pytest.MonkeyPatch
) -> None:
    with UsbCamera("0") as camera:
        camera.still()
        grabbed = video.grabbed
        video.goes_on.clear()
        until(lambda: video.grabbed > grabbed)
        later = SimpleNamespace(monotonic=lambda: time.monotonic() + 2 * PATIENCE_S)
        monkeypatch.setattr("device.cameras.stream.time", later)
        asked = time.monotonic()
        with pytest.raises(CameraError, match="cable"):
            camera.preview()
        assert time.monotonic() - asked < PATIENCE_S
        video.goes_on.set()


def test_camera_that_is_plugged_in_later_is_opened_then() -> None:
    now, there = [0.0], [False]

    def open_it() -> SimulatedCamera:
        if not there[0]:
            raise CameraError("no camera at usb:0: is it plugged in?")
        return SimulatedCamera(SimulatedTable(seed=1, size=(320, 240)))

    camera = ReconnectingCamera(open_it, clock=lambda: now[0])
    assert "plugged in" in camera.trouble and camera.live
    camera.settle()
    for look in (camera.still, camera.preview):
        with pytest.raises(CameraError, match="plugged in"):
            look()
    there[0] = True
    with pytest.raises(CameraError, match="plugged in"):
        camera.still()  # its time has not come
    now[0] = 0.6
    assert camera.still().image.shape == (240, 320, 3) and camera.trouble == ""
    camera.close()
    with pytest.raises(CameraError, match="closed"):
        camera.still()


def test_only_a_camera_with_a_cable_is_waited_for(tmp_path: Path) -> None:
    assert isinstance(open_reconnecting_camera("usb:77"), ReconnectingCamera)
    for spec in (f"folder:{tmp_path / 'nowhere'}", "film"):
        with pytest.raises(CameraError):
            open_reconnecting_camera(spec)


def test_black_usb_picture_is_an_error(video: Video) -> None:
    video.shade = 2
    with UsbCamera("0") as camera, pytest.raises(CameraError, match="black"):
        camera.still()


@pytest.mark.parametrize("where", ["99999999999999", "²"])
def test_usb_numbers_that_no_camera_has_are_refused_in_words(where: str) -> None:
    with pytest.raises(CameraError, match="There is no camera at usb"):
        UsbCamera(where)
