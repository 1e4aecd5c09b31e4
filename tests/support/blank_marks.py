"""Marks that players and makers put on blank tiles: stickers, card suits, print, names and drawings.

A measurement is worth something only if it is independent of the training: these marks share no code with
`vision.rendering`. Each is drawn on a canvas of `SIDE_PX` pixels that shows the top of a tile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_uppercase
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

SIDE_PX: Final = 128
KINDS: Final = ("sticker", "suit", "print", "name", "drawing")
LETTER: Final = "letter"
"""Mark of a player who writes the letter on the blank; no set has it, so it is not one of `KINDS`."""
_SUITS: Final = ("heart", "diamond", "club", "spade")
_OUTLINES: Final = ("disc", "square", "rounded", "oblong", "star", "heart", "hexagon", "cover")
_WORDS: Final = (
    "BLANK",
    "JOKER",
    "WILD CARD",
    "ANY LETTER",
    "FREE",
    "1987",
    "SPEAR'S GAMES",
    "No 0",
    "bonus",
    "GAME CLUB",
)
_NAMES: Final = ("Anna", "Bob", "Mia", "Tom K", "Oma", "Lucy", "JP", "Family", "Zoe", "Max", "Ivo", "Ruth")
_HANDWRITING: Final = (cv2.FONT_HERSHEY_SCRIPT_SIMPLEX, cv2.FONT_HERSHEY_SCRIPT_COMPLEX, cv2.FONT_HERSHEY_SIMPLEX)

Rng = np.random.Generator
Field = NDArray[np.float32]
Reflectance = tuple[float, float, float]
"""Share of the light that is reflected: blue, green, red, 0 to 1."""
PAPER_COLOURS: Final[tuple[Reflectance, ...]] = (
    (0.95, 0.96, 0.97),
    (0.85, 0.94, 0.97),
    (0.25, 0.85, 0.98),
    (0.2, 0.2, 0.85),
    (0.3, 0.65, 0.2),
    (0.75, 0.4, 0.1),
    (0.75, 0.6, 0.95),
    (0.1, 0.5, 0.97),
    (0.08, 0.08, 0.08),
)
INK_COLOURS: Final[tuple[Reflectance, ...]] = (
    (0.06, 0.06, 0.07),
    (0.15, 0.1, 0.75),
    (0.6, 0.2, 0.08),
    (0.2, 0.45, 0.1),
)


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A mark on the top of a tile.

    `cover` (S, S) is the share of each pixel that the mark covers, `colour` (S, S, 3) its reflectance times `cover`;
    `has_square_colour` is True for a sticker in the colour of the square below the tile.
    """

    kind: str
    colour: Field
    cover: Field
    has_square_colour: bool = False


class _Canvas:
    """Paint in layers; each layer covers those before it."""

    def __init__(self) -> None:
        self.colour: Field = np.zeros((SIDE_PX, SIDE_PX, 3), np.float32)
        self.cover: Field = np.zeros((SIDE_PX, SIDE_PX), np.float32)

    def paint(self, mask: Field, colour: Reflectance | Field, opacity: float = 1.0) -> None:
        share = np.clip(mask, 0, 1) * np.float32(opacity)
        self.colour = self.colour * (1 - share[:, :, None]) + np.asarray(colour, np.float32) * share[:, :, None]
        self.cover = self.cover * (1 - share) + share


