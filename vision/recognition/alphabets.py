"""Letter shapes: the letters А (Cyrillic), Α (Greek) and A (Latin) share one class of the network.

The tile set in use decides which of them a tile has.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

_CYRILLIC: Final = zip("АВЕКМНОРСТХІ", "ABEKMHOPCTXI", strict=True)
_GREEK: Final = zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧΓΠΦ", "ABEZHIKMNOPTYXГПФ", strict=True)
_SHAPES: Final = dict([*_CYRILLIC, *_GREEK])
_STROKED_TO_BASE: Final = {"Ł": "L", "Đ": "D", "Ø": "O", "Ґ": "Г"}
"""Letters with a stroke and their base letters, which Unicode does not decompose."""


def letter_shape(tile: str) -> str:
    """Return the letter that represents all letters of this shape."""
    return _SHAPES.get(tile, tile)


def strip_accent(name: str) -> str:
    """Return the shape of a letter without its accent."""
    return letter_shape(_STROKED_TO_BASE.get(name) or unicodedata.normalize("NFD", name)[0]) if len(name) == 1 else name


@lru_cache(maxsize=8)
def map_classes_to_tiles(classes: tuple[str, ...], tiles: tuple[str, ...]) -> tuple[str, ...]:
    """Return, for each of `classes` (shapes), the tile of the set with this shape, or the class itself."""
    own = {letter_shape(tile): tile for tile in tiles}
    return tuple(own.get(name, name) for name in classes)
