"""A folder of pictures as the camera: each picture comes once, in the order of the names."""

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

from device.cameras import open_camera
from device.cameras.base import CameraError, NoMorePicturesError
from device.cameras.folder import WRITE_TIMEOUT_S, FolderCamera
from vision.photo import Photo, load_photo


def write(path: Path, grey: int) -> Path:
    """Write a picture of this brightness."""
    assert cv2.imwrite(str(path), np.full((30, 40, 3), grey, np.uint8))
    return path


def grey(image: np.ndarray) -> int:
    """Return the mean brightness of a picture."""
    return round(float(image.mean()))


def test_folder_gives_its_pictures_in_order_of_their_names_and_each_once(tmp_path: Path) -> None:
    for name, shade in (("b.png", 20), ("a.png", 10), ("c.PNG", 30)):
        write(tmp_path / name, shade)
    (tmp_path / "notes.txt").write_text("no picture")
    camera = open_camera(f"folder:{tmp_path}")
    assert [grey(camera.capture_still().image) for _ in range(3)] == [10, 20, 30]
    with pytest.raises(NoMorePicturesError, match="Add one"):
        camera.capture_still()
    write(tmp_path / "d.png", 40)
    assert grey(camera.capture_still().image) == 40
    assert camera.capture_preview() is None and not camera.is_live


def test_folder_may_be_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "Bilder vom Tisch").mkdir()
    write(tmp_path / "Bilder vom Tisch" / "a.png", 10)
    assert grey(open_camera("folder:~/Bilder vom Tisch").capture_still().image) == 10


def test_hidden_files_in_a_folder_are_no_pictures(tmp_path: Path) -> None:
    (tmp_path / "._a.jpg").write_bytes(b"\0\5\x16\7")  # AppleDouble, which a Mac writes beside each file it copies
    write(tmp_path / "a.png", 10)
    assert grey(open_camera(f"folder:{tmp_path}").capture_still().image) == 10


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("IMG_2.HEIC", r"IMG_2\.HEIC is a HEIC picture, .* Formats > Most Compatible"),
        ("img.heif", r"img\.heif is a HEIF picture"), ("a.avif", r"a\.avif is a AVIF picture"),
        ("DSC_1.dng", r"DSC_1\.dng is a raw picture \(DNG\), .* Set the camera to JPEG"),
        ("DSC_1.NEF", r"raw picture \(NEF\)"), ("a.CR3", r"raw picture \(CR3\)"), ("a.arw", r"raw picture \(ARW\)"),
        ("IMG_3.MOV", r"IMG_3\.MOV is a film \(MOV\), not a picture"), ("a.mp4", r"a\.mp4 is a film"),
        ("VID.3gp", "is a film"), ("a.gif", "is a film"),
        ("2026-11-28/a.jpg", r"in the sub-folder 2026-11-28, .* Put them into .* itself"),
        ("100APPLE/IMG_1.HEIC", "in the sub-folder 100APPLE"), ("Export/board.tif", "in the sub-folder Export"),
        ("P1010001.RW2", r"raw picture \(RW2\)"), ("SAM_1.SRW", r"raw picture \(SRW\)"), ("a.mpg", "is a film"),
        ("DCIM/100APPLE/IMG_1.JPG", "in the sub-folder DCIM"), ("scan.pdf", r"scan\.pdf is not in a known picture"),
    ],
)  # fmt: skip
def test_new_file_that_cannot_be_used_is_named(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(b"\0\0\0$ftypheic")
    with pytest.raises(NoMorePicturesError, match=text):
        open_camera(f"folder:{tmp_path}").capture_still()


@pytest.mark.parametrize("name", ["notes.txt", ".trash/a.jpg", "._IMG_1.HEIC", "empty/readme.txt", "Thumbs.db"])
def test_file_that_is_not_meant_as_a_picture_is_not_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"text")
    with pytest.raises(NoMorePicturesError, match="There is no new picture"):
        open_camera(f"folder:{tmp_path}").capture_still()


def test_heic_picture_with_its_film_is_named(tmp_path: Path) -> None:
    (tmp_path / "IMG_5.HEIC").write_bytes(b"picture")
    os.utime(tmp_path / "IMG_5.HEIC", (1000, 1000))
    (tmp_path / "IMG_5.MOV").write_bytes(b"film")
    with pytest.raises(NoMorePicturesError, match=r"IMG_5\.HEIC is a HEIC picture"):
        open_camera(f"folder:{tmp_path}").capture_still()


def test_film_that_is_older_than_the_last_picture_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "a.mov").write_bytes(b"film")
    os.utime(tmp_path / "a.mov", (1000, 1000))
    write(tmp_path / "b.png", 10)
    camera = open_camera(f"folder:{tmp_path}")
    camera.capture_still()
    with pytest.raises(NoMorePicturesError, match="There is no new picture"):
        camera.capture_still()
    os.utime(tmp_path / "a.mov", (time.time() + 60, time.time() + 60))
    with pytest.raises(NoMorePicturesError, match=r"a\.mov is a film"):
        camera.capture_still()


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
    assert [grey(camera.capture_still().image) for _ in range(2)] == [10, 20]
    camera = FolderCamera.from_folder(tmp_path, record)
    assert grey(camera.capture_still().image) == 30
    with pytest.raises(NoMorePicturesError):
        camera.capture_still()


