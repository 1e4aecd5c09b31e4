"""Font files for tiles and boards, and rendering of letters to masks.

`packaged_fonts()` are part of Python packages and available on every machine; the demo uses these. `training_fonts()`
adds font families from Debian packages, so that the training data has a wide range of letter shapes.
"""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

Mask = npt.NDArray[np.uint8]

PACKAGED_FONTS = {
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

DEBIAN_ROOT = Path("/usr/share/fonts")

# Debian package -> font files below DEBIAN_ROOT. Mostly upright sans-serif typefaces, as on real tiles; none held out.
DEBIAN_FONTS = {
    "fonts-adf-gillius": (
        "truetype/adf/GilliusADF-Bold.otf",
        "truetype/adf/GilliusADFNo2-BoldCond.otf",
    ),
    "fonts-adf-switzera": (
        "truetype/adf/SwitzeraADF-BoldCond.otf",
        "truetype/adf/SwitzeraADF-BoldExt.otf",
    ),
    "fonts-adf-universalis": (
        "truetype/adf/UniversalisADFStd-Bold.otf",
        "truetype/adf/UniversalisADFStd-Cond.otf",
    ),
    "fonts-adf-verana": ("truetype/adf/VeranaSans-Bold.otf",),
    "fonts-allerta": ("opentype/allerta/allerta_medium.otf",),
    "fonts-averia-sans-gwf": ("truetype/averia-gwf/AveriaSansGWF-Bold.ttf",),
    "fonts-b612": ("opentype/b612/B612-Bold.otf",),
    "fonts-bebas-neue": (
        "opentype/bebas-neue/BebasNeue-Regular.otf",
        "opentype/bebas-neue/BebasNeue-Bold.otf",
    ),
    "fonts-beteckna": ("truetype/beteckna/BetecknaGSCondensed-Bold.ttf",),
    "fonts-breip": ("truetype/breip/Breip.ttf",),
    "fonts-cabin": (
        "opentype/cabin/Cabin-Medium.otf",
        "opentype/cabin/Cabin-Bold.otf",
    ),
    "fonts-cantarell": ("opentype/cantarell/Cantarell-Bold.otf",),
    "fonts-clear-sans": ("truetype/clear-sans/ClearSans-Medium.ttf",),
    "fonts-comfortaa": ("truetype/comfortaa/Comfortaa-Bold.ttf",),
    "fonts-comic-neue": ("opentype/comic-neue/ComicNeue-Bold.otf",),
    "fonts-courier-prime": ("opentype/courier-prime/Courier Prime Bold.otf",),
    "fonts-crosextra-caladea": ("truetype/crosextra/Caladea-Bold.ttf",),
    "fonts-crosextra-carlito": (
        "truetype/crosextra/Carlito-Regular.ttf",
        "truetype/crosextra/Carlito-Bold.ttf",
    ),
    "fonts-dejavu-core": (
        "truetype/dejavu/DejaVuSans.ttf",
        "truetype/dejavu/DejaVuSans-Bold.ttf",
        "truetype/dejavu/DejaVuSerif-Bold.ttf",
    ),
    "fonts-dejavu-extra": ("truetype/dejavu/DejaVuSansCondensed-Bold.ttf",),
    "fonts-dosis": (
        "opentype/dosis/Dosis-SemiBold.otf",
        "opentype/dosis/Dosis-ExtraBold.otf",
    ),
    "fonts-firacode": (
        "truetype/firacode/FiraCode-Medium.ttf",
        "truetype/firacode/FiraCode-Bold.ttf",
    ),
    "fonts-freefont-ttf": (
        "truetype/freefont/FreeSans.ttf",
        "truetype/freefont/FreeSansBold.ttf",
        "truetype/freefont/FreeSerifBold.ttf",
    ),
    "fonts-go": (
        "fonts-go/Go-Medium.ttf",
        "fonts-go/Go-Bold.ttf",
    ),
    "fonts-hack": ("truetype/hack/Hack-Bold.ttf",),
    "fonts-humor-sans": ("truetype/humor-sans/Humor-Sans.ttf",),
    "fonts-inter": (
        "opentype/inter/Inter-Medium.otf",
        "opentype/inter/Inter-Bold.otf",
    ),
    "fonts-jetbrains-mono": (
        "truetype/jetbrains-mono/JetBrainsMono-Medium.ttf",
        "truetype/jetbrains-mono/JetBrainsMono-ExtraBold.ttf",
    ),
    "fonts-jura": (
        "opentype/jura/Jura-SemiBold.otf",
        "opentype/jura/Jura-Bold.otf",
    ),
    "fonts-karla": (
        "truetype/karla/Karla-Medium.otf",
        "truetype/karla/Karla-ExtraBold.otf",
    ),
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
        "truetype/liberation/LiberationMono-Bold.ttf",
    ),
    "fonts-linuxlibertine": ("opentype/linux-libertine/LinBiolinum_RB.otf",),
    "fonts-mplus": ("opentype/mplus/Mplus1-Bold.otf",),
    "fonts-national-park": ("opentype/national-park/NationalPark-Regular.otf",),
    "fonts-noto-core": (
        "truetype/noto/NotoSans-Regular.ttf",
        "truetype/noto/NotoSans-Bold.ttf",
        "truetype/noto/NotoSerif-Bold.ttf",
    ),
    "fonts-ocr-b": ("opentype/ocr-b/OCRB.otf",),
    "fonts-open-sans": (
        "truetype/open-sans/OpenSans-Regular.ttf",
        "truetype/open-sans/OpenSans-Semibold.ttf",
        "truetype/open-sans/OpenSans-Bold.ttf",
    ),
    "fonts-opendin": ("truetype/opendin/OSP-DIN.ttf",),
    "fonts-osifont": ("truetype/osifont/osifont.ttf",),
    "fonts-oxygen": (
        "truetype/oxygen/Oxygen-Sans.ttf",
        "truetype/oxygen/Oxygen-Sans-Bold.ttf",
    ),
    "fonts-paratype": (
        "truetype/paratype/PTS75F.ttf",
        "truetype/paratype/PTF75F.ttf",
    ),
    "fonts-play": (
        "truetype/play/Play-Regular.ttf",
        "truetype/play/Play-Bold.ttf",
    ),
    "fonts-quattrocento": ("opentype/quattrocento/Quattrocento-Regular.otf",),
    "fonts-quicksand": (
        "truetype/quicksand/Quicksand-Medium.ttf",
        "truetype/quicksand/Quicksand-Bold.ttf",
    ),
    "fonts-roadgeek": (
        "truetype/roadgeek/RG2014B.ttf",
        "truetype/roadgeek/RG2014D.ttf",
    ),
    "fonts-roboto-unhinted": (
        "truetype/roboto/unhinted/RobotoTTF/Roboto-Regular.ttf",
        "truetype/roboto/unhinted/RobotoTTF/Roboto-Medium.ttf",
        "truetype/roboto/unhinted/RobotoTTF/Roboto-Bold.ttf",
        "truetype/roboto/unhinted/RobotoCondensed-Regular.ttf",
        "truetype/roboto/unhinted/RobotoCondensed-Bold.ttf",
    ),
    "fonts-routed-gothic": (
        "truetype/routed-gothic/routed-gothic.ttf",
        "truetype/routed-gothic/routed-gothic-narrow.ttf",
    ),
    "fonts-sil-andika": ("truetype/andika/Andika-Bold.ttf",),
    "fonts-sora": ("opentype/sora/Sora-SemiBold.otf",),
    "fonts-tiresias": ("truetype/tiresias/tiresias_signfont_bold.ttf",),
    "fonts-tuffy": ("truetype/tuffy/Tuffy_Bold.ttf",),
    "fonts-urw-base35": (
        "opentype/urw-base35/NimbusSans-Regular.otf",
        "opentype/urw-base35/NimbusSans-Bold.otf",
        "opentype/urw-base35/NimbusSansNarrow-Bold.otf",
        "opentype/urw-base35/URWGothic-Book.otf",
        "opentype/urw-base35/URWGothic-Demi.otf",
        "opentype/urw-base35/URWBookman-Demi.otf",
        "opentype/urw-base35/C059-Bold.otf",
        "opentype/urw-base35/P052-Bold.otf",
        "opentype/urw-base35/NimbusRoman-Bold.otf",
        "opentype/urw-base35/NimbusMonoPS-Bold.otf",
        "opentype/urw-base35/Z003-MediumItalic.otf",
    ),
    "fonts-vollkorn": ("truetype/vollkorn/Vollkorn-Bold.ttf",),
    "fonts-yanone-kaffeesatz": ("opentype/yanone-kaffeesatz/YanoneKaffeesatz-Bold.otf",),
}
CALIBRATION_FAMILIES = frozenset(
    [
        "Cabin",
        "Comfortaa",
        "ComicNeue",
        "Courier",
        "Jura",
        "Manrope",
        "P052",
        "Quattrocento",
        "Roboto",
        "Vollkorn",
        "YanoneKaffeesatz",
        "Z003",
    ]
)
"""Families that the weights are not fitted to, a seventh of all and of every kind: confidences are calibrated on them,
because the tiles of most players are unfamiliar to the networks."""
_HANDWRITTEN_STEMS = ("Breip", "Humor-Sans")
_SHAPING_CAP_PX = 96
"""Height of capitals, in px, at which letters are rendered before their shape is varied."""
_ROUND_LETTERS = frozenset("CDGJOQSUОСЭФΘΟΦΩ")


