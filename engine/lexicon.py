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
from engine.list_entries import (
    Exclusion,
    find_words,
    has_affix_rules,
    has_several_words,
    is_running_text,
    separate_words,
    split_rows,
    strip_marks,
)
from engine.messages import Message, join_messages, make_message
from engine.text_encoding import DEFAULT_ENCODING, find_encoding
from engine.tiles import TileSet

_SHIPPED_LIST_DIR = files("engine") / "data" / "lexicon"
_SHIPPED_SUFFIX = ".marisa"
_MARISA_MAGIC = b"We love Marisa."  # first bytes of every trie; no word has a space, so they are nowhere else
_CONTROL_BYTES = bytes((*range(0x09), *range(0x0E, 0x1A), *range(0x1C, 0x20), 0x7F))
_END_OF_WORD = re.compile(r"[\s,;=]")
_BLOCK_BYTES = 1 << 20
_BLOCK_CHARS = 1 << 14
_SAMPLE_BYTES = 1 << 15  # of a text, which show whether its lines have one word or several words
_BATCH_ENTRIES = 1 << 12
_MAX_FLAGGED, _MAX_MISREAD, _MAX_NAMES, _MAX_REPEATED, _MAX_EXCLUDED = 1 / 100, 1 / 20, 1 / 2, 1, 2 / 3
"""Limits of the lines of a list that are not words to play.

All but the last are shares of the number of words. A list beyond one of them only gives advice:

- `_MAX_FLAGGED`: lines with the flags of a spell checker
- `_MAX_MISREAD`: lines without a word, or with letters that no tile has
- `_MAX_NAMES`: lines with a capital letter. Real lists have at most one name to four words.
- `_MAX_REPEATED`: lines with a word of another line. A dictionary may have a line for each sense of a word.

A list is refused if more than `_MAX_EXCLUDED` of all its lines are left out. Words that are too long or too short do
not count, because no play can have them.
"""
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

    `excluded_counts` has the number of entries of the source that are not valid words, by reason (`Exclusion`).
    `is_authoritative` is False for an incomplete list, which must not decide a challenge: it only gives the players a
    hint that a word is unlisted. A list is incomplete if it is that of a spell checker, or if many of its lines have no
    word.

    >>> lexicon = Lexicon.from_words("example", ["farm", "Ohio", "x-ray"])
    >>> "FARM" in lexicon, "OHIO" in lexicon, lexicon.excluded_counts["hyphen"]
    (True, False, 1)
    """

    name: str
    _tries: tuple[Any, ...] = field(repr=False)  # of marisa_trie.Trie, which has no type annotations
    excluded_counts: Mapping[str, int] = field(default_factory=dict, compare=False)
    is_authoritative: bool = True

    def __post_init__(self) -> None:
        if self.has_missing_forms or self.has_misread_lines:
            object.__setattr__(self, "is_authoritative", False)

    def __contains__(self, word: str) -> bool:
        return any(word in trie for trie in self._tries)

    def __iter__(self) -> Iterator[str]:
        return itertools.chain.from_iterable(self._tries)

    def __len__(self) -> int:
        """Return the number of words. In a list of more than 100,000 words, a repeated word may count twice."""
        return sum(map(len, self._tries))

    @property
    def has_missing_forms(self) -> bool:
        """True for the list of a spell checker, which has flags in place of most forms of a word."""
        return self._count_excluded(Exclusion.FORMS) > _MAX_FLAGGED * len(self)

    @property
    def has_misread_lines(self) -> bool:
        """True if many lines of the source are not words to play, so that it is probably no word list for this game.

        These are lines without a word, or with letters that no tile has (more than a twentieth of the words), lines
        with a capital letter (more than half as many as words), and lines that repeat a word (more than words). A
        single such line is always accepted.
        """
        misread = self._count_excluded(Exclusion.NO_WORD, Exclusion.NO_TILE)
        names, repeated = self._count_excluded(Exclusion.CAPITAL), self._count_excluded(Exclusion.REPEATED)
        limits = (misread, _MAX_MISREAD), (names, _MAX_NAMES), (repeated, _MAX_REPEATED)
        return any(count > max(1, limit * len(self)) for count, limit in limits)

    def _count_excluded(self, *reasons: Exclusion) -> int:
        return sum(self.excluded_counts.get(reason, 0) for reason in reasons)

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
        of the list have some, or if the list is German. Accents are removed from letters that are not in `tiles`
        (French É is played as E). Marks after a word are removed (`FARM#`), also the flags of a spell checker
        (`farm/MS`). Raises `LexiconError` if most entries are excluded.
        """
        if tiles is not None and isinstance(entries, Entries):
            entries = entries.decode_for(tiles)
        small = large = 0  # if most words are in small letters, those with a capital letter are names
        for batch in _read_batches(entries):
            words_only = strip_marks(batch, Counter())
            small += sum(map(str.islower, words_only))
            large += sum(map(str.isupper, words_only)) + sum(map(str.istitle, words_only))
        has_capital_names = small > large and (tiles is None or tiles.language_code != "de")
        excluded: Counter[str] = Counter()

        def find_batches() -> Iterator[list[str]]:
            for batch in _read_batches(entries):
                found = find_words(strip_marks(batch, excluded), tiles, has_capital_names, excluded)
                excluded[Exclusion.REPEATED] += len(found)
                yield found

        words, tries = itertools.chain.from_iterable(find_batches()), []
        for first in words:
            part = itertools.chain([first], itertools.islice(words, _MAX_TRIE_WORDS - 1))
            tries.append(marisa_trie.Trie(part, num_tries=1, order=marisa_trie.LABEL_ORDER))  # the fastest to build
        excluded[Exclusion.REPEATED] -= sum(map(len, tries))  # the words of all lines, less those of the list
        lexicon = cls(name, tuple(tries), MappingProxyType(dict((+excluded).most_common())))
        _refuse_unusable(lexicon)
        return lexicon


