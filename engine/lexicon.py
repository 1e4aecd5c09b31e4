"""Word lists in a compact trie.

A list is built from words (`Lexicon.from_words`), from the bytes of a text file (`parse_entries`) or from the bytes of
a compiled list (`Lexicon.from_bytes`). Files and the cache of compiled lists belong to `device.storage.lexicons`.

The trie comes from marisa-trie, the only library that the engine needs: a quarter of a million words load in two
milliseconds, and a look-up takes less than one microsecond.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Protocol

import marisa_trie

from engine.errors import NotationError
from engine.messages import said
from engine.tiles import TileSet

MIN_WORD_TILES, MAX_WORD_TILES = 2, 15
"""Length of a word, in tiles, on a board of 15 x 15."""

_SHIPPED_LIST_DIR = files("engine") / "data" / "lexicon"
_MARISA_MAGIC = b"We love Marisa."  # first bytes of a trie that marisa-trie has written
_CONTROL_BYTES = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f\x7f]")
_END_OF_WORD = re.compile(r"[\s,;=]")
_APOSTROPHES = "'’ʼ`´"
_NO_APOSTROPHES = str.maketrans("", "", _APOSTROPHES)
_MIDDLE_DOT = "·"  # Catalan L·L is one tile


class WordList(Protocol):
    """Anything that can be asked with `in` if it has a word."""

    def __contains__(self, word: str, /) -> bool:
        """Return True if the word is in the list."""
        ...


class LexiconError(NotationError):
    """The data is not a word list; the message contains the remedy."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """A set of good words, in capitals.

    `excluded_counts` counts the entries of the source that are not words of the game, by reason. `is_authoritative`
    is False for a list that is too incomplete to decide a challenge: then a missing word is only a hint to the
    players.

    >>> lexicon = Lexicon.from_words("example", ["farm", "Ohio", "x-ray"])
    >>> "FARM" in lexicon, "OHIO" in lexicon, dict(lexicon.excluded_counts)
    (True, False, {'capital letter': 1, 'hyphen': 1})
    """

    name: str
    _words: Any = field(repr=False)  # marisa_trie.Trie, which has no type annotations
    excluded_counts: Mapping[str, int] = field(default_factory=dict, compare=False)
    is_authoritative: bool = True

    def __contains__(self, word: str) -> bool:
        return word in self._words

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)

    def has_prefix(self, text: str) -> bool:
        """Return True if a word of the list begins with `text`."""
        return next(iter(self._words.iterkeys(text)), None) is not None

    @classmethod
    def from_bytes(cls, name: str, data: bytes, excluded_counts: Mapping[str, int] = MappingProxyType({})) -> Lexicon:
        """Return the list that `to_bytes` wrote. Raises `LexiconError`.

        marisa-trie does not check its input beyond the header, and a damaged trie can crash the interpreter: verify
        data that may be damaged before it is passed in.
        """
        if not is_compiled(data):
            raise LexiconError(said("list-not-compiled", "{0}: not a compiled word list ({1})", name, "wrong header"))
        try:
            return cls(name, marisa_trie.Trie().frombytes(data), excluded_counts)
        except RuntimeError as error:
            raise LexiconError(said("list-not-compiled", "{0}: not a compiled word list ({1})", name, error)) from None

    def to_bytes(self) -> bytes:
        """Return the compiled list; the same words give the same bytes."""
        data: bytes = self._words.tobytes()
        return data

    @classmethod
    def from_words(cls, name: str, entries: Iterable[str], tiles: TileSet | None = None) -> Lexicon:
        """Build a list from the entries of a dictionary.

        Entries that the rule sheets forbid are left out and counted: words that are always capitalised, words with a
        hyphen or an apostrophe, and words that do not fit the board. In a list that is all in capitals, and in German
        ones, capitals have no meaning. Letters that `tiles` does not have lose their accents (French É is played E).
        """
        entries = [unicodedata.normalize("NFC", entry) for entry in entries]
        small = sum(entry[:1].islower() for entry in entries)
        large = sum(entry.isupper() for entry in entries)
        has_capital_names = small > 0 and large <= small and (tiles is None or tiles.name != "de")
        has_apostrophe = tiles is not None and tiles.has_apostrophe()
        excluded: Counter[str] = Counter()
        words = set()
        for entry in entries:
            fault = _find_fault(entry, has_apostrophe) or (
                "capital letter" if has_capital_names and entry != entry.lower() else ""
            )
            word = tiles.fold(entry) if tiles else entry.upper()
            if not fault and not MIN_WORD_TILES <= _count_tiles(word, tiles) <= MAX_WORD_TILES:
                fault = f"not {MIN_WORD_TILES} to {MAX_WORD_TILES} letters"
            if fault:
                excluded[fault] += 1
            else:
                words.add(word)
        return cls(name, marisa_trie.Trie(sorted(words)), MappingProxyType(dict(excluded.most_common())))


def is_compiled(data: bytes) -> bool:
    """Return True if the data begins like a compiled list."""
    return data.startswith(_MARISA_MAGIC)


def load_shipped_lexicon(language: str) -> Lexicon | None:
    """Return the packaged list of a language, None if there is none (only English has one).

    `language` is the name of a tile set.

    >>> lexicon = load_shipped_lexicon("en")
    >>> "QI" in lexicon, "HRON" in lexicon
    (True, False)
    """
    code = language.partition("_")[0]
    shipped = _SHIPPED_LIST_DIR / f"{code}.marisa"
    return Lexicon.from_bytes(code, shipped.read_bytes()) if shipped.is_file() else None


def parse_entries(source: str, data: bytes) -> list[str]:
    """Return the first word of each line of a word list; `#` begins a comment line.

    A definition may follow the word. The text is UTF-8, UTF-16 with a byte order mark, or Latin-1, with any line
    ends. `source` names the list in errors. Raises `LexiconError` if the data is not text.

    >>> parse_entries("club", b"# our list\\nAAH to exclaim in surprise\\nQI\\n")
    ['AAH', 'QI']
    """
    lines = [line.strip() for line in _decode_text(source, data).splitlines()]
    return [_END_OF_WORD.split(line, maxsplit=1)[0] for line in lines if line and not line.startswith("#")]


def _decode_text(source: str, data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    elif _CONTROL_BYTES.search(data):
        text = "{0}: not a text file; export the word list as plain text, one word a line"
        raise LexiconError(said("list-not-text", text, source))
    else:
        encodings = ["utf-8-sig", "iso-8859-1"]
    for encoding in encodings:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    text = "{0}: not a text file; save the word list as UTF-8, one word a line"
    raise LexiconError(said("list-not-utf8", text, source))


def _find_fault(entry: str, has_apostrophe: bool) -> str:
    """Return why an entry is not a word, whatever its case; empty if it is one."""
    letters = entry.translate(_NO_APOSTROPHES) if has_apostrophe else entry
    if letters.replace(_MIDDLE_DOT, "").isalpha():
        return ""
    if any(sign in entry for sign in "-‐‑–"):
        return "hyphen"
    if any(sign in letters for sign in _APOSTROPHES):
        return "apostrophe"
    return "not only letters"


def _count_tiles(word: str, tiles: TileSet | None) -> int:
    """Return the number of tiles of a word; only a long word has to be split for that."""
    if tiles is None or len(word) <= MAX_WORD_TILES:
        return len(word)
    try:
        return len(tiles.split(word))
    except NotationError:
        return len(word)