def packaged_fonts() -> tuple[Path, ...]:
    """Return the font files from Python packages that are dependencies. Raises RuntimeError if a package is missing."""
    paths = []
    for package, files in PACKAGED_FONTS.items():
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise RuntimeError(f"the font package {package} is missing: pip install {package.replace('_', '-')}")
        paths += [Path(spec.origin).parent / "files" / name for name in files]
    return tuple(paths)


def installed_fonts(packages: Mapping[str, Sequence[str]], root: Path = DEBIAN_ROOT) -> tuple[Path, ...]:
    """Return the paths of the font files of Debian packages, below `root`.

    `packages` maps the name of each package to its files. Raises RuntimeError with the names of missing packages.
    """
    missing = [package for package, files in packages.items() if not all((root / f).exists() for f in files)]
    if missing:
        raise RuntimeError(f"fonts are missing: apt-get install {' '.join(sorted(missing))}")
    return tuple(root / f for files in packages.values() for f in files)


def training_fonts(root: Path = DEBIAN_ROOT) -> tuple[Path, ...]:
    """Return all font files of the training data. Raises RuntimeError with the names of missing Debian packages."""
    return packaged_fonts() + installed_fonts(DEBIAN_FONTS, root)


def split_by_family(fonts: tuple[Path, ...]) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Split `fonts` into those for training and those for calibration; return both.

    Calibration has the fonts of `CALIBRATION_FAMILIES`. The faces of `tests/data/held_out_fonts.json`, with which
    networks are evaluated, are in neither part.
    """
    return (
        tuple(font for font in fonts if _family_of(font) not in CALIBRATION_FAMILIES),
        tuple(font for font in fonts if _family_of(font) in CALIBRATION_FAMILIES),
    )


def _family_of(font: Path) -> str:
    """Return the name of a font file without its width and weight.

    >>> _family_of(Path("RobotoCondensed-Bold.ttf"))
    'Roboto'
    """
    return re.sub(r"(Condensed|Narrow|Bold)?([-_ ].*)?$", "", font.stem, count=1)


@lru_cache(maxsize=256)
def _load_font(path: Path, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(path), size)


@lru_cache(maxsize=4096)
def _can_draw(path: Path, text: str) -> bool:
    """Return True if the font has a glyph for every character of `text`, other than its placeholder glyph."""
    face = _load_font(path, 40)
    missing = bytes(face.getmask("\U000fffff"))
    return all(bytes(face.getmask(c)) != missing for c in text)


def select_handwritten_fonts(fonts: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the fonts among `fonts` that imitate handwriting, or all `fonts` if there are none."""
    return tuple(path for path in fonts if path.stem in _HANDWRITTEN_STEMS) or fonts


