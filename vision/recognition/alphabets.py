"""Letters by their shape: А, Α and A look the same, so that the network learns one shape for the three.

Which of them a tile bears follows from the tile set that is played with.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

_CYRILLIC: Final = zip("АВЕКМНОРСТХІ", "ABEKMHOPCTXI", strict=True)
_GREEK: Final = zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧΓΠΦ", "ABEZHIKMNOPTYXГПФ", strict=True)
_SHAPES: Final = dict([*_CYRILLIC, *_GREEK])
_STROKED_TO_BASE: Final = {"Ł": "L", "Đ": "D", "Ø": "O", "Ґ": "Г"}
"""Letters that are another with a stroke, which Unicode does not take apart."""


def letter_shape(tile: str) -> str:
    """The letter that stands for all that look like this tile's."""
    return _SHAPES.get(tile, tile)


def strip_accent(name: str) -> str:
    """The shape of a letter without its accent; the letter itself where it has none."""
    return letter_shape(_STROKED_TO_BASE.get(name) or unicodedata.normalize("NFD", name)[0]) if len(name) == 1 else name


@lru_cache(maxsize=8)
def map_classes_to_tiles(classes: tuple[str, ...], tiles: tuple[str, ...]) -> tuple[str, ...]:
    """For each of `classes` (shapes), the tile of the set `tiles` that looks so; without one, the class itself."""
    own = {letter_shape(tile): tile for tile in tiles}
    return tuple(own.get(name, name) for name in classes)
