"""Styles of tiles: values, and random draws of them; the conventions are those of `vision.rendering.style`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vision.rendering.fonts import PLAIN_SHAPE, LetterShape, select_handwritten_fonts
from vision.rendering.style import BoardStyle, Colour, Rng, hsv_to_bgr, random_colour


@dataclass(frozen=True)
class Dimples:
    """Marks of the mould's ejector pins on plastic tiles: round hollows, or bosses if `depth` is negative."""

    centres: tuple[tuple[float, float], ...] = ()  # fractions of the tile
    radius: float = 0.0
    depth: float = 0.0  # how much of the light one side of a dimple loses and the other wins


@dataclass(frozen=True)
class TileStyle:
    """A set of tiles."""

    top: Colour
    side: Colour
    ink: Colour
    size: float  # side of a tile
    height: float
    rounding: float
    bevel: float
    bevel_light: float
    grain: float  # wood, 0 = plastic
    colour_spread: float  # how much tiles differ in colour
    font: Path
    cap_height: float  # cap height as a fraction of the tile
    letter_centre: tuple[float, float]  # centre of the letter, fraction of the tile
    value_height: float  # height of the value, 0 = none
    value_centre: tuple[float, float]
    engraved: float
    dimples: Dimples
    blank: str  # plain, face, pattern, star, word, pencil
    turn_sd_deg: float  # standard deviation of the turn, degrees
    slip_sd: float  # standard deviation of the displacement, squares
    gloss: float
    letter_shape: LetterShape = PLAIN_SHAPE  # of the letters
    mixed_fonts: tuple[Path, ...] = ()  # fonts of a set put together from several
    pencil_font: Path | None = None  # the hand that writes on blanks
    subscript: bool = False  # the value follows the letter instead of lying in the corner
    worn_share: float = 0.0  # share of the print that is rubbed off
    careless_share: float = 0.0  # share of tiles that lie half off their squares or well turned


def _luma(colour: Colour) -> float:
    return 0.114 * colour[0] + 0.587 * colour[1] + 0.299 * colour[2]


def random_tile_style(rng: Rng, fonts: tuple[Path, ...], board: BoardStyle) -> TileStyle:
    """Return a random tile style, sometimes in colours close to the board's, as real ones can be."""
    u = rng.random
    top, grain, gloss = _random_material(rng, board)
    ink = _random_ink(rng, top)
    shade = 0.5 + 0.45 * u()
    size = 0.84 + 0.15 * u()
    letter = 0.38 + 0.28 * u()
    low, wide = 0.05 * u(), 0.06 * u()
    corner = u()
    digit_at = (0.84 - 0.05 * u(), 0.84 - 0.05 * u())
    if corner > 0.94:
        digit_at = (digit_at[0], 1 - digit_at[1])
    return TileStyle(
        top=top,
        side=(top[0] * shade, top[1] * shade, top[2] * shade),
        ink=ink,
        size=size,
        height=0.1 + 0.2 * u(),
        rounding=0.01 + 0.2 * u() ** 1.5,
        bevel=0.09 * u() if u() < 0.7 else 0.0,
        bevel_light=0.25 * u(),
        grain=grain,
        colour_spread=0.02 + 0.1 * u() * (1.5 if grain else 0.5),
        font=fonts[int(rng.integers(len(fonts)))],
        cap_height=letter,
        letter_centre=(0.5 - wide, 0.5 - low) if u() < 0.75 else (0.5 - 0.14 * u(), 0.5 + 0.06 - 0.16 * u()),
        value_height=(0.12 + 0.11 * u()) if u() < 0.95 else 0.0,
        value_centre=digit_at,
        engraved=u() if u() < 0.3 else 0.0,
        dimples=_random_dimples(rng) if not grain and u() < 0.45 else Dimples(),
        blank=str(
            rng.choice(["plain", "face", "pattern", "star", "word", "pencil"], p=[0.66, 0.09, 0.06, 0.05, 0.04, 0.1])
        ),
        turn_sd_deg=float(rng.choice([0.8, 2.0, 4.0, 8.0], p=[0.35, 0.33, 0.2, 0.12])),
        slip_sd=float(rng.choice([0.01, 0.025, 0.05], p=[0.4, 0.4, 0.2])),
        gloss=gloss,
        letter_shape=_random_letter_shape(rng),
        mixed_fonts=tuple(fonts[int(i)] for i in rng.integers(0, len(fonts), 8)) if u() < 0.3 else (),
        pencil_font=_random_font(rng, select_handwritten_fonts(fonts)),
        subscript=u() < 0.25,
        worn_share=0.5 * u() if u() < 0.12 else 0.0,
        careless_share=0.02 + 0.1 * u() if u() < 0.35 else 0.0,
    )


