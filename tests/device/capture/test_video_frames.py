"""The frames of videos and of folders of pictures."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from device.capture.video_frames import VideoError, is_video, read_frames


def test_video_is_read_about_ten_times_a_second(tmp_path: Path) -> None:
    path = tmp_path / "game.mp4"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), 30, (96, 72))
    for n in range(60):
        writer.write(np.full((72, 96, 3), 4 * n, np.uint8))
    writer.release()
    frames = list(read_frames(path))
    assert 18 <= len(frames) <= 22
    assert frames[-1].time == pytest.approx(1.95, abs=0.1)
    assert frames[0].image.mean() < 20 < 200 < frames[-1].image.mean()


def test_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    for n in (2, 1, 3):
        assert cv2.imwrite(str(tmp_path / f"{n}.png"), np.full((60, 60, 3), 50 * n, np.uint8))
    (tmp_path / "notes.txt").write_text("no picture")
    frames = list(read_frames(tmp_path))
    assert [(frame.time, int(frame.image.mean())) for frame in frames] == [(0.0, 50), (0.1, 100), (0.2, 150)]


def test_hidden_files_of_a_folder_are_skipped(tmp_path: Path) -> None:
    assert cv2.imwrite(str(tmp_path / "1.png"), np.full((60, 60, 3), 50, np.uint8))
    (tmp_path / "._1.png").write_bytes(b"\0\5\x16\7")  # AppleDouble
    assert len(list(read_frames(tmp_path))) == 1


def test_folder_without_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match="no pictures"):
        list(read_frames(tmp_path))


def test_file_that_is_no_video_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "game.mp4"
    path.write_bytes(b"this is text" * 100)
    with pytest.raises(VideoError, match="cannot be read as a video"):
        list(read_frames(path))


def test_damaged_picture_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "1.png").write_bytes(b"torn")
    with pytest.raises(VideoError, match=r"1\.png"):
        list(read_frames(tmp_path))


def test_videos_are_known_by_their_names(tmp_path: Path) -> None:
    assert is_video(tmp_path) and is_video(Path("GAME.MP4")) and not is_video(Path("1.jpg"))
