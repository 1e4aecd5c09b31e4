"""Pictures from files: a list of them, or a folder to which pictures are added while the game goes on."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from device.cameras.base import CameraError, Frame, Image, NoMorePictures
from vision.photo import PhotoError, load_photo

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"})
HALF_WRITTEN_S = 2.0
"""A picture in a watched folder that cannot be read yet may still be on its way: it is given so long."""


class FolderCamera:
    """One picture for each still, in order; none comes twice."""

    live = False

    def __init__(self, pictures: Iterable[Path]) -> None:
        self._waiting = list(pictures)
        self._folder: Path | None = None
        self._shown: set[Path] = set()
        self._closed = False

    @classmethod
    def watching(cls, folder: Path) -> FolderCamera:
        """The pictures of `folder` in the order of their names, and those that are added to it later."""
        if not folder.is_dir():
            raise CameraError(f"no folder {folder}: make it, and put a picture of the board there after each turn")
        camera = cls(())
        camera._folder = folder
        return camera

    def __repr__(self) -> str:
        return f"<FolderCamera {self._folder or 'list'}: {len(self._shown)} shown>"

    def still(self) -> Frame:
        """The next picture. Raises `NoMorePictures` when all were shown, `CameraError` for one that cannot be read."""
        if self._closed:
            raise CameraError("the camera was closed")
        if self._folder is not None:
            self._waiting = self._new_in(self._folder)
        if not self._waiting:
            where = f"in {self._folder}: add one, then end the turn again" if self._folder else "left"
            raise NoMorePictures(f"no new picture {where}")
        path = self._waiting.pop(0)
        self._shown.add(path)
        image = _load(path, HALF_WRITTEN_S if self._folder else 0.0)
        return Frame(image, time.monotonic(), str(path))

    def preview(self) -> None:
        """None: a photograph does not move."""

    def close(self) -> None:
        """Give out no more pictures."""
        self._closed = True

    def _new_in(self, folder: Path) -> list[Path]:
        try:
            found = [p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES and p.is_file()]
        except OSError as error:
            raise CameraError(
                f"the folder {folder} cannot be read ({error.strerror}): put it back, then try again"
            ) from error
        return sorted((p for p in found if p not in self._shown), key=lambda p: p.name)


def _load(path: Path, patience_s: float) -> Image:
    """The picture at `path`; one that is younger than `patience_s` is tried until it is older."""
    while True:
        try:
            return load_photo(path).image
        except PhotoError as error:
            if not path.exists() or time.time() - path.stat().st_mtime >= patience_s:
                raise CameraError(f"the picture {error}") from error
            time.sleep(0.1)