def draw_mark(rng: Rng, kind: str, fonts: Sequence[Path], tile: Reflectance, square: Reflectance, light: float) -> Mark:
    """Draw a random mark of one of `KINDS`, or a written `LETTER`.

    `tile` and `square` are the colours of the tile's top and of the square below it, `light` the direction of the
    shadows in radians.
    """
    canvas, ink = _Canvas(), _choose_ink(rng, tile)
    match kind:
        case "sticker":
            has_square_colour = rng.random() < 0.3
            paper = square if has_square_colour else PAPER_COLOURS[int(rng.integers(len(PAPER_COLOURS)))]
            _stick_paper(rng, canvas, paper, light)
            if rng.random() < 0.3:
                some = _draw_suit(str(rng.choice(_SUITS))) if rng.random() < 0.5 else _write_print(rng, fonts)
                canvas.paint(_place(some, 0.5, 0.0, 0.5, 0.5), _choose_ink(rng, paper))
            mark = Mark(kind, canvas.colour, canvas.cover, has_square_colour)
        case "suit":
            ink = INK_COLOURS[int(rng.integers(2))] if rng.random() < 0.7 and _luma(tile) > 0.35 else ink
            canvas.paint(_draw_suit(str(rng.choice(_SUITS))), ink, float(rng.uniform(0.8, 1)))
            mark = Mark(kind, canvas.colour, canvas.cover)
        case "print":
            canvas.paint(_draw_emblem(rng) if rng.random() < 0.4 else _write_print(rng, fonts), ink)
            mark = Mark(kind, canvas.colour, canvas.cover)
        case "name":
            canvas.paint(_write(rng, str(rng.choice(_NAMES))), ink, float(rng.uniform(0.7, 1)))
            mark = Mark(kind, canvas.colour, canvas.cover)
        case "letter":
            canvas.paint(_write(rng, str(rng.choice(list(ascii_uppercase)))), ink, float(rng.uniform(0.3, 1)))
            mark = Mark(kind, canvas.colour, canvas.cover)
        case "drawing":
            canvas.paint(_draw_doodle(rng), ink, float(rng.uniform(0.6, 1)))
            mark = Mark(kind, canvas.colour, canvas.cover)
        case _:
            raise ValueError(f"{kind} is not a kind of mark")
    return _put_on_tile(rng, mark)


def _put_on_tile(rng: Rng, mark: Mark) -> Mark:
    """Scale, rotate and shift the mark as a hand or a machine puts it on the tile; it stays on the tile."""
    size = {
        "sticker": (0.45, 0.97),
        "suit": (0.35, 0.8),
        "print": (0.5, 0.9),
        "name": (0.6, 0.92),
        "letter": (0.45, 0.75),
        "drawing": (0.5, 0.9),
    }
    share = float(rng.uniform(*size[mark.kind]))
    room = (1 - share) / 2
    x, y = 0.5 + room * rng.uniform(-0.8, 0.8, 2)
    quarters = float(rng.integers(4)) * (rng.random() < (0.0 if mark.kind == LETTER else 0.3))
    turn = float(rng.normal(0, np.deg2rad(8))) + quarters * np.pi / 2
    cover, colour = (_place(layer, share, turn, float(x), float(y)) for layer in (mark.cover, mark.colour))
    return replace(mark, cover=cover, colour=colour)


def _place(layer: Field, share: float, turn: float, x: float, y: float) -> Field:
    """Return the layer scaled by `share`, rotated by `turn` radians and centred at (x, y), fractions of the side."""
    c, s, half = share * np.cos(turn), share * np.sin(turn), (SIDE_PX - 1) / 2
    matrix = np.array([[c, -s, x * SIDE_PX - c * half + s * half], [s, c, y * SIDE_PX - s * half - c * half]])
    soft = cv2.GaussianBlur(layer, (0, 0), 0.4 / share)
    return np.asarray(cv2.warpAffine(soft, matrix, (SIDE_PX, SIDE_PX), flags=cv2.INTER_LINEAR), np.float32)


def _luma(colour: Reflectance) -> float:
    return 0.11 * colour[0] + 0.59 * colour[1] + 0.3 * colour[2]


def _choose_ink(rng: Rng, ground: Reflectance) -> Reflectance:
    """Return the colour of an ink that is visible on `ground`: white or gold on dark ground."""
    if _luma(ground) < 0.35:
        return ((0.92, 0.94, 0.95), (0.3, 0.65, 0.8))[int(rng.integers(2))]
    return INK_COLOURS[int(rng.integers(len(INK_COLOURS)))]


