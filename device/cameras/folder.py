"""A camera that returns pictures from files: a list of files, or a folder to which files are added during the game."""

from __future__ import annotations

import hashlib
import itertools
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from device.cameras.base import CLOSED_MESSAGE, CameraError, Frame, Image, NoMorePicturesError
from device.catalogue import get_text
from vision.photo import PhotoError, load_photo

IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"})
VIDEO_SUFFIXES = frozenset({".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mjpg", ".mjpeg"})
_UNREADABLE_SUFFIXES = {
    **dict.fromkeys((".heic", ".heif", ".hif", ".avif"), "camera-heic"),
    **dict.fromkeys(
        (".dng", ".cr2", ".cr3", ".nef", ".nrw", ".arw", ".orf", ".rw2", ".raf", ".pef", ".srw", ".raw"), "camera-raw"
    ),
    **dict.fromkeys((*VIDEO_SUFFIXES, ".3gp", ".gif", ".mpg", ".mpeg", ".mts", ".wmv"), "camera-film"),
    **dict.fromkeys((".jxl", ".jp2", ".pdf", ".psd"), "photo-format"),
}
"""The key of the message about a file with this suffix, which a camera or phone may save in place of a picture."""
WRITE_TIMEOUT_S = 2.0
"""Seconds after the last change of an unreadable file during which it is tried again, because it may be incomplete."""
_MAX_SEARCHED_FILES = 1000
"""Largest number of files of a sub-folder among which pictures are searched for, to name the sub-folder."""
_NEVER = -1
"""Value in place of the modification time if a file is missing."""


class ShownPictures(Protocol):
    """Interface of a record of the pictures that a camera has already returned from a folder.

    The record contains the modification time of each file (in ns since 1970) by file name.
    """

    def load(self) -> dict[str, int]:
        """Return the recorded modification times by file name."""

    def save(self, times: Mapping[str, int]) -> None:
        """Replace the recorded modification times by `times`."""


class FolderCamera:
    """A camera that returns each picture of a list or a folder once, in order."""

    is_live = False

    def __init__(self, pictures: Iterable[Path]) -> None:
        self._pending = list(pictures)
        self._folder: Path | None = None
        self._record: ShownPictures | None = None
        self._shown: dict[str, int] = {}
        self._digests: dict[str, bytes] = {}
        self._peeked: Frame | None = None
        """The picture that `peek_still` has returned, until `capture_still` is called."""
        self._closed = False

    @classmethod
    def from_folder(cls, folder: Path, record: ShownPictures | None = None) -> FolderCamera:
        """Return a camera for the pictures in `folder`, in the order of file names; files may be added later.

        The camera skips pictures in `record`, and adds each picture that it returns to `record`. A file that was
        overwritten with other content counts as a new picture. Raises `CameraError` if there is no such folder, or if
        it cannot be read.
        """
        if not _is_folder(folder):
            raise CameraError(get_text("camera-no-folder", folder))
        camera = cls(())
        camera._folder, camera._record = folder, record
        camera._shown = record.load() if record else {}
        return camera

    def __repr__(self) -> str:
        return f"<FolderCamera {self._folder or 'list'}: {len(self._shown)} shown>"

    def capture_still(self) -> Frame:
        """Return the next picture; if no picture is left, the one that `peek_still` has returned since the last call.

        Raises `NoMorePicturesError` if there is none, and `CameraError` for a file that cannot be read.
        """
        peeked, self._peeked = self._peeked, None
        try:
            return self._take_next_picture()
        except NoMorePicturesError:
            if peeked is None:
                raise
            return peeked

    def peek_still(self) -> Frame:
        """Return the next picture without recording it as used, so that the next `capture_still` returns it, too.

        If a picture is added to the folder between the two calls, `capture_still` may return that one instead.
        Raises `NoMorePicturesError` if no picture is left, and `CameraError` for a file that cannot be read.
        """
        self._peeked = self._take_next_picture()
        return self._peeked

    def capture_preview(self) -> None:
        """Return None, because pictures from files show no motion."""

    def close(self) -> None:
        """Close the camera; further pictures raise `CameraError`."""
        self._closed = True

    def _take_next_picture(self) -> Frame:
        """Return the next picture, and record that it was returned.

        Raises `NoMorePicturesError` if no picture is left, and `CameraError` for a file that cannot be read.
        """
        if self._closed:
            raise CameraError(CLOSED_MESSAGE)
        if self._folder is not None:
            self._pending = self._list_new_files(self._folder)
        if not self._pending:
            raise NoMorePicturesError(
                self._describe_missing_picture(self._folder) if self._folder else get_text("camera-none-left")
            )
        path = self._pending.pop(0)
        written = _read_time(path)
        try:
            image, written = _load_picture(path, WRITE_TIMEOUT_S if self._folder else 0.0)
            if self._folder is not None:
                self._record_content(path, written)
        finally:  # an unreadable picture is not tried again either, unless it changes
            self._record_time(path, written)
        return Frame(image, time.monotonic(), str(path))

    def _list_new_files(self, folder: Path) -> list[Path]:
        try:
            found = [p for p in folder.iterdir() if has_picture_name(p) and p.is_file()]
        except OSError as error:
            raise CameraError(get_text("camera-folder-gone", folder, error.strerror)) from error
        return sorted((p for p in found if self._is_new(p)), key=lambda p: p.name)

    def _describe_missing_picture(self, folder: Path) -> str:
        """Return what to do if `folder` has no new picture; name a newer file or sub-folder that cannot be used."""
        newest_shown = max(self._shown.values(), default=_NEVER)
        unusable = [
            (key != "camera-film", time_ns, path, key)  # an iPhone saves a short film beside a picture
            for path in folder.iterdir()
            for time_ns, key in _find_unusable(path)
            if time_ns > newest_shown
        ]
        *_, path, key = max(unusable, default=(folder, "camera-none-new"))
        return get_text(key, path.name, path.suffix[1:].upper(), folder) if unusable else get_text(key, folder)

    def _is_new(self, path: Path) -> bool:
        """Return True if a picture was not returned yet. If only the date of the picture changed, record the date."""
        written = _read_time(path)
        if self._shown.get(path.name, _NEVER) == written:
            return False
        if path.name not in self._digests or self._digests[path.name] != _digest_file(path):
            return True
        self._record_time(path, written)
        return False

    def _record_content(self, path: Path, written: int) -> None:
        """Record the content of a picture that was returned, unless the file was replaced after the time `written`."""
        self._digests.pop(path.name, None)
        digest = _digest_file(path)
        if _read_time(path) == written:
            self._digests[path.name] = digest

    def _record_time(self, path: Path, written: int) -> None:
        """Record that the picture at `path` was returned, with its modification time `written`.

        The record is saved before the turn is stored. So the picture is not returned again if the program crashes
        before the turn is stored.
        """
        if self._folder is None:
            return
        self._shown[path.name] = written
        if self._record:
            self._record.save(self._shown)


