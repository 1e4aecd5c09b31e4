"""Simulated table with one board, one set of tiles and one fixed camera, for the demo and tests.

Tiles keep their exact positions from picture to picture; only noise and hands change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from vision.rendering.board_art import BoardStyle, draw_board
from vision.rendering.camera import Camera, look_at_board
from vision.rendering.fonts import packaged_fonts, select_supporting_fonts
from vision.rendering.light import Light
from vision.rendering.scene import Scene, SceneSetting, compose_scene
from vision.rendering.style import Colour
from vision.rendering.surroundings import draw_table_top
from vision.rendering.tile_art import BLANK, PlacedTile, TileStyle, place_tiles


@dataclass(frozen=True)
class Edition:
    """Colours (BGR) of the printed board of one edition, as shown in the rule sheets."""

    ground: Colour
    triple_word: Colour
    double_word: Colour
    triple_letter: Colour
    double_letter: Colour
    line: Colour
    frame: Colour

    @property
    def premium(self) -> dict[str, Colour]:
        """Colours of the premium squares, by the symbols of `vision.rendering.style.LAYOUT`."""
        return {"T": self.triple_word, "D": self.double_word, "t": self.triple_letter, "d": self.double_letter}


EDITIONS: Mapping[str, Edition] = {
    "classic": Edition(
        (176, 196, 205), (58, 50, 200), (186, 178, 240), (176, 112, 40), (225, 196, 160), (240, 244, 246), (52, 38, 150)
    ),
    "green": Edition(
        (70, 92, 20), (50, 50, 210), (60, 150, 235), (190, 110, 30), (225, 180, 130), (190, 210, 200), (40, 60, 12)
    ),
    "deluxe": Edition(
        (222, 226, 228), (60, 120, 235), (60, 50, 195), (80, 170, 90), (200, 140, 50), (245, 246, 248), (50, 45, 170)
    ),
}


_PREMIUM_PRINT = {
    "T": ("TRIPLE", "WORD", "SCORE"),
    "D": ("DOUBLE", "WORD", "SCORE"),
    "t": ("TRIPLE", "LETTER", "SCORE"),
    "d": ("DOUBLE", "LETTER", "SCORE"),
}
"""Printed lines of text for each kind of premium square."""


def edition_style(name: str, font: Path) -> BoardStyle:
    """Return a board style in the colours of the edition `name`. Raises KeyError for an unknown edition."""
    edition = EDITIONS[name]
    return BoardStyle(
        ground=edition.ground,
        premium=edition.premium,
        line=edition.line,
        line_width=0.05,
        text=_PREMIUM_PRINT,
        text_font=font,
        text_size=0.14,
        text_colour=(40, 36, 36),
        frame_bands=((0.12, (235, 240, 242)), (0.7, edition.frame)),
        frame_panels=(0.2, 0.2, 0.2, 0.9),
        labels=True,
        corner_radius=0.3,
        seam="vertical",
        grain=0.01,
    )


def plain_tile_style(font: Path) -> TileStyle:
    """Return the style of light wooden tiles with small random shifts and rotations on their squares."""
    return TileStyle(
        top=(160, 205, 232),
        side=(110, 150, 182),
        ink=(38, 34, 34),
        size=0.93,
        height=0.2,
        rounding=0.05,
        bevel=0.04,
        bevel_light=0.15,
        grain=0.05,
        colour_spread=0.03,
        font=font,
        cap_height=0.52,
        letter_centre=(0.48, 0.48),
        value_height=0.17,
        value_centre=(0.82, 0.82),
        engraved=0.2,
        turn_sd_deg=2.0,
        slip_sd=0.02,
        gloss=0.2,
    )


EVENING_LIGHT = Light(
    direction=0.8,
    shadow=0.45,
    shadow_length=0.7,
    gradient=0.2,
    lamp=0.15,
    shadow_edge=0.0,
    glare=0.0,
    exposure=1.0,
    warmth=0.2,
    green_cast=0.0,
    contrast=1.0,
    saturation=1.0,
    blur=0.6,
    motion_blur=0.0,
    noise=2.0,
    sharpen=0.3,
    sampling_scale=1.0,
    jpeg_quality=90,
)


@dataclass(frozen=True)
class Hands:
    """Hands in the picture, each given by the table point (x, y), in squares, at which its fingers point."""

    fingertips: tuple[tuple[float, float], ...] = ()


@lru_cache(maxsize=4)
def _make_setting(
    seed: int, edition: str, size: tuple[int, int], tilt: float, turn: float, fonts: tuple[Path, ...], light: Light
) -> SceneSetting:
    """Return the setting of a simulated table; it is cached for tables with the same parameters."""
    board = edition_style(edition, fonts[2])
    camera = look_at_board(
        size, 1.1 * max(size), float(np.deg2rad(tilt)), np.pi, float(np.deg2rad(turn)), 0.86, (0, -0.02)
    )
    return SceneSetting(
        board_style=board,
        tile_style=plain_tile_style(fonts[1]),
        light=light,
        camera=camera,
        art=draw_board(np.random.default_rng(seed), board, 48),
        table_texture=draw_table_top(np.random.default_rng(seed + 1), board, 9.0),
        board_thickness=0.3,
        tile_seed=seed,
    )


class SimulatedTable:
    """A simulated table: `lay_tiles` changes the tiles on the board, `photograph` renders a picture.

    edition  a name in `EDITIONS`
    size     (width, height) of the pictures in px
    tilt     angle between the camera's axis and the vertical, degrees
    turn     rotation of the camera about its axis, degrees
    values   point values of the letters, printed on the tiles; random digits if None
    """

    def __init__(
        self,
        seed: int = 0,
        edition: str = "classic",
        size: tuple[int, int] = (1280, 960),
        tilt: float = 14.0,
        turn: float = 3.0,
        values: Mapping[str, int] | None = None,
        light: Light = EVENING_LIGHT,
    ) -> None:
        self._rng = np.random.default_rng(seed)
        self._values = values
        fonts = select_supporting_fonts(packaged_fonts(), "".join(letter for letter in values or () if letter != BLANK))
        self._setting = _make_setting(seed, edition, size, tilt, turn, fonts, light)
        self._placed: dict[tuple[int, int], PlacedTile] = {}

    @property
    def camera(self) -> Camera:
        """The camera above the table."""
        return self._setting.camera

    def lay_tiles(self, labels: Mapping[tuple[int, int], str]) -> None:
        """Replace the tiles on the board by `labels`: (row, column) -> letter, or '?' for a blank.

        Tiles whose square and letter are unchanged keep their exact positions.
        """
        for at in [at for at, tile in self._placed.items() if labels.get(at) != tile.letter]:
            del self._placed[at]
        new = {at: letter for at, letter in labels.items() if at not in self._placed}
        for at, tile in zip(new, place_tiles(self._rng, new, self._setting.tile_style), strict=True):
            self._placed[at] = tile

    def photograph(self, hands_in_view: Hands | None = None, loose_tiles: Sequence[PlacedTile] = ()) -> Scene:
        """Render a picture of the table with its current tiles, and with hands and loose tiles if given."""
        labels = {at: tile.letter for at, tile in self._placed.items()}
        hands = hands_in_view.fingertips if hands_in_view else ()
        return compose_scene(
            self._rng, self._setting, labels, loose_tiles, hands, self._values, list(self._placed.values())
        )
