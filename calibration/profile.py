"""What one table has taught: its tiles' own looks and its bare board, kept in one file and asked where there is doubt.

Nothing here may make reading worse. Letters are weighed by `TileExamples`, which prove on each other that they help;
blank against bare square by `BareBoard`, whose word counts as far as it is right about the known squares of the same
picture, and not at all while its words about earlier doubts turned out worse than none.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from calibration.empty_board import in_doubt, settled
from calibration.profile_file import Kept, KnowledgeError, load, store
from calibration.tile_examples import Looker, TileExamples
from engine.reading import BLANK, EMPTY, HIDDEN, SIZE, BoardReading
from vision.geometry import Floats
from vision.recognition.blank_by_colour import square_colours
from vision.recognition.board_views import BoardViews
from vision.recognition.letters import LetterNet
from vision.recognition.reader import PhotoReading

_PICTURES: Final = 4
"""So many of the last pictures are remembered to see whether what was said of them was right."""
_MEMORY: Final = 0.98
"""How much of the record of the bare board's words is kept from one doubt to the next."""
_DISTRUST: Final = -1.0
"""Nats lost, in that record, at which the bare board is no longer listened to."""


@dataclass(frozen=True, slots=True)
class KnowledgeView:
    """What a table has taught, for people to see."""

    letters: tuple[str, ...]
    """The symbols that there are examples of."""
    examples: int
    squares: int
    """Squares whose bare look is known."""
    helps: bool
    """Whether the examples read better than without, by their own proof."""


class TableKnowledge:
    """The knowledge of one table, from the file `path`; without a path it lasts as long as the program.

    Safe to use from several threads. A file that cannot be read is set aside, said in `problem`, and begun anew.
    """

    def __init__(self, path: Path | None, letters: Looker | None = None) -> None:
        self._path = path
        self._letters = letters or LetterNet()
        self._lock = threading.Lock()
        self._said: deque[tuple[BoardViews, Mapping[int, tuple[float, float]]]] = deque(maxlen=_PICTURES)
        self.problem: str = ""
        """What was wrong with the file, as a sentence; empty when nothing was."""
        kept = Kept()
        if path is not None:
            kept, self.problem = load(path)
        self._begin(kept)

    def _begin(self, kept: Kept) -> None:
        self._tiles = TileExamples(self._letters, kept.examples)
        self._bare = kept.bare
        self._record = kept.record

    def learn(self, views: BoardViews, rows: Sequence[Sequence[str]], source: str, told: Collection[int] = ()) -> None:
        """Learn from a picture of a board that is known by now.

        `rows` are 15 rows of 15 faces as they truly lay in the picture: `.`, `?` for any blank, a letter; `#` for what
        nobody knows or nobody saw. `source` names the game: a square is learnt once a game, the last time counts.
        `told` are the squares (0..224) where a person said what lies there. Raises ValueError for rows of another size.
        """
        faces = [face for row in rows for face in row]
        if len(faces) != SIZE * SIZE:
            raise ValueError(f"a board has {SIZE * SIZE} squares, got {len(faces)}")
        tiles = {at: face for at, face in enumerate(faces) if face not in (EMPTY, HIDDEN)}
        colours = square_colours(np.ascontiguousarray(views.board))
        with self._lock:
            self._judge(views, faces)
            self._bare = self._bare.with_picture(colours, np.array([face == EMPTY for face in faces]))
            self._tiles.learn(views, tiles, source, told)

    def adapt(self, reading: PhotoReading, tiles: Collection[str]) -> PhotoReading:
        """The same reading, with squares in doubt weighed by what this table has taught. `tiles`: the set's letters."""
        if reading.board is None or reading.views is None:
            return reading
        with self._lock:
            board = self._tiles.adapt(reading.views, reading.board, tiles)
            if any(in_doubt(square) for square in board.squares):
                words = self._bare.likes_tiles(square_colours(np.ascontiguousarray(reading.views.board)), board)
                self._said.append((reading.views, _words(board, words)))
                if self._record > _DISTRUST:
                    board = settled(board, words)
        return replace(reading, board=board)

    def save(self) -> None:
        """Put everything on disk, all or nothing. Raises `KnowledgeError` where that cannot be done."""
        if self._path is None:
            return
        with self._lock:
            kept = Kept(self._tiles.examples, self._bare, self._record)
        store(self._path, kept)

    def forget(self) -> None:
        """Begin anew; the file follows with the next `save`."""
        with self._lock:
            self._said.clear()
            self._begin(Kept())

    def view(self) -> KnowledgeView:
        """What is known, for people."""
        with self._lock:
            examples = self._tiles.examples
            symbols = tuple(sorted({example.symbol for example in examples}))
            return KnowledgeView(symbols, len(examples), int((self._bare.times > 0).sum()), self._tiles.bonus > 0)

    def _judge(self, views: BoardViews, faces: Sequence[str]) -> None:
        """Keep the record of what the bare board said, now that it is known what lay there."""
        said = next((said for of, said in self._said if of is views), {})
        for at, (blank, word) in said.items():
            if faces[at] in (EMPTY, BLANK):
                sign = 1 if faces[at] == BLANK else -1
                before = np.log(blank / (1 - blank)) * sign
                gain = float(np.logaddexp(0, -before) - np.logaddexp(0, -before - word * sign))
                self._record = self._record * _MEMORY + gain


def _words(board: BoardReading, words: Floats) -> Mapping[int, tuple[float, float]]:
    """For each square in doubt, the chance of a blank against nothing before a word was said, and the word."""
    said = {}
    for at in np.flatnonzero(words).tolist():
        square = board.squares[at]
        if in_doubt(square):
            empty, blank = square.probability(EMPTY), square.probability(BLANK)
            said[at] = (blank / (empty + blank), float(words[at]))
    return said


__all__ = ["KnowledgeError", "KnowledgeView", "TableKnowledge"]
