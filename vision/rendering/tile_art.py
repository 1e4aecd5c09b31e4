"""Tiles: their appearance as parameters, their places, and their tops as seen from above.

Lengths are in squares unless stated otherwise; colours are BGR 0 to 255.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from vision.rendering.board_art import Picture, print_mask
from vision.rendering.fonts import Mask, letter_mask, text_mask
from vision.rendering.style import Colour, Rng

BLANK = "?"


@dataclass(frozen=True)
class TileStyle:
    """Appearance of a set of tiles, and the accuracy with which they are placed."""

    top: Colour  # colour of the top
    side: Colour  # colour of the side faces
    ink: Colour  # colour of the print
    size: float  # side of a tile
    height: float  # thickness of a tile
    rounding: float  # corner radius, fraction of the tile's side
    bevel: float  # width of the bevel, fraction of the tile's side
    bevel_light: float  # maximum relative brightness change on the bevel
    grain: float  # relative standard deviation of the wood grain, 0 = plastic
    colour_spread: float  # relative standard deviation of brightness between tiles
    font: Path
    cap_height: float  # cap height, fraction of the tile's side
    letter_centre: tuple[float, float]  # centre (x, y) of the letter, fractions of the tile's side
    value_height: float  # height of the value's digits, fraction of the tile's side
    value_centre: tuple[float, float]  # centre (x, y) of the value, fractions of the tile's side
    engraved: float  # strength of the bright edge of engraved letters, 0 = printed
    turn_sd_deg: float  # standard deviation of the rotation on the square, degrees
    slip_sd: float  # standard deviation of the shift from the square's centre, squares
    gloss: float  # strength of reflections, 0..1
    careless_share: float = 0.0  # share of tiles with a large shift and rotation

    def make_renderer(self, seed: int, px: int, light: float, values: Mapping[str, int] | None = None) -> TileRenderer:
        """Return the renderer of tiles in this style; the arguments are those of `TileRenderer`."""
        return TileRenderer(seed, self, px, light, values)


@dataclass(frozen=True)
class PlacedTile:
    """A tile with its position on the table and the random seed of its appearance."""

    letter: str
    x: float  # centre, in squares to the right of the grid's top left corner
    y: float  # centre, in squares down from the grid's top left corner
    turn: float  # clockwise rotation, radians
    seed: int = 0  # random seed of grain and wear

    def right_edge_middle(self, size: float) -> tuple[float, float]:
        """Return the midpoint (x, y), in squares, of the right edge of a tile with side `size` squares."""
        return self.x + size / 2 * float(np.cos(self.turn)), self.y + size / 2 * float(np.sin(self.turn))

    def corners(self, size: float) -> npt.NDArray[np.float64]:
        """Return the corners (4, 2), in squares, of a tile with side `size`, clockwise from the tile's top left."""
        c, s = np.cos(self.turn), np.sin(self.turn)
        half = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * size / 2
        return np.asarray(half @ np.array([[c, s], [-s, c]]) + (self.x, self.y))


def place_tiles(rng: Rng, labels: Mapping[tuple[int, int], str], style: TileStyle) -> list[PlacedTile]:
    """Place tiles on their squares with the random shifts and rotations of `style`.

    `labels` maps (row, column) to a letter, or '?' for a blank.
    """
    tiles = []
    for (row, column), letter in labels.items():
        turn = np.deg2rad(np.clip(rng.normal(0, style.turn_sd_deg), -20, 20))
        dx, dy = np.clip(rng.normal(0, style.slip_sd, 2), -0.16, 0.16)
        if style.careless_share and rng.random() < style.careless_share:
            turn = np.deg2rad(rng.uniform(-20, 20))
            # Shift the tile mainly towards empty squares, so that it does not overlap a neighbour.
            dx, dy = rng.uniform(-0.33, 0.33, 2)
            dx = 0.2 * dx if (row, column + int(np.sign(dx))) in labels else dx
            dy = 0.2 * dy if (row + int(np.sign(dy)), column) in labels else dy
        tiles.append(
            PlacedTile(letter, column + 0.5 + float(dx), row + 0.5 + float(dy), float(turn), int(rng.integers(2**31)))
        )
    return tiles