def has_picture_name(path: Path) -> bool:
    """Return True for the name of a picture; hidden files belong to programs, such as `._1.jpg` of a Mac."""
    return path.suffix.lower() in IMAGE_SUFFIXES and not path.name.startswith(".")


def _find_unusable(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the time of a file or sub-folder that a person may take for a picture, and the key of its message."""
    if path.name.startswith("."):
        return
    if path.is_dir():
        try:
            found = list(itertools.islice(path.rglob("*"), _MAX_SEARCHED_FILES))
        except OSError:  # such as lost+found, which only root may read
            return
        pictures = [p for p in found if has_picture_name(p) or p.suffix.lower() in _UNREADABLE_SUFFIXES]
        if pictures:
            yield max(map(_read_arrival, pictures)), "camera-sub-folder"
    elif key := _UNREADABLE_SUFFIXES.get(path.suffix.lower()):
        yield _read_arrival(path), key


def _read_arrival(path: Path) -> int:
    """Return the time at which a file was written or came into its folder, in ns since 1970; `_NEVER` if it is gone.

    A copy may keep the modification time of the original.
    """
    try:
        return max(path.stat().st_mtime_ns, path.stat().st_ctime_ns)
    except OSError:
        return _NEVER


def _is_folder(path: Path) -> bool:
    """Return True if `path` is a folder. Raises `CameraError` if `path` cannot be accessed.

    For example, the service cannot access folders in /home.
    """
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise CameraError(get_text("camera-folder-gone", path, error.strerror)) from error


def _read_time(path: Path) -> int:
    """Return the modification time of a file in ns since 1970, or `_NEVER` if the file does not exist."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return _NEVER


def _digest_file(path: Path) -> bytes:
    """Return the SHA-256 digest of the content of a file, or empty bytes if the file cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, hashlib.sha256).digest()
    except OSError:
        return b""


def _load_picture(path: Path, patience_s: float) -> tuple[Image, int]:
    """Return the picture at `path`, `(H, W, 3) uint8 BGR`, and the file's modification time just before reading.

    A file that cannot be read is tried again until `patience_s` seconds after its last change. The time of the change
    is the file's date. If the date is in the future, it is the time at which this function first saw the date. Raises
    `CameraError`.
    """
    seen, seen_at = _NEVER, 0.0
    while True:
        written = _read_time(path)
        if written != seen:
            seen, seen_at = written, time.monotonic()
        try:
            return load_photo(path).image, written
        except PhotoError as error:
            age_s = max(time.time() - written / 1e9, time.monotonic() - seen_at)
            if not path.exists() or age_s >= patience_s:
                raise CameraError(get_text("camera-picture", error)) from error
            time.sleep(0.1)
