"""Random styles of tiles.

Kinds of tiles that are rare, such as tiles with light print, occur often: the networks have to read them, too.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vision.rendering.board_art import BoardStyle
from vision.rendering.style import Colour, Rng, hsv_to_bgr, random_colour
from vision.training.board_styles import scale_brightness
from vision.training.letter_shapes import PLAIN_SHAPE, LetterShape
from vision.training.tile_prints import PRINT_EFFECTS
from vision.training.varied_tiles import Dimples, VariedTileStyle

_BLANK_MARKS = {
    "plain": 0.38,
    "face": 0.05,
    "pattern": 0.04,
    "star": 0.04,
    "suit": 0.06,
    "word": 0.04,
    "name": 0.03,
    "pencil": 0.06,
    "sticker": 0.2,
    "groove": 0.03,
    "border": 0.03,
    "drawing": 0.04,
}
"""Kinds of marks on blanks with their probabilities."""
_MIN_INK_CONTRAST = 60.0
"""Minimum difference in brightness (0..255) between print and tile."""
_MIN_OUTLINE_CONTRAST = 110.0
"""Minimum difference in brightness (0..255) between thin outlines and the tile; weaker lines look like wood grain."""
_MIN_CARVED_LUMA = 90.0
"""Minimum brightness (0..255) of a tile on which a carved letter without colour can be seen."""


def luma(colour: Colour) -> float:
    """Return the brightness (0..255) of a colour."""
    return 0.114 * colour[0] + 0.587 * colour[1] + 0.299 * colour[2]


def random_tile_style(
    rng: Rng, fonts: tuple[Path, ...], board: BoardStyle, pencil_fonts: tuple[Path, ...] = ()
) -> VariedTileStyle:
    """Return a random tile style, sometimes with colours similar to those of `board`, as on real boards.

    Letters written on blanks have one of `pencil_fonts`, or one of `fonts` if `pencil_fonts` is empty.
    """
    u = rng.random
    top, grain, gloss = _random_material(rng, board)
    effect = str(rng.choice(list(PRINT_EFFECTS), p=list(PRINT_EFFECTS.values())))
    ink, second = _random_inks(rng, top, effect)
    shade = 0.5 + 0.45 * u()
    size = 0.84 + 0.15 * u()
    letter = 0.38 + 0.28 * u()
    low, wide = 0.05 * u(), 0.06 * u()
    return VariedTileStyle(
        top=top,
        side=scale_brightness(top, shade),
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
        letter_centre=(0.5 - wide, 0.5 - low) if u() < 0.65 else (0.5 + 0.28 * (u() - 0.5), 0.5 + 0.24 * (u() - 0.5)),
        value_height=_random_value_height(rng),
        value_centre=_random_value_centre(rng),
        engraved=u() if u() < 0.3 else 0.0,
        dimples=_random_dimples(rng) if not grain and u() < 0.45 else Dimples(),
        blank=str(rng.choice(list(_BLANK_MARKS), p=list(_BLANK_MARKS.values()))),
        turn_sd_deg=float(rng.choice([0.8, 2.0, 4.0, 8.0], p=[0.35, 0.33, 0.2, 0.12])),
        slip_sd=float(rng.choice([0.01, 0.025, 0.05], p=[0.4, 0.4, 0.2])),
        gloss=gloss,
        letter_shape=_random_letter_shape(rng),
        mixed_faces=_random_faces(rng, fonts) if u() < 0.5 else (),
        pencil_font=_random_font(rng, pencil_fonts or fonts),
        subscript=u() < 0.25,
        worn_share=0.5 * u() if u() < 0.12 else 0.0,
        careless_share=0.02 + 0.1 * u() if u() < 0.35 else 0.0,
        sticker=_random_sticker(rng, board),
        print_effect=effect,
        second_ink=second,
        wobble=0.05 * u() if u() < 0.25 else 0.0,
        rim=0.03 + 0.09 * u() if u() < 0.14 else 0.0,
        rim_colour=ink if u() < 0.6 else second,
        grain_angle=float(rng.normal(0, 0.4)) if u() < 0.7 else np.pi * u(),
        grain_bend=0.4 * u() if u() < 0.6 else 0.0,
        shading=(0.25 * (u() - 0.5), 0.25 * (u() - 0.5)) if u() < 0.3 else (0.0, 0.0),
    )


def _random_sticker(rng: Rng, board: BoardStyle) -> Colour | None:
    """Return a random value of `VariedTileStyle.sticker`: white, a colour of the board (hard to see), or None."""
    kind = rng.random()
    if kind < 0.4:
        white = 225 + 28 * rng.random()
        return white, white, white
    if kind < 0.7:
        colours = [board.ground, *board.premium.values()]
        return colours[0] if rng.random() < 0.6 else colours[int(rng.integers(len(colours)))]
    return None


def _random_value_height(rng: Rng) -> float:
    """Return a random value of `VariedTileStyle.value_height`: usually small, sometimes large or 0."""
    kind = rng.random()
    if kind < 0.08:
        return 0.0
    return float(rng.uniform(0.12, 0.23) if kind < 0.88 else rng.uniform(0.23, 0.34))


def _random_value_centre(rng: Rng) -> tuple[float, float]:
    """Return a random value of `VariedTileStyle.value_centre`: a corner, usually the one at the lower right."""
    x, y = rng.uniform(0.77, 0.86, 2)
    corner = int(rng.choice(4, p=[0.62, 0.16, 0.11, 0.11]))  # lower right, upper right, lower left, upper left
    return float(1 - x if corner >= 2 else x), float(1 - y if corner % 2 else y)


def _random_material(rng: Rng, board: BoardStyle) -> tuple[Colour, float, float]:
    """Return random values of `VariedTileStyle.top`, `VariedTileStyle.grain` and `VariedTileStyle.gloss`."""
    u = rng.random
    kind = rng.choice(
        ["wood", "ivory", "white", "dark", "any", "board", "level"], p=[0.15, 0.11, 0.07, 0.31, 0.13, 0.09, 0.14]
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
            top = hsv_to_bgr(u(), u(), 0.1 + 0.3 * u())
        case "board":
            near = board.ground if u() < 0.7 else board.premium["d"]
            tone, tint = 0.85 + 0.3 * u(), 14 * (u() - 0.5)
            top = (near[0] * tone - tint, near[1] * tone, near[2] * tone + tint)
            top = (min(max(top[0], 10.0), 250.0), min(max(top[1], 10.0), 250.0), min(max(top[2], 10.0), 250.0))
            grain, gloss = (0.02 + 0.08 * u(), 0.3 * u()) if u() < 0.6 else (0.0, u())
        case "level":
            # Same brightness as the ground, different hue: in grey, only grain and edges distinguish a blank.
            wood = np.array(hsv_to_bgr(0.03 + 0.1 * u(), 0.1 + 0.4 * u(), 0.8))
            wood *= luma(board.ground) * (0.9 + 0.2 * u()) / luma((wood[0], wood[1], wood[2]))
            blue, green, red = np.clip(wood, 10, 250)
            top = (float(blue), float(green), float(red))
            grain, gloss = (0.02 + 0.1 * u(), 0.3 * u()) if u() < 0.75 else (0.0, u())
        case _:
            top = random_colour(rng)
    return top, grain, gloss


def _random_inks(rng: Rng, top: Colour, effect: str) -> tuple[Colour, Colour]:
    """Return random colours of a print on the tile colour `top`: the ink, and the second colour that `effect` needs."""
    u = rng.random
    ink = _random_ink(rng, top)
    if effect in ("hollow", "inline") and abs(luma(ink) - luma(top)) < _MIN_OUTLINE_CONTRAST:
        ink = _strengthen(ink, top)
    match effect:
        case "foil":
            gold = hsv_to_bgr(0.08 + 0.07 * u() if u() < 0.7 else u(), 0.2 + 0.5 * u(), 0.7 + 0.2 * u())
            ink = gold if abs(luma(gold) - luma(top)) > _MIN_INK_CONTRAST else ink
            return ink, (235.0, 245.0, 250.0)
        case "carved" if luma(top) > _MIN_CARVED_LUMA:
            # The groove has the colour of the tile in the shade, and its far edge catches the light.
            return scale_brightness(top, 0.3 + 0.25 * u()), (240.0, 240.0, 240.0)
        case _:
            return ink, scale_brightness(top, 0.5 if luma(ink) > luma(top) else 1.5)


def _strengthen(ink: Colour, top: Colour) -> Colour:
    """Return the colour `ink` moved towards black or white, whichever differs more from the tile colour `top`."""
    end = 250.0 if luma(top) < 128 else 10.0
    return ((ink[0] + 2 * end) / 3, (ink[1] + 2 * end) / 3, (ink[2] + 2 * end) / 3)


def _random_ink(rng: Rng, top: Colour) -> Colour:
    """Return a random colour of print that is legible on the tile colour `top`; it is usually dark or bright."""
    u = rng.random
    if u() < 0.25:
        for _ in range(20):
            colour = random_colour(rng)
            if abs(luma(colour) - luma(top)) > _MIN_INK_CONTRAST:
                return colour
    if luma(top) > 110:
        return hsv_to_bgr(u(), 0.9 * u() if u() < 0.25 else 0.3 * u(), 0.05 + 0.25 * u())
    return hsv_to_bgr(0.1 + 0.1 * u() if u() < 0.7 else u(), 0.5 * u(), 0.8 + 0.2 * u())


def _random_dimples(rng: Rng) -> Dimples:
    """Return random dimples in a symmetric arrangement: four corners, a triangle, a pair, or a single dimple."""
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


def _random_faces(rng: Rng, fonts: tuple[Path, ...]) -> tuple[tuple[Path, LetterShape], ...]:
    """Return random values of `VariedTileStyle.mixed_faces`, so that one picture shows many shapes of every letter."""
    return tuple((fonts[int(i)], _random_letter_shape(rng)) for i in rng.integers(0, len(fonts), 24))


def _random_letter_shape(rng: Rng) -> LetterShape:
    """Return a random variation of letter shapes; with probability 0.4, no variation."""
    u = rng.random
    if u() < 0.4:
        return PLAIN_SHAPE
    return LetterShape(
        width=float(np.clip(np.exp(rng.normal(0, 0.18)), 0.6, 1.4)),
        weight=float(rng.uniform(-0.02, 0.04)) if u() < 0.7 else 0.0,
        squareness=0.7 * u() if u() < 0.5 else 0.0,
        bridge=float(rng.uniform(0.05, 0.12)) if u() < 0.1 else 0.0,
        slant=float(rng.uniform(-0.12, 0.25)) if u() < 0.2 else 0.0,
    )
