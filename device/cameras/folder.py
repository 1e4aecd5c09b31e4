"""Pictures from files: a list of them, or a folder to which pictures are added while the game goes on."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from device.cameras.base import CLOSED_MESSAGE, CameraError, Frame, Image, NoMorePicturesError
from engine.messages import said
from vision.photo import PhotoError, load_photo

IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"})
WRITE_TIMEOUT_S = 2.0
"""A picture in a watched folder that cannot be read yet may still be on its way: it is given so long."""


class FolderCamera:
    """One picture for each still, in order; none comes twice."""

    live = False

    def __init__(self, pictures: Iterable[Path]) -> None:
        self._pending = list(pictures)
        self._folder: Path | None = None
        self._shown: set[Path] = set()
        self._closed = False

    @classmethod
    def from_folder(cls, folder: Path) -> FolderCamera:
        """The pictures of `folder` in the order of their names, and those that are added to it later."""
        if not folder.is_dir():
            text = "no folder {0}: make it, and put a picture of the board there after each turn"
            raise CameraError(said("camera-no-folder", text, folder))
        camera = cls(())
        camera._folder = folder
        return camera

    def __repr__(self) -> str:
        return f"<FolderCamera {self._folder or 'list'}: {len(self._shown)} shown>"

    def still(self) -> Frame:
        """The next picture. Raises `NoMorePicturesError` when all were shown, `CameraError` for one that cannot be
        read."""
        if self._closed:
            raise CameraError(CLOSED_MESSAGE)
        if self._folder is not None:
            self._pending = self._list_new_files(self._folder)
        if not self._pending:
            text = "no new picture in {0}: add one, then end the turn again"
            none_left = said("camera-none-left", "no new picture left")
            raise NoMorePicturesError(said("camera-none-new", text, self._folder) if self._folder else none_left)
        path = self._pending.pop(0)
        self._shown.add(path)
        image = _load_picture(path, WRITE_TIMEOUT_S if self._folder else 0.0)
        return Frame(image, time.monotonic(), str(path))

    def preview(self) -> None:
        """None: a photograph does not move."""

    def close(self) -> None:
        """Give out no more pictures."""
        self._closed = True

    def _list_new_files(self, folder: Path) -> list[Path]:
        try:
            found = [p for p in folder.iterdir() if p.suffix.lower() in IMAGE_SUFFIXES and p.is_file()]
        except OSError as error:
            text = "the folder {0} cannot be read ({1}): put it back, then try again"
            raise CameraError(said("camera-folder-gone", text, folder, error.strerror)) from error
        return sorted((p for p in found if p not in self._shown), key=lambda p: p.name)


def _load_picture(path: Path, patience_s: float) -> Image:
    """The picture at `path`; one that is younger than `patience_s` is tried until it is older."""
    while True:
        try:
            return load_photo(path).image
        except PhotoError as error:
            if not path.exists() or time.time() - path.stat().st_mtime >= patience_s:
                raise CameraError(said("camera-picture", "the picture {0}", error)) from error
            time.sleep(0.1)
