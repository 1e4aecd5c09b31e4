"""Find the encoding of a text whose words are spelled with the letters of a tile set.

Older word lists are in the 8-bit encoding of their language, and nothing in such a file names the encoding. In the
right encoding, the words consist of the letters of the tile set, and frequent letters are those with many tiles.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from math import log

from engine.tiles import TileSet

DEFAULT_ENCODING = "cp1252"
"""The 8-bit encoding of Western European languages on Windows, which has all characters of ISO 8859-1."""
_ENCODINGS = (
    DEFAULT_ENCODING, "iso-8859-15",  # Western European
    "cp1250", "iso-8859-2", "cp852", "iso-8859-16",  # Central European
    "cp1251", "koi8-u", "iso-8859-5", "cp866",  # Cyrillic
    "cp1253", "iso-8859-7",  # Greek
    "cp1254", "iso-8859-9",  # Turkish
    "cp1257", "iso-8859-13", "iso-8859-4",  # Baltic
    "cp1255", "iso-8859-8", "cp1256", "iso-8859-6",  # Hebrew, Arabic
    "iso-8859-14",  # Welsh and Irish
    "cp850",  # Western European of DOS
)  # fmt: skip
"""The encodings that are tried. Of several that fit equally well, the first one is used."""
_EQUAL_LOG_LIKELIHOOD = 0.15
"""Difference for each character up to which two encodings fit equally well. Rare signs and accents do not decide."""
_FOLDED, _SPACE, _SIGN, _FOREIGN = log(0.02), log(1e-3), log(1e-4), log(1e-6)
"""Logarithms of the probability of a character that is not a letter of the tile set.

- `_FOLDED`: in relation to a letter of the tile set, the same letter with an accent that no tile has.
- `_SPACE`: a space, and a sign of `_TEXT_SIGNS`.
- `_SIGN`: another sign.
- `_FOREIGN`: a foreign letter, and a byte that the encoding does not use.
"""
_TEXT_SIGNS = "’‘“”„«»–—…"
"""Signs that are common beside words. Some bytes of these signs are letters in other encodings."""
_AFTER_WORD = re.compile(rb"^#[^\r\n]*|[ \t,;=][^\r\n]*", re.MULTILINE)
"""Pattern of a comment, and of the definition after a word, which may have letters that no tile has."""
_COMMON_CASE, _RARE_CASE = log(0.9), log(0.1)
"""Logarithms of the probability that a letter has the case of most letters in the text, or the other case."""


def find_encoding(data: bytes, tiles: TileSet) -> str:
    """Return the 8-bit encoding in which the words of a text most probably consist of the letters of a tile set.

    The words are the first ones of the lines.

    >>> from engine.tiles import load_tile_set
    >>> find_encoding("kot\\nłąka\\nżaba\\n".encode("iso-8859-2"), load_tile_set("pl"))
    'iso-8859-2'
    """
    data = _AFTER_WORD.sub(b"", data)
    counts = Counter(data.translate(None, bytes(range(128))))  # all encodings agree on the other bytes
    ascii_cases = Counter[bool]()
    for byte in b"abcdefghijklmnopqrstuvwxyz":
        ascii_cases[True] += data.count(byte)
        ascii_cases[False] += data.count(byte - 32)
    frequencies = _find_letter_frequencies(tiles)

    def compute_log_likelihood(encoding: str) -> float:
        """Return how probable the text is in this encoding. Words usually have letters of one case only."""
        likelihood, cases = 0.0, ascii_cases.copy()
        for byte, count in counts.items():
            character = bytes([byte]).decode(encoding, "replace")
            likelihood += count * _find_log_probability(character, tiles, frequencies)
            if character.isupper() or character.islower():
                cases[character.islower()] += count
        rare = min(cases[True], cases[False])
        return likelihood + rare * _RARE_CASE + (cases.total() - rare) * _COMMON_CASE

    likelihoods = {encoding: compute_log_likelihood(encoding) for encoding in _ENCODINGS}
    least = max(likelihoods.values()) - _EQUAL_LOG_LIKELIHOOD * max(counts.total(), 1)
    return next(encoding for encoding, likelihood in likelihoods.items() if likelihood >= least)


def _find_letter_frequencies(tiles: TileSet) -> dict[str, float]:
    """Return the share of each letter in the letters of the tiles, for the letter in capitals and in lower case."""
    letters = Counter[str]()
    for tile in tiles.letters:
        for letter in tile:
            letters[letter] += tiles.counts[tile]
    return {
        form: max(count, 0.5) / letters.total()
        for letter, count in letters.items()
        for form in (letter, *tiles.lower(letter))
    }


def _find_log_probability(character: str, tiles: TileSet, frequencies: Mapping[str, float]) -> float:
    """Return the log-probability of a character in a word list of this language; letters have `frequencies`."""
    if frequency := frequencies.get(character):
        return log(frequency)
    folded = tiles.fold(character)
    if folded and all(letter in frequencies for letter in folded):
        return _FOLDED + log(min(frequencies[letter] for letter in folded))
    if character.isspace() or character in _TEXT_SIGNS:
        return _SPACE + _COMMON_CASE  # as much as a letter in the common case
    is_sign = not character.isalpha() and character != "\N{REPLACEMENT CHARACTER}"
    return _SIGN if is_sign else _FOREIGN