def select_supporting_fonts(fonts: tuple[Path, ...], text: str) -> tuple[Path, ...]:
    """Return the fonts among `fonts` that have a glyph for every character of `text`."""
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


@dataclass(frozen=True, slots=True)
class LetterShape:
    """Geometric variation of the letters of a font: letters differ between makers of tiles."""

    width: float = 1.0
    """Horizontal scale factor."""
    weight: float = 0.0
    """Thickness added to each side of a stroke, as a fraction of the cap height; negative for thinner strokes."""
    squareness: float = 0.0
    """Amount (0..1) by which round letters are deformed towards their bounding box."""
    bridge: float = 0.0
    """Width of the gaps that open the counters of a stencil letter, as a fraction of the cap height."""


PLAIN_SHAPE = LetterShape()


def shaped_mask(path: Path, letter: str, cap: int, shape: LetterShape) -> tuple[Mask, int]:
    """Render a letter like `letter_mask`, with its shape varied by `shape`."""
    if shape == PLAIN_SHAPE:
        return letter_mask(path, letter, cap)
    mask, rise = _shape_letter(path, letter, shape)
    size = (max(1, round(mask.shape[1] * cap / _SHAPING_CAP_PX)), max(1, round(mask.shape[0] * cap / _SHAPING_CAP_PX)))
    return np.asarray(cv2.resize(mask, size, interpolation=cv2.INTER_AREA), np.uint8), round(
        rise * cap / _SHAPING_CAP_PX
    )


