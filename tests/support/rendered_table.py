"""A rendered table: its camera takes pictures of the tiles, and its reader knows them without reading."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Collection

import numpy as np

from device.cameras.base import Frame
from engine.reading import BOARD_SIZE, EMPTY, BoardReading, SquareReading
from vision.geometry import Image
from vision.recognition.reader import PhotoReading, ReadingTimes
from vision.rendering.simulated_table import SimulatedTable

Word = tuple[str, int, int, bool]
"""Text, row and column from 0, True for across."""


class RenderedTable:
    """Camera and reader in one. `doubt` maps (row, column) to two symbols between which readings are uncertain."""

    is_live = False

    def __init__(self, size: tuple[int, int] = (960, 720)) -> None:
        self._table = SimulatedTable(seed=5, size=size)
        self._lock = threading.Lock()
        self._scene = self._table.photograph()
        self.doubt: dict[tuple[int, int], str] = {}

    def copy(self) -> RenderedTable:
        """Return another table of the same board, tiles and camera."""
        other = RenderedTable.__new__(RenderedTable)
        other._table, other._lock = copy.deepcopy(self._table), threading.Lock()
        other._scene, other.doubt = self._scene, dict(self.doubt)
        return other

    def lay(self, *words: Word) -> None:
        """Show exactly these words on the board."""
        letters = {
            (row + (0 if across else i), column + (i if across else 0)): letter
            for text, row, column, across in words
            for i, letter in enumerate(text)
        }
        with self._lock:
            self._table.lay_tiles(letters)
            self._scene = self._table.photograph()

    def capture_still(self) -> Frame:
        with self._lock:
            return Frame(self._scene.image, time.monotonic())

    def capture_preview(self) -> Frame | None:
        with self._lock:
            return Frame(np.ascontiguousarray(self._scene.image[::4, ::4]), time.monotonic())

    def close(self) -> None:
        """Do nothing: no device is open."""

    def read(self, image: Image, tiles: Collection[str], **_place: object) -> PhotoReading:
        assert "A" in tiles and image.ndim == 3
        rows = tuple("".join(label or EMPTY for label in row) for row in self._scene.labels)
        squares = list(BoardReading.from_rows(rows).squares)
        for (row, column), symbols in self.doubt.items():
            squares[row * BOARD_SIZE + column] = SquareReading(((symbols[0], 0.55), (symbols[1], 0.45)))
        return PhotoReading(BoardReading(tuple(squares)), self._scene.corners, (), ReadingTimes(1, 1, 2))
