"""Word lists in a compact trie.

A list is built from words (`Lexicon.from_words`) or from the bytes of a compiled list (`Lexicon.from_bytes`).
`parse_entries` returns the words in the bytes of a text file. `device.storage.lexicons` reads the files and keeps
compiled lists in a cache.

The trie is that of marisa-trie, the only library that the engine needs. With marisa-trie, a list of 250,000 words
loads in two milliseconds, and a look-up takes less than one microsecond.
"""

from __future__ import annotations

import codecs
import io
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any, Protocol

import marisa_trie

from engine.errors import NotationError
from engine.limits import MAX_LEXICON_LINES
from engine.messages import make_message
from engine.tiles import TileSet

MIN_WORD_TILES, MAX_WORD_TILES = 2, 15
"""Minimum and maximum length of a word, in tiles, on a board of 15 x 15 squares."""

_SHIPPED_LIST_DIR = files("engine") / "data" / "lexicon"
_SHIPPED_SUFFIX = ".marisa"
_MARISA_MAGIC = b"We love Marisa."  # first bytes of every trie; no word has a space, so they are nowhere else
_CONTROL_BYTES = bytes((*range(0x09), *range(0x0E, 0x1A), *range(0x1C, 0x20), 0x7F))
_END_OF_WORD = re.compile(r"[\s,;=]")
_APOSTROPHES = "'’ʼ`´"
_NO_APOSTROPHES = str.maketrans("", "", _APOSTROPHES)
_MIDDLE_DOT = "·"  # Catalan L·L is one tile
_BLOCK_BYTES = 1 << 20
_BLOCK_CHARS = 1 << 14
_BATCH_ENTRIES = 1 << 12
_MAX_TRIE_WORDS = 100_000  # marisa-trie takes 100 bytes a word while it builds a trie, and more time a word for more


class WordList(Protocol):
    """The protocol of word lists: a container of words that supports the operator `in`."""

    def __contains__(self, word: str, /) -> bool:
        """Return True if the word is in the list."""
        ...