def _fill(points: NDArray[np.floating]) -> Field:
    """Fill a polygon (N, 2) with coordinates in -1 to 1, x to the right, y down."""
    mask = np.zeros((SIDE_PX, SIDE_PX), np.uint8)
    cv2.fillPoly(mask, [((points + 1) / 2 * (SIDE_PX - 1) * 16).round().astype(np.int32)], 255, cv2.LINE_AA, 4)
    return mask.astype(np.float32) / 255


def _stroke(points: NDArray[np.floating], width: float, *, is_closed: bool = False) -> Field:
    """Draw a line through points (N, 2) in -1 to 1; `width` is a share of the side."""
    mask = np.zeros((SIDE_PX, SIDE_PX), np.uint8)
    path = ((points + 1) / 2 * (SIDE_PX - 1) * 16).round().astype(np.int32)
    cv2.polylines(mask, [path], is_closed, 255, max(1, round(width * SIDE_PX)), cv2.LINE_AA, 4)
    return mask.astype(np.float32) / 255


def _disc(x: float, y: float, radius: float) -> Field:
    t = np.linspace(0, 2 * np.pi, 60)
    return _fill(np.stack([x + radius * np.cos(t), y + radius * np.sin(t)], axis=1))


def _draw_suit(name: str) -> Field:
    """Draw a card suit: lobes of discs, a point, and a stem."""
    stem = _fill(np.array([[-0.07, 0.1], [0.07, 0.1], [0.12, 0.75], [0.32, 0.92], [-0.32, 0.92], [-0.12, 0.75]]))
    match name:
        case "heart" | "spade":
            lobes = np.maximum(_disc(-0.41, -0.32, 0.45), _disc(0.41, -0.32, 0.45))
            point = _fill(np.array([[-0.81, -0.12], [0, -0.3], [0.81, -0.12], [0.42, 0.4], [0, 0.9], [-0.42, 0.4]]))
            heart = np.maximum(lobes, point)
            return heart if name == "heart" else np.maximum(np.roll(heart[::-1], -10, axis=0), stem)
        case "club":
            lobes = np.maximum(_disc(0, -0.45, 0.4), np.maximum(_disc(-0.45, 0.18, 0.4), _disc(0.45, 0.18, 0.4)))
            return np.maximum(np.maximum(lobes, stem), _disc(0, 0.05, 0.22))
        case _:
            quarter = np.array([[0, -0.95], [0.28, -0.4]])
            sides = [quarter, np.array([[0.68, 0]]), quarter[::-1] * (1, -1)]
            half = np.concatenate(sides)
            return _fill(np.concatenate([half, half[1:-1][::-1] * (-1, 1)]))


def _draw_outline(rng: Rng, name: str) -> Field:
    """Draw the shape of a sticker."""
    match name:
        case "disc":
            return _disc(0, 0, 0.95)
        case "star":
            t = np.arange(10) * np.pi / 5 - np.pi / 2
            reach = np.where(np.arange(10) % 2, 0.45, 0.97)
            return _fill(np.stack([reach * np.cos(t), reach * np.sin(t)], axis=1))
        case "heart":
            return _draw_suit("heart")
        case "hexagon":
            t = np.arange(6) * np.pi / 3
            return _fill(0.95 * np.stack([np.cos(t), np.sin(t)], axis=1))
        case "oblong":
            high = float(rng.uniform(0.4, 0.7))
            return _fill(np.array([[-0.96, -high], [0.96, -high], [0.96, high], [-0.96, high]]))
        case "rounded":
            mask = np.zeros((SIDE_PX, SIDE_PX), np.float32)
            mask[18:-18, 18:-18] = 1
            corner = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (29, 29))
            return np.asarray(cv2.GaussianBlur(cv2.dilate(mask, corner), (0, 0), 0.7), np.float32)
        case _:  # cut by hand: four corners, none quite right
            corners = np.array([[-0.95, -0.95], [0.95, -0.95], [0.95, 0.95], [-0.95, 0.95]])
            return _fill(corners + rng.uniform(-0.05, 0.05, (4, 2)))