def describe_list(lexicon: Lexicon) -> list[Message]:
    """Return what was read from the source of a word list: the words, the lines that were left out, and its use."""
    texts = [make_message("list-words", "Words read from {0}: {1}.", lexicon.name, len(lexicon))]
    if left_out := _count_left_out(lexicon):
        text = "Lines left out: {0} ({1})."
        texts.append(make_message("list-left-out", text, left_out, _describe_left_out(lexicon)))
    if lexicon.has_missing_forms:
        text = "This is the list of a spell checker: other forms of its words are missing, so it only gives advice."
        texts.append(make_message("list-spell-checker", text))
    elif lexicon.has_misread_lines:
        text = (
            "Many lines have no word for these tiles, so the list only gives advice. Save it as UTF-8 text, with one "
            "word in small letters on each line."
        )
        texts.append(make_message("list-misread", text))
    return texts


def _count_left_out(lexicon: Lexicon) -> int:
    return sum(count for reason, count in lexicon.excluded_counts.items() if reason != Exclusion.FORMS)


def _describe_left_out(lexicon: Lexicon) -> Message:
    reasons = (
        _describe_exclusion(Exclusion(reason), count)
        for reason, count in lexicon.excluded_counts.items()
        if reason != Exclusion.FORMS
    )
    return join_messages("; ", tuple(reasons))


def _describe_exclusion(reason: Exclusion, count: int) -> Message:
    match reason:
        case Exclusion.CAPITAL:
            return make_message("list-capital", "names and other words with a capital letter: {0}", count)
        case Exclusion.HYPHEN:
            return make_message("list-hyphen", "with a hyphen: {0}", count)
        case Exclusion.APOSTROPHE:
            return make_message("list-apostrophe", "with an apostrophe: {0}", count)
        case Exclusion.NO_TILE:
            return make_message("list-no-tile", "with letters that no tile of this set has: {0}", count)
        case Exclusion.REPEATED:
            return make_message("list-repeated", "that repeat a word: {0}", count)
        case Exclusion.LENGTH:
            return make_message("list-length", "too short or too long: {0}", count)
        case _:
            return make_message("list-no-word", "with digits or signs: {0}", count)


