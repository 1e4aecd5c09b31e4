"""Word lists: which words are good, held in a compact trie.

The English list that is shipped was made from the npm package `word-list` by this module:

    npm pack word-list@4.1.0
    python -m engine.lexicon word-list-4.1.0.tgz engine/data/lexicon/en.marisa

This is the one module of the engine that needs a library (marisa-trie): a quarter of a million words load in
under a millisecond, and a look-up takes less than one microsecond.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tarfile
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from typing import Any

import marisa_trie

from engine.errors import NotationError
from engine.messages import said
from engine.tiles import TileSet, load_tile_set

MIN_WORD_TILES, MAX_WORD_TILES = 2, 15
"""How many tiles the words of a board of 15 x 15 have."""

MAX_CACHED_LISTS = 8
"""So many compiled lists are kept; the oldest make room."""

NO_LEXICON = "none"
"""The choice of no word list: words are not checked."""

SYSTEM_LIST_DIR = Path("/usr/share/dict")
"""Where Debian's packages wngerman, wfrench, ... put their lists."""

_SYSTEM_LIST_NAMES = {
    "bg": "bulgarian", "ca": "catalan", "da": "danish", "de": "ngerman", "es": "spanish", "fr": "french",
    "ga": "irish", "it": "italian", "nl": "dutch", "no": "bokmaal", "pl": "polish", "pt": "portuguese",
    "sv": "swedish", "uk": "ukrainian",
}  # fmt: skip
_MAX_SYSTEM_LIST_BYTES = 20_000_000  # bytes; Debian's Polish list of three million words would take a Pi's memory
_SHIPPED_LIST_DIR = files("engine") / "data" / "lexicon"
_MARISA_MAGIC = b"We love Marisa."  # how a file that marisa-trie has saved begins
_CONTROL_BYTES = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f\x7f]")
_END_OF_WORD = re.compile(r"[\s,;=]")
_MIDDLE_DOT = "·"  # Catalan L·L is one tile


class LexiconError(NotationError):
    """The file is no word list, or cannot be read; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """A set of good words, in capitals.

    `left_out` counts the entries of the source that are no words of the game, by what is wrong with them.
    `can_decide_challenge` is False for a list that knows too little to rule by: that a word is not in it is advice,
    and people decide.

    >>> lexicon = Lexicon.from_words("example", ["farm", "Ohio", "x-ray"])
    >>> "FARM" in lexicon, "OHIO" in lexicon, dict(lexicon.excluded_counts)
    (True, False, {'capital letter': 1, 'hyphen': 1})
    """

    name: str
    _words: Any = field(repr=False)  # marisa_trie.Trie, which comes without types
    excluded_counts: Mapping[str, int] = field(default_factory=dict, compare=False)
    is_authoritative: bool = True

    def __contains__(self, word: str) -> bool:
        return word in self._words

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)

    def has_prefix(self, text: str) -> bool:
        """True when a word of the list begins so."""
        return next(iter(self._words.iterkeys(text)), None) is not None

    @classmethod
    def load(cls, path: Path) -> Lexicon:
        """A list that `save` wrote. Raises `LexiconError`."""
        try:
            return cls(path.stem, marisa_trie.Trie().load(str(path)))
        except (OSError, RuntimeError) as error:
            raise LexiconError(said("list-not-compiled", "{0}: not a compiled word list ({1})", path, error)) from None

    def save(self, path: Path) -> None:
        """Write the compiled list; the same words make the same bytes. Raises `OSError`."""
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part:
            part.write(self._words.tobytes())
        Path(part.name).chmod(0o644)
        Path(part.name).replace(path)

    @classmethod
    def from_words(cls, name: str, entries: Iterable[str], tiles: TileSet | None = None) -> Lexicon:
        """A list from the entries of a dictionary.

        What the rule sheets forbid is left out and counted: words always capitalised, words with a hyphen or
        an apostrophe, and what has no place on the board. A list all in capitals, and a German one, says
        nothing by its capitals. Letters that `tiles` does not have lose their accents (French É is played E).
        """
        entries = [unicodedata.normalize("NFC", entry) for entry in entries]
        small = sum(entry[:1].islower() for entry in entries)
        large = sum(entry.isupper() for entry in entries)
        capitals_tell = small > 0 and large <= small and (tiles is None or tiles.name != "de")
        letters = frozenset("".join(tiles.letters)) if tiles else frozenset[str]()
        left_out: Counter[str] = Counter()
        words = set()
        for entry in entries:
            fault = _find_fault(entry) or ("capital letter" if capitals_tell and entry != entry.lower() else "")
            word = tiles.upper(entry) if tiles else entry.upper()
            if letters and not letters.issuperset(word):
                word = "".join(letter if letter in letters else _strip_accents(letter) for letter in word)
            if not fault and not MIN_WORD_TILES <= _count_tiles(word, tiles) <= MAX_WORD_TILES:
                fault = f"not {MIN_WORD_TILES} to {MAX_WORD_TILES} letters"
            if fault:
                left_out[fault] += 1
            else:
                words.add(word)
        return cls(name, marisa_trie.Trie(sorted(words)), MappingProxyType(dict(left_out.most_common())))

    @classmethod
    def from_file(cls, path: Path, tiles: TileSet | None = None, cache_dir: Path | None = None) -> Lexicon:
        """The user's own list: one word a line, a definition may follow it; `#` begins a comment.

        UTF-8 or Latin-1, any line ends. A compiled list is taken as it is. With `kept_in`, a folder, the list
        is compiled once and found there the next time. Raises `LexiconError`.
        """
        try:
            data = path.read_bytes()
        except OSError as error:
            text = "{0}: cannot be read ({1}); give a word list, or none"
            raise LexiconError(said("list-unreadable", text, path, error.strerror)) from None
        if data.startswith(_MARISA_MAGIC):
            return cls.load(path)
        key = hashlib.sha256(b"\0".join((b"1", tiles.name.encode() if tiles else b"", data))).hexdigest()[:24]
        if cache_dir and (found := cls._load_cached(path.stem, cache_dir / key)):
            return found
        lexicon = cls.from_words(path.stem, _parse_entries(path, data), tiles)
        if not len(lexicon):
            text = "{0}: holds no word of {1} to {2} letters; put one on each line"
            raise LexiconError(said("list-empty", text, path, MIN_WORD_TILES, MAX_WORD_TILES))
        if cache_dir:
            lexicon._save_cached(cache_dir / key)
        return lexicon

    @classmethod
    def _load_cached(cls, name: str, path: Path) -> Lexicon | None:
        """A list compiled before; None where there is none, or it is damaged."""
        try:
            left_out = MappingProxyType(json.loads(path.with_suffix(".json").read_text(encoding="utf-8")))
            return cls(name, cls.load(path.with_suffix(".marisa"))._words, left_out)
        except (OSError, ValueError):
            return None

    def _save_cached(self, path: Path) -> None:
        # Where nothing can be written (a read-only card) the list is compiled each time; that is all.
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".json").write_text(json.dumps(dict(self.excluded_counts)), encoding="utf-8")
            self.save(path.with_suffix(".marisa"))
            lists = path.parent.glob(f"{'?' * len(path.name)}.json")
            by_age = sorted(lists, key=lambda file: (file.stem == path.name, file.stat().st_mtime_ns))
            for old in by_age[:-MAX_CACHED_LISTS]:
                old.unlink(missing_ok=True)
                old.with_suffix(".marisa").unlink(missing_ok=True)


def open_lexicon(
    choice: str | None, language: str, cache_dir: Path | None = None, system_dir: Path = SYSTEM_LIST_DIR
) -> Lexicon | None:
    """The word list to check by, or None where words are not checked.

    `choice` is a file, `none`, or None for the list that is shipped for the language (English has one) or else the one
    that the system has; `language` is the name of the tile set. A list of the system never decides. Raises
    `LexiconError`.
    """
    if choice == NO_LEXICON:
        return None
    shipped = _SHIPPED_LIST_DIR / f"{language.partition('_')[0]}.marisa"
    if choice is not None:
        path = Path(choice).expanduser()
    elif shipped.is_file():
        with as_file(shipped) as packed:
            return Lexicon.load(packed)
    elif not _is_usable(path := system_dir / _SYSTEM_LIST_NAMES.get(language, language)):
        return None
    return replace(
        Lexicon.from_file(path, load_tile_set(language), cache_dir), is_authoritative=path.parent != system_dir
    )


def _is_usable(system_list: Path) -> bool:
    return system_list.is_file() and system_list.stat().st_size <= _MAX_SYSTEM_LIST_BYTES


def default_cache_dir() -> Path:
    """Where compiled word lists of the user are kept (XDG base directories)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tilekeeper"


