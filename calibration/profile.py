"""The profile of one table: examples of the table's tiles, the file they are stored in, and a reader that uses them.

The file is an `.npz` archive of bounded size, written atomically.
"""

from __future__ import annotations

import io
import os
import threading
import zipfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from calibration.tile_examples import MAX_EXAMPLES, Example, TileClassifier, TileExamples
from engine.errors import TilekeeperError
from engine.messages import make_message
from engine.reading import BOARD_SIZE, EMPTY, HIDDEN
from vision.geometry import Floats, Image
from vision.recognition.letters import LetterNet
from vision.recognition.reader import PhotoReader, PhotoReading
from vision.recognition.views import CROP_SIDE_PX, BoardViews
from vision.tracking import BoardTracker

_VERSION: Final = 1
"""Version of the file format."""
_MAX_UNPACKED_BYTES: Final = 4_000_000
"""Maximum uncompressed size of a profile file in bytes; a full profile is much smaller."""
_MAX_SOURCE_CHARS: Final = 24
"""Maximum length of the name of a game in the file; longer names are cut off."""
_SQUARE_COUNT: Final = BOARD_SIZE * BOARD_SIZE
_EMPTY_BOARD_ARRAYS: Final = {
    "colours": np.zeros((_SQUARE_COUNT, 3), np.float32),
    "times": np.zeros(_SQUARE_COUNT, np.uint8),
    "record": np.array(0.0),
}
"""Placeholder arrays for the colours of empty squares: no longer used, but earlier releases require these keys."""


class ProfileError(TilekeeperError):
    """Error for a profile that could not be saved."""


class TableProfile:
    """Profile of one table: examples of its tiles, loaded from the file `path`, or kept only in memory if that is None.

    Thread-safe. If the file is damaged, it is renamed, `problem` has a message, and the profile is empty.
    """

    def __init__(self, path: Path | None, letters: TileClassifier | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        examples, self.problem = load_examples(path) if path else ((), "")
        """Message about a file that could not be loaded; an empty string if there was no problem."""
        self._tile_examples = TileExamples(letters or LetterNet(), examples)

    @property
    def examples(self) -> tuple[Example, ...]:
        """Examples of the table's tiles, oldest first."""
        return self._tile_examples.examples

    def learn(self, views: BoardViews, rows: Sequence[Sequence[str]], source: str) -> None:
        """Add the tiles of a picture as examples, given the true faces on the board.

        `views` are the rectified views of the picture. `rows` are 15 rows of 15 true faces: `.` for an empty square,
        `?` for any blank, a letter, or `#` for a square that is unknown or hidden. `source` is the name of the game; a
        new example replaces an earlier one from the same game and square. Raises ValueError for rows of another size.
        """
        faces = [face for row in rows for face in row]
        if len(faces) != _SQUARE_COUNT:
            raise ValueError(f"a board has {_SQUARE_COUNT} squares, got {len(faces)}")
        tiles = {at: face for at, face in enumerate(faces) if face not in (EMPTY, HIDDEN)}
        with self._lock:
            self._tile_examples.learn(views, tiles, source)

    def refine_reading(self, reading: PhotoReading, tiles: Collection[str]) -> PhotoReading:
        """Return the reading with letter probabilities refined by the examples; `tiles` are the letters of the set."""
        if reading.board is None or reading.views is None:
            return reading
        with self._lock:
            return replace(reading, board=self._tile_examples.refine_reading(reading.views, reading.board, tiles))

    def save(self) -> None:
        """Write the examples to the profile's file, atomically. Raises `ProfileError` if writing fails."""
        if self._path:
            save_examples(self._path, self.examples)


class ProfiledReader:
    """Board reader that refines the readings of another reader with the profile of one table."""

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


def load_examples(path: Path) -> tuple[tuple[Example, ...], str]:
    """Load the examples from a profile file; return the examples and an error message (empty without an error).

    A missing file gives no examples. A damaged file is renamed to `*.damaged` and gives no examples.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > _MAX_UNPACKED_BYTES:
                raise ValueError("it is far too large")
        with np.load(path, allow_pickle=False) as arrays:
            return _from_arrays(arrays), ""
    except FileNotFoundError:
        return (), ""
    except PermissionError:
        text = "what this table has learnt cannot be read: no permission for {0}"
        return (), make_message("learnt-permission", text, path.name)
    except Exception:  # numpy parses array headers as Python literals: damaged bytes may raise any exception
        with suppress(OSError):
            path.replace(path.with_name(f"{path.name}.damaged"))
        return (), make_message(
            "learnt-damaged", "what this table has learnt is damaged ({0}): it starts to learn again", path.name
        )


def save_examples(path: Path, examples: Sequence[Example]) -> None:
    """Write the examples to a new file, sync the file to disk, and replace `path` with it. Raises `ProfileError`."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **_to_arrays(examples))
    new = path.with_name(f"{path.name}.new")
    try:
        with new.open("wb") as file:
            file.write(packed.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        text = "what this table has learnt is not saved: {0}"
        raise ProfileError(make_message("learnt-not-saved", text, error.strerror or error)) from error


def _to_arrays(examples: Sequence[Example]) -> dict[str, Any]:
    return {
        "version": np.array(_VERSION),
        "crops": np.array([one.crop for one in examples], np.uint8).reshape(-1, CROP_SIDE_PX, CROP_SIDE_PX),
        "symbols": np.array([one.symbol for one in examples], "U8"),
        "sources": np.array([one.source for one in examples], f"U{_MAX_SOURCE_CHARS}"),
        "squares": np.array([one.square for one in examples], np.uint8),
        "told": np.ones(len(examples), np.bool_),  # True: confirmed by the players; earlier releases require this key
    } | _EMPTY_BOARD_ARRAYS


def _from_arrays(arrays: Mapping[str, Any]) -> tuple[Example, ...]:
    """Convert the arrays of a profile file to examples. Raises ValueError or KeyError for arrays of another format."""
    if int(arrays["version"]) != _VERSION:
        raise ValueError("it is of another version")
    crops, symbols, sources, squares = (arrays[name] for name in ("crops", "symbols", "sources", "squares"))
    count = len(crops)
    fits = (
        count <= MAX_EXAMPLES
        and crops.shape == (count, CROP_SIDE_PX, CROP_SIDE_PX)
        and crops.dtype == np.uint8
        and symbols.dtype.kind == sources.dtype.kind == "U"
        and symbols.shape == sources.shape == squares.shape == (count,)
        and (squares < _SQUARE_COUNT).all()
    )
    if not fits:
        raise ValueError("its parts do not fit together")
    rows = zip(symbols.tolist(), crops, sources.tolist(), squares.tolist(), strict=True)
    return tuple(Example(*row) for row in rows)