class LexiconError(NotationError):
    """Error for data that is not a word list. The message explains how to fix the file."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """A set of valid words, in capitals.

    `excluded_counts` has the number of entries of the source that are not valid words, by reason. `is_authoritative` is
    False for an incomplete list, which must not decide a challenge: it only gives the players a hint that a word is
    unlisted.

    >>> lexicon = Lexicon.from_words("example", ["farm", "Ohio", "x-ray"])
    >>> "FARM" in lexicon, "OHIO" in lexicon, dict(lexicon.excluded_counts)
    (True, False, {'hyphen': 1, 'capital letter': 1})
    """

    name: str
    _tries: tuple[Any, ...] = field(repr=False)  # of marisa_trie.Trie, which has no type annotations
    excluded_counts: Mapping[str, int] = field(default_factory=dict, compare=False)
    is_authoritative: bool = True

    def __contains__(self, word: str) -> bool:
        return any(word in trie for trie in self._tries)

    def __iter__(self) -> Iterator[str]:
        return itertools.chain.from_iterable(self._tries)

    def __len__(self) -> int:
        """Return the number of words. In a list of more than 100,000 words, a repeated word may count twice."""
        return sum(map(len, self._tries))

    @classmethod
    def from_bytes(cls, name: str, data: bytes, excluded_counts: Mapping[str, int] = MappingProxyType({})) -> Lexicon:
        """Return the word list from the bytes of a compiled list, as `to_bytes` returns. Raises `LexiconError`.

        First verify data that may be damaged, for example with a checksum. marisa-trie verifies only the header, and a
        damaged trie can crash the interpreter.
        """
        try:
            if not is_compiled(data):
                raise RuntimeError("wrong header")
            tries = tuple(marisa_trie.Trie().frombytes(_MARISA_MAGIC + part) for part in data.split(_MARISA_MAGIC)[1:])
            return cls(name, tries, excluded_counts)
        except RuntimeError as error:
            raise LexiconError(
                make_message(
                    "list-not-compiled",
                    "{0} is not a compiled word list ({1}). Compile it again, or use a text file.",
                    name,
                    error,
                )
            ) from None

    def to_bytes(self) -> bytes:
        """Return the word list as bytes, in compiled form. The same entries give the same bytes."""
        return b"".join(trie.tobytes() for trie in self._tries)

    @classmethod
    def from_words(cls, name: str, entries: Collection[str] | Entries, tiles: TileSet | None = None) -> Lexicon:
        """Build a word list from the entries of a dictionary. The entries are iterated twice.

        Entries that the rule sheets forbid are excluded and counted: words that are always capitalised, words with a
        hyphen or an apostrophe, and words that do not fit the board. A word with capital letters is kept if most words
        of the list are in capitals, or if the list is German. Accents are removed from letters that are not in `tiles`
        (French É is played as E).
        """
        small = large = 0
        for batch in _read_batches(entries):
            small += sum(map(str.islower, batch))
            large += sum(map(str.isupper, batch))
        has_capital_names = small > 0 and large <= small and (tiles is None or tiles.language_code != "de")
        excluded: Counter[str] = Counter()
        batches = _read_batches(entries)
        words = itertools.chain.from_iterable(
            _find_words(batch, tiles, has_capital_names, excluded) for batch in batches
        )
        tries = []
        for first in words:
            part = itertools.chain([first], itertools.islice(words, _MAX_TRIE_WORDS - 1))
            tries.append(marisa_trie.Trie(part, num_tries=1, order=marisa_trie.LABEL_ORDER))  # the fastest to build
        return cls(name, tuple(tries), MappingProxyType(dict((+excluded).most_common())))


def can_decide_challenge(words: WordList | None) -> bool:
    """Return True if a word list may decide challenges. An advisory list only gives hints."""
    return not isinstance(words, Lexicon) or words.is_authoritative


def find_deciding_words(words: WordList | None) -> WordList | None:
    """Return the word list if it may decide challenges, otherwise None."""
    return words if can_decide_challenge(words) else None


def is_listed(word: str, words: WordList | None) -> bool | None:
    """Return True if the word list contains a word, and None without a list or for a word with an unnamed blank."""
    return None if words is None or "?" in word else word in words


def is_word_listed(letters: Sequence[str], words: WordList | None, tiles: TileSet) -> bool | None:
    """Return True if the word list contains the word that the tiles with these letters spell.

    Return None without a list, for a word with an unnamed blank, and if the list cannot decide: it has only the text of
    the word, which may be that of other tiles. Spanish CALLE needs the tile LL, so the tiles L and L are not listed.
    But in Hungarian, only players know whether the SZ of a word is one tile or two.
    """
    listed = is_listed("".join(letters), words)
    if listed and tiles.has_other_split(letters):
        return False if tiles.has_fixed_digraphs else None
    return listed


def is_compiled(data: bytes) -> bool:
    """Return True if the data has the header of a compiled word list."""
    return data.startswith(_MARISA_MAGIC)


def load_shipped_lexicon(language: str) -> Lexicon | None:
    """Return the word list in this package for a language, or None for a language without a packaged list.

    `language` is the name of a tile set. Only English has a packaged list.

    >>> lexicon = load_shipped_lexicon("en")
    >>> "QI" in lexicon, "HRON" in lexicon
    (True, False)
    """
    shipped = _find_shipped_list(language)
    code = shipped.name.removesuffix(_SHIPPED_SUFFIX)
    return Lexicon.from_bytes(code, shipped.read_bytes()) if shipped.is_file() else None


def has_shipped_lexicon(language: str) -> bool:
    """Return True if this package has a word list for a language; `language` is the name of a tile set."""
    return _find_shipped_list(language).is_file()


def _find_shipped_list(language: str) -> Traversable:
    """Return the file of the packaged word list for a tile set; it may not exist."""
    return _SHIPPED_LIST_DIR / f"{language.partition('_')[0]}{_SHIPPED_SUFFIX}"


class Entries:
    """The entries of a word list: the first word of each line of a text, read again at each iteration.

    A Python list of all entries would take ten times the memory of the text. Iteration raises `LexiconError` after
    `MAX_LEXICON_LINES` lines.
    """

    def __init__(self, source: str, data: bytes, encoding: str) -> None:
        self._source = source
        self._data = data
        self._encoding = encoding

    def __iter__(self) -> Iterator[str]:
        return itertools.chain.from_iterable(self.read_batches())

    def read_batches(self) -> Iterator[list[str]]:
        """Yield the entries in lists, each from about `_BLOCK_CHARS` characters of text. Raises `LexiconError`."""
        line_count = 0
        with io.TextIOWrapper(io.BytesIO(self._data), self._encoding, errors="ignore", newline=None) as text:
            while block := text.read(_BLOCK_CHARS):
                block += text.readline()
                lines = block.splitlines()
                line_count += len(lines)
                if line_count > MAX_LEXICON_LINES:
                    reason = "{0} has more than {1} lines. Use a shorter word list."
                    raise LexiconError(make_message("list-many-lines", reason, self._source, MAX_LEXICON_LINES))
                yield lines if _has_only_words(block, lines) else _parse_lines(lines)


def _has_only_words(block: str, lines: list[str]) -> bool:
    """Return True if each line of a block of text is a single word without a definition, as in most lists."""
    return block.split() == lines and not any(sign in block for sign in "#,;=")


def _parse_lines(lines: Iterable[str]) -> list[str]:
    """Return the first word of each line that is neither empty nor a comment."""
    entries = [entry for line in lines if (entry := line.strip()) and not entry.startswith("#")]
    return [entry if entry.isalpha() else _END_OF_WORD.split(entry, maxsplit=1)[0] for entry in entries]


def parse_entries(source: str, data: bytes) -> Entries:
    """Return the first word of each line in a text file with a word list. Lines that begin with `#` are skipped.

    A definition may follow the word. The text is UTF-8, UTF-16 with a byte order mark, or Latin-1, with any line
    ends. `source` is the name of the list in error messages. Raises `LexiconError` if the data is not text.

    >>> list(parse_entries("club", b"# our list\\nAAH to exclaim in surprise\\nQI\\n"))
    ['AAH', 'QI']
    """
    return Entries(source, data, _find_encoding(source, data))


_MAX_TORN_BYTES = 3
"""Maximum length of an incomplete UTF-8 character, in bytes."""


def _find_encoding(source: str, data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    elif any(len(block.translate(None, _CONTROL_BYTES)) < len(block) for block in _split_blocks(data)):
        text = "{0} is not a text file. Save the word list as plain text, with one word on each line."
        raise LexiconError(make_message("list-not-text", text, source))
    else:
        encodings = ["utf-8-sig", "iso-8859-1"]
    for encoding in encodings:
        try:
            for _ in codecs.iterdecode(_split_blocks(data), encoding):
                pass
        except UnicodeDecodeError as error:
            is_torn = error.reason == "unexpected end of data" and not data[:-_MAX_TORN_BYTES].isascii()
            if not is_torn:  # a text that was cut inside its last character is still UTF-8
                continue
        return encoding
    text = "{0} is not a UTF-8 text file. Save the word list as UTF-8, with one word on each line."
    raise LexiconError(make_message("list-not-utf8", text, source))


def _split_blocks(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), _BLOCK_BYTES):
        yield data[start : start + _BLOCK_BYTES]


def _read_batches(entries: Iterable[str]) -> Iterator[list[str]]:
    """Yield the entries in lists, because the standard library processes lists faster than single entries."""
    if isinstance(entries, Entries):
        yield from entries.read_batches()
        return
    remaining = iter(entries)
    while batch := list(itertools.islice(remaining, _BATCH_ENTRIES)):
        yield batch


def _find_words(
    entries: list[str], tiles: TileSet | None, has_capital_names: bool, excluded: Counter[str]
) -> list[str]:
    """Return the valid words in capitals, and count the other entries in `excluded`; see `Lexicon.from_words`."""
    if not unicodedata.is_normalized("NFC", "".join(entries)):
        entries = [unicodedata.normalize("NFC", entry) for entry in entries]
    has_apostrophe = tiles is not None and tiles.has_apostrophe()
    spelled = list(filter(str.isalpha, entries))
    for entry in entries if len(spelled) < len(entries) else ():
        if fault := _find_fault(entry, has_apostrophe):
            excluded[fault] += 1
        elif not entry.isalpha():
            spelled.append(entry)
    words = [entry for entry in spelled if entry.islower() or entry == entry.lower()] if has_capital_names else spelled
    excluded["capital letter"] += len(spelled) - len(words)
    text = "\n".join(words)  # one call for all words, because calls for single words take five times as long
    capitals = (tiles.fold(text) if tiles else text.upper()).split("\n") if words else []
    most_letters = MAX_WORD_TILES * max(map(len, tiles.counts)) if tiles else MAX_WORD_TILES
    fitting = [
        word
        for word in capitals
        if MIN_WORD_TILES <= (length := len(word)) <= most_letters
        and (length <= MAX_WORD_TILES or _fits_board(word, tiles))
    ]
    excluded[f"not {MIN_WORD_TILES} to {MAX_WORD_TILES} letters"] += len(capitals) - len(fitting)
    return fitting


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
        return "hyphen"
    if any(sign in letters for sign in _APOSTROPHES):
        return "apostrophe"
    return "not only letters"


def _fits_board(word: str, tiles: TileSet | None) -> bool:
    """Return True if a word of more than 15 letters needs at most 15 tiles: a tile may have several letters."""
    try:
        return tiles is not None and len(tiles.split(word)) <= MAX_WORD_TILES
    except NotationError:
        return False