@lru_cache(maxsize=512)
def _shape_letter(path: Path, letter: str, shape: LetterShape) -> tuple[Mask, int]:
    mask, rise = letter_mask(path, letter, _SHAPING_CAP_PX)
    if shape.squareness and unicodedata.normalize("NFD", letter)[0] in _ROUND_LETTERS:
        accent = max(rise, 0) if len(unicodedata.normalize("NFD", letter)) > 1 else 0
        mask = np.concatenate([mask[:accent], _square_round_parts(mask[accent:], shape.squareness)])
    width = max(4, round(mask.shape[1] * shape.width))
    mask = np.asarray(cv2.resize(mask, (width, mask.shape[0]), interpolation=cv2.INTER_AREA), np.uint8)
    if shape.bridge:
        mask = _cut_bridges(mask, max(2, round(shape.bridge * _SHAPING_CAP_PX)))
    more = round(abs(shape.weight) * _SHAPING_CAP_PX)
    if not more:
        return mask, rise
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * more + 1, 2 * more + 1))
    if shape.weight > 0:
        mask = np.pad(mask, more)
        return np.asarray(cv2.dilate(mask, kernel), np.uint8), rise + more
    thin = np.asarray(cv2.erode(mask, kernel, borderType=cv2.BORDER_CONSTANT, borderValue=0), np.uint8)
    # Keep the original mask if erosion would break thin strokes.
    return (thin if thin.sum() > 0.5 * mask.sum() else mask), rise


def _cut_bridges(mask: Mask, width: int) -> Mask:
    """Cut vertical gaps of `width` px through the enclosed areas of a letter, as in a stencil."""
    around = cv2.copyMakeBorder(np.asarray(mask < 128, np.uint8), 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=1)
    count, _, boxes, _ = cv2.connectedComponentsWithStats(around, connectivity=4)
    cut = mask.copy()
    for left, _, wide, _, area in boxes[2:count].tolist():  # 0 is the ink, 1 the surroundings
        if area > width:
            x = max(0, left - 1 + (wide - width) // 2)
            cut[:, x : x + width] = 0
    return cut


def _square_round_parts(mask: Mask, square: float) -> Mask:
    """Deform a mask towards the corners of its bounding box by the elliptical disc-to-square mapping.

    `square` (0..1) is the amount of the deformation.
    """
    height, width = mask.shape
    x, y = np.meshgrid(np.linspace(-1, 1, width, dtype=np.float32), np.linspace(-1, 1, height, dtype=np.float32))
    across = (x * np.sqrt(1 - square * y**2 / 2) + 1) * (width - 1) / 2
    down = (y * np.sqrt(1 - square * x**2 / 2) + 1) * (height - 1) / 2
    return np.asarray(cv2.remap(mask, across, down, cv2.INTER_LINEAR), np.uint8)
