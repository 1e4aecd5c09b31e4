"""The profile of one table, which refines readings by examples of the table's tiles, and a reader that uses it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from calibration.profile_file import ProfileFileError, ProtectedProfileError, load_examples, pack_examples
from calibration.tile_examples import Example, TileClassifier, TileExamples
from engine.board import SQUARES
from engine.errors import TilekeeperError
from engine.messages import make_message
from engine.reading import EMPTY, HIDDEN
from vision.geometry import Floats, Image
from vision.recognition.letters import LetterNet
from vision.recognition.reader import PhotoReader, PhotoReading
from vision.recognition.views import BoardViews
from vision.tracking import BoardTracker


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
