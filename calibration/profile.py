"""The profile of one table: what its own tiles look like, kept in one file.

The profile refines uncertain letters only, and guards against making readings worse: `TileExamples` is used only if
cross-validation shows a gain.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from calibration.profile_file import ProfileData, ProfileError, load_profile, save_profile
from calibration.tile_examples import TileClassifier, TileExamples
from engine.reading import BOARD_SIZE, EMPTY, HIDDEN
from vision.recognition.letters import LetterNet
from vision.recognition.reader import PhotoReading
from vision.recognition.views import BoardViews


@dataclass(frozen=True, slots=True)
class ProfileSummary:
    """What a profile contains, for display."""

    symbols: tuple[str, ...]
    """Symbols with at least one example."""
    examples: int
    is_helpful: bool
    """True if the examples improve readings in cross-validation."""


class TableProfile:
    """The profile of one table, loaded from the file `path`; with None it is kept in memory only.

    Safe to use from several threads. A damaged file is set aside and reported in `problem`; the profile starts empty.
    """

    def __init__(self, path: Path | None, letters: TileClassifier | None = None) -> None:
        self._path = path
        self._classifier = letters or LetterNet()
        self._lock = threading.Lock()
        self.problem: str = ""
        """What was wrong with the file; empty if nothing was."""
        kept = ProfileData()
        if path is not None:
            kept, self.problem = load_profile(path)
        self._restore(kept)

    def _restore(self, kept: ProfileData) -> None:
        self._tile_examples = TileExamples(self._classifier, kept.examples)

    def learn(
        self, views: BoardViews, rows: Sequence[Sequence[str]], source: str, confirmed: Collection[int] = ()
    ) -> None:
        """Learn from a picture whose true board is known.

        `rows` are 15 rows of 15 true faces: `.` for an empty square, `?` for any blank, a letter, or `#` for a square
        that is unknown or hidden. `source` names the game: each square is kept once for each game, the last one
        replaces the earlier. `confirmed` are the squares (0..224) whose face a player entered. Raises ValueError for
        rows of another size.
        """
        faces = [face for row in rows for face in row]
        if len(faces) != BOARD_SIZE * BOARD_SIZE:
            raise ValueError(f"a board has {BOARD_SIZE * BOARD_SIZE} squares, got {len(faces)}")
        tiles = {at: face for at, face in enumerate(faces) if face not in (EMPTY, HIDDEN)}
        with self._lock:
            self._tile_examples.learn(views, tiles, source, confirmed)

    def refine_reading(self, reading: PhotoReading, tiles: Collection[str]) -> PhotoReading:
        """Return the reading, its uncertain letters refined. `tiles` are the letters of the set."""
        if reading.board is None or reading.views is None:
            return reading
        with self._lock:
            board = self._tile_examples.refine_reading(reading.views, reading.board, tiles)
        return replace(reading, board=board)

    def save(self) -> None:
        """Write the profile to its file, atomically. Raises `ProfileError` if that fails."""
        if self._path is None:
            return
        with self._lock:
            kept = ProfileData(self._tile_examples.examples)
        save_profile(self._path, kept)

    def reset(self) -> None:
        """Forget everything; the next `save` writes the empty profile."""
        with self._lock:
            self._restore(ProfileData())

    def summarise(self) -> ProfileSummary:
        """Return what the profile contains, for display."""
        with self._lock:
            examples = self._tile_examples.examples
            symbols = tuple(sorted({example.symbol for example in examples}))
            return ProfileSummary(symbols, len(examples), self._tile_examples.bonus > 0)


__all__ = ["ProfileError", "ProfileSummary", "TableProfile"]
