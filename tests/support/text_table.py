"""Tables and readers whose boards are given as text, and a table that is read from painted patches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache

import numpy as np

from device.cameras.base import CameraError, Frame
from device.session.commands.turns import EndTurn
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from engine.events import GameStarted
from engine.reading import BOARD_SIZE, BoardReading
from tests.support.waiting import PATIENCE_S
from vision.geometry import Image
from vision.recognition.reader import PhotoReading, ReadingTimes

EMPTY_ROWS = ("." * BOARD_SIZE,) * BOARD_SIZE


def rows(*words: tuple[str, int, int, bool]) -> tuple[str, ...]:
    """Return 15 rows from words: text, row and column from 0, True for across."""
    board = [list(row) for row in EMPTY_ROWS]
    for text, row, column, across in words:
        for i, letter in enumerate(text):
            board[row + (0 if across else i)][column + (i if across else 0)] = letter
    return tuple("".join(row) for row in board)


WORDS = frozenset({"HORN", "FARM", "PASTE", "FARMS"})
STARTED = GameStarted(("Anna", "Ben"), lexicon="test")
HORN = ("HORN", 7, 5, True)
FARM = ("FARM", 5, 7, False)
PASTE = ("PASTE", 9, 5, True)


class TextTable:
    """Camera and reader in one. `lay` sets the board, `then` the boards after each reading. Pictures are grey.

    Each picture has another pixel in its corner, as no two pictures of a camera are the same.
    """

    def __init__(self) -> None:
        self.is_live = False
        self.board: BoardReading | None = BoardReading.from_rows(EMPTY_ROWS)
        self.then: list[tuple[str, ...]] = []
        self.problems: tuple[str, ...] = ()
        self.trouble = ""
        self._is_released = threading.Event()
        self._is_released.set()
        self.pictures = 0
        self.closed = False

    def lay(self, *words: tuple[str, int, int, bool]) -> None:
        self.board = BoardReading.from_rows(rows(*words))

    def lay_unclear(self, *words: tuple[str, int, int, bool]) -> None:
        """Set a board of which it is not clear which side is up: nothing is recorded before the answer."""
        self.board = replace(BoardReading.from_rows(rows(*words)), orientation_confidence=0.5)

    @contextmanager
    def hold_reading(self) -> Iterator[None]:
        """Let each reading wait until the end of the block."""
        self._is_released.clear()
        try:
            yield
        finally:
            self._is_released.set()

    def capture_still(self) -> Frame:
        if self.trouble:
            raise CameraError(self.trouble)
        self.pictures += 1
        image = np.full((300, 400, 3), 128, np.uint8)
        image[0, 0, :2] = divmod(self.pictures, 256)
        return Frame(image, time.monotonic(), f"{self.pictures}.jpg")

    def capture_preview(self) -> Frame | None:
        return None

    def close(self) -> None:
        self.closed = True

    def read(self, image: Image, tiles: Collection[str], **place: object) -> PhotoReading:
        assert image.shape == (300, 400, 3) and "A" in tiles and place.get("corners") is None
        assert self._is_released.wait(PATIENCE_S), "the reading is held"
        board = self.board
        if self.then:
            self.board = BoardReading.from_rows(self.then.pop(0))
        found = np.array([[60.0, 10.0], [340.0, 10.0], [340.0, 290.0], [60.0, 290.0]])
        problems = self.problems or (() if board else ("No board was found. A cat.",))
        return PhotoReading(board, found if board else None, problems, ReadingTimes(1, 1, 2))


class ReaderInOrder:
    """Reads the n-th picture as the n-th board; None is a picture without a board."""

    def __init__(self, boards: Sequence[Sequence[str] | None]) -> None:
        self.boards: Iterator[Sequence[str] | None] = iter(boards)

    def read(self, image: Image, tiles: Collection[str], **place: object) -> PhotoReading:
        assert image.ndim == 3 and tiles and place.get("corners") is None
        board = next(self.boards)
        if board is None:
            return PhotoReading(None, None, ("No board was found. This is a cat.",), ReadingTimes(1, 1, 2))
        quad = np.array([[5.0, 5.0], [50.0, 5.0], [50.0, 50.0], [5.0, 50.0]])
        return PhotoReading(BoardReading.from_rows(board), quad, (), ReadingTimes(1, 1, 2))


def play(session: TableSession, table: TextTable, *words: tuple[str, int, int, bool]) -> TableSnapshot:
    """Place these words on the board and end the turn."""
    table.lay(*words)
    return session.submit(EndTurn()).result(PATIENCE_S)


def totals(state: TableSnapshot) -> list[int]:
    return [player.total for player in state.players]


SYMBOLS = ".ABCDEFGHIJKLMNOPQRSTUVWXYZ?#"
CELL = 20


class PaintedTable:
    """Live camera and reader in one: the brightness of a patch encodes the symbol of its square."""

    is_live = True

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.rows = EMPTY_ROWS
        self.trouble = ""
        self.black = False
        self.hidden: list[frozenset[tuple[int, int]]] = []
        self.stills = 0
        self.reads = 0

    def lay(self, *words: tuple[str, int, int, bool]) -> None:
        self.rows = rows(*words)

    def capture_still(self) -> Frame:
        self.stills += 1
        hidden = self.hidden.pop(0) if self.hidden else frozenset[tuple[int, int]]()
        return Frame(self._paint(hidden), self.clock())

    def capture_preview(self) -> Frame:
        return Frame(self._paint(frozenset()), self.clock())

    def close(self) -> None:
        self.trouble = "closed"

    def read(self, image: Image, tiles: Collection[str], **place: object) -> PhotoReading:
        assert place.get("corners") is None and "A" in tiles
        self.reads += 1
        middles = image[CELL // 2 :: CELL, CELL // 2 :: CELL, 0].astype(float)
        levels = np.clip(np.round((middles - 16) / 8), 0, len(SYMBOLS) - 1).astype(int)
        board = BoardReading.from_rows(["".join(SYMBOLS[level] for level in row) for row in levels])
        side = float(BOARD_SIZE * CELL)
        found = np.array([[0.0, 0.0], [side, 0.0], [side, side], [0.0, side]])
        return PhotoReading(board, found, (), ReadingTimes(1, 1, 2))

    def _paint(self, hidden: frozenset[tuple[int, int]]) -> Image:
        if self.trouble:
            raise CameraError(self.trouble)
        return paint_board(self.rows, hidden, self.black)


@lru_cache(maxsize=32)
def paint_board(rows: tuple[str, ...], hidden: frozenset[tuple[int, int]], black: bool) -> Image:
    """Return a picture in which the brightness of a patch encodes the symbol of its square."""
    levels = np.array([[16 + 8 * SYMBOLS.index(symbol) for symbol in row] for row in rows], np.uint8)
    for at in hidden:
        levels[at] = 16 + 8 * SYMBOLS.index("#")
    if black:
        levels[:] = 0
    patches = np.kron(levels, np.ones((CELL, CELL), np.uint8))
    return np.ascontiguousarray(np.repeat(patches[:, :, None], 3, axis=2))


@lru_cache(maxsize=32)
def paint_ruled_board(rows: tuple[str, ...], hidden: frozenset[tuple[int, int]], black: bool, light: int) -> Image:
    """Return the picture of `paint_board` in another light, and with lines between the squares."""
    image = paint_board(rows, hidden, black).astype(int) + light
    image[::CELL] = image[1::CELL] = 250
    return np.clip(image, 0, 255).astype(np.uint8)


EVERY_SQUARE = frozenset((row, column) for row in range(BOARD_SIZE) for column in range(BOARD_SIZE))


class RuledTable(PaintedTable):
    """A painted table with lines between its squares, which give its pictures contrast."""

    light = 0
    covered = False
    """True while hands are over the whole board."""

    def _paint(self, hidden: frozenset[tuple[int, int]]) -> Image:
        if self.trouble:
            raise CameraError(self.trouble)
        return paint_ruled_board(self.rows, EVERY_SQUARE if self.covered else hidden, self.black, self.light)
