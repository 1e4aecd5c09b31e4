"""The profile of one table, which refines readings by examples of its tiles, its file and a reader that uses it."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from calibration.tile_examples import MAX_EXAMPLES, Example, TileClassifier, TileExamples
from engine.board import SQUARES
from engine.errors import TilekeeperError
from engine.messages import make_message
from engine.reading import EMPTY, HIDDEN
from vision.geometry import Floats, Image
from vision.recognition.letters import LetterNet
from vision.recognition.reader import PhotoReader, PhotoReading
from vision.recognition.views import CROP_SIDE_PX, BoardViews
from vision.tracking import BoardTracker

_VERSION: Final = 1
"""Version of the format of profile files."""
_MAX_UNPACKED_BYTES: Final = 4_000_000
"""Maximum uncompressed size of a profile file in bytes; a full profile is much smaller."""
_MAX_SOURCE_CHARS: Final = 24
"""Maximum length of a game's name in the file, in characters; longer names are cut off."""
_EMPTY_BOARD_ARRAYS: Final = {
    "colours": np.zeros((len(SQUARES), 3), np.float32),
    "times": np.zeros(len(SQUARES), np.uint8),
    "record": np.array(0.0),
}
"""Arrays of zeros for the colours of empty squares; earlier releases load only profile files with these arrays."""


class ProfileFileError(TilekeeperError):
    """Error for a profile file that cannot be loaded; the message says what to do."""


class ProtectedProfileError(ProfileFileError):
    """Error for a profile file that may not be read or that a newer version has written; it must not be overwritten."""


def load_examples(path: Path) -> tuple[Example, ...]:
    """Load the examples from a profile file; a missing file gives no examples.

    Raises `ProtectedProfileError` for a file that must stay as it is, and `ProfileFileError` for a damaged file, which
    is renamed to `*.damaged`.
    """
    try:
        if path.exists() and not path.is_file():  # a FIFO would wait for its writer
            raise ValueError("it is not a file")
        with zipfile.ZipFile(path) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > _MAX_UNPACKED_BYTES:
                raise ValueError("it is far too large")
        with np.load(path, allow_pickle=False) as arrays:
            if int(arrays["version"]) > _VERSION:
                text = "{0} was written by a newer Tilekeeper. Update Tilekeeper, or rename the file."
                raise ProtectedProfileError(make_message("store-newer", text, path.name))
            return _from_arrays(arrays)
    except FileNotFoundError:
        return ()
    except PermissionError as error:
        text = "The pictures of your tiles may not be read. Change the permissions of {0}."
        raise ProtectedProfileError(make_message("learnt-permission", text, path.name)) from error
    except ProtectedProfileError:
        raise
    except Exception as error:  # numpy parses array headers as Python literals: damaged bytes may raise any exception
        with suppress(OSError):
            path.replace(path.with_name(f"{path.name}.damaged"))
        text = (
            "The file with the pictures of your tiles ({0}) is damaged. The table learns your tiles again as you play."
        )
        raise ProfileFileError(make_message("learnt-damaged", text, path.name)) from error


def pack_examples(examples: Sequence[Example]) -> bytes:
    """Return the content of a profile file with the examples."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **_to_arrays(examples))
    return packed.getvalue()


def _to_arrays(examples: Sequence[Example]) -> dict[str, Any]:
    return {
        "version": np.array(_VERSION),
        "crops": np.array([example.crop for example in examples], np.uint8).reshape(-1, CROP_SIDE_PX, CROP_SIDE_PX),
        "symbols": np.array([example.symbol for example in examples], "U8"),
        "sources": np.array([example.source for example in examples], f"U{_MAX_SOURCE_CHARS}"),
        "squares": np.array([example.square for example in examples], np.uint8),
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
        and (squares < len(SQUARES)).all()
    )
    if not fits:
        raise ValueError("its parts do not fit together")
    rows = zip(symbols.tolist(), crops, sources.tolist(), squares.tolist(), strict=True)
    return tuple(Example(*row) for row in rows)


class ProfileError(TilekeeperError):
    """Error for a profile that could not be saved."""


class TableProfile:
    """Profile of one table: examples of the table's tiles. Thread-safe.

    The examples are loaded from the file `path`; if `path` is None, they are kept only in memory. A damaged file is
    renamed; the profile is then empty, and `problem` has a message. The same goes for a file that may not be read or
    that a newer version has written, but such a file is neither renamed nor overwritten.
    """

    def __init__(self, path: Path | None, letters: TileClassifier | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._save_lock = threading.Lock()
        self.problem = ""
        """Message about a profile file that could not be loaded; an empty string if there was no problem."""
        examples: tuple[Example, ...] = ()
        try:
            examples = load_examples(path) if path else ()
        except ProfileFileError as error:
            self.problem = str(error)
            if isinstance(error, ProtectedProfileError):
                self._path = None
        self._tile_examples = TileExamples(letters or LetterNet(), examples)

    @property
    def examples(self) -> tuple[Example, ...]:
        """Examples of the table's tiles, oldest first."""
        return self._tile_examples.examples

    def learn(self, views: BoardViews, rows: Sequence[Sequence[str]], source: str) -> None:
        """Add the tiles of a picture as examples, given the true faces on the board.

        `views` are the rectified views of the picture. `rows` are 15 rows of 15 true faces: `.` for an empty square,
        `?` for any blank, a letter, or `#` for an unknown or hidden square. `source` is the name of the game. A new
        example replaces one from the same game and square. Raises ValueError for rows of another size.
        """
        faces = [face for row in rows for face in row]
        if len(faces) != len(SQUARES):
            raise ValueError(f"a board has {len(SQUARES)} squares, got {len(faces)}")
        tiles = {square: face for square, face in enumerate(faces) if face not in (EMPTY, HIDDEN)}
        with self._lock:
            self._tile_examples.learn(views, tiles, source)

    def refine_reading(self, reading: PhotoReading, tiles: Collection[str]) -> PhotoReading:
        """Return the reading with letter probabilities refined by the examples; `tiles` are the letters of the set."""
        if reading.board is None or reading.views is None:
            return reading
        with self._lock:
            return replace(reading, board=self._tile_examples.refine_reading(reading.views, reading.board, tiles))

    def save(self, write_file: Callable[[Path, bytes], object]) -> None:
        """Write the examples to the profile's file with `write_file`. Raises `ProfileError` if writing fails.

        `write_file` should write a file completely or not at all, even if the power fails.
        """
        if self._path:
            try:
                with self._save_lock:  # otherwise a thread could overwrite newer examples with its own
                    write_file(self._path, pack_examples(self.examples))
            except OSError as error:
                text = "The pictures of your tiles could not be saved ({0})."
                raise ProfileError(make_message("learnt-not-saved", text, error.strerror or error)) from error


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
