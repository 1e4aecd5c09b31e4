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
from engine.tiles import load_tile_set
from vision.geometry import Floats, Image
from vision.rendering.board_art import draw_board
from vision.rendering.camera import look_at_board
from vision.rendering.fonts import training_fonts
from vision.rendering.light import random_light
from vision.rendering.scene import MAX_SIDE_PX, Scene, SceneSetting, compose_scene, random_labels
from vision.rendering.style import Rng, random_board_style, random_tile_style
from vision.rendering.surroundings import draw_table_top
from vision.rendering.tile_art import place_tiles

SQUARE_PX = 32.0
"""Pixels of a square in the pictures, about: a camera that sees the board well."""
FINAL_TILE_SHARE = 0.42
"""Share of the squares with a tile at the end of a game: 95 of 100 tiles."""
_IMAGE_WIDTH_PX, _IMAGE_HEIGHT_PX = 1000, 760


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

    def render_game(self, number: int, pictures: int) -> Iterator[Shot]:
        """One game in so many pictures, the board filling up from one to the next."""
        rng = np.random.default_rng((self.seed, number))
        setting, labels = self._random_setting(rng), self._random_labels(rng)
        laid = place_tiles(rng, labels, setting.tile_style)
        for k in range(1, pictures + 1):
            shown = dict(list(labels.items())[: round(len(labels) * k / pictures)])
            scene = compose_scene(rng, setting, shown, values=self._values, placed_tiles=laid[: len(shown)])
            name = f"{self.name}, game {number}, picture {k}"
            yield Shot(name, self.name, str(number), scene.image, scene.corners, scene_rows(scene), self.language)

    def render_with_hands(self, number: int, pictures: int) -> Iterator[Scene]:
        """One board at one moment in so many pictures, while a hand moves over it."""
        rng = np.random.default_rng((self.seed, number))
        setting, labels = self._random_setting(rng), self._random_labels(rng)
        laid = place_tiles(rng, labels, setting.tile_style)
        for _ in range(pictures):
            hand = (float(rng.uniform(1, 14)), float(rng.uniform(1, 14)))
            yield compose_scene(rng, setting, labels, hands=[hand], values=self._values, placed_tiles=laid)

    @property
    def _values(self) -> Mapping[str, int]:
        return load_tile_set(self.language).values

    def _random_labels(self, rng: Rng) -> dict[tuple[int, int], str]:
        tiles = load_tile_set(self.language)
        letters = (*tiles.letters, "?")
        counts = np.array([*(tiles.counts[letter] for letter in tiles.letters), 2.0])
        return random_labels(rng, letters, counts / counts.sum(), FINAL_TILE_SHARE)

    def _random_setting(self, rng: Rng) -> SceneSetting:
        """The table's own things from its seed; the game's light and camera from `rng`."""
        own = np.random.default_rng(self.seed)
        fonts = training_fonts()
        board = random_board_style(own, fonts)
        tiles = random_tile_style(own, (self.font,), board)
        tilt, azimuth = abs(own.normal(0, 16)), own.uniform(0, 2 * np.pi)
        px = round(SQUARE_PX * 1.15)
        art = draw_board(own, board, px)
        table = draw_table_top(own, board, 7.5 + max(art.margin))
        thickness, grain = float(own.uniform(0.05, 0.6)), int(own.integers(2**31))
        camera = look_at_board(
            size=(_IMAGE_WIDTH_PX, _IMAGE_HEIGHT_PX),
            focal=0.85 * _IMAGE_WIDTH_PX,
            tilt=float(np.deg2rad(min(50.0, abs(tilt + rng.normal(0, 3))))),
            azimuth=float(azimuth + rng.normal(0, 0.05)),
            roll=float(rng.normal(0, 0.05)),
            fill=float(rng.uniform(0.75, 0.9)),
        )
        assert max(camera.size) <= MAX_SIDE_PX
        light = random_light(rng, SQUARE_PX)
        return SceneSetting(board, tiles, replace(light, motion_blur=0.0), camera, art, table, thickness, grain)


def scene_rows(scene: Scene) -> tuple[tuple[str, ...], ...]:
    """The faces that lie in a drawn scene."""
    return tuple(tuple(symbol or EMPTY for symbol in row) for row in scene.labels)
