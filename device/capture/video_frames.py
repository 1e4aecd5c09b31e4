"""Read the frames of a video file, or of a folder of pictures, with their times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from device.cameras.base import Image
from device.cameras.folder import VIDEO_SUFFIXES, has_picture_name
from device.cameras.stream import silence_opencv
from engine.errors import TilekeeperError
from vision.photo import PhotoError, load_photo

MIN_FRAME_INTERVAL_S = 0.09
"""Shortest time between two frames that are decoded, in seconds; ten frames a second suffice to see a hand move."""
FOLDER_FRAMES_PER_S = 10.0
"""Frame rate of a folder of pictures, in frames per second."""


class VideoError(TilekeeperError):
    """Error for a video that cannot be read; the message gives the reason and the remedy on one line."""


@dataclass(frozen=True, slots=True, eq=False)
class VideoFrame:
    """One frame: its time in seconds since the first frame, and its picture `(H, W, 3) uint8 BGR`."""

    time: float
    image: Image


def is_video(path: Path) -> bool:
    """Return True for a folder, and for a file whose name has the suffix of a video."""
    return path.is_dir() or path.suffix.lower() in VIDEO_SUFFIXES


def read_frames(path: Path) -> Iterator[VideoFrame]:
    """Yield the frames of a video, about ten a second, or all pictures of a folder in the order of their names.

    Raises `VideoError` if there is no frame, or if a picture in the folder cannot be read.
    """
    return _read_folder(path) if path.is_dir() else _read_video(path)


def _read_folder(folder: Path) -> Iterator[VideoFrame]:
    pictures = sorted(filter(has_picture_name, folder.iterdir()))
    if not pictures:
        raise VideoError(f"{folder}: this folder has no pictures")
    for number, picture in enumerate(pictures):
        try:
            yield VideoFrame(number / FOLDER_FRAMES_PER_S, load_photo(picture).image)
        except PhotoError as error:
            raise VideoError(f"the picture {error}") from error


def _read_video(path: Path) -> Iterator[VideoFrame]:
    silence_opencv()
    video = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
    last = -1.0
    try:
        while video.grab():
            time = video.get(cv2.CAP_PROP_POS_MSEC) / 1e3
            if last >= 0 and time < last + MIN_FRAME_INTERVAL_S:
                continue  # a skipped frame is not decoded
            done, image = video.retrieve()
            if done:
                last = time
                yield VideoFrame(time, np.asarray(image, np.uint8))
    finally:
        video.release()
    if last < 0:
        raise VideoError(f"{path}: cannot be read as a video; convert it to MP4 (H.264)")
