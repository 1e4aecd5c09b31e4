"""Letters by their shape: А, Α and A look the same, so that the network learns one shape for the three.

Which of them a tile bears follows from the tile set that is played with.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

_CYRILLIC: Final = zip("АВЕКМНОРСТХІ", "ABEKMHOPCTXI", strict=True)
_GREEK: Final = zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧΓΠΦ", "ABEZHIKMNOPTYXГПФ", strict=True)
_SHAPES: Final = dict([*_CYRILLIC, *_GREEK])


def shape(tile: str) -> str:
    """The letter that stands for all that look like this tile's."""
    return _SHAPES.get(tile, tile)


def spoken(classes: Collection[str], tiles: Collection[str]) -> tuple[str, ...]:
    """For each of `classes` (shapes), the tile of the set `tiles` that looks so; without one, the class itself."""
    own = {shape(tile): tile for tile in tiles}
    return tuple(own.get(name, name) for name in classes)
