"""The profile of one table: what its own tiles and its empty board look like, kept in one file.

The profile refines uncertain squares only, and guards against making readings worse: `TileExamples` is used only if
cross-validation shows a gain, `EmptyBoardModel` is weighted by how well it explains the known squares of the same
picture and is ignored while its earlier opinions turned out worse than none.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from calibration.empty_board import apply_log_ratios, is_blank_uncertain
from calibration.profile_file import ProfileData, ProfileError, load_profile, save_profile
from calibration.tile_examples import TileClassifier, TileExamples
from engine.reading import BLANK, BOARD_SIZE, EMPTY, HIDDEN, BoardReading
from vision.geometry import Floats
from vision.recognition.blank_by_colour import measure_log_colours
from vision.recognition.board_views import BoardViews
from vision.recognition.letters import LetterNet
from vision.recognition.reader import PhotoReading

_MAX_RECENT_IMAGES: Final = 4
"""Number of pictures whose opinions are kept until the true board is known."""
_GAIN_DECAY: Final = 0.98
"""Factor by which the accumulated gain of the empty-board model decays with each scored square."""
_MIN_GAIN_NATS: Final = -1.0
"""Accumulated gain, in nats, below which the empty-board model is ignored."""


@dataclass(frozen=True, slots=True)
class ProfileSummary:
    """What a profile contains, for display."""

    symbols: tuple[str, ...]
    """Symbols with at least one example."""
    examples: int
    known_squares: int
    """Number of squares whose empty colour is known."""
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
        self._recent_opinions: deque[tuple[BoardViews, Mapping[int, tuple[float, float]]]] = deque(
            maxlen=_MAX_RECENT_IMAGES
        )
        self.problem: str = ""
        """What was wrong with the file; empty if nothing was."""
        kept = ProfileData()
        if path is not None:
            kept, self.problem = load_profile(path)
        self._restore(kept)

    def _restore(self, kept: ProfileData) -> None:
        self._tile_examples = TileExamples(self._classifier, kept.examples)
        self._empty_board = kept.empty_board
        self._empty_board_gain = kept.empty_board_gain

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
        colours = measure_log_colours(np.ascontiguousarray(views.board))
        with self._lock:
            self._score_opinions(views, faces)
            self._empty_board = self._empty_board.with_picture(colours, np.array([face == EMPTY for face in faces]))
            self._tile_examples.learn(views, tiles, source, confirmed)

    def refine_reading(self, reading: PhotoReading, tiles: Collection[str]) -> PhotoReading:
        """Return the reading, its uncertain squares refined. `tiles` are the letters of the set."""
        if reading.board is None or reading.views is None:
            return reading
        with self._lock:
            board = self._tile_examples.refine_reading(reading.views, reading.board, tiles)
            if any(is_blank_uncertain(square) for square in board.squares):
                words = self._empty_board.compute_log_ratios(
                    measure_log_colours(np.ascontiguousarray(reading.views.board)), board
                )
                self._recent_opinions.append((reading.views, _collect_opinions(board, words)))
                if self._empty_board_gain > _MIN_GAIN_NATS:
                    board = apply_log_ratios(board, words)
        return replace(reading, board=board)

    def save(self) -> None:
        """Write the profile to its file, atomically. Raises `ProfileError` if that fails."""
        if self._path is None:
            return
        with self._lock:
            kept = ProfileData(self._tile_examples.examples, self._empty_board, self._empty_board_gain)
        save_profile(self._path, kept)

    def reset(self) -> None:
        """Forget everything; the next `save` writes the empty profile."""
        with self._lock:
            self._recent_opinions.clear()
            self._restore(ProfileData())

    def summarise(self) -> ProfileSummary:
        """Return what the profile contains, for display."""
        with self._lock:
            examples = self._tile_examples.examples
            symbols = tuple(sorted({example.symbol for example in examples}))
            return ProfileSummary(
                symbols,
                len(examples),
                int((self._empty_board.observation_counts > 0).sum()),
                self._tile_examples.bonus > 0,
            )

    def _score_opinions(self, views: BoardViews, faces: Sequence[str]) -> None:
        """Add the gain of the empty-board model's opinions on these views, now that the faces are known."""
        said = next((said for of, said in self._recent_opinions if of is views), {})
        for at, (blank, word) in said.items():
            if faces[at] in (EMPTY, BLANK):
                sign = 1 if faces[at] == BLANK else -1
                before = np.log(blank / (1 - blank)) * sign
                gain = float(np.logaddexp(0, -before) - np.logaddexp(0, -before - word * sign))
                self._empty_board_gain = self._empty_board_gain * _GAIN_DECAY + gain


def _collect_opinions(board: BoardReading, words: Floats) -> Mapping[int, tuple[float, float]]:
    """Return for each uncertain square the prior probability of a blank (against empty) and the log ratio."""
    said = {}
    for at in np.flatnonzero(words).tolist():
        square = board.squares[at]
        if is_blank_uncertain(square):
            empty, blank = square.probability(EMPTY), square.probability(BLANK)
            said[at] = (blank / (empty + blank), float(words[at]))
    return said


__all__ = ["ProfileError", "ProfileSummary", "TableProfile"]