def _refuse_unusable(lexicon: Lexicon) -> None:
    """Raise `LexiconError` for a list most of whose lines are left out, for example because of its encoding."""
    left_out = _count_left_out(lexicon)
    usable = left_out - lexicon.excluded_counts.get(Exclusion.LENGTH, 0)
    if usable > _MAX_EXCLUDED * (len(lexicon) + usable):
        text = (
            "{0} cannot be used. Words read: {1}. Lines left out: {2} ({3}). Save the list as UTF-8 text, with one "
            "word on each line, and choose the tiles of its language."
        )
        name, reasons = lexicon.name, _describe_left_out(lexicon)
        raise LexiconError(make_message("list-unusable", text, name, len(lexicon), left_out, reasons))


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

    Return None without a list, for a word with an unnamed blank, and if the list cannot decide. A list has the text of
    a word, not its tiles, and other tiles may spell the same text. In Spanish, the text decides: CALLE needs the tile
    LL, so this word with two tiles L is not listed. In Hungarian, only players know whether SZ is one tile or two.
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

    def decode_for(self, tiles: TileSet) -> Entries:
        """Return the entries in the 8-bit encoding that fits the letters of the tiles, if the text is in an 8-bit one.

        A text does not name its 8-bit encoding. Without a tile set, it is read in `DEFAULT_ENCODING`.
        """
        if self._encoding != DEFAULT_ENCODING:
            return self
        return Entries(self._source, self._data, find_encoding(self._data, tiles))

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
    """Return the words in a text file with a word list. Lines that begin with `#` are skipped.

    They are the first words of the lines, because a definition may follow the word, or all words of lines that have
    several words and no definition. The text is UTF-8, UTF-16 with a byte order mark, or in an 8-bit encoding
    (`Entries.decode_for`), with any line ends. `source` is the name of the list in error messages. Raises
    `LexiconError` if the data is not text.

    >>> list(parse_entries("club", b"# our list\\nAAH to exclaim in surprise\\nQI\\n"))
    ['AAH', 'QI']
    """
    encoding = _find_encoding(source, data)
    if has_affix_rules(data[:_BLOCK_BYTES]):
        text = "{0} has the rules of a spell checker, but not its words. Use the file of the same name with .dic."
        raise LexiconError(make_message("list-affixes", text, source))
    rows = split_rows(data[:_SAMPLE_BYTES].decode(encoding, "ignore"))
    if has_several_words(rows):
        return Entries(source, *_put_words_on_lines(data, encoding))
    if is_running_text(rows):
        text = "{0} has several words on one line. Put one word on each line."
        raise LexiconError(make_message("list-several-words", text, source))
    return Entries(source, data, encoding)


def _put_words_on_lines(data: bytes, encoding: str) -> tuple[bytes, str]:
    """Return a text with each word on a line of its own, and its encoding."""
    if encoding == "utf-16":
        data, encoding = data.decode(encoding, "ignore").encode(), "utf-8"
    return separate_words(data.removeprefix(codecs.BOM_UTF8)), encoding


_MAX_TORN_BYTES = 3
"""Maximum length of an incomplete UTF-8 character, in bytes."""


def _find_encoding(source: str, data: bytes) -> str:
    """Return the encoding of a text: UTF-16 if it begins with a byte order mark, UTF-8, or else `DEFAULT_ENCODING`.

    Raises `LexiconError` if the data is not text.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif any(len(block.translate(None, _CONTROL_BYTES)) < len(block) for block in _split_blocks(data)):
        text = "{0} is not a text file. Save the word list as plain text, with one word on each line."
        raise LexiconError(make_message("list-not-text", text, source))
    else:
        encoding = "utf-8-sig"
    try:
        for _ in codecs.iterdecode(_split_blocks(data), encoding):
            pass
    except UnicodeDecodeError as error:
        # A text that was cut inside its last character is still in this encoding.
        is_torn = error.reason == "unexpected end of data" and not data[:-_MAX_TORN_BYTES].isascii()
        if not is_torn and encoding == "utf-8-sig":
            return DEFAULT_ENCODING
        if not is_torn:
            text = "{0} is not a UTF-8 text file. Save the word list as UTF-8, with one word on each line."
            raise LexiconError(make_message("list-not-utf8", text, source)) from None
    return encoding


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
