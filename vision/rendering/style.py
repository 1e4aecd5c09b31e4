"""Styles of boards and tiles: values, and random draws of them.

Every draw takes a numpy Generator, so the same seed gives the same style. Lengths are in squares, colours BGR 0 to 255.
The ranges are wide, so that training covers boards that are in no collection of photographs.
"""

from __future__ import annotations

import colorsys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vision.rendering.fonts import PLAIN_SHAPE, LetterShape, select_handwritten_fonts, select_supporting_fonts

Rng = np.random.Generator
Colour = tuple[float, float, float]

# The standard layout by class: plain, d/t letter x2/x3, D/T word x2/x3, * centre (classic-2008, "premium squares").
LAYOUT = (
    "T  d   T   d  T",
    " D   t   t   D ",
    "  D   d d   D  ",
    "d  D   d   D  d",
    "    D     D    ",
    " t   t   t   t ",
    "  d   d d   d  ",
    "T  d   *   d  T",
    "  d   d d   d  ",
    " t   t   t   t ",
    "    D     D    ",
    "d  D   d   D  d",
    "  D   d d   D  ",
    " D   t   t   D ",
    "T  d   T   d  T",
)


def _split_prints(
    triple_word: str, double_word: str, triple_letter: str, double_letter: str
) -> dict[str, tuple[str, ...]]:
    """Return the print of the four kinds of premium squares; `/` separates lines."""
    kinds = zip("TDtd", (triple_word, double_word, triple_letter, double_letter), strict=True)
    return {kind: tuple(text.split("/")) for kind, text in kinds}


PREMIUM_PRINTS: dict[str, dict[str, tuple[str, ...]]] = {
    "en": _split_prints("TRIPLE/WORD/SCORE", "DOUBLE/WORD/SCORE", "TRIPLE/LETTER/SCORE", "DOUBLE/LETTER/SCORE"),
    "en2": _split_prints("TRIPLE/WORD", "DOUBLE/WORD", "TRIPLE/LETTER", "DOUBLE/LETTER"),
    "de": _split_prints(
        "DREIFACHER/WORTWERT", "DOPPELTER/WORTWERT", "DREIFACHER/BUCHSTABEN-/WERT", "DOPPELTER/BUCHSTABEN-/WERT"
    ),
    "fr": _split_prints("MOT/COMPTE/TRIPLE", "MOT/COMPTE/DOUBLE", "LETTRE/COMPTE/TRIPLE", "LETTRE/COMPTE/DOUBLE"),
    "es": _split_prints(
        "TRIPLE/TANTO DE/PALABRA", "DOBLE/TANTO DE/PALABRA", "TRIPLE/TANTO DE/LETRA", "DOBLE/TANTO DE/LETRA"
    ),
    "pl": _split_prints(
        "POTRÓJNA/PREMIA/SŁOWNA", "PODWÓJNA/PREMIA/SŁOWNA", "POTRÓJNA/PREMIA/LITEROWA", "PODWÓJNA/PREMIA/LITEROWA"
    ),
    "nl": _split_prints("3x/WOORD/WAARDE", "2x/WOORD/WAARDE", "3x/LETTER/WAARDE", "2x/LETTER/WAARDE"),
    "it": _split_prints("PAROLA/x 3", "PAROLA/x 2", "LETTERA/x 3", "LETTERA/x 2"),
    "sv": _split_prints(
        "TREDUBBELT/ORDVÄRDE", "DUBBELT/ORDVÄRDE", "TREDUBBELT/BOKSTAVS-/VÄRDE", "DUBBELT/BOKSTAVS-/VÄRDE"
    ),
    "ru": _split_prints("СЛОВО/УТРАИВАЕТСЯ", "СЛОВО/УДВАИВАЕТСЯ", "БУКВА/УТРАИВАЕТСЯ", "БУКВА/УДВАИВАЕТСЯ"),
    "long": _split_prints("3x/WORD/SCORE/★", "DOUBLE/WORD/SCORE/★", "TRIPLE/LETTER/SCORE/★", "DOUBLE/LETTER/SCORE/★"),
    "spelled": _split_prints("TRIPLE WORD", "DOUBLE WORD", "TRIPLE LETTER", "DOUBLE LETTER"),
    "short": _split_prints("TW", "DW", "TL", "DL"),
    "times": _split_prints("3W", "2W", "3L", "2L"),
    "x": _split_prints("×3", "×2", "×3", "×2"),
    "digit": _split_prints("3", "2", "3", "2"),
    "none": {},
}
_PRINT_WEIGHTS = {"en": 6.0, "en2": 3.0, "none": 4.0}
"""Relative frequencies of prints, 1.0 unless listed."""


