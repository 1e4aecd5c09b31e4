"""Random styles of boards.

Every random function takes a numpy Generator, so the same seed gives the same style. The ranges are wide, so that the
training data covers boards of which there are no photographs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vision.rendering.fonts import select_supporting_fonts
from vision.rendering.style import Colour, Rng, hsv_to_bgr, random_colour
from vision.training.varied_boards import VariedBoardStyle


def scale_brightness(colour: Colour, factor: float) -> Colour:
    """Return a darker or brighter colour: each channel times `factor`, 255 at most."""
    blue, green, red = (min(255.0, value * factor) for value in colour)
    return blue, green, red


def _split_prints(
    triple_word: str, double_word: str, triple_letter: str, double_letter: str
) -> dict[str, tuple[str, ...]]:
    """Return the printed lines of text for each kind of premium square; `/` separates lines in the arguments."""
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
"""Relative frequencies of the keys of `PREMIUM_PRINTS`; 1.0 for keys that are not listed."""
_PREMIUM_SHAPES = {"full": 0.34, "inset": 0.12, "rounded": 0.1, "burst": 0.18, "teeth": 0.13, "arrows": 0.13}
"""Shapes of premium squares with their probabilities."""


def _colour_distance(a: Colour, b: Colour) -> float:
    return float(np.abs(np.subtract(a, b)).sum())


def _random_ground(rng: Rng) -> Colour:
    """Return a random colour of the plain squares: one of the usual kinds, or any colour."""
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
    """Return random colours of the four kinds of premium squares, distinct from `ground` and from each other."""
    u = rng.random
    while True:
        kind = rng.random()
        if kind < 0.6:  # the usual colours: warm for word premiums, cool for letter premiums
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


def random_board_style(rng: Rng, fonts: tuple[Path, ...]) -> VariedBoardStyle:
    """Return a random board style, with variations that occur on commercial boards."""
    u = rng.random
    ground = _random_ground(rng)
    line, width = _random_line(rng, ground)
    text, texts = _random_print(rng, fonts)
    dark_text = u() < 0.6
    bands, panels = _random_frame(rng, ground, line)
    return VariedBoardStyle(
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
    """Return a random colour and a random width, in squares, of the lines between squares."""
    u = rng.random
    light = u() < 0.65
    line = hsv_to_bgr(u(), 0.2 * u(), 0.75 + 0.25 * u()) if light else hsv_to_bgr(u(), 0.4 * u(), 0.4 * u())
    if u() < 0.2:
        line = scale_brightness(ground, 0.55 if u() < 0.5 else 1.5)
    return line, float(rng.choice([0.02, 0.03, 0.05, 0.08, 0.12])) * (0.7 + 0.6 * u())


def _random_print(rng: Rng, fonts: tuple[Path, ...]) -> tuple[dict[str, tuple[str, ...]], tuple[Path, ...]]:
    """Return a random value of `PREMIUM_PRINTS`, and the fonts among `fonts` that have glyphs for its text."""
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
    """Return random values of `VariedBoardStyle.frame_bands` and `VariedBoardStyle.frame_panels`."""
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
