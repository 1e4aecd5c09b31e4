"""A reader that refines its readings by the profile of one table."""

from __future__ import annotations

from collections.abc import Collection

from calibration.profile import TableProfile
from vision.geometry import Floats, Image
from vision.recognition.reader import PhotoReader, PhotoReading
from vision.tracking import BoardTracker


class ProfiledReader:
    """Reads as another reader does, then weighs doubtful squares by what is known of this table's tiles."""

    def __init__(self, reader: PhotoReader, profile: TableProfile) -> None:
        self._reader = reader
        self._profile = profile

    def read(
        self,
        image: Image,
        tiles: Collection[str],
        *,
        corners: Floats | None = None,
        hint: BoardTracker | None = None,
    ) -> PhotoReading:
        """Read the board in `image`; the arguments are those of `BoardReader.read`."""
        return self._profile.refine_reading(self._reader.read(image, tiles, corners=corners, hint=hint), tiles)