@dataclass(frozen=True)
class BoardStyle:
    """A printed or moulded board."""

    ground: Colour
    premium: dict[str, Colour]  # 'T', 'D', 't', 'd' -> colour
    line: Colour
    line_width: float  # 0 = no lines
    ridge: float  # 0 = flat lines; else how strongly the raised grid is lit
    premium_shape: str  # of premium squares: full, inset, rounded, burst, teeth, arrows
    inset: float
    raised: float  # premium or all squares drawn as raised pads, 0 = flat
    text: dict[str, tuple[str, ...]]
    text_font: Path
    text_size: float
    text_colour: Colour
    text_turn: int  # quarter turns
    text_faces: bool  # texts face the nearest side of the board, as on boards that all players read
    centre: str  # star, heart, text, plain, disc
    frame_bands: tuple[tuple[float, Colour], ...]  # frame from the grid outwards: width, colour
    frame_panels: tuple[float, float, float, float]  # more frame at left, top, right, bottom
    frame_text: bool
    labels: bool  # A-O and 1-15 along the grid
    corner_radius: float  # radius of the board's own corners
    seam: str  # none, vertical, horizontal
    grain: float  # strength of the ground's texture
    star_points: int = 5  # of the centre's star
    hollow_star: bool = False  # the centre's star is an outline


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


def hsv_to_bgr(h: float, s: float, v: float) -> Colour:
    """Return the BGR colour (0..255) of hue (in turns), saturation and value; the last two are clipped to 0..1."""
    r, g, b = colorsys.hsv_to_rgb(h % 1.0, min(max(s, 0.0), 1.0), min(max(v, 0.0), 1.0))
    return (255 * b, 255 * g, 255 * r)


def random_colour(rng: Rng) -> Colour:
    """Return a random BGR colour that is not nearly black."""
    return hsv_to_bgr(rng.random(), rng.random() ** 0.8, 0.15 + 0.85 * rng.random())


def _colour_distance(a: Colour, b: Colour) -> float:
    return float(np.abs(np.subtract(a, b)).sum())


def _luma(colour: Colour) -> float:
    return 0.114 * colour[0] + 0.587 * colour[1] + 0.299 * colour[2]


def _random_ground(rng: Rng) -> Colour:
    kind = rng.choice(
        ["grey", "cream", "green", "dark green", "yellow", "blue", "red", "any", "white", "beige", "dark"]
    )
    u = rng.random
    match kind:
        case "grey":
            return hsv_to_bgr(u(), 0.08 * u(), 0.45 + 0.4 * u())
        case "cream":
            return hsv_to_bgr(0.08 + 0.08 * u(), 0.1 + 0.25 * u(), 0.75 + 0.25 * u())
        case "beige":
            return hsv_to_bgr(0.06 + 0.07 * u(), 0.15 + 0.3 * u(), 0.55 + 0.35 * u())
        case "green":
            return hsv_to_bgr(0.25 + 0.2 * u(), 0.25 + 0.6 * u(), 0.35 + 0.5 * u())
        case "dark green":
            return hsv_to_bgr(0.3 + 0.2 * u(), 0.4 + 0.6 * u(), 0.12 + 0.3 * u())
        case "yellow":
            return hsv_to_bgr(0.09 + 0.07 * u(), 0.5 + 0.5 * u(), 0.6 + 0.4 * u())
        case "blue":
            return hsv_to_bgr(0.5 + 0.18 * u(), 0.15 + 0.7 * u(), 0.25 + 0.65 * u())
        case "red":
            return hsv_to_bgr(-0.04 + 0.08 * u(), 0.3 + 0.6 * u(), 0.3 + 0.5 * u())
        case "white":
            return hsv_to_bgr(u(), 0.05 * u(), 0.85 + 0.15 * u())
        case "dark":
            return hsv_to_bgr(u(), 0.5 * u(), 0.08 + 0.2 * u())
        case _:
            return random_colour(rng)


def _random_premium_colours(rng: Rng, ground: Colour) -> dict[str, Colour]:
    """Return four colours that differ clearly from the ground and from each other."""
    u = rng.random
    while True:
        kind = rng.random()
        if kind < 0.6:  # the usual family: warm for words, cool for letters
            warm, cool = -0.06 + 0.1 * u(), 0.53 + 0.12 * u()
            strong = 0.45 + 0.55 * u()
            colours = {
                "T": hsv_to_bgr(warm, 0.5 + 0.5 * u(), 0.4 + 0.6 * u()),
                "D": hsv_to_bgr(warm + (0 if u() < 0.6 else 0.02 + 0.15 * u()), 0.15 + strong * 0.6, 0.6 + 0.4 * u()),
                "t": hsv_to_bgr(cool, 0.45 + 0.55 * u(), 0.3 + 0.6 * u()),
                "d": hsv_to_bgr(cool + 0.06 * (u() - 0.5), 0.1 + strong * 0.6, 0.55 + 0.45 * u()),
            }
        elif kind < 0.8:  # blue, green, red, orange in some order
            hues = rng.permutation([0.0, 0.07, 0.3, 0.58])
            colours = {
                c: hsv_to_bgr(h + 0.05 * (u() - 0.5), 0.35 + 0.6 * u(), 0.4 + 0.6 * u())
                for c, h in zip("TDtd", hues, strict=True)
            }
        else:
            colours = {c: random_colour(rng) for c in "TDtd"}
        distinct = [ground, *colours.values()]
        if min(_colour_distance(a, b) for i, a in enumerate(distinct) for b in distinct[:i]) > 45:
            return colours