def _make_grain_sheet(rng: Rng, side: int) -> npt.NDArray[np.float32]:
    """Return a random texture (side, side) of wood grain along x, with values of approximately N(0, 1)."""
    coarse = rng.normal(0, 1, (side, side // 16 + 2)).astype(np.float32)
    streaks = cv2.resize(coarse, (side, side), interpolation=cv2.INTER_CUBIC)
    slow = cv2.resize(
        rng.normal(0, 1, (side // 24 + 2, side // 60 + 2)).astype(np.float32),
        (side, side),
        interpolation=cv2.INTER_CUBIC,
    )
    return np.asarray(0.7 * streaks + 0.7 * slow, np.float32)


class TileRenderer:
    """Renderer for the tops of the tiles of one set, with `px` pixels per square.

    `light` is the direction of the light in radians. `values` are the point values of the letters. If `values` is None,
    random digits are printed on the tiles.
    """

    def __init__(
        self, seed: int, style: TileStyle, px: int, light: float, values: Mapping[str, int] | None = None
    ) -> None:
        self._style, self._light_direction, self._values = style, light, values
        self._side_px = max(8, round(style.size * px))
        self._grain_sheet = self._make_grain(np.random.default_rng(seed)) if style.grain else None
        self._outline, self._edge_light = self._render_outline()

    def _make_grain(self, rng: Rng) -> npt.NDArray[np.float32]:
        """Return the wood grain from which the tiles are cut, an array `(512, 512)`."""
        return _make_grain_sheet(rng, 512)

    def _render_outline(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return two arrays `(side, side)`: the share of each pixel that the tile covers, and the light on its bevel.

        The light is a relative change in brightness.
        """
        s, style = self._side_px, self._style
        big = np.zeros((s * 4, s * 4), np.uint8)
        r = max(1, round(style.rounding * s * 4))
        cv2.rectangle(big, (r, 0), (s * 4 - 1 - r, s * 4 - 1), 255, -1)
        cv2.rectangle(big, (0, r), (s * 4 - 1, s * 4 - 1 - r), 255, -1)
        for x in (r, s * 4 - 1 - r):
            for y in (r, s * 4 - 1 - r):
                cv2.circle(big, (x, y), r, 255, -1)
        outline = np.asarray(cv2.resize(big, (s, s), interpolation=cv2.INTER_AREA) / 255, np.float32)
        light: npt.NDArray[np.float32] = np.zeros((s, s), np.float32)
        if style.bevel:
            inner = cv2.erode(outline, np.ones((3, 3), np.uint8), iterations=max(1, round(style.bevel * s)))
            soft = cv2.GaussianBlur(inner, (0, 0), max(0.6, style.bevel * s * 0.5))
            gy, gx = np.gradient(soft)
            slope = gx * np.cos(self._light_direction) + gy * np.sin(self._light_direction)
            light = (slope / max(float(np.abs(slope).max()), 1e-6) * style.bevel_light).astype(np.float32)
        return outline, light

    def _choose_value(self, rng: Rng, letter: str) -> str:
        if self._values is not None:
            return str(self._values[letter])
        return str(rng.choice([1, 1, 1, 2, 3, 4, 5, 8, 10]))

    def _print_letter(self, rng: Rng, face: Picture, letter: str) -> None:
        """Print a letter and its value on the picture `face` of a tile's top, with random wear and variation.

        Nearly all sizes and positions are shares of the tile's side `s` (pixels), so 0.03 * s is a narrow margin.
        """
        s, style = self._side_px, self._style
        mask, rise, cap = self._fit_letter(letter, partial(letter_mask, style.font, letter))
        value = text_mask(style.font, self._choose_value(rng, letter), max(4, round(style.value_height * s * 1.4)))
        x, y = style.letter_centre[0] * s, self._find_letter_middle(mask, rise, cap)
        strength = float(1 - 0.35 * rng.random() ** 2)
        self._engrave(face, mask, x, y)
        print_mask(face, mask, x, y, style.ink, strength)
        self._print_value(face, value, style.value_centre[0] * s, style.value_centre[1] * s, strength)

    def _fit_letter(self, letter: str, draw: Callable[[int], tuple[Mask, int]]) -> tuple[Mask, int, float]:
        """Draw a letter with `draw` so that it fits on a tile; return its mask, its rise and its cap height in px.

        `draw` gets a cap height in px. It returns the mask, and the rise: the height of the ink above the cap line.
        """
        s = self._side_px
        cap = self._style.cap_height * s * (0.85 if len(letter) > 1 else 1.0)
        mask, rise = draw(max(4, round(cap)))
        if mask.shape[1] > 0.84 * s or mask.shape[0] > 0.88 * s:
            # The letter is too large for the tile: draw it smaller.
            cap *= min(0.84 * s / mask.shape[1], 0.88 * s / mask.shape[0])
            mask, rise = draw(max(4, int(cap)))
        return mask, rise, cap

    def _find_letter_middle(self, mask: Mask, rise: int, cap: float) -> float:
        """Return the distance of a letter's middle from the top of the tile, in px."""
        s, height = self._side_px, mask.shape[0]
        # The mask begins `rise` px above the top of a capital whose centre is `letter_centre`. Keep it on the tile.
        y = self._style.letter_centre[1] * s - cap / 2 - rise + height / 2
        return float(min(max(y, height / 2 + 0.03 * s), 0.97 * s - height / 2))

    def _engrave(self, face: Picture, mask: Mask, x: float, y: float) -> None:
        """Draw the bright edge of an engraved letter, centred at (x, y) px."""
        if self._style.engraved:
            print_mask(face, mask, x + 1, y + 1, (250.0, 250.0, 250.0), 0.5 * self._style.engraved)

    def _print_value(self, face: Picture, value: Mask, x: float, y: float, strength: float) -> None:
        """Print a value at (x, y) px, or at the nearest place where it is on the tile."""
        s = self._side_px
        print_mask(face, value, min(x, s - value.shape[1] / 2 - 1), min(y, 0.97 * s), self._style.ink, strength)

    def _colour_top(self, rng: Rng) -> npt.NDArray[np.float32]:
        """Return the top of a tile without its print, `(s, s, 3)` float32 BGR."""
        s, style = self._side_px, self._style
        tone = 1 + style.colour_spread * rng.normal(0, 1)
        base = np.ones((s, s, 3), np.float32) * (np.asarray(style.top, np.float32) * tone)
        if self._grain_sheet is not None:
            x, y = rng.integers(0, 512 - s, 2)
            sheet = self._grain_sheet[y : y + s, x : x + s]
            base *= 1 + style.grain * (sheet.T if rng.random() < 0.15 else sheet)[:, :, None]
        return base

    def _draw_face(self, rng: Rng, face: Picture, letter: str) -> None:
        """Draw what is printed on a tile, in place."""
        if letter != BLANK:
            self._print_letter(rng, face, letter)

    def render_top(self, letter: str, seed: int) -> npt.NDArray[np.float32]:
        """Render the top of one tile from above as (s, s, 4) float32, BGR 0 to 255 and alpha 0 to 1."""
        rng = np.random.default_rng(seed)
        face = np.clip(self._colour_top(rng), 0, 255).astype(np.uint8)
        self._draw_face(rng, face, letter)
        lit = np.clip(face * (1 + self._edge_light[:, :, None]), 0, 255)
        return np.dstack([lit, self._outline]).astype(np.float32)


def draw_tile_tops(maker: TileRenderer, tiles: list[PlacedTile], px: int, margin: float) -> npt.NDArray[np.float32]:
    """Render all tile tops from above as one layer (H, W, 4) float32, with colours premultiplied by alpha.

    The layer has `px` pixels per square and a margin of `margin` squares around the grid.
    """
    side = round((15 + 2 * margin) * px)
    layer = np.zeros((side, side, 4), np.float32)
    for tile in tiles:
        top = maker.render_top(tile.letter, tile.seed)
        top[:, :, :3] *= top[:, :, 3:]
        s = top.shape[0]
        reach = int(s * 0.75) + 2
        cx, cy = (tile.x + margin) * px - 0.5, (tile.y + margin) * px - 0.5
        x0, y0 = int(cx) - reach, int(cy) - reach
        if x0 < 0 or y0 < 0 or x0 + 2 * reach > side or y0 + 2 * reach > side:
            continue
        c, sn = np.cos(tile.turn), np.sin(tile.turn)
        half = (s - 1) / 2
        affine = np.array([[c, -sn, cx - x0 - c * half + sn * half], [sn, c, cy - y0 - sn * half - c * half]])
        patch = cv2.warpAffine(top, affine, (2 * reach, 2 * reach), flags=cv2.INTER_LINEAR)
        part = layer[y0 : y0 + 2 * reach, x0 : x0 + 2 * reach]
        part *= 1 - patch[:, :, 3:]
        part += patch
    return layer
