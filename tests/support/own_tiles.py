"""A small table for tests of profiles: three letters with patterns, and a board with colours of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.reading import BOARD_SIZE, EMPTY, BoardReading, SquareReading
from vision.geometry import Image
from vision.recognition.letters import TilePredictions
from vision.recognition.views import CROP_SIDE_PX, VIEW_MARGIN_SQUARES, VIEW_PX_PER_SQUARE, BoardViews
from vision.recognition.views import TOPS_MARGIN_SQUARES as TOPS_MARGIN
from vision.recognition.views import TOPS_PX_PER_SQUARE as TOPS_SCALE

LETTERS = ("A", "B", "C")
GROUND, TILE = (150.0, 160.0, 120.0), (170.0, 180.0, 190.0)


class Muddle:
    """A letter network that distinguishes patterns by features but reads every tile as A with probability `sure`."""

    classes = (".", "?", *LETTERS)

    def __init__(self, sure: float = 0.6) -> None:
        others = (1 - sure) / 3
        self._letters = np.log(np.array([1e-6, others, sure, others, others]))

    def predict(self, cut: Image) -> TilePredictions:
        small = (
            cut.reshape(-1, 6, CROP_SIDE_PX // 6, 6, CROP_SIDE_PX // 6)
            .mean(axis=(2, 4))
            .reshape(len(cut), 36)
            .astype(np.float32)
        )
        features = small - small.mean(axis=1, keepdims=True)
        return TilePredictions(
            np.tile(self._letters, (len(cut), 1)).astype(np.float32),
            np.zeros((len(cut), 4), np.float32),
            np.zeros((len(cut), 3), np.float32),
            features.astype(np.float32),
        )


@dataclass(frozen=True)
class OwnTable:
    """A board whose squares differ slightly in colour, and a set of tiles; both follow from `seed`."""

    seed: int = 0

    def picture(self, tiles: Mapping[int, str], shot: int = 0, light: float = 1.0, turned: int = 0) -> BoardViews:
        """Return views of `tiles` (square to face) with noise by `shot`; `turned` rotates the board by quarters."""
        own, noise = np.random.default_rng(self.seed), np.random.default_rng((self.seed, shot))
        patterns = {face: own.uniform(40, 220, (7, 7)) for face in LETTERS} | {"?": np.full((7, 7), 180.0)}
        colours = np.array(GROUND) * np.exp(own.normal(0, 0.12, (BOARD_SIZE, BOARD_SIZE, 1)))
        colours = np.rot90(colours, turned).reshape(BOARD_SIZE * BOARD_SIZE, 3).copy()
        for square in tiles:
            colours[square] = TILE
        slope = light * np.linspace(0.8, 1.2, BOARD_SIZE)[None, :, None]
        grid = (
            (colours.reshape(BOARD_SIZE, BOARD_SIZE, 3) * slope)
            .repeat(VIEW_PX_PER_SQUARE, axis=0)
            .repeat(VIEW_PX_PER_SQUARE, axis=1)
        )
        edge = VIEW_MARGIN_SQUARES * VIEW_PX_PER_SQUARE
        board = np.pad(grid, ((edge, edge), (edge, edge), (0, 0)), mode="edge")
        board = board + noise.normal(0, 2, board.shape)
        first = round(TOPS_SCALE * TOPS_MARGIN)
        tops = np.full((2 * first + TOPS_SCALE * BOARD_SIZE,) * 2, 130.0)
        for square, face in tiles.items():
            y, x = (first + TOPS_SCALE * k for k in divmod(square, BOARD_SIZE))
            tops[y : y + TOPS_SCALE, x : x + TOPS_SCALE] = np.kron(patterns[face], np.ones((TOPS_SCALE // 7,) * 2))
        tops = tops * light + noise.normal(0, 4, tops.shape)
        return BoardViews(np.clip(board, 0, 255).astype(np.uint8), np.clip(tops, 0, 255).astype(np.uint8))


def rows_of(tiles: Mapping[int, str]) -> tuple[tuple[str, ...], ...]:
    """Return 15 rows of 15 faces from square to face."""
    faces = [tiles.get(square, EMPTY) for square in range(BOARD_SIZE * BOARD_SIZE)]
    return tuple(tuple(faces[k : k + BOARD_SIZE]) for k in range(0, BOARD_SIZE * BOARD_SIZE, BOARD_SIZE))


def reading_of(squares: Mapping[int, Mapping[str, float]]) -> BoardReading:
    """Return a reading with these candidates; all other squares are empty with probability 1."""
    return BoardReading(
        tuple(
            SquareReading(tuple(sorted(squares.get(at, {EMPTY: 1.0}).items(), key=lambda item: -item[1])))
            for at in range(BOARD_SIZE * BOARD_SIZE)
        )
    )