def _stick_paper(rng: Rng, canvas: _Canvas, paper: Reflectance, light: float) -> None:
    """Paint a sticker with the shadow of its edge, uneven brightness, and sometimes a rim."""
    outline = _draw_outline(rng, str(rng.choice(_OUTLINES)))
    dx, dy = 2.5 * np.cos(light), 2.5 * np.sin(light)
    shadow = cv2.warpAffine(outline, np.array([[1, 0, dx], [0, 1, dy]]), (SIDE_PX, SIDE_PX))
    canvas.paint(cv2.GaussianBlur(shadow, (0, 0), 1.8), (0.0, 0.0, 0.0), float(rng.uniform(0.2, 0.5)))
    slope = np.linspace(-1, 1, SIDE_PX, dtype=np.float32)
    way = rng.uniform(0, 2 * np.pi)
    shade = 1 + np.float32(rng.uniform(0, 0.08)) * (np.cos(way) * slope[None, :] + np.sin(way) * slope[:, None])
    fibres = rng.normal(0, rng.uniform(0.002, 0.015), (SIDE_PX, SIDE_PX)).astype(np.float32)
    lit = np.clip(shade + cv2.GaussianBlur(fibres, (0, 0), 1.2), 0, 1.1)
    canvas.paint(outline, np.clip(np.asarray(paper, np.float32) * lit[:, :, None], 0, 1).astype(np.float32))
    if rng.random() < 0.25:
        inside = cv2.erode(outline, np.ones((9, 9), np.uint8))
        canvas.paint(np.clip(outline - inside, 0, 1), _choose_ink(rng, paper), 0.9)


def _write_print(rng: Rng, fonts: Sequence[Path]) -> Field:
    """Print words in one or more lines."""
    lines = str(rng.choice(_WORDS)).split(" ")
    if len(lines) == 1 and rng.random() < 0.3:
        lines = lines * int(rng.integers(2, 5))
    room = 0.92 * SIDE_PX
    font_file = str(fonts[int(rng.integers(len(fonts)))])
    width = max(ImageFont.truetype(font_file, 100).getlength(line) for line in lines)
    size = max(8, int(min(100 * room / width, room / len(lines) / 1.1)))
    image = Image.new("L", (SIDE_PX, SIDE_PX))
    drawing, font = ImageDraw.Draw(image), ImageFont.truetype(font_file, size)
    for at, line in enumerate(lines):
        y = SIDE_PX / 2 + (at - (len(lines) - 1) / 2) * size * 1.1
        drawing.text((SIDE_PX / 2, y), line, fill=255, font=font, anchor="mm")
    return np.asarray(image, np.float32) / 255


