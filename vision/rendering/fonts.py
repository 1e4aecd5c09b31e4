"""Font files for tiles and boards, and rendering of letters to masks.

The fonts of `packaged_fonts()` are part of this package, so the demo can use them on any machine. The training data
has more fonts, from Debian and npm packages (`vision.training.font_list`).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

Mask = npt.NDArray[np.uint8]

_FONTS_FOLDER = Path(__file__).parents[1] / "data" / "fonts"
_FONTS = (
    "HankenGrotesk-Medium.otf",
    "HankenGrotesk-SemiBold.otf",
    "HankenGrotesk-Bold.otf",
    "Manrope-Medium.ttf",
    "Manrope-SemiBold.ttf",
    "Manrope-Bold.ttf",
    "SourceSansPro-Regular.ttf",
    "SourceSansPro-Semibold.ttf",
    "SourceSansPro-Bold.ttf",
)
"""Three weights of each family; their order decides which font a seeded random choice takes."""


def packaged_fonts() -> tuple[Path, ...]:
    """Return the font files that are part of this package."""
    return tuple(_FONTS_FOLDER / name for name in _FONTS)


# For each training scene, some hundred fonts are checked for the letters of every alphabet and print.
@lru_cache(maxsize=1024)
def _load_font(path: Path, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(path), size)


@lru_cache(maxsize=65536)
def _can_draw(path: Path, text: str) -> bool:
    """Return True if the font has its own glyph for every character of `text`.

    A font that draws Ł as L, leaves a letter blank or draws a placeholder has no glyph of its own for this letter.
    """
    face = _load_font(path, 40)
    characters = set("".join(text.split()))
    glyphs = {bytes(face.getmask(c)) for c in characters} - {b"", bytes(face.getmask("\U000fffff"))}
    return len(glyphs) == len(characters)


def select_supporting_fonts(fonts: tuple[Path, ...], text: str) -> tuple[Path, ...]:
    """Return the fonts among `fonts` that can draw every character of `text`."""
    return tuple(path for path in fonts if _can_draw(path, text))


@lru_cache(maxsize=8192)
def text_mask(path: Path, text: str, size: int) -> Mask:
    """Render `text` on one line as a mask (h, w) uint8, 255 = ink, cropped to the bounding box of the ink.

    `size` is the em size of the font in px.
    """
    face = _load_font(path, size)
    left, top, right, bottom = face.getbbox(text)
    width, height = max(int(right - left), 1), max(int(bottom - top), 1)
    image = Image.new("L", (width, height), 0)
    ImageDraw.Draw(image).text((-left, -top), text, fill=255, font=face)
    return np.asarray(image)


@lru_cache(maxsize=512)
def cap_height(path: Path, size: int) -> int:
    """Return the height in px of a capital H at an em size of `size` px."""
    return int(text_mask(path, "H", size).shape[0])


@lru_cache(maxsize=8192)
def letter_mask(path: Path, letter: str, cap: int) -> tuple[Mask, int]:
    """Render a letter at a cap height of `cap` px; return its mask and the height of its ink above the cap line (px).

    Accented capitals extend above the cap line; Q, J and Ş extend below the base line.
    """
    size = max(4, round(cap * 100 / max(cap_height(path, 100), 1)))
    face = _load_font(path, size)
    base_top = face.getbbox("H")[1]
    top = face.getbbox(letter)[1]
    return text_mask(path, letter, size), int(base_top - top)
