"""What the tile sets say about the letters on a board: which set they fit, and how many tiles a set has."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Final

from engine.tiles import TileSet, load_tile_set, tile_set_names
from vision.recognition.alphabet import letter_shape

_UNKNOWN_TILE_COUNT: Final = 0.05
"""Number of tiles of a letter that a set does not have, for `find_better_set`."""
_MIN_BETTER_NATS: Final = 8.0
"""Minimum log-likelihood ratio by which another set explains the letters on the board better: two letters that the set
does not have."""


@lru_cache(maxsize=1)
def _load_tile_sets() -> tuple[tuple[TileSet, Mapping[str, float]], ...]:
    """Return all tile sets that a camera can read, with the logarithm of the share of each letter shape."""
    sets = [tiles for tiles in map(load_tile_set, tile_set_names()) if not tiles.by_hand_only]
    return tuple(
        (tiles, {letter_shape(tile): math.log(count / tiles.tile_count) for tile, count in tiles.counts.items()})
        for tiles in sets
    )


def find_better_set(shapes: Collection[str], tiles: frozenset[str]) -> str | None:
    """Return the name of a tile set that explains the clear letter shapes on a board better than `tiles`, or None."""
    counts = Counter(shapes)
    unknown = {each.name: math.log(_UNKNOWN_TILE_COUNT / each.tile_count) for each, _ in _load_tile_sets()}
    fits = {
        each.name: sum(count * logs.get(shape, unknown[each.name]) for shape, count in counts.items())
        for each, logs in _load_tile_sets()
    }
    given = [fits[each.name] for each, _ in _load_tile_sets() if frozenset(each.letters) == tiles]
    best = max(fits, key=lambda name: fits[name])
    return best if given and fits[best] - max(given) >= _MIN_BETTER_NATS else None


def list_extra_tiles(counts: Mapping[str, int], tiles: frozenset[str]) -> str:
    """Return the symbols, as `? 5, Z 2`, of which `counts` has more than any set with the letters `tiles`."""
    sets = [each for each, _ in _load_tile_sets() if frozenset(each.letters) == tiles]
    limits = {tile: max(each.counts[tile] for each in sets) for tile in sets[0].counts} if sets else {}
    return ", ".join(f"{tile} {counts[tile]}" for tile, limit in limits.items() if counts.get(tile, 0) > limit)
