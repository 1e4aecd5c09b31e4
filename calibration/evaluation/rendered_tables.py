"""Tables for evaluation: labelled photographs of a `manifest.json`, and simulated tables.

All games at a simulated table have the same board and tiles, and roughly the same position of the camera. The lighting,
the exact position of the camera and the positions of the tiles on their squares differ from game to game.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.reading import EMPTY
from engine.tiles import load_tile_set
from vision.geometry import Floats, Image
from vision.photo import load_photo
from vision.rendering.board_art import draw_board
from vision.rendering.camera import look_at_board
from vision.rendering.scene import Scene, SceneSetting, compose_scene
from vision.rendering.style import Rng
from vision.rendering.surroundings import draw_table_top
from vision.rendering.tile_art import place_tiles
from vision.training.board_styles import random_board_style
from vision.training.font_list import training_fonts
from vision.training.random_scenes import MAX_SIDE_PX, random_labels, random_light
from vision.training.tile_styles import random_tile_style

SQUARE_PX = 32.0
"""Approximate side of a square in the rendered pictures, in pixels. A well placed camera gives about the same size."""
FINAL_TILE_SHARE = 0.42
"""Share of the 225 squares that have a tile at the end of a game: 95 of 100 tiles are on the board."""
_IMAGE_WIDTH_PX, _IMAGE_HEIGHT_PX = 1000, 760


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """One picture of a game, with the true faces on the board."""

    name: str
    """Name of the picture, for reports."""
    table: str
    """Name of the table; all its pictures show the same set of tiles."""
    game: str
    """Name of the game."""
    image: Image
    """`(H, W, 3) uint8 BGR`."""
    corners: Floats | None
    """`(4, 2)` corners of the grid in px; None if the board must be detected."""
    rows: tuple[tuple[str, ...], ...]
    """True faces on the board, 15 rows of 15."""
    language: str
    """Name of the tile set, such as `en`."""


@dataclass(frozen=True, slots=True)
class RenderedTable:
    """A simulated table whose tiles have letters in `font`; `seed` determines all other properties."""

    font: Path
    seed: int
    language: str = "en"

    @property
    def name(self) -> str:
        """Name of the table: font and seed."""
        return f"{self.font.stem} {self.seed}"

    def render_game(self, number: int, pictures: int) -> Iterator[Shot]:
        """Render game `number` as `pictures` pictures with an increasing number of tiles on the board."""
        rng = np.random.default_rng((self.seed, number))
        setting, labels = self._random_setting(rng), self._random_labels(rng)
        placed = place_tiles(rng, labels, setting.tile_style)
        for k in range(1, pictures + 1):
            shown = dict(list(labels.items())[: round(len(labels) * k / pictures)])
            scene = compose_scene(rng, setting, shown, values=self._values, placed_tiles=placed[: len(shown)])
            name = f"{self.name}, game {number}, picture {k}"
            yield Shot(name, self.name, str(number), scene.image, scene.corners, list_scene_rows(scene), self.language)

    @property
    def _values(self) -> Mapping[str, int]:
        return load_tile_set(self.language).values

    def _random_labels(self, rng: Rng) -> dict[tuple[int, int], str]:
        tiles = load_tile_set(self.language)
        letters = (*tiles.letters, "?")
        counts = np.array([*(tiles.counts[letter] for letter in tiles.letters), 2.0])
        return random_labels(rng, letters, counts / counts.sum(), FINAL_TILE_SHARE)

    def _random_setting(self, rng: Rng) -> SceneSetting:
        """Return a scene setting: the board and tiles of this table, with random light and camera from `rng`."""
        table_rng = np.random.default_rng(self.seed)
        fonts = training_fonts()
        board = random_board_style(table_rng, fonts)
        tiles = random_tile_style(table_rng, (self.font,), board)
        tilt, azimuth = abs(table_rng.normal(0, 16)), table_rng.uniform(0, 2 * np.pi)
        px = round(SQUARE_PX * 1.15)
        art = draw_board(table_rng, board, px)
        table = draw_table_top(table_rng, board, 7.5 + max(art.margin))
        thickness, grain = float(table_rng.uniform(0.05, 0.6)), int(table_rng.integers(2**31))
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


def list_scene_rows(scene: Scene) -> tuple[tuple[str, ...], ...]:
    """Return the true faces on the board of a rendered scene, 15 rows of 15; `.` for an empty square."""
    return tuple(tuple(symbol or EMPTY for symbol in row) for row in scene.labels)


def load_photo_shots(folder: Path) -> Iterator[Shot]:
    """Yield all labelled photographs below `folder`, sorted by manifest file, then game, then position in the game.

    A manifest is a list of records with `id`, `photo` (path), `board` (15 strings: `.` empty, upper case a tile, lower
    case or `?` a blank), `language`, `game` and `index`.
    """
    for manifest in sorted(folder.rglob("manifest.json")):
        records = json.loads(manifest.read_text(encoding="utf-8"))
        for record in sorted(records, key=lambda r: (str(r["game"]), r["index"] if r["index"] is not None else 0)):
            rows = tuple(tuple("?" if c.islower() else c for c in row) for row in record["board"])
            image = load_photo(manifest.parent / record["photo"]).image
            table, game = manifest.parent.name, str(record["game"])
            yield Shot(record["id"], table, game, image, None, rows, record["language"])
