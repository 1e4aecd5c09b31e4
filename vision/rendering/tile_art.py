"""Draw tile tops as seen from above, for one tile and for all tiles of a board.

A tile has a letter and a value. Players and makers mark blanks with prints, pencil, stickers, card suits, drawings and
names. Only a large sticker reaches the edges of a tile's top; all other marks leave the rim visible, which shows that
there is a tile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cv2
import numpy as np
import numpy.typing as npt

from vision.rendering.board_art import SUB_PIXEL_BITS, print_mask, star_outline, to_sub_pixels
from vision.rendering.fonts import letter_mask, shaped_mask, text_mask
from vision.rendering.style import Colour, Rng, random_colour, scale_brightness
from vision.rendering.tile_style import TileStyle, deform_letter, draw_print, draw_rim

_PENCIL_LETTERS: Final = "AEIORSTNBDGLU"
_BLANK_WORDS: Final = ("WORDS", "GAME", "BLANK", "JOKER", "WILD", "LETTERS")
_NAMES: Final = (
    "ANNA",
    "BEN",
    "CARLA",
    "DAN",
    "EVA",
    "FRITZ",
    "GRANNY",
    "IDA",
    "JO",
    "MAX",
    "OMA",
    "PAT",
    "TOM",
    "ZOE",
)
_SUITS: Final = ("heart", "diamond", "club", "spade")
_INKS: Final[tuple[Colour, ...]] = ((30.0, 30.0, 30.0), (130.0, 50.0, 30.0), (40.0, 40.0, 190.0), (60.0, 110.0, 30.0))
"""Colours of pens: black, blue, red and green."""


def decorate_blank(rng: Rng, face: Picture, style: TileStyle) -> None:
    """Draw the mark `style.blank` on `face`, the top of a blank `(s, s, 3) uint8 BGR`, in place."""
    match style.blank:
        case "sticker":
            _draw_sticker(rng, face, style)
        case "groove" | "border":
            colour = scale_brightness(style.top, 0.6) if style.blank == "groove" else style.ink
            draw_rim(face, float(rng.uniform(0.06, 0.16)), colour, 0.04)
        case kind:
            _draw_mark(rng, face, kind, style.ink, style)


def _draw_mark(rng: Rng, face: Picture, kind: str, ink: Colour, style: TileStyle, scale: float = 1.0) -> None:
    """Draw a mark of a `kind` with the colour `ink` in the middle of `face`; `scale` 1 is the usual size."""
    s = face.shape[0]
    match kind:
        case "face":
            _draw_smile(face, ink, scale)
        case "pattern":
            _draw_pattern(face, ink, scale)
        case "star":
            star = star_outline(int(rng.choice([4, 5, 6, 8])), (s - 1) / 2, 0.3 * s * scale)
            _draw_outline(rng, face, star, ink)
        case "suit":
            size = s * scale * float(rng.uniform(0.16, 0.36))
            _draw_outline(rng, face, suit_outline(str(rng.choice(_SUITS)), (s - 1) / 2, size), ink)
        case "word" | "name":
            _draw_word(rng, face, _BLANK_WORDS if kind == "word" else _NAMES, ink, style.font, scale)
        case "pencil":
            hand = style.pencil_font or style.font
            cap = max(4, round(s * scale * rng.uniform(0.3, 0.6)))
            mask, _ = letter_mask(hand, str(rng.choice(list(_PENCIL_LETTERS))), cap)
            x, y = s * rng.uniform(0.35, 0.65), s * rng.uniform(0.35, 0.65)
            print_mask(face, mask, float(x), float(y), (110.0, 105.0, 100.0), float(rng.uniform(0.25, 0.7)))
        case "dot":
            cv2.circle(face, (s // 2, s // 2), max(1, round(s * scale * rng.uniform(0.05, 0.2))), ink, -1, cv2.LINE_AA)
        case "drawing":
            _draw_scribble(rng, face, ink, scale)
        case _:
            pass


def suit_outline(suit: str, centre: float, radius: float) -> npt.NDArray[np.int32]:
    """Return the outline of a card suit as a polygon (n, 2), in sixteenths of a pixel for OpenCV's `shift=4`.

    `suit` is heart, diamond, club or spade; it is centred at (`centre`, `centre`) px and reaches about `radius` px.
    """
    angle = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    if suit == "diamond":
        points = np.array([[0, -1], [0.75, 0], [0, 1], [-0.75, 0]])
    elif suit == "club":
        # three leaves, one of them up, and a foot
        leaf = 0.62 + 0.38 * np.abs(np.cos(1.5 * (angle + np.pi / 2)))
        points = np.stack([leaf * np.cos(angle), leaf * np.sin(angle)], axis=1)
        foot = np.abs(angle - np.pi / 2) < 0.2
        points[foot] = points[foot] * [1.6, 0] + [0, 1]
    else:
        # the well-known curve 16 sin^3 t, 13 cos t - 5 cos 2t - 2 cos 3t - cos 4t, scaled to a height of about 2
        y = 13 * np.cos(angle) - 5 * np.cos(2 * angle) - 2 * np.cos(3 * angle) - np.cos(4 * angle)
        points = np.stack([np.sin(angle) ** 3, -y / 17], axis=1)
        if suit == "spade":
            points[:, 1] *= -1
            stem = np.argmax(points[:, 1] - 10 * np.abs(points[:, 0]))
            points[stem] = [0, 1]
    return to_sub_pixels(points * radius + centre)


def _draw_outline(rng: Rng, face: Picture, outline: npt.NDArray[np.int32], ink: Colour) -> None:
    """Draw a polygon on a tile's top, filled or as a line."""
    if rng.random() < 0.6:
        cv2.fillPoly(face, [outline], ink, cv2.LINE_AA, SUB_PIXEL_BITS)
    else:
        cv2.polylines(face, [outline], True, ink, max(1, face.shape[0] // 24), cv2.LINE_AA, SUB_PIXEL_BITS)


def _draw_smile(face: Picture, ink: Colour, scale: float) -> None:
    """Draw a smiling face on a tile's top."""
    s = face.shape[0]
    c, size = s // 2, s * scale
    cv2.circle(face, (c, c), round(size * 0.3), ink, max(1, s // 24), cv2.LINE_AA)
    for dx in (-0.1, 0.1):
        cv2.circle(face, (round(c + dx * size), round(c - 0.08 * size)), max(1, s // 24), ink, -1, cv2.LINE_AA)
    radius = round(size * 0.15)
    cv2.ellipse(face, (c, c), (radius, radius), 0, 20, 160, ink, max(1, s // 26), cv2.LINE_AA)


def _draw_pattern(face: Picture, ink: Colour, scale: float) -> None:
    """Draw three nested squares on a tile's top."""
    s = face.shape[0]
    c = s // 2
    for k in range(3):
        half = round(s * scale * (0.12 + 0.1 * k))
        cv2.rectangle(face, (c - half, c - half), (c + half, c + half), ink, max(1, s // 36), cv2.LINE_AA)


def _draw_word(rng: Rng, face: Picture, words: tuple[str, ...], ink: Colour, font: Path, scale: float) -> None:
    """Print one of `words` on a tile's top, straight or diagonally, if there is room for it."""
    s = face.shape[0]
    mask = text_mask(font, str(rng.choice(words)), max(4, round(s * scale * 0.2)))
    if rng.random() < 0.3:
        h, w = mask.shape
        side = int(np.hypot(h, w))
        turn = cv2.getRotationMatrix2D((w / 2, h / 2), float(rng.uniform(-50, 50)), 1.0)
        turn[:, 2] += (side - w) / 2, (side - h) / 2
        mask = np.asarray(cv2.warpAffine(mask, turn, (side, side)), np.uint8)
    if mask.shape[1] < 0.95 * s:
        print_mask(face, mask, s / 2, s / 2, ink, float(rng.uniform(0.4, 1)))


def _draw_scribble(rng: Rng, face: Picture, ink: Colour, scale: float) -> None:
    """Draw a random line on a tile's top, as a small drawing."""
    s = face.shape[0]
    steps = rng.normal(0, 0.16 * s * scale, (int(rng.integers(6, 30)), 2))
    line = np.clip(np.cumsum(steps, axis=0) + s / 2, 0.12 * s, 0.88 * s)
    cv2.polylines(face, [line.round().astype(np.int32)], False, ink, max(1, s // 20), cv2.LINE_AA)


def _draw_sticker(rng: Rng, face: Picture, style: TileStyle) -> None:
    """Draw a sticker of paper on a tile's top: round or rectangular, plain or with a mark in pen."""
    s = face.shape[0]
    paper = style.sticker or random_colour(rng)
    half = 0.5 * s * rng.uniform(0.35, 0.94, 2)
    if rng.random() < 0.7:
        half[:] = half[0]  # most stickers are square
    room = (0.5 * s - half) * 0.9
    x, y = s / 2 + np.clip(rng.normal(0, 0.04 * s, 2), -room, room)
    mask = np.zeros((s, s), np.uint8)
    if rng.random() < 0.3:
        cv2.circle(mask, (round(x), round(y)), round(half[0]), 255, -1, cv2.LINE_AA)
    else:
        box = cv2.boxPoints(((x, y), (2 * half[0], 2 * half[1]), float(rng.normal(0, 4))))
        cv2.fillConvexPoly(mask, to_sub_pixels(box), 255, cv2.LINE_AA, SUB_PIXEL_BITS)
    if rng.random() < 0.5:
        # a thin dark line beside the paper: its thickness casts a shadow
        shifted = np.roll(mask, (max(1, s // 40), max(1, s // 40)), (0, 1))
        shadow = np.where(shifted > mask, shifted - mask, 0).astype(np.uint8)
        print_mask(face, shadow, s / 2, s / 2, (0.0, 0.0, 0.0), 0.4)
    print_mask(face, mask, s / 2, s / 2, paper, float(rng.uniform(0.85, 1)))
    kinds = ["plain", "suit", "star", "dot", "name", "pencil", "drawing", "face"]
    kind = str(rng.choice(kinds, p=[0.5, 0.1, 0.06, 0.05, 0.08, 0.1, 0.07, 0.04]))
    ink = _INKS[int(rng.integers(len(_INKS)))]
    _draw_mark(rng, face, kind, ink, style, scale=1.6 * float(min(half)) / s)


Picture = npt.NDArray[np.uint8]
BLANK = "?"


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


def _bend_grain(
    sheet: npt.NDArray[np.float32], angle: float, bend_px: float, wave_px: float
) -> npt.NDArray[np.float32]:
    """Return the grain texture (side, side) rotated by `angle` radians and bent into waves.

    The waves have the amplitude `bend_px` and the length `wave_px`. Wood is sawn at any angle to the rings of a tree,
    so the grain of real tiles runs in slanted and curved lines.
    """
    side = sheet.shape[0]
    x, y = np.meshgrid(np.arange(side, dtype=np.float32), np.arange(side, dtype=np.float32))
    along = x * np.cos(angle) + y * np.sin(angle)
    across = y * np.cos(angle) - x * np.sin(angle) + bend_px * np.sin(along * (2 * np.pi / wave_px))
    maps = along.astype(np.float32), across.astype(np.float32)
    return np.asarray(cv2.remap(sheet, *maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP), np.float32)


class TileRenderer:
    """Renderer for the tops of the tiles of one set, with `px` pixels per square.

    `light` is the direction of the light in radians. `values` are the point values of the letters. If `values` is None,
    random digits are printed on the tiles.
    """

    def __init__(
        self, seed: int, style: TileStyle, px: int, light: float, values: Mapping[str, int] | None = None
    ) -> None:
        self._style, self._light_direction = style, light
        self._side_px = max(8, round(style.size * px))
        self._grain_sheet = _make_grain_sheet(np.random.default_rng(seed), 512) if style.grain else None
        if self._grain_sheet is not None and (style.grain_angle or style.grain_bend):
            self._grain_sheet = _bend_grain(
                self._grain_sheet, style.grain_angle, style.grain_bend * self._side_px, 3 * self._side_px
            )
        self._values = values
        self._outline, self._edge_light = self._render_outline()
        self._dimple_light = self._render_dimples()

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

    def _render_dimples(self) -> npt.NDArray[np.float32]:
        """Return the factor (s, s) by which dimples change the brightness of a tile's top; 1 outside dimples."""
        s, dimples = self._side_px, self._style.dimples
        x, y = np.meshgrid(np.linspace(0, 1, s), np.linspace(0, 1, s))
        light = np.ones((s, s))
        for u, v in dimples.centres:
            dx, dy = (x - u) / dimples.radius, (y - v) / dimples.radius
            far = np.hypot(dx, dy)
            inside = np.clip((1.15 - far) / 0.3, 0, 1)
            slope = dx * np.cos(self._light_direction) + dy * np.sin(self._light_direction)
            light += dimples.depth * inside * (slope - 0.2)
        return np.asarray(light, np.float32)

    def _choose_value(self, rng: Rng, letter: str) -> str:
        if self._values is not None:
            return str(self._values[letter])
        return str(rng.choice([1, 1, 1, 2, 3, 4, 5, 8, 10]))

    def _print_letter(self, rng: Rng, face: Picture, letter: str) -> None:
        """Print a letter and its value on the picture `face` of a tile's top, with random wear and variation.

        Nearly all sizes and positions are shares of the tile's side `s` (pixels), so 0.03 * s is a narrow margin.
        """
        s, style = self._side_px, self._style
        font, shape = style.font, style.letter_shape
        if style.mixed_faces:
            font, shape = style.mixed_faces[int(rng.integers(len(style.mixed_faces)))]
        cap = style.cap_height * s * (0.85 if len(letter) > 1 else 1.0)
        mask, rise = shaped_mask(font, letter, max(4, round(cap)), shape)
        if mask.shape[1] > 0.84 * s or mask.shape[0] > 0.88 * s:
            cap *= min(0.84 * s / mask.shape[1], 0.88 * s / mask.shape[0])
            mask, rise = shaped_mask(font, letter, max(4, int(cap)), shape)
        if style.wobble:
            mask = deform_letter(rng, mask, style.wobble)
        if style.worn_share:
            mask = self._wear_print(rng, mask)
        x = style.letter_centre[0] * s
        value = (
            text_mask(font, self._choose_value(rng, letter), max(4, round(style.value_height * s * 1.4)))
            if style.value_height
            else None
        )
        if value is not None and style.subscript:
            room = 0.95 * s - value.shape[1] - mask.shape[1] / 2 - 0.03 * s
            x = max(min(x, room), mask.shape[1] / 2 + 0.02 * s)
        y = style.letter_centre[1] * s - cap / 2 - rise + mask.shape[0] / 2
        y = min(max(y, mask.shape[0] / 2 + 0.03 * s), 0.97 * s - mask.shape[0] / 2)
        strength = float(1 - 0.35 * rng.random() ** 2)
        if style.engraved:
            print_mask(face, mask, x + 1, y + 1, (250.0, 250.0, 250.0), 0.5 * style.engraved)
        draw_print(face, mask, x, y, style.print_effect, (style.ink, style.second_ink), strength)
        if value is None:
            return
        right, down = style.value_centre[0] * s, style.value_centre[1] * s
        if style.subscript:
            right = x + mask.shape[1] / 2 + 0.03 * s + value.shape[1] / 2
            down = style.letter_centre[1] * s + cap / 2 + float(rng.uniform(-0.1, 0.35)) * value.shape[0]
        print_mask(face, value, min(right, s - value.shape[1] / 2 - 1), min(down, 0.97 * s), style.ink, strength)

    def _wear_print(self, rng: Rng, mask: Picture) -> Picture:
        """Return the print mask with random patches made fainter, as by wear."""
        patches = cv2.resize(rng.random((5, 5)).astype(np.float32), mask.shape[::-1], interpolation=cv2.INTER_CUBIC)
        left = np.clip((patches - self._style.worn_share) * 6 + 0.75, 0.25, 1)
        return np.asarray(mask * left, np.uint8)

    def render_top(self, letter: str, seed: int) -> npt.NDArray[np.float32]:
        """Render the top of one tile from above as (s, s, 4) float32, BGR 0 to 255 and alpha 0 to 1."""
        s, style, rng = self._side_px, self._style, np.random.default_rng(seed)
        tone = 1 + style.colour_spread * rng.normal(0, 1)
        base = np.ones((s, s, 3), np.float32) * (np.asarray(style.top, np.float32) * tone)
        if self._grain_sheet is not None:
            x, y = rng.integers(0, 512 - s, 2)
            sheet = self._grain_sheet[y : y + s, x : x + s]
            base *= 1 + style.grain * (sheet.T if rng.random() < 0.15 else sheet)[:, :, None]
        base *= self._dimple_light[:, :, None]
        right, down = style.shading
        if right or down:
            away = np.linspace(-1, 1, s, dtype=np.float32)
            base *= (1 + right * away[None, :] + down * away[:, None])[:, :, None]
        face = np.clip(base, 0, 255).astype(np.uint8)
        if style.rim:
            draw_rim(face, style.rim, style.rim_colour)
        if letter == BLANK:
            decorate_blank(rng, face, style)
        else:
            self._print_letter(rng, face, letter)
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
