"""Letter shapes and alphabets: which classes of the letter network are letters of a tile set.

The letters А (Cyrillic), Α (Greek) and A (Latin) share one class of the network, called a letter shape. The alphabet of
the tile set determines which letter a shape stands for.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import BLANK, EMPTY

Alphabet = NDArray[np.float32]
"""Matrix `(classes, classes)` from `build_alphabet_matrix` that maps class probabilities to an alphabet."""

_FOREIGN_TILE_RATE: Final = 0.01
"""Assumed share of the tiles that look like a foreign letter, a Latin letter outside the tile set, and really show it.
The others show a letter of the set that looks like it."""
_CYRILLIC: Final = zip("АВЕКМНОРСТХІ", "ABEKMHOPCTXI", strict=True)
_GREEK: Final = zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧΓΠΦ", "ABEZHIKMNOPTYXГПФ", strict=True)
_SHAPES: Final = dict([*_CYRILLIC, *_GREEK])
_STROKED_TO_BASE: Final = {"Ł": "L", "Đ": "D", "Ø": "O", "Ґ": "Г"}
"""Base letters of letters with a stroke: Unicode does not decompose these (normal form NFD)."""


def letter_shape(tile: str) -> str:
    """Return the shape of a tile: usually the tile itself, but `A` for the Cyrillic and Greek A, which look like it."""
    return _SHAPES.get(tile, tile)


def strip_accent(name: str) -> str:
    """Return the letter shape of `name` without accent or stroke; a name of several characters is unchanged."""
    return letter_shape(_STROKED_TO_BASE.get(name) or unicodedata.normalize("NFD", name)[0]) if len(name) == 1 else name


def _is_latin_letter(name: str) -> bool:
    """Return True if a class of the network is one of the letters A to Z."""
    return len(name) == 1 and name.isascii() and name.isalpha()


@lru_cache(maxsize=8)
def map_classes_to_tiles(classes: tuple[str, ...], tiles: tuple[str, ...]) -> tuple[str, ...]:
    """Return, for each of `classes` (letter shapes), the tile of this shape among `tiles`, or the class itself."""
    tile_by_shape = {letter_shape(tile): tile for tile in tiles}
    return tuple(tile_by_shape.get(name, name) for name in classes)


@lru_cache(maxsize=8)
def list_foreign_classes(classes: tuple[str, ...], tiles: frozenset[str]) -> list[int]:
    """Return the indices of `classes` that are Latin letters, with or without an accent, but not in `tiles`."""
    possible = set(map(letter_shape, tiles))
    foreign = [name not in possible and _is_latin_letter(strip_accent(name)) for name in classes]
    return np.flatnonzero(foreign).tolist()


@lru_cache(maxsize=8)
def build_alphabet_matrix(classes: tuple[str, ...], tiles: frozenset[str]) -> Alphabet:
    """Return the matrix that maps probabilities of `classes` to the alphabet of the tile set `tiles`.

    - No tile, blank and the letters in `tiles` keep their probabilities.
    - An accented letter counts as its base letter if `tiles` has no accented letter of that base: the accent is then a
      dimple or dirt.
    - A Latin letter whose base is not in `tiles` counts as any letter of `tiles`, with the weight `_FOREIGN_TILE_RATE`.
      So a tile that clearly shows such a letter is a tile, but none of the letters is likely.
    - Other letters are dropped.
    """
    possible = {EMPTY, BLANK, *map(letter_shape, tiles)}
    bases_with_accent = {strip_accent(name) for name in possible if strip_accent(name) != name}
    alphabet = np.zeros((len(classes), len(classes)), np.float32)
    is_letter = np.array([name in possible - {EMPTY, BLANK} for name in classes])
    for row, name in enumerate(classes):
        target = name if name in possible else strip_accent(name)
        if target not in possible and _is_latin_letter(target):
            alphabet[row, is_letter] = _FOREIGN_TILE_RATE / max(is_letter.sum(), 1)
        elif target in possible.intersection(classes) and (target == name or target not in bases_with_accent):
            alphabet[row, classes.index(target)] = 1
    alphabet.flags.writeable = False  # cached: all callers share it
    return alphabet


def restrict_to_alphabet(letters_logp: NDArray[np.float32], alphabet: Alphabet) -> NDArray[np.float64]:
    """Convert log-probabilities `(n, classes)` to probabilities; letters outside `alphabet` get 0."""
    letters_p = np.exp(letters_logp.astype(np.float64)) @ alphabet + 1e-9 * alphabet.any(axis=0)
    return np.asarray(letters_p / letters_p.sum(axis=1, keepdims=True), np.float64)
