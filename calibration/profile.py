"""The profile of one table: examples of its own tiles, kept in one file, and the reader that uses them.

The file is one `.npz` of bounded size, written atomically.
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
from engine.messages import said
from engine.reading import BOARD_SIZE, EMPTY, HIDDEN
from vision.geometry import Floats, Image
from vision.recognition.letters import LetterNet
from vision.recognition.reader import PhotoReader, PhotoReading
from vision.recognition.views import CROP_SIDE_PX, BoardViews
from vision.tracking import BoardTracker

_VERSION: Final = 1
_MAX_UNPACKED_BYTES: Final = 4_000_000
"""Limit of the unpacked size of the file in bytes; a full profile has a fraction of it."""
_MAX_SOURCE_CHARS: Final = 24
_SQUARE_COUNT: Final = BOARD_SIZE * BOARD_SIZE
_EMPTY_BOARD_ARRAYS: Final = {
    "colours": np.zeros((_SQUARE_COUNT, 3), np.float32),
    "times": np.zeros(_SQUARE_COUNT, np.uint8),
    "record": np.array(0.0),
}
"""Colours of empty squares, of which nothing is known: no longer used, but earlier releases need these keys."""


class ProfileError(TilekeeperError):
    """The profile could not be saved."""


class TableProfile:
    """The profile of one table, loaded from the file `path`; with None it is kept in memory only.

    Safe to use from several threads. A damaged file is set aside and reported in `problem`; the profile starts empty.
    """

    def __init__(self, path: Path | None, letters: TileClassifier | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        examples, self.problem = load_examples(path) if path else ((), "")
        """What was wrong with the file; empty if nothing was."""
        self._tile_examples = TileExamples(letters or LetterNet(), examples)

    @property
    def examples(self) -> tuple[Example, ...]:
        """The examples of the table's tiles, oldest first."""
        return self._tile_examples.examples

    def learn(self, views: BoardViews, rows: Sequence[Sequence[str]], source: str) -> None:
        """Learn from a picture whose true board is known.

        `rows` are 15 rows of 15 true faces: `.` for an empty square, `?` for any blank, a letter, or `#` for a square
        that is unknown or hidden. `source` names the game: each square is kept once for each game, the last one
        replaces the earlier. Raises ValueError for rows of another size.
        """
        faces = [face for row in rows for face in row]
        if len(faces) != _SQUARE_COUNT:
            raise ValueError(f"a board has {_SQUARE_COUNT} squares, got {len(faces)}")
        tiles = {at: face for at, face in enumerate(faces) if face not in (EMPTY, HIDDEN)}
        with self._lock:
            self._tile_examples.learn(views, tiles, source)

    def refine_reading(self, reading: PhotoReading, tiles: Collection[str]) -> PhotoReading:
        """Return the reading with its letters refined. `tiles` are the letters of the set."""
        if reading.board is None or reading.views is None:
            return reading
        with self._lock:
            return replace(reading, board=self._tile_examples.refine_reading(reading.views, reading.board, tiles))

    def save(self) -> None:
        """Write the profile to its file, atomically. Raises `ProfileError` if that fails."""
        if self._path:
            save_examples(self._path, self.examples)


class ProfiledReader:
    """Reads as another reader does, then refines the letters by what is known of this table's tiles."""

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
    """Return the examples in a profile file, and what was wrong with it (empty if nothing).

    A damaged file is renamed to `*.damaged`; the profile then starts empty.
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
        return (), said("learnt-permission", text, path.name)
    except Exception:  # numpy reads the head of an array as Python: damaged bytes may raise anything
        with suppress(OSError):
            path.replace(path.with_name(f"{path.name}.damaged"))
        return (), said("learnt-damaged", "what this table has learnt is damaged ({0}): it learns anew", path.name)


def save_examples(path: Path, examples: Sequence[Example]) -> None:
    """Write a profile file, sync it, then replace the old one. Raises `ProfileError`."""
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
        raise ProfileError(said("learnt-not-saved", text, error.strerror or error)) from error


def _to_arrays(examples: Sequence[Example]) -> dict[str, Any]:
    return {
        "version": np.array(_VERSION),
        "crops": np.array([one.crop for one in examples], np.uint8).reshape(-1, CROP_SIDE_PX, CROP_SIDE_PX),
        "symbols": np.array([one.symbol for one in examples], "U8"),
        "sources": np.array([one.source for one in examples], f"U{_MAX_SOURCE_CHARS}"),
        "squares": np.array([one.square for one in examples], np.uint8),
        "told": np.ones(len(examples), np.bool_),  # all are confirmed; earlier releases need the key
    } | _EMPTY_BOARD_ARRAYS


def _from_arrays(arrays: Mapping[str, Any]) -> tuple[Example, ...]:
    """Return the examples in these arrays. Raises ValueError or KeyError if they are not a profile."""
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