def test_picture_written_again_under_the_same_name_is_a_new_one(tmp_path: Path) -> None:
    record = PictureRecord()
    write(tmp_path / "board.png", 10)
    assert grey(FolderCamera.from_folder(tmp_path, record).capture_still().image) == 10
    write(tmp_path / "board.png", 20)
    os.utime(tmp_path / "board.png", ns=(0, record.times["board.png"] + 1_000_000_000))
    assert grey(FolderCamera.from_folder(tmp_path, record).capture_still().image) == 20


def test_picture_whose_date_was_set_after_it_was_shown_is_not_a_new_one(tmp_path: Path) -> None:
    record = PictureRecord()
    camera = FolderCamera.from_folder(tmp_path, record)
    picture = write(tmp_path / "board.png", 10)
    camera.capture_still()
    os.utime(picture, (0, 0))  # as programs do that copy a file with its date
    with pytest.raises(NoMorePicturesError):
        camera.capture_still()
    with pytest.raises(NoMorePicturesError):
        FolderCamera.from_folder(tmp_path, record).capture_still()
    write(picture, 20)
    assert grey(camera.capture_still().image) == 20


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
    assert [grey(camera.capture_still().image) for _ in range(2)] == [10, 20]


def test_broken_picture_is_not_shown_again_after_a_restart(tmp_path: Path) -> None:
    record = PictureRecord()
    (tmp_path / "a.jpg").write_bytes(b"\xff\xd8\xff\xe0 cut short")
    os.utime(tmp_path / "a.jpg", (time.time() - 60,) * 2)
    with pytest.raises(CameraError, match=r"a\.jpg"):
        FolderCamera.from_folder(tmp_path, record).capture_still()
    with pytest.raises(NoMorePicturesError):
        FolderCamera.from_folder(tmp_path, record).capture_still()


def test_broken_picture_with_a_date_in_the_future_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "a.jpg"
    broken.write_bytes(b"\xff\xd8\xff\xe0 cut short")
    os.utime(broken, (time.time() + 3600,) * 2)  # the clock of the table was set back
    slept: list[float] = []
    clock = SimpleNamespace(time=time.time, monotonic=lambda: sum(slept), sleep=slept.append)
    monkeypatch.setattr("device.cameras.folder.time", clock)
    with pytest.raises(CameraError, match=r"a\.jpg"):
        FolderCamera.from_folder(tmp_path).capture_still()
    assert sum(slept) == pytest.approx(WRITE_TIMEOUT_S, abs=0.2)


def test_list_of_pictures_may_name_one_twice(tmp_path: Path) -> None:
    picture = write(tmp_path / "a.png", 10)
    camera = FolderCamera([picture, picture])
    assert [camera.capture_still().name for _ in range(2)] == [str(picture)] * 2
    with pytest.raises(NoMorePicturesError):
        camera.capture_still()


def test_picture_that_is_still_being_written_is_waited_for(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.png", 50).read_bytes()
    folder = tmp_path / "table"
    folder.mkdir()
    growing = folder / "a.png"
    growing.write_bytes(whole[: len(whole) // 2])
    writer = threading.Timer(0.3, growing.write_bytes, [whole])
    writer.start()
    assert grey(FolderCamera.from_folder(folder).capture_still().image) == 50
    writer.join()


def test_picture_that_was_peeked_at_is_captured_once(tmp_path: Path) -> None:
    write(tmp_path / "1.png", 10)
    camera = FolderCamera.from_folder(tmp_path)
    assert grey(camera.peek_still().image) == 10
    with pytest.raises(NoMorePicturesError):
        camera.peek_still()
    assert grey(camera.capture_still().image) == 10
    with pytest.raises(NoMorePicturesError):
        camera.capture_still()


def test_picture_that_was_peeked_at_is_skipped_if_a_new_one_follows(tmp_path: Path) -> None:
    write(tmp_path / "1.png", 10)
    camera = FolderCamera.from_folder(tmp_path)
    camera.peek_still()
    write(tmp_path / "2.png", 20)
    assert grey(camera.capture_still().image) == 20
    with pytest.raises(NoMorePicturesError):
        camera.capture_still()


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "table"
    folder.mkdir()
    camera = FolderCamera.from_folder(folder)
    folder.rmdir()
    with pytest.raises(CameraError, match="put the pictures in /var/lib/tilekeeper-pictures"):
        camera.capture_still()


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
        camera.capture_still()
    assert grey(camera.capture_still().image) == 20


def test_closed_camera_says_so(tmp_path: Path) -> None:
    camera = FolderCamera([write(tmp_path / "a.png", 10)])
    camera.close()
    with pytest.raises(CameraError, match="closed"):
        camera.capture_still()
