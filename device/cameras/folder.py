"""A camera that returns pictures from files: a list of files, or a folder to which files are added during the game."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from device.cameras.base import CLOSED_MESSAGE, CameraError, Frame, Image, NoMorePicturesError
from engine.messages import make_message
from vision.photo import PhotoError, load_photo

IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"})
WRITE_TIMEOUT_S = 2.0
"""Seconds after its last change during which an unreadable file is tried again, because it may be incomplete."""
_NEVER = -1
"""Modification time that stands for a missing file."""


class ShownPictures(Protocol):
    """Interface of the record of the pictures of a folder that a camera has already returned.

    The record contains the modification time of each file (in ns since 1970) by file name.
    """

    def load(self) -> dict[str, int]:
        """Return the recorded modification times by file name."""

    def save(self, times: Mapping[str, int]) -> None:
        """Replace the recorded modification times by `times`."""


class FolderCamera:
    """A camera that returns each picture of a list or a folder once, in order."""

    live = False

    def __init__(self, pictures: Iterable[Path]) -> None:
        self._pending = list(pictures)
        self._folder: Path | None = None
        self._record: ShownPictures | None = None
        self._shown: dict[str, int] = {}
        self._closed = False

    @classmethod
    def from_folder(cls, folder: Path, record: ShownPictures | None = None) -> FolderCamera:
        """Return a camera for the pictures in `folder`, in the order of file names; files may be added later.

        The camera skips pictures in `record`, and adds each picture that it returns to `record`. A file that was
        overwritten counts as a new picture. Raises `CameraError` if there is no such folder.
        """
        if not folder.is_dir():
            text = "there is no folder {0}: create it, and add a picture of the board after each turn"
            raise CameraError(make_message("camera-no-folder", text, folder))
        camera = cls(())
        camera._folder, camera._record = folder, record
        camera._shown = record.load() if record else {}
        return camera

    def __repr__(self) -> str:
        return f"<FolderCamera {self._folder or 'list'}: {len(self._shown)} shown>"

    def still(self) -> Frame:
        """Return the next picture.

        Raises `NoMorePicturesError` if no picture is left, and `CameraError` for a file that cannot be read.
        """
        if self._closed:
            raise CameraError(CLOSED_MESSAGE)
        if self._folder is not None:
            self._pending = self._list_new_files(self._folder)
        if not self._pending:
            text = "there is no new picture in {0}: add one, then press End turn again"
            none_left = make_message("camera-none-left", "there are no more pictures")
            raise NoMorePicturesError(
                make_message("camera-none-new", text, self._folder) if self._folder else none_left
            )
        path = self._pending.pop(0)
        try:
            image = _load_picture(path, WRITE_TIMEOUT_S if self._folder else 0.0)
        finally:  # an unreadable picture is not tried again either
            if self._folder is not None:
                self._record_picture(path)
        return Frame(image, time.monotonic(), str(path))

    def preview(self) -> None:
        """Return None, because pictures from files show no motion."""

    def close(self) -> None:
        """Close the camera; further pictures raise `CameraError`."""
        self._closed = True

    def _list_new_files(self, folder: Path) -> list[Path]:
        try:
            found = [p for p in folder.iterdir() if p.suffix.lower() in IMAGE_SUFFIXES and p.is_file()]
        except OSError as error:
            text = "the folder {0} cannot be read ({1}): check it, then try again"
            raise CameraError(make_message("camera-folder-gone", text, folder, error.strerror)) from error
        return sorted((p for p in found if self._shown.get(p.name, _NEVER) != _read_time(p)), key=lambda p: p.name)

    def _record_picture(self, path: Path) -> None:
        """Record that the picture at `path` was returned.

        The record is saved before the turn is stored, so after a crash in between, the picture is not returned again.
        """
        self._shown[path.name] = _read_time(path)
        if self._record:
            self._record.save(self._shown)


def _read_time(path: Path) -> int:
    """Return the modification time of a file in ns since 1970, or `_NEVER` if the file does not exist."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return _NEVER


def _load_picture(path: Path, patience_s: float) -> Image:
    """Return the picture at `path`, `(H, W, 3) uint8 BGR`. Raises `CameraError`.

    A file that cannot be read is tried again until `patience_s` seconds after its last change.
    """
    while True:
        try:
            return load_photo(path).image
        except PhotoError as error:
            if not path.exists() or time.time() - path.stat().st_mtime >= patience_s:
                raise CameraError(make_message("camera-picture", "the picture {0}", error)) from error
            time.sleep(0.1)