def _random_material(rng: Rng, board: BoardStyle) -> tuple[Colour, float, float]:
    """Return the colour of the top, the grain of the wood (0 = plastic) and the gloss."""
    u = rng.random
    kind = rng.choice(
        ["wood", "ivory", "white", "dark", "any", "board", "level"], p=[0.25, 0.22, 0.1, 0.08, 0.05, 0.12, 0.18]
    )
    grain, gloss = 0.0, u()
    match kind:
        case "wood":
            top = hsv_to_bgr(0.04 + 0.07 * u(), 0.15 + 0.45 * u(), 0.5 + 0.48 * u())
            grain, gloss = 0.03 + 0.12 * u(), 0.3 * u()
        case "ivory":
            top = hsv_to_bgr(0.08 + 0.09 * u(), 0.06 + 0.35 * u(), 0.75 + 0.25 * u())
        case "white":
            top = hsv_to_bgr(0.5 + 0.15 * u(), 0.2 * u(), 0.82 + 0.18 * u())
        case "dark":
            top = hsv_to_bgr(u(), 0.6 * u(), 0.1 + 0.25 * u())
        case "board":
            near = board.ground if u() < 0.7 else board.premium["d"]
            tone, tint = 0.85 + 0.3 * u(), 14 * (u() - 0.5)
            top = (near[0] * tone - tint, near[1] * tone, near[2] * tone + tint)
            top = (min(max(top[0], 10.0), 250.0), min(max(top[1], 10.0), 250.0), min(max(top[2], 10.0), 250.0))
            grain, gloss = (0.02 + 0.08 * u(), 0.3 * u()) if u() < 0.6 else (0.0, u())
        case "level":
            # As bright as the ground, of another hue: a blank differs from an empty square only by grain and edges.
            wood = np.array(hsv_to_bgr(0.03 + 0.1 * u(), 0.1 + 0.4 * u(), 0.8))
            wood *= _luma(board.ground) * (0.9 + 0.2 * u()) / _luma((wood[0], wood[1], wood[2]))
            blue, green, red = np.clip(wood, 10, 250)
            top = (float(blue), float(green), float(red))
            grain, gloss = (0.02 + 0.1 * u(), 0.3 * u()) if u() < 0.75 else (0.0, u())
        case _:
            top = random_colour(rng)
    return top, grain, gloss


def _random_ink(rng: Rng, top: Colour) -> Colour:
    """Return a colour of the print that is legible on `top`: dark on bright tiles, bright on dark ones."""
    u = rng.random
    if sum(top) / 3 > 110:
        return hsv_to_bgr(u(), 0.9 * u() if u() < 0.25 else 0.3 * u(), 0.05 + 0.25 * u())
    return hsv_to_bgr(0.1 + 0.1 * u(), 0.4 * u() ** 2, 0.8 + 0.2 * u())


def _random_dimples(rng: Rng) -> Dimples:
    """Return random dimples, placed symmetrically: in the corners, in a triangle, in a line, or one alone."""
    u = rng.random
    aside, top, bottom = 0.1 + 0.25 * u(), 0.1 + 0.15 * u(), 0.9 - 0.15 * u()
    left, right = 0.5 - aside, 0.5 + aside
    layouts: tuple[tuple[tuple[float, float], ...], ...] = (
        ((left, top), (right, top), (left, bottom), (right, bottom)),
        ((left, top), (right, top), (0.5, bottom)),
        ((left, bottom), (right, bottom), (0.5, top)),
        ((left, top), (right, top)),
        ((left, 0.5), (right, 0.5)),
        ((0.5, top), (0.5, bottom)),
        ((float(rng.choice([left, 0.5, right])), float(rng.choice([top, bottom]))),),
    )
    odds = [0.2, 0.3, 0.1, 0.12, 0.08, 0.1, 0.1]
    depth = (0.08 + 0.27 * u()) * (1 if u() < 0.85 else -1)
    return Dimples(layouts[int(rng.choice(len(layouts), p=odds))], 0.04 + 0.06 * u(), depth)


def _random_font(rng: Rng, fonts: tuple[Path, ...]) -> Path:
    return fonts[int(rng.integers(len(fonts)))]


def _random_letter_shape(rng: Rng) -> LetterShape:
    """Return a random variation of the font; none in four cases of ten."""
    u = rng.random
    if u() < 0.4:
        return PLAIN_SHAPE
    return LetterShape(
        width=float(np.clip(np.exp(rng.normal(0, 0.12)), 0.72, 1.3)),
        weight=float(rng.uniform(-0.02, 0.04)) if u() < 0.7 else 0.0,
        squareness=0.7 * u() if u() < 0.5 else 0.0,
    )
