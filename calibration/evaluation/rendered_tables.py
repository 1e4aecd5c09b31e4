"""Rendered tables that last: one board, one set of tiles, game after game in changing light.

A table keeps what a real one keeps (its board, its tiles, about where its camera is) and changes what changes from
game to game: the light, the camera a little, which way the board is turned, how tiles lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.reading import EMPTY
from engine.tiles import tile_set
from vision.geometry import Floats, Image
from vision.rendering.board_art import draw_board
from vision.rendering.camera import look_at_board
from vision.rendering.fonts import training_fonts
from vision.rendering.light import random_light
from vision.rendering.scene import LONGEST, Scene, Setting, compose, random_labels
from vision.rendering.style import Rng, random_board, random_tiles
from vision.rendering.surroundings import table_top
from vision.rendering.tile_art import lay

SQUARE_PX = 32.0
"""Pixels of a square in the pictures, about: a camera that sees the board well."""
DENSITY = 0.42
"""Share of the squares with a tile at the end of a game: 95 of 100 tiles."""
_WIDTH, _HEIGHT = 1000, 760


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """One picture of a game, with its truth."""

    name: str
    """Which picture this is, for reports."""
    table: str
    game: str
    image: Image
    corners: Floats | None
    """Where the grid truly is, where that is known exactly."""
    rows: tuple[tuple[str, ...], ...]
    """The faces that lie there."""
    language: str


@dataclass(frozen=True, slots=True)
class RenderedTable:
    """A table with tiles lettered in `font`; everything else about it follows from `seed`."""

    font: Path
    seed: int
    language: str = "en"

    @property
    def name(self) -> str:
        """The font's name and the seed."""
        return f"{self.font.stem} {self.seed}"

    def game(self, number: int, pictures: int) -> Iterator[Shot]:
        """One game in so many pictures, the board filling up from one to the next."""
        rng = np.random.default_rng((self.seed, number))
        setting, labels = self._setting(rng), self._labels(rng)
        laid = lay(rng, labels, setting.tiles)
        for k in range(1, pictures + 1):
            shown = dict(list(labels.items())[: round(len(labels) * k / pictures)])
            scene = compose(rng, setting, shown, values=self._values, laid=laid[: len(shown)])
            name = f"{self.name}, game {number}, picture {k}"
            yield Shot(name, self.name, str(number), scene.image, scene.corners, rows_of(scene), self.language)

    def under_hands(self, number: int, pictures: int) -> Iterator[Scene]:
        """One board at one moment in so many pictures, while a hand moves over it."""
        rng = np.random.default_rng((self.seed, number))
        setting, labels = self._setting(rng), self._labels(rng)
        laid = lay(rng, labels, setting.tiles)
        for _ in range(pictures):
            hand = (float(rng.uniform(1, 14)), float(rng.uniform(1, 14)))
            yield compose(rng, setting, labels, hands=[hand], values=self._values, laid=laid)

    @property
    def _values(self) -> Mapping[str, int]:
        return tile_set(self.language).values

    def _labels(self, rng: Rng) -> dict[tuple[int, int], str]:
        tiles = tile_set(self.language)
        letters = (*tiles.letters, "?")
        counts = np.array([*(tiles.counts[letter] for letter in tiles.letters), 2.0])
        return random_labels(rng, letters, counts / counts.sum(), DENSITY)

    def _setting(self, rng: Rng) -> Setting:
        """The table's own things from its seed; the game's light and camera from `rng`."""
        own = np.random.default_rng(self.seed)
        fonts = training_fonts()
        board = random_board(own, fonts)
        tiles = random_tiles(own, (self.font,), board)
        tilt, azimuth = abs(own.normal(0, 16)), own.uniform(0, 2 * np.pi)
        px = round(SQUARE_PX * 1.15)
        art = draw_board(own, board, px)
        table = table_top(own, board, 7.5 + max(art.margin))
        thickness, grain = float(own.uniform(0.05, 0.6)), int(own.integers(2**31))
        camera = look_at_board(
            size=(_WIDTH, _HEIGHT),
            focal=0.85 * _WIDTH,
            tilt=float(np.deg2rad(min(50.0, abs(tilt + rng.normal(0, 3))))),
            azimuth=float(azimuth + rng.normal(0, 0.05)),
            roll=float(rng.normal(0, 0.05)),
            fill=float(rng.uniform(0.75, 0.9)),
        )
        assert max(camera.size) <= LONGEST
        light = random_light(rng, SQUARE_PX)
        return Setting(board, tiles, replace(light, motion=0.0), camera, art, table, thickness, grain)


def rows_of(scene: Scene) -> tuple[tuple[str, ...], ...]:
    """The faces that lie in a drawn scene."""
    return tuple(tuple(symbol or EMPTY for symbol in row) for row in scene.labels)
