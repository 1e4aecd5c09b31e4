"""Tiles with the variations that sets of tiles have: typefaces, print, wear, dimples, and marks on blanks.

Players and makers mark blanks with prints, pencil, stickers, card suits, drawings and names. Only a large sticker
reaches the edges of a tile's top; all other marks leave the rim visible, which shows that there is a tile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import cv2
import numpy as np
import numpy.typing as npt

from vision.rendering.board_art import SUB_PIXEL_BITS, Picture, print_mask, star_outline, to_sub_pixels
from vision.rendering.fonts import letter_mask, text_mask
from vision.rendering.style import Colour, Rng, random_colour
from vision.rendering.tile_art import BLANK, TileRenderer, TileStyle
from vision.training.board_styles import scale_brightness
from vision.training.letter_shapes import PLAIN_SHAPE, LetterShape, shaped_mask
from vision.training.tile_prints import deform_letter, draw_print, draw_rim

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


@dataclass(frozen=True)
class Dimples:
    """Round marks of the mould's ejector pins on plastic tiles: dimples, or bumps if `depth` is negative."""

    centres: tuple[tuple[float, float], ...] = ()  # (x, y) as fractions of the tile's side
    radius: float = 0.0  # fraction of the tile's side
    depth: float = 0.0  # relative brightness difference between the centre and the sides of a dimple


@dataclass(frozen=True)
class VariedTileStyle(TileStyle):
    """Appearance of a set of tiles with variations; `value_height` is 0 for a set without values."""

    dimples: Dimples = Dimples()
    blank: str = "plain"  # mark on blanks
    letter_shape: LetterShape = PLAIN_SHAPE  # geometric variation of the font
    mixed_faces: tuple[tuple[Path, LetterShape], ...] = ()  # if not empty, each tile has one of these typefaces
    pencil_font: Path | None = None  # font of letters written on blanks
    subscript: bool = False  # the value is next to the letter instead of in the corner
    worn_share: float = 0.0  # approximate share of the print that is worn off
    sticker: Colour | None = None  # colour of stickers on blanks; random for each blank if None
    print_effect: str = "plain"  # one of PRINT_EFFECTS
    second_ink: Colour = (0.0, 0.0, 0.0)  # second colour of the print effect
    wobble: float = 0.0  # deformation of each letter, as by hand, fraction of its height
    rim: float = 0.0  # distance of a printed line from the edges, fraction of the tile's side, 0 = no line
    rim_colour: Colour = (0.0, 0.0, 0.0)
    shading: tuple[float, float] = (0.0, 0.0)  # relative change of brightness across the top: right, down
    grain_angle: float = 0.0  # direction of the wood grain, radians from the tile's bottom edge
    grain_bend: float = 0.0  # amplitude of the curves of the wood grain, fraction of the tile's side

    def make_renderer(self, seed: int, px: int, light: float, values: Mapping[str, int] | None = None) -> TileRenderer:
        """Return the renderer of tiles in this style; the arguments are those of `TileRenderer`."""
        return VariedTileRenderer(seed, self, px, light, values)


class VariedTileRenderer(TileRenderer):
    """Renderer for the tops of tiles with the variations of a `VariedTileStyle`."""

    _style: VariedTileStyle

    def __init__(
        self, seed: int, style: VariedTileStyle, px: int, light: float, values: Mapping[str, int] | None = None
    ) -> None:
        super().__init__(seed, style, px, light, values)
        self._dimple_light = self._render_dimples()

    def _make_grain(self, rng: Rng) -> npt.NDArray[np.float32]:
        sheet, style, side = super()._make_grain(rng), self._style, self._side_px
        if not (style.grain_angle or style.grain_bend):
            return sheet
        return _bend_grain(sheet, style.grain_angle, style.grain_bend * side, 3 * side)

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

    def _colour_top(self, rng: Rng) -> npt.NDArray[np.float32]:
        base = super()._colour_top(rng)
        base *= self._dimple_light[:, :, None]
        right, down = self._style.shading
        if right or down:
            away = np.linspace(-1, 1, self._side_px, dtype=np.float32)
            base *= (1 + right * away[None, :] + down * away[:, None])[:, :, None]
        return base

    def _draw_face(self, rng: Rng, face: Picture, letter: str) -> None:
        if self._style.rim:
            draw_rim(face, self._style.rim, self._style.rim_colour)
        super()._draw_face(rng, face, letter)
        if letter == BLANK:
            decorate_blank(rng, face, self._style)

    def _print_letter(self, rng: Rng, face: Picture, letter: str) -> None:
        """Print a letter and its value on the picture `face` of a tile's top, with random wear and variation.

        Nearly all sizes and positions are shares of the tile's side `s` (pixels), so 0.03 * s is a narrow margin.
        """
        s, style = self._side_px, self._style
        font, shape = style.font, style.letter_shape
        if style.mixed_faces:
            font, shape = style.mixed_faces[int(rng.integers(len(style.mixed_faces)))]
        mask, rise, cap = self._fit_letter(letter, partial(shaped_mask, font, letter, shape=shape))
        if style.wobble:
            mask = deform_letter(rng, mask, style.wobble)
        if style.worn_share:
            mask = self._wear_print(rng, mask)
        x, y = style.letter_centre[0] * s, self._find_letter_middle(mask, rise, cap)
        value = None
        if style.value_height:
            value = text_mask(font, self._choose_value(rng, letter), max(4, round(style.value_height * s * 1.4)))
            if style.subscript:
                # The value follows the letter like an index, so leave room for it on the right.
                room = 0.95 * s - value.shape[1] - mask.shape[1] / 2 - 0.03 * s
                x = max(min(x, room), mask.shape[1] / 2 + 0.02 * s)
        strength = float(1 - 0.35 * rng.random() ** 2)
        self._engrave(face, mask, x, y)
        draw_print(face, mask, x, y, style.print_effect, (style.ink, style.second_ink), strength)
        if value is None:
            return
        right, down = style.value_centre[0] * s, style.value_centre[1] * s
        if style.subscript:
            right = x + mask.shape[1] / 2 + 0.03 * s + value.shape[1] / 2
            down = style.letter_centre[1] * s + cap / 2 + float(rng.uniform(-0.1, 0.35)) * value.shape[0]
        self._print_value(face, value, right, down, strength)

    def _wear_print(self, rng: Rng, mask: Picture) -> Picture:
        """Return the print mask with random patches made fainter, as by wear."""
        patches = cv2.resize(rng.random((5, 5)).astype(np.float32), mask.shape[::-1], interpolation=cv2.INTER_CUBIC)
        left = np.clip((patches - self._style.worn_share) * 6 + 0.75, 0.25, 1)
        return np.asarray(mask * left, np.uint8)


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


def decorate_blank(rng: Rng, face: Picture, style: VariedTileStyle) -> None:
    """Draw the mark `style.blank` on `face`, the top of a blank `(s, s, 3) uint8 BGR`, in place."""
    match style.blank:
        case "sticker":
            _draw_sticker(rng, face, style)
        case "groove" | "border":
            colour = scale_brightness(style.top, 0.6) if style.blank == "groove" else style.ink
            draw_rim(face, float(rng.uniform(0.06, 0.16)), colour, 0.04)
        case kind:
            _draw_mark(rng, face, kind, style.ink, style)


def _draw_mark(rng: Rng, face: Picture, kind: str, ink: Colour, style: VariedTileStyle, scale: float = 1.0) -> None:
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


def _draw_sticker(rng: Rng, face: Picture, style: VariedTileStyle) -> None:
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
