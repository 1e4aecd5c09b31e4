"""What the tile sets say about the letters on a board: which set they fit, and how many tiles a set has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.tiles import TileSet, load_tile_set, tile_set_names
from vision.geometry import Floats
from vision.recognition.alphabet import letter_shape
from vision.recognition.details import OTHER_VALUE, VALUE_KINDS
from vision.recognition.letters import BLANK_CLASS

_UNKNOWN_TILE_COUNT: Final = 0.05
"""Number of tiles of a letter that a set does not have, for `find_better_set`."""
_MIN_BETTER_NATS: Final = 8.0
"""Minimum log-likelihood ratio by which another set must explain the letters on the board better. Two letters that the
chosen set does not have give about this ratio."""


_MAX_TILES: Final = 150
"""Maximum number of tiles in a set that is played on a board of 15 x 15 squares."""
_EXTRA_TILE_ODDS: Final = 0.02
"""Prior odds of a tile beyond the number in the set, as of two sets that were mixed."""
_MAX_ODDS: Final = 1e6
"""Maximum odds of a tile, so that products of odds are finite."""
_MAX_SETS, _MAX_ALIKE = 3, 6
"""Maximum number of tiles with one symbol: those of `_MAX_SETS` sets, and `_MAX_ALIKE` more, as a set of another
language has."""
_CLEAR_P: Final = 0.8
"""Minimum probability of a tile that is counted to find out whether the numbers of the set hold."""
_MAX_EXTRA_TILES: Final = 1
"""Maximum number of clear tiles beyond those of the set; with more, the numbers of the set are not used."""


@lru_cache(maxsize=1)
def _load_tile_sets() -> tuple[TileSet, ...]:
    """Return all tile sets that a camera can read."""
    return tuple(tiles for tiles in map(load_tile_set, tile_set_names()) if not tiles.by_hand_only)


@lru_cache(maxsize=512)
def _list_log_shares(shape: str) -> Floats:
    """Return the logarithm of the share of tiles with a letter shape in each set of `_load_tile_sets`: `(sets,)`."""
    counts = [{letter_shape(tile): count for tile, count in each.counts.items()} for each in _load_tile_sets()]
    totals = [each.tile_count for each in _load_tile_sets()]
    return np.log([of.get(shape, _UNKNOWN_TILE_COUNT) / total for of, total in zip(counts, totals, strict=True)])


@lru_cache(maxsize=8)
def _find_sets(tiles: frozenset[str]) -> tuple[TileSet, ...]:
    """Return the tile sets whose letters are `tiles`, such as editions of one language with other numbers of tiles."""
    return tuple(each for each in _load_tile_sets() if frozenset(each.letters) == tiles)


def find_better_set(shapes: Collection[str], tiles: frozenset[str]) -> str | None:
    """Return the name of a tile set that explains the clear letter shapes on a board better than `tiles`, or None."""
    sets = _load_tile_sets()
    given = [sets.index(each) for each in _find_sets(tiles)]
    if not given or not shapes:
        return None
    fits = np.sum([count * _list_log_shares(shape) for shape, count in Counter(shapes).items()], axis=0)
    best = int(fits.argmax())
    return sets[best].name if fits[best] - fits[given].max() >= _MIN_BETTER_NATS else None


def list_extra_tiles(counts: Mapping[str, int], tiles: frozenset[str]) -> str:
    """Return the symbols, as `? 5, Z 2`, of which `counts` has more than any set with the letters `tiles`."""
    sets = [each for each in _find_sets(tiles) if each.tile_count <= _MAX_TILES]
    limits = {tile: max(each.counts[tile] for each in sets) for tile in sets[0].counts} if sets else {}
    return ", ".join(f"{tile} {counts[tile]}" for tile, limit in limits.items() if counts.get(tile, 0) > limit)


@lru_cache(maxsize=8)
def list_limits(classes: tuple[str, ...], tiles: frozenset[str]) -> NDArray[np.int64]:
    """Return the number of tiles of each class in the sets with the letters `tiles`: `(classes,)`, 0 if unknown.

    Of several sets, the largest number counts. `classes` are those of the letter network.
    """
    sets = [each for each in _find_sets(tiles) if each.tile_count <= _MAX_TILES]
    counts = [{letter_shape(tile): count for tile, count in each.counts.items()} for each in sets]
    limits = [max((by_shape.get(name, 0) for by_shape in counts), default=0) for name in classes]
    return np.array(limits, np.int64)


@lru_cache(maxsize=8)
def list_values(classes: tuple[str, ...], tiles: frozenset[str]) -> NDArray[np.int64]:
    """Return the indices in `VALUE_KINDS` of the values of the classes in each set with the letters `tiles`.

    The result is `(sets, classes)`, -1 for classes that are not in a set. Sets with equal values count once.
    """
    by_shape = [{letter_shape(tile): each.values[tile] for tile in each.letters} for each in _find_sets(tiles)]
    rows = {tuple(_find_value_kind(values.get(name)) for name in classes) for values in by_shape}
    return np.array(sorted(rows), np.int64).reshape(-1, len(classes))


def _find_value_kind(value: int | None) -> int:
    if value is None:
        return -1
    return VALUE_KINDS.index(str(value) if str(value) in VALUE_KINDS else OTHER_VALUE)


def limit_counts(squares_p: Floats, limits: NDArray[np.int64]) -> Floats:
    """Return the class probabilities of n squares, with doubt about tiles beyond the number in the set.

    `squares_p` `(n, classes)` are the probabilities of the squares, the last one that of a hidden square; `limits` is
    the result of `list_limits`, and 0 for hidden. If the picture clearly shows more tiles than the set has, as with two
    sets, nothing is changed. But a letter on far more squares than several sets have is the print of the board, or the
    tiles are not legible: these squares are hidden.
    """
    squares_p = _hide_repeated_look(squares_p, limits)
    limited_classes = np.flatnonzero(limits)
    clear_counts = (squares_p[:, limited_classes] > _CLEAR_P).sum(axis=0)
    if np.maximum(clear_counts - limits[limited_classes], 0).sum() > _MAX_EXTRA_TILES:
        return squares_p
    limited = squares_p.copy()
    for k in limited_classes.tolist():
        limited[:, k] *= _weigh_by_count(squares_p[:, k], int(limits[k]))
    return np.asarray(limited / limited.sum(axis=1, keepdims=True), np.float64)


def _hide_repeated_look(squares_p: Floats, limits: NDArray[np.int64]) -> Floats:
    """Return the class probabilities of n squares, hidden instead of a letter that far too many squares look like."""
    is_repeated = (limits > 0) & ((squares_p > 0.5).sum(axis=0) > _MAX_SETS * limits + _MAX_ALIKE)
    is_repeated[BLANK_CLASS] = False  # `fusion` tells the look of the board from blanks
    if not is_repeated.any():
        return squares_p
    hidden = np.where(is_repeated, _EXTRA_TILE_ODDS * squares_p, squares_p)
    hidden[:, -1] += 1 - hidden.sum(axis=1)
    return np.asarray(hidden, np.float64)


def _weigh_by_count(p: Floats, limit: int) -> Floats:
    """Return the factors `(n,)` by which the odds of a symbol on each of n squares change if a set has `limit` of it.

    `p` `(n,)` are the probabilities without this knowledge. A number of tiles within the limit has the weight 1, and
    each further tile the weight `_EXTRA_TILE_ODDS`.
    """
    factors = np.ones(len(p))
    likely = np.flatnonzero(p > _EXTRA_TILE_ODDS / 10)
    if len(likely) <= limit or p[likely].sum() < limit / 2:
        return factors
    odds = np.minimum(p[likely] / np.maximum(1 - p[likely], 1e-9), _MAX_ODDS)
    others = np.where(np.eye(len(odds), dtype=np.bool_), 0.0, odds)
    factors[likely] = _sum_weights(others, limit - 1) / _sum_weights(others, limit)
    return factors


def _sum_weights(odds: Floats, limit: int) -> Floats:
    """Return the total weight of all ways in which some of the squares may have a tile, for each row of `odds`: `(n,)`.

    Each row of `odds` `(n, squares)` has the odds of the squares to have the tile. The weight of a set of squares is
    the product of their odds. A set of more than `limit` squares has less weight: for each square beyond the limit, a
    factor `_EXTRA_TILE_ODDS`.
    """
    # sums[:, k] is the sum over the sets of k squares, and beyond the weight of the larger sets.
    sums, beyond = np.zeros((len(odds), limit + 1)), np.zeros(len(odds))
    sums[:, 0] = 1.0
    for column in odds.T:
        beyond += _EXTRA_TILE_ODDS * column * (sums[:, limit] + beyond)
        sums[:, 1:] += column[:, None] * sums[:, :-1]
    return np.asarray(sums.sum(axis=1) + beyond, np.float64)