def random_board_style(rng: Rng, fonts: tuple[Path, ...]) -> BoardStyle:
    """Return a random board style, similar to boards on sale."""
    u = rng.random
    ground = _random_ground(rng)
    light = u() < 0.65
    line = hsv_to_bgr(u(), 0.2 * u(), 0.75 + 0.25 * u()) if light else hsv_to_bgr(u(), 0.4 * u(), 0.4 * u())
    if u() < 0.2:
        shade = 0.55 if u() < 0.5 else 1.5
        line = (min(255.0, ground[0] * shade), min(255.0, ground[1] * shade), min(255.0, ground[2] * shade))
    width = float(rng.choice([0.02, 0.03, 0.05, 0.08, 0.12])) * (0.7 + 0.6 * u())
    prints = {
        name: select_supporting_fonts(fonts, "".join(map("".join, text.values())) or "A")
        for name, text in PREMIUM_PRINTS.items()
    }
    odds = np.array([_PRINT_WEIGHTS.get(name, 1.0) if texts else 0.0 for name, texts in prints.items()])
    language = str(rng.choice(list(PREMIUM_PRINTS), p=odds / odds.sum()))
    text, texts = PREMIUM_PRINTS[language], prints[language]
    dark_text = u() < 0.6
    bands = []
    for _ in range(int(rng.integers(0, 4))):
        bands.append(
            (
                float(rng.choice([0.06, 0.15, 0.3, 0.6, 1.0])) * (0.6 + 0.8 * u()),
                random_colour(rng) if u() < 0.6 else line,
            )
        )
    if u() < 0.35:
        bands.insert(0, (0.2 + 0.9 * u(), ground))
    panels = [0.0, 0.0, 0.0, 0.0]
    if u() < 0.55:
        panels[int(rng.integers(4))] = 0.5 + 3.0 * u()
    if u() < 0.35:
        panels = [a + 1.2 * u() for a in panels]
    return BoardStyle(
        ground=ground,
        premium=_random_premium_colours(rng, ground),
        line=line,
        line_width=width if u() < 0.95 else 0.0,
        ridge=0.3 + 0.7 * u() if u() < 0.25 else 0.0,
        premium_shape=str(
            rng.choice(
                ["full", "inset", "rounded", "burst", "teeth", "arrows"],
                p=[0.34, 0.12, 0.1, 0.18, 0.13, 0.13],
            )
        ),
        inset=0.02 + 0.08 * u(),
        raised=0.3 + 0.7 * u() if u() < 0.2 else 0.0,
        text=text,
        text_font=texts[int(rng.integers(len(texts)))],
        text_size=0.11 + 0.09 * u() if len(text.get("T", "x")) > 1 else 0.25 + 0.25 * u(),
        text_colour=hsv_to_bgr(u(), 0.3 * u(), 0.25 * u())
        if dark_text
        else hsv_to_bgr(u(), 0.15 * u(), 0.8 + 0.2 * u()),
        text_turn=int(rng.choice([0, 1, 2, 3], p=[0.85, 0.05, 0.05, 0.05])),
        text_faces=u() < 0.12,
        centre=str(rng.choice(["star", "heart", "text", "plain", "disc"], p=[0.5, 0.1, 0.15, 0.15, 0.1])),
        frame_bands=tuple(bands),
        frame_panels=(panels[0], panels[1], panels[2], panels[3]),
        frame_text=u() < 0.6,
        labels=u() < 0.35,
        corner_radius=float(rng.choice([0.0, 0.1, 0.5, 1.5])) * u(),
        seam=str(rng.choice(["none", "vertical", "horizontal"], p=[0.55, 0.3, 0.15])),
        grain=0.06 * u() ** 2,
        star_points=int(rng.choice([4, 5, 6, 8, 12], p=[0.08, 0.6, 0.12, 0.12, 0.08])),
        hollow_star=u() < 0.25,
    )


def random_tile_style(rng: Rng, fonts: tuple[Path, ...], board: BoardStyle) -> TileStyle:
    """Return a random tile style, sometimes in colours close to the board's, as real ones can be."""
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
    bright = sum(top) / 3 > 110
    if bright:
        ink = hsv_to_bgr(u(), 0.9 * u() if u() < 0.25 else 0.3 * u(), 0.05 + 0.25 * u())
    else:
        ink = hsv_to_bgr(0.1 + 0.1 * u(), 0.4 * u() ** 2, 0.8 + 0.2 * u())
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
