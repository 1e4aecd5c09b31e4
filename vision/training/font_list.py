"""Typefaces of the training data: those of Python packages, and font files of the packages listed in `fonts.json`.

Each row of the list names a file with kind, family, package, version and SHA-256: a file of a Debian package below
`/usr/share`, or of an npm package (`@fontsource/...`, Google's open typefaces) below `/usr/local/share/fontsource`.
The kinds are sans, serif, slab, condensed, rounded, script, handwritten, display and stencil.

The field `calibration` is true for a seventh of the families of every kind. These are used to calibrate confidences,
not to fit weights, because the networks do not know the typefaces of most players' tiles either. The families of
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

from fontTools.merge import Merger, Options

from vision.rendering.fonts import packaged_fonts

FONT_LIST: Final = Path(__file__).with_name("fonts.json")
SHARE_ROOT: Final = Path("/usr/share")
DEBIAN_ROOT: Final = SHARE_ROOT / "fonts"
NPM_ROOT: Final = Path("/usr/local/share/fontsource")
_UNUSED_TABLES: Final = ("BASE", "DSIG", "GDEF", "GPOS", "GSUB", "STAT", "cvt ", "fpgm", "gasp", "kern", "meta", "prep")
"""Tables that single letters do not need, such as kerning and hints; some parts of a typeface disagree on them."""
_PACKAGED_CALIBRATION: Final = "Manrope"
"""Beginning of the file names of the one packaged family that is used for calibration."""

_KIND_WEIGHTS: Final = {"serif": 2, "slab": 2, "condensed": 2, "rounded": 2, "stencil": 3}
"""Relative frequency of a font in the training data by its kind; 1 for all other kinds."""


@dataclass(frozen=True, slots=True)
class ListedFont:
    """A font file of a Debian or npm package."""

    kind: str
    family: str
    package: str
    version: str
    file: str
    """Path of the file below a root folder: `NPM_ROOT` for an npm package, `SHARE_ROOT` for a Debian package,
    `DEBIAN_ROOT` for a held-out font."""
    sha256: str
    calibration: bool = False

    @property
    def is_npm(self) -> bool:
        """True if the package is in the npm registry; otherwise it is in Debian."""
        return self.package.startswith("@")

    @property
    def path(self) -> Path:
        """Path at which the package installs this file; valid only for fonts of the training data."""
        return (NPM_ROOT if self.is_npm else SHARE_ROOT) / self.file


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


def training_fonts(root: Path = SHARE_ROOT, npm_root: Path = NPM_ROOT) -> tuple[Path, ...]:
    """Return all font files of the training data.

    Raises RuntimeError with a command that installs the missing Debian or npm packages.
    """
    packages = defaultdict(list)
    for font in load_training_fonts():
        if not font.is_npm:
            packages[font.package].append(font.file)
    debian = installed_fonts(packages, root)
    npm = {font: npm_root / font.file for font in load_training_fonts() if font.is_npm}
    missing = [f"{font.package}@{font.version}" for font, path in npm.items() if not path.exists()]
    if missing:
        raise RuntimeError(f"fonts are missing: npm install --prefix {npm_root} {' '.join(missing)}")
    return packaged_fonts() + debian + tuple(map(add_accents, npm.values()))


def add_accents(path: Path) -> Path:
    """Return a font with all accented letters of a typeface, for a file of an npm package.

    These packages have the letters with the accents of western Europe in a file `-latin-`, and the others, of most
    typefaces, in `-latin-ext-`. Both are merged into a file of the same name in the folder `merged` beside them, once.
    """
    extension = path.with_name(path.name.replace("-latin-", "-latin-ext-"))
    merged = path.parent / "merged" / path.name
    if extension == path or not extension.exists():
        return path
    if not merged.exists():
        merged.parent.mkdir(exist_ok=True)
        unfinished = merged.with_suffix(".unfinished")
        font = Merger(Options(drop_tables=list(_UNUSED_TABLES))).merge([str(path), str(extension)])
        font.flavor = None  # not compressed
        font.save(unfinished)
        unfinished.replace(merged)
    return merged


def select_handwritten_fonts(fonts: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the fonts among `fonts` that imitate handwriting."""
    names = {Path(font.file).name for font in load_training_fonts() if font.kind == "handwritten"}
    return tuple(font for font in fonts if font.name in names)


def weight_by_kind(fonts: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return `fonts` with repetitions: fonts of the kinds that makers of tiles use occur two or three times.

    Without repetitions, half of a random choice would be display, script and handwritten faces.
    """
    kinds = {Path(font.file).name: font.kind for font in load_training_fonts()}
    return tuple(font for font in fonts for _ in range(_KIND_WEIGHTS.get(kinds.get(font.name, ""), 1)))


def split_by_family(fonts: tuple[Path, ...]) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Split `fonts` into those for training and those for calibration; return both."""
    names = {Path(font.file).name for font in load_training_fonts() if font.calibration}
    calibration = {font for font in fonts if font.name in names or font.name.startswith(_PACKAGED_CALIBRATION)}
    return (
        tuple(font for font in fonts if font not in calibration),
        tuple(font for font in fonts if font in calibration),
    )
