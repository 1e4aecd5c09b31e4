"""The entries of a word list that are words of the game, and the reasons why others are not."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from enum import StrEnum

from engine.errors import NotationError
from engine.tiles import TileSet

MIN_WORD_TILES, MAX_WORD_TILES = 2, 15
"""Minimum and maximum length of a word, in tiles, on a board of 15 x 15 squares."""

_QUOTES = '"“”„«»'
_MARKS = re.compile(r"[^\w\s.\\'’ʼ`´‐‑–-]+\Z|[¹²³]+\Z")
"""Marks after a word, as clubs put them to new words (`FARM#`). A full stop marks an abbreviation, which is no word."""
_FLAGS_SIGN = "/"  # a spell checker's list has `word/FLAGS`
_APOSTROPHES = "'’ʼ`´"
_NO_APOSTROPHES = str.maketrans("", "", _APOSTROPHES)
_MIDDLE_DOT = "·"  # Catalan L·L is one tile


class Exclusion(StrEnum):
    """The reason why an entry of a list is not a word of the list."""

    CAPITAL = "capital letter"
    HYPHEN = "hyphen"
    APOSTROPHE = "apostrophe"
    NO_WORD = "not only letters"
    NO_TILE = "letter without a tile"
    LENGTH = f"not {MIN_WORD_TILES} to {MAX_WORD_TILES} letters"
    FORMS = "word/FLAGS"  # the entry is a word, but the other forms that its flags stand for are left out


def strip_marks(entries: list[str], excluded: Counter[str]) -> list[str]:
    """Return the entries without quotes, marks and flags of a spell checker; count the flags in `excluded`.

    Letters and their accents are composed.
    """
    if all(map(str.isalpha, entries)):
        return entries
    words = []
    for entry in entries:
        word, sign, _ = unicodedata.normalize("NFC", entry).partition(_FLAGS_SIGN)
        excluded[Exclusion.FORMS] += bool(sign) and word[-1:].isalpha()
        words.append(word if word.isalpha() else _MARKS.sub("", word.strip(_QUOTES)))
    return words


def find_words(entries: list[str], tiles: TileSet | None, has_capital_names: bool, excluded: Counter[str]) -> list[str]:
    """Return the entries that are words to play, in capitals. Count the others in `excluded`, by reason.

    If `has_capital_names` is True, an entry with a capital letter is a name. Otherwise, capital letters mean nothing.
    """
    has_apostrophe = tiles is not None and tiles.has_apostrophe()
    spelled = list(filter(str.isalpha, entries))
    for entry in entries if len(spelled) < len(entries) else ():
        if fault := _find_fault(entry, has_apostrophe):
            excluded[fault] += 1
        elif not entry.isalpha():
            spelled.append(entry)
    words = [entry for entry in spelled if entry.islower() or entry == entry.lower()] if has_capital_names else spelled
    excluded[Exclusion.CAPITAL] += len(spelled) - len(words)
    text = "\n".join(words)  # one call for all words, because calls for single words take five times as long
    capitals = tiles.fold(text) if tiles else text.upper()
    spellable = _find_spellable(capitals, tiles) if words else []
    excluded[Exclusion.NO_TILE] += len(words) - len(spellable)
    most_letters = MAX_WORD_TILES * max(map(len, tiles.counts)) if tiles else MAX_WORD_TILES
    fitting = [
        word
        for word in spellable
        if MIN_WORD_TILES <= (length := len(word)) <= most_letters
        and (length <= MAX_WORD_TILES or _fits_board(word, tiles))
    ]
    excluded[Exclusion.LENGTH] += len(spellable) - len(fitting)
    return fitting


def _find_spellable(capitals: str, tiles: TileSet | None) -> list[str]:
    """Return the words in a text, in capitals and one on each line, that have only letters of the tile set."""
    words = capitals.split("\n")
    foreign = re.compile(f"[^{re.escape(''.join(tiles.letters))}\n]") if tiles else None
    if foreign is None or not foreign.search(capitals):
        return words
    return [word for word in words if not foreign.search(word)]


def _find_fault(entry: str, has_apostrophe: bool) -> str:
    """Return the reason to exclude an entry of a dictionary, or an empty string for a valid word.

    This function does not check the case of letters or the length of the word.
    """
    if entry.isalpha():
        return ""
    letters = entry.translate(_NO_APOSTROPHES) if has_apostrophe else entry
    if letters.replace(_MIDDLE_DOT, "").isalpha():
        return ""
    if any(sign in entry for sign in "-‐‑–"):
        return Exclusion.HYPHEN
    if any(sign in letters for sign in _APOSTROPHES):
        return Exclusion.APOSTROPHE
    return Exclusion.NO_WORD


def _fits_board(word: str, tiles: TileSet | None) -> bool:
    """Return True if a word of more than 15 letters needs at most 15 tiles: a tile may have several letters."""
    try:
        return tiles is not None and len(tiles.split(word)) <= MAX_WORD_TILES
    except NotationError:
        return False
