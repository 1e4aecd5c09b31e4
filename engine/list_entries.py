"""The entries of a word list that are words of the game, and the reasons why others are not."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from engine.errors import NotationError
from engine.tiles import TileSet

MIN_WORD_TILES, MAX_WORD_TILES = 2, 15
"""Minimum and maximum length of a word, in tiles, on a board of 15 x 15 squares."""

_QUOTES = '"“”„«»'
_MARKS = re.compile(r"[^\w\s.\\'’ʼ`´‐‑–-]+\Z|[¹²³]+\Z")
"""Marks after a word, as clubs put them to new words (`FARM#`). A full stop marks an abbreviation, which is no word."""
_FLAGS_SIGN = "/"  # a spell checker's list has `word/FLAGS`
_AFFIX_RULE = re.compile(
    rb"^(?:SET[ \t]+(?:UTF-8|ISO|KOI8|TIS|cp\d|microsoft)|[SP]FX[ \t]+\S+[ \t]+[YN][ \t]+\d)", re.MULTILINE
)
"""A line of a spell checker's file with the affixes of words (`.aff`): the encoding, or the begin of a group."""
_GAP, _GAP_BYTES = re.compile(r'[\s,;()\[\]{}"]+'), re.compile(rb'[\s,;()\[\]{}"]+')
"""What is between the words of a line."""
_COMMENT = re.compile(rb"(?:^|(?<=[\r\n]))[ \t]*#[^\r\n]*")
_SIGN = re.compile(r"[!-&*-,./-@\\^_`|~]")  # a digit or a sign which a word does not have
_MAX_SIGNS, _MAX_REPEATED, _MAX_WORDS_PER_LINE = 1 / 20, 1 / 20, 40
"""Limits of the words of a text: with signs, and repeated ones, both in a text of several words to a line; and the
words of a line, in a list with definitions."""
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
    REPEATED = "repeated"  # the same word as in another line
    FORMS = "word/FLAGS"  # the entry is a word, but the other forms that its flags stand for are left out


def strip_marks(entries: list[str], excluded: Counter[str]) -> list[str]:
    """Return the entries without quotes, marks and flags of a spell checker; compose letters and their accents.

    An entry with flags is counted in `excluded`, as the other forms that its flags stand for are left out.
    """
    if all(map(str.isalpha, entries)):
        return entries
    words = []
    for entry in entries:
        word, sign, _ = unicodedata.normalize("NFC", entry).partition(_FLAGS_SIGN)
        excluded[Exclusion.FORMS] += bool(sign) and word[-1:].isalpha()  # `1/2` has no flags
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


def has_affix_rules(data: bytes) -> bool:
    """Return True if the data has the affixes that a spell checker adds to its words, and no words."""
    return _AFFIX_RULE.search(data) is not None


def split_rows(text: str) -> list[list[str]]:
    """Return the words in each line of a text that is neither empty nor a comment."""
    rows = (_GAP.split(_GAP.sub(" ", line).strip()) for line in text.splitlines())
    return [row for row in rows if row[0] and not row[0].startswith("#")]


def has_several_words(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if most lines of a text have several words of the list, and not a word and its definition.

    Definitions have signs, or words that other definitions have, too, or only the word before them is in capitals.
    """
    words = [word for row in rows for word in row]
    sign_count = sum(_SIGN.search(word) is not None for word in words)
    return (
        2 * sum(len(row) > 1 for row in rows) > len(rows)
        and 2 * sum(row[0].isupper() != row[-1].isupper() for row in rows) < len(rows)
        and sign_count <= max(1, _MAX_SIGNS * len(words))
        and len(words) - len(set(words)) <= _MAX_REPEATED * len(words)
    )


def is_running_text(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if the lines of a text are too long for words with definitions, or if it is a single line."""
    word_count = sum(map(len, rows))
    return word_count > len(rows) == 1 or word_count > _MAX_WORDS_PER_LINE * len(rows)


def separate_words(data: bytes) -> bytes:
    """Return a text, in UTF-8 or an 8-bit encoding, with each word on a line of its own and without comments."""
    return _GAP_BYTES.sub(b"\n", _COMMENT.sub(b"", data))
