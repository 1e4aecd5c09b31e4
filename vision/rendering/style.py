"""Styles of boards: values, and random draws of them.

Every draw takes a numpy Generator, so the same seed gives the same style. Lengths are in squares, colours BGR 0 to 255.
The ranges are wide, so that training covers boards that are in no collection of photographs.
"""

from __future__ import annotations

import colorsys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vision.rendering.fonts import select_supporting_fonts

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
_PREMIUM_SHAPES = {"full": 0.34, "inset": 0.12, "rounded": 0.1, "burst": 0.18, "teeth": 0.13, "arrows": 0.13}
"""Shares of the shapes of premium squares."""


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


def hsv_to_bgr(h: float, s: float, v: float) -> Colour:
    """Return the BGR colour (0..255) of hue (in turns), saturation and value; the last two are clipped to 0..1."""
    r, g, b = colorsys.hsv_to_rgb(h % 1.0, min(max(s, 0.0), 1.0), min(max(v, 0.0), 1.0))
    return (255 * b, 255 * g, 255 * r)


def random_colour(rng: Rng) -> Colour:
    """Return a random BGR colour that is not nearly black."""
    return hsv_to_bgr(rng.random(), rng.random() ** 0.8, 0.15 + 0.85 * rng.random())


def _colour_distance(a: Colour, b: Colour) -> float:
    return float(np.abs(np.subtract(a, b)).sum())


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
    line, width = _random_line(rng, ground)
    text, texts = _random_print(rng, fonts)
    dark_text = u() < 0.6
    bands, panels = _random_frame(rng, ground, line)
    return BoardStyle(
        ground=ground,
        premium=_random_premium_colours(rng, ground),
        line=line,
        line_width=width if u() < 0.95 else 0.0,
        ridge=0.3 + 0.7 * u() if u() < 0.25 else 0.0,
        premium_shape=str(rng.choice(list(_PREMIUM_SHAPES), p=list(_PREMIUM_SHAPES.values()))),
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
        frame_bands=bands,
        frame_panels=panels,
        frame_text=u() < 0.6,
        labels=u() < 0.35,
        corner_radius=float(rng.choice([0.0, 0.1, 0.5, 1.5])) * u(),
        seam=str(rng.choice(["none", "vertical", "horizontal"], p=[0.55, 0.3, 0.15])),
        grain=0.06 * u() ** 2,
        star_points=int(rng.choice([4, 5, 6, 8, 12], p=[0.08, 0.6, 0.12, 0.12, 0.08])),
        hollow_star=u() < 0.25,
    )


def _random_line(rng: Rng, ground: Colour) -> tuple[Colour, float]:
    """Return the colour and the width of the lines between squares."""
    u = rng.random
    light = u() < 0.65
    line = hsv_to_bgr(u(), 0.2 * u(), 0.75 + 0.25 * u()) if light else hsv_to_bgr(u(), 0.4 * u(), 0.4 * u())
    if u() < 0.2:
        shade = 0.55 if u() < 0.5 else 1.5
        line = (min(255.0, ground[0] * shade), min(255.0, ground[1] * shade), min(255.0, ground[2] * shade))
    return line, float(rng.choice([0.02, 0.03, 0.05, 0.08, 0.12])) * (0.7 + 0.6 * u())


def _random_print(rng: Rng, fonts: tuple[Path, ...]) -> tuple[dict[str, tuple[str, ...]], tuple[Path, ...]]:
    """Return the print of the premium squares, and those of `fonts` that can draw it."""
    prints = {
        name: select_supporting_fonts(fonts, "".join(map("".join, text.values())) or "A")
        for name, text in PREMIUM_PRINTS.items()
    }
    odds = np.array([_PRINT_WEIGHTS.get(name, 1.0) if texts else 0.0 for name, texts in prints.items()])
    language = str(rng.choice(list(PREMIUM_PRINTS), p=odds / odds.sum()))
    return PREMIUM_PRINTS[language], prints[language]


def _random_frame(
    rng: Rng, ground: Colour, line: Colour
) -> tuple[tuple[tuple[float, Colour], ...], tuple[float, float, float, float]]:
    """Return `BoardStyle.frame_bands` and `BoardStyle.frame_panels`."""
    u = rng.random
    bands = []
    for _ in range(int(rng.integers(0, 4))):
        width = float(rng.choice([0.06, 0.15, 0.3, 0.6, 1.0])) * (0.6 + 0.8 * u())
        bands.append((width, random_colour(rng) if u() < 0.6 else line))
    if u() < 0.35:
        bands.insert(0, (0.2 + 0.9 * u(), ground))
    panels = [0.0, 0.0, 0.0, 0.0]
    if u() < 0.55:
        panels[int(rng.integers(4))] = 0.5 + 3.0 * u()
    if u() < 0.35:
        panels = [a + 1.2 * u() for a in panels]
    return tuple(bands), (panels[0], panels[1], panels[2], panels[3])
