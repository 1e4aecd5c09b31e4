"""The fonts that tiles and boards are lettered with, and letters drawn from them as masks.

Two lists. `packaged_fonts()` come as Python packages and are there on every machine: the demo's table uses them.
`training_fonts()` adds the families of Debian packages, so that the letters are learned in many hands.
"""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

Mask = npt.NDArray[np.uint8]

PACKAGED = {
    "font_hanken_grotesk": (
        "HankenGrotesk-Medium.otf",
        "HankenGrotesk-SemiBold.otf",
        "HankenGrotesk-Bold.otf",
    ),
    "font_manrope": ("Manrope-Medium.ttf", "Manrope-SemiBold.ttf", "Manrope-Bold.ttf"),
    "font_source_sans_pro": (
        "SourceSansPro-Regular.ttf",
        "SourceSansPro-Semibold.ttf",
        "SourceSansPro-Bold.ttf",
    ),
}

# Debian package -> font files below /usr/share. Upright text faces, sans first: that is what tiles are lettered in.
DEBIAN = {
    "fonts-cantarell": ("opentype/cantarell/Cantarell-Bold.otf",),
    "fonts-comfortaa": ("truetype/comfortaa/Comfortaa-Bold.ttf",),
    "fonts-crosextra-carlito": (
        "truetype/crosextra/Carlito-Regular.ttf",
        "truetype/crosextra/Carlito-Bold.ttf",
    ),
    "fonts-dejavu-core": ("truetype/dejavu/DejaVuSans.ttf", "truetype/dejavu/DejaVuSans-Bold.ttf"),
    "fonts-dejavu-extra": ("truetype/dejavu/DejaVuSansCondensed-Bold.ttf",),
    "fonts-freefont-ttf": (
        "truetype/freefont/FreeSans.ttf",
        "truetype/freefont/FreeSansBold.ttf",
        "truetype/freefont/FreeSerifBold.ttf",
    ),
    "fonts-inter": ("opentype/inter/Inter-Medium.otf", "opentype/inter/Inter-Bold.otf"),
    "fonts-lato": (
        "truetype/lato/Lato-Regular.ttf",
        "truetype/lato/Lato-Medium.ttf",
        "truetype/lato/Lato-Bold.ttf",
        "truetype/lato/Lato-Heavy.ttf",
    ),
    "fonts-liberation": (
        "truetype/liberation/LiberationSans-Regular.ttf",
        "truetype/liberation/LiberationSans-Bold.ttf",
        "truetype/liberation/LiberationSerif-Bold.ttf",
    ),
    "fonts-linuxlibertine": ("opentype/linux-libertine/LinBiolinum_RB.otf",),
    "fonts-noto-core": (
        "truetype/noto/NotoSans-Regular.ttf",
        "truetype/noto/NotoSans-Bold.ttf",
        "truetype/noto/NotoSerif-Bold.ttf",
    ),
    "fonts-open-sans": (
        "truetype/open-sans/OpenSans-Regular.ttf",
        "truetype/open-sans/OpenSans-Semibold.ttf",
        "truetype/open-sans/OpenSans-Bold.ttf",
    ),
    "fonts-quicksand": ("truetype/quicksand/Quicksand-Medium.ttf", "truetype/quicksand/Quicksand-Bold.ttf"),
    "fonts-roboto-unhinted": (
        "truetype/roboto/unhinted/RobotoTTF/Roboto-Regular.ttf",
        "truetype/roboto/unhinted/RobotoTTF/Roboto-Medium.ttf",
        "truetype/roboto/unhinted/RobotoTTF/Roboto-Bold.ttf",
    ),
    "fonts-urw-base35": (
        "opentype/urw-base35/NimbusSans-Regular.otf",
        "opentype/urw-base35/NimbusSans-Bold.otf",
        "opentype/urw-base35/NimbusSansNarrow-Bold.otf",
        "opentype/urw-base35/URWGothic-Book.otf",
        "opentype/urw-base35/URWGothic-Demi.otf",
        "opentype/urw-base35/URWBookman-Demi.otf",
        "opentype/urw-base35/C059-Bold.otf",
    ),
}


def packaged_fonts() -> tuple[Path, ...]:
    """Font files that come with the program's own dependencies."""
    found = []
    for package, files in PACKAGED.items():
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise RuntimeError(f"the font package {package} is missing: pip install {package.replace('_', '-')}")
        found += [Path(spec.origin).parent / "files" / name for name in files]
    return tuple(found)


def training_fonts(root: Path = Path("/usr/share/fonts")) -> tuple[Path, ...]:
    """All fonts of the training set. Raises RuntimeError naming the Debian packages that are missing."""
    missing = [package for package, files in DEBIAN.items() if not all((root / f).exists() for f in files)]
    if missing:
        raise RuntimeError(f"training fonts are missing: apt-get install {' '.join(missing)}")
    return packaged_fonts() + tuple(root / f for files in DEBIAN.values() for f in files)


@lru_cache(maxsize=256)
def _face(path: Path, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(path), size)


@lru_cache(maxsize=4096)
def _supports(path: Path, text: str) -> bool:
    """True when the font has a drawing of its own for every character: none looks like the 'missing' box."""
    face = _face(path, 40)
    missing = bytes(face.getmask("\U000fffff"))
    return all(bytes(face.getmask(c)) != missing for c in text)


def supporting(fonts: tuple[Path, ...], text: str) -> tuple[Path, ...]:
    """Those of `fonts` that can draw `text`."""
    return tuple(path for path in fonts if _supports(path, text))


@lru_cache(maxsize=8192)
def text_mask(path: Path, text: str, size: int) -> Mask:
    """`text` drawn in one line, cropped to its ink: (h, w) uint8, 255 = ink. `size` is the font's em in px."""
    face = _face(path, size)
    left, top, right, bottom = face.getbbox(text)
    width, height = max(int(right - left), 1), max(int(bottom - top), 1)
    image = Image.new("L", (width, height), 0)
    ImageDraw.Draw(image).text((-left, -top), text, fill=255, font=face)
    return np.asarray(image)


@lru_cache(maxsize=512)
def cap_height(path: Path, size: int) -> int:
    """Height of a capital H in px at an em of `size` px."""
    return int(text_mask(path, "H", size).shape[0])


@lru_cache(maxsize=8192)
def letter_mask(path: Path, letter: str, cap: int) -> tuple[Mask, int]:
    """A tile's letter with capitals `cap` px high: its mask, and how far its ink rises above the cap line (px).

    Accented capitals rise above the cap line; Q, J and Ş hang below the base line.
    """
    size = max(4, round(cap * 100 / max(cap_height(path, 100), 1)))
    face = _face(path, size)
    base_top = face.getbbox("H")[1]
    top = face.getbbox(letter)[1]
    return text_mask(path, letter, size), int(base_top - top)