def _write(rng: Rng, text: str) -> Field:
    """Write a name or a letter with a pen of one width, slanting a little."""
    face = int(rng.choice(_HANDWRITING))
    pen = int(rng.integers(2, 7))
    (width, height), _below = cv2.getTextSize(text, face, 1.0, pen)
    scale = 0.94 * SIDE_PX / max(width, 2.2 * height)
    (width, height), _below = cv2.getTextSize(text, face, scale, pen)
    mask = np.zeros((SIDE_PX, SIDE_PX), np.uint8)
    cv2.putText(mask, text, ((SIDE_PX - width) // 2, (SIDE_PX + height) // 2), face, scale, 255, pen, cv2.LINE_AA)
    slant = float(rng.uniform(-0.25, 0.1))
    matrix = np.array([[1, slant, -slant * SIDE_PX / 2], [0, 1, 0]])
    return np.asarray(cv2.warpAffine(mask, matrix, (SIDE_PX, SIDE_PX)), np.float32) / 255


def _draw_emblem(rng: Rng) -> Field:
    """Draw an emblem of a maker: rings, a rosette, a globe, or a patterned rim."""
    t = np.linspace(0, 2 * np.pi, 120)
    circle = np.stack([np.cos(t), np.sin(t)], axis=1)

    def make_rings() -> Field:
        return np.maximum.reduce([_stroke(r * circle, 0.025) for r in np.linspace(0.3, 0.95, int(rng.integers(2, 5)))])

    def make_rosette() -> Field:
        reach = 0.6 + 0.33 * np.cos(int(rng.integers(4, 9)) * t)
        return _fill(reach[:, None] * circle) if rng.random() < 0.5 else _stroke(reach[:, None] * circle, 0.03)

    def make_globe() -> Field:
        return np.maximum.reduce([_stroke(0.9 * circle * (w, 1.0), 0.02) for w in (1.0, 0.6, 0.2)])

    def make_rim() -> Field:
        teeth = [_disc(0.85 * np.cos(a), 0.85 * np.sin(a), 0.08) for a in np.linspace(0, 2 * np.pi, 16, endpoint=False)]
        return np.maximum.reduce([*teeth, _stroke(0.65 * circle, 0.02)])

    makers: tuple[Callable[[], Field], ...] = (make_rings, make_rosette, make_globe, make_rim)
    return makers[int(rng.integers(len(makers)))]()


def _draw_doodle(rng: Rng) -> Field:
    """Draw what players draw with a pen: a face, a spiral, a sun, a cross, waves, or hatching."""
    pen, t = float(rng.uniform(0.015, 0.05)), np.linspace(0, 2 * np.pi, 90)
    circle = np.stack([np.cos(t), np.sin(t)], axis=1)

    def draw_face() -> Field:
        mouth = np.stack([0.5 * np.cos(t[:45]), 0.15 + 0.4 * np.sin(t[:45])], axis=1)
        eyes = [_disc(side * 0.35, -0.3, 0.1) for side in (-1, 1)]
        return np.maximum.reduce([_stroke(0.9 * circle, pen), _stroke(mouth, pen), *eyes])

    def draw_spiral() -> Field:
        turns = np.linspace(0, float(rng.uniform(2, 4)) * 2 * np.pi, 200)
        return _stroke((turns / turns[-1])[:, None] * 0.9 * np.stack([np.cos(turns), np.sin(turns)], axis=1), pen)

    def draw_sun() -> Field:
        ways = np.linspace(0, 2 * np.pi, int(rng.integers(7, 13)), endpoint=False)
        rays = [_stroke(np.array([[0.5], [0.92]]) * [np.cos(a), np.sin(a)], pen) for a in ways]
        return np.maximum.reduce([_stroke(0.4 * circle, pen), *rays])

    def draw_cross() -> Field:
        ends = np.array([[-0.85, -0.85], [0.85, 0.85]]) + rng.uniform(-0.1, 0.1, (2, 2))
        return np.maximum.reduce([_stroke(ends, pen), _stroke(ends * (1, -1), pen), _stroke(0.9 * circle, pen)])

    def draw_waves() -> Field:
        x = np.linspace(-0.9, 0.9, 80)
        lines = [np.stack([x, y + 0.12 * np.sin(9 * x)], axis=1) for y in (-0.5, 0.0, 0.5)]
        return np.maximum.reduce([_stroke(line, pen) for line in lines])

    def draw_hatching() -> Field:
        ends = rng.uniform(-0.9, 0.9, (int(rng.integers(6, 14)), 2))
        slope = np.array([0.25, -0.35])
        return np.maximum.reduce([_stroke(np.stack([end - slope, end + slope]), pen) for end in ends])

    drawers: tuple[Callable[[], Field], ...] = (
        draw_face,
        draw_spiral,
        draw_sun,
        draw_cross,
        draw_waves,
        draw_hatching,
    )
    return drawers[int(rng.integers(len(drawers)))]()