def _find_fault(entry: str) -> str:
    """What makes an entry no word, whatever its case; empty if nothing does."""
    if entry.replace(_MIDDLE_DOT, "").isalpha():
        return ""
    if any(sign in entry for sign in "-‐‑–"):
        return "hyphen"
    if any(sign in entry for sign in "'’ʼ`´"):
        return "apostrophe"
    return "not only letters"


def _count_tiles(word: str, tiles: TileSet | None) -> int:
    """How many tiles a word takes; only a long one needs counting."""
    if tiles is None or len(word) <= MAX_WORD_TILES:
        return len(word)
    try:
        return len(tiles.split(word))
    except NotationError:
        return len(word)


def _strip_accents(letter: str) -> str:
    """A letter without its accents."""
    return "".join(part for part in unicodedata.normalize("NFD", letter) if not unicodedata.combining(part))


def _parse_entries(path: Path, data: bytes) -> list[str]:
    """The first word of each line of a word list. Raises `LexiconError` if the data is no text."""
    lines = [line.strip() for line in _decode_text(path, data).splitlines()]
    return [_END_OF_WORD.split(line, maxsplit=1)[0] for line in lines if line and not line.startswith("#")]


def _decode_text(path: Path, data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    elif _CONTROL_BYTES.search(data):
        text = "{0}: not a text file; export the word list as plain text, one word a line"
        raise LexiconError(said("list-not-text", text, path))
    else:
        encodings = ["utf-8-sig", "iso-8859-1"]
    for encoding in encodings:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    text = "{0}: not a text file; save the word list as UTF-8, one word a line"
    raise LexiconError(said("list-not-utf8", text, path))


def _compile_list(source: Path, target: Path) -> Lexicon:
    """Compile a word list, or the one inside a package of npm, into `target`."""
    if source.suffix == ".tgz":
        with tarfile.open(source) as package:
            member = package.extractfile("package/words.txt")
            if member is None:
                raise LexiconError(said("list-no-package", "{0}: has no package/words.txt", source))
            lexicon = Lexicon.from_words(target.stem, _parse_entries(source, member.read()))
    else:
        lexicon = Lexicon.from_file(source)
    lexicon.save(target)
    return lexicon


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m engine.lexicon WORDS TARGET.marisa")
    compiled = _compile_list(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"{len(compiled)} words; left out: {dict(compiled.excluded_counts)}")
