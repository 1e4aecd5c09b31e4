"""Typefaces of the training data: those of Python packages, and font files of Debian packages listed in `fonts.json`.

Each row of the list names a file below `/usr/share` with kind, family, Debian package, version and SHA-256. The kinds
are sans, serif, slab, condensed, rounded, script, handwritten and display.

`calibration` marks a seventh of the families of every kind: they are used to calibrate confidences, not to fit weights.
This is because the networks do not know the typefaces of most players' tiles. The families of
`tests/data/held_out_fonts.json` are not in the list.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from vision.rendering.fonts import packaged_fonts

FONT_LIST: Final = Path(__file__).with_name("fonts.json")
SHARE_ROOT: Final = Path("/usr/share")
DEBIAN_ROOT: Final = SHARE_ROOT / "fonts"
_PACKAGED_CALIBRATION: Final = "Manrope"
"""Beginning of the file names of the one packaged family that is used for calibration."""


@dataclass(frozen=True, slots=True)
class ListedFont:
    """A font file of a Debian package."""

    kind: str
    family: str
    package: str
    version: str
    file: str
    """Path of the file below `SHARE_ROOT`, or below `DEBIAN_ROOT` for a held-out font."""
    sha256: str
    calibration: bool = False


@lru_cache(maxsize=1)
def load_training_fonts() -> tuple[ListedFont, ...]:
    """Return the rows of `fonts.json`."""
    return tuple(ListedFont(**row) for row in json.loads(FONT_LIST.read_text(encoding="utf-8")))


def installed_fonts(packages: Mapping[str, Sequence[str]], root: Path = DEBIAN_ROOT) -> tuple[Path, ...]:
    """Return the paths of the font files of Debian packages, below `root`.

    `packages` maps the name of each package to its files. Raises RuntimeError with the names of missing packages.
    """
    missing = [package for package, files in packages.items() if not all((root / f).exists() for f in files)]
    if missing:
        raise RuntimeError(f"fonts are missing: apt-get install --no-install-recommends {' '.join(sorted(missing))}")
    return tuple(root / f for files in packages.values() for f in files)


def training_fonts(root: Path = SHARE_ROOT) -> tuple[Path, ...]:
    """Return all font files of the training data. Raises RuntimeError with the names of missing Debian packages."""
    packages = defaultdict(list)
    for font in load_training_fonts():
        packages[font.package].append(font.file)
    return packaged_fonts() + installed_fonts(packages, root)


def select_handwritten_fonts(fonts: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the fonts among `fonts` that imitate handwriting."""
    names = {Path(font.file).name for font in load_training_fonts() if font.kind == "handwritten"}
    return tuple(font for font in fonts if font.name in names)


def split_by_family(fonts: tuple[Path, ...]) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Split `fonts` into those for training and those for calibration; return both."""
    names = {Path(font.file).name for font in load_training_fonts() if font.calibration}
    calibration = {font for font in fonts if font.name in names or font.name.startswith(_PACKAGED_CALIBRATION)}
    return (
        tuple(font for font in fonts if font not in calibration),
        tuple(font for font in fonts if font in calibration),
    )
