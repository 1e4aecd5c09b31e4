"""Word lists on disk: files named by the user, word lists of the operating system, and a cache of compiled lists."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from device.catalogue import get_text
from device.player_names import is_displayable
from device.storage.files import find_home_folder, read_small_file, write_file
from engine.lexicon import (
    Lexicon,
    LexiconError,
    has_shipped_lexicon,
    is_compiled,
    load_shipped_lexicon,
    parse_entries,
)
from engine.limits import MAX_LEXICON_BYTES, MAX_LEXICON_LINE_BYTES
from engine.list_entries import MAX_WORD_TILES, MIN_WORD_TILES
from engine.tiles import TileSet, load_tile_set

MAX_CACHED_LISTS = 8
"""Largest number of compiled word lists in the cache; a further list replaces the oldest."""

NO_LEXICON = "none"
"""Value of the setting `lexicon` for a game without a word list, in which words are not checked."""

SYSTEM_LIST_DIR = Path("/usr/share/dict")
"""Folder of the word lists that Debian's packages wngerman, wfrench and others install."""

_SYSTEM_LIST_NAMES = {
    "bg": "bulgarian", "ca": "catalan", "da": "danish", "de": "ngerman", "es": "spanish", "fr": "french",
    "ga": "irish", "it": "italian", "nl": "dutch", "no": "bokmaal", "pl": "polish", "pt": "portuguese",
    "sv": "swedish", "uk": "ukrainian",
}  # fmt: skip
_CACHE_FORMAT = b"4"  # part of the cache key: lists of another format are not found
_CACHE_SUFFIX = ".lexicon"
_CACHE_KEY_DIGITS = 24
_UPLOAD_SUFFIX = ".txt"
_MAX_UPLOAD_NAME_LENGTH = 60


def open_lexicon(
    choice: str | None, language: str, cache_dir: Path | None = None, system_dir: Path = SYSTEM_LIST_DIR
) -> Lexicon | None:
    """Return the word list for a game, or None if words are not checked.

    `choice` is the path of a file, `none` for no word list, or None for the default. For English, the default is the
    word list in this package; for other languages, it is the list of the operating system, if one is installed. A list
    of the operating system is advisory: it does not decide challenges. `language` is the name of the tile set. Raises
    `LexiconError`.
    """
    if choice == NO_LEXICON:
        return None
    if choice is not None:
        path = _expand_user(choice)
    elif shipped := load_shipped_lexicon(language):
        return shipped
    else:
        path = _find_system_list(language, system_dir)
        if not _is_usable(path):
            return None
    lexicon = read_lexicon(path, load_tile_set(language), cache_dir)
    return replace(lexicon, is_authoritative=path.parent != system_dir)


def has_default_lexicon(language: str, system_dir: Path = SYSTEM_LIST_DIR) -> bool:
    """Return True if `open_lexicon` has a default for the tile set `language`, which it may still fail to read."""
    return has_shipped_lexicon(language) or _is_usable(_find_system_list(language, system_dir))


def read_lexicon(path: Path, tiles: TileSet | None = None, cache_dir: Path | None = None) -> Lexicon:
    """Return the word list in a file: a text in the format of `engine.lexicon.parse_entries`, or a compiled list.

    If `cache_dir` is given, a text is compiled only once: the compiled list is saved in this folder and loaded from it
    the next time. Raises `LexiconError`.
    """
    data = _read_list(path)
    name = "".join(letter if is_displayable(letter) else "?" for letter in path.stem)
    if is_compiled(data):
        return Lexicon.from_bytes(name, data)
    return _parse_list(name, str(path), data, tiles, cache_dir)


def _parse_list(name: str, source: str, data: bytes, tiles: TileSet | None, cache_dir: Path | None) -> Lexicon:
    """Return the word list `name` from the text `data`, or from the cache if possible.

    `source` names the text in error messages.
    """
    if _has_long_line(data):
        raise LexiconError(get_text("list-long-line", source, MAX_LEXICON_LINE_BYTES))
    cached = cache_dir / f"{_make_cache_key(data, tiles)}{_CACHE_SUFFIX}" if cache_dir else None
    if cached and (found := _load_cached(name, cached)):
        return found
    lexicon = Lexicon.from_words(name, parse_entries(source, data), tiles)
    if not len(lexicon):
        raise LexiconError(get_text("list-empty", source, MIN_WORD_TILES, MAX_WORD_TILES))
    if cached:
        with suppress(OSError):  # on a read-only card the list is compiled each time
            _save_cached(lexicon, cached)
    return lexicon


def _expand_user(choice: str) -> Path:
    try:
        return Path(choice).expanduser()
    except RuntimeError:  # `~name` with an unknown user name
        raise _make_unreadable_error(choice, "its user is not known") from None


def _read_list(path: Path) -> bytes:
    """Return the contents of the file of a word list. Raises `LexiconError`."""
    try:
        if path.exists() and not path.is_file():  # opening a FIFO would block
            raise OSError(errno.EINVAL, "it is no file")
        with path.open("rb") as file:
            data = file.read(MAX_LEXICON_BYTES + 1)
    except OSError as error:
        raise _make_unreadable_error(path, error.strerror) from None
    except ValueError as error:  # a NUL character in the name
        raise _make_unreadable_error(repr(str(path)), error) from None
    if len(data) > MAX_LEXICON_BYTES:
        raise LexiconError(get_text("list-large", path, MAX_LEXICON_BYTES // 1_000_000))
    return data


def _has_long_line(data: bytes) -> bool:
    """Return True if a line of a text has more than `MAX_LEXICON_LINE_BYTES` bytes."""
    start = 0
    while len(data) - start > MAX_LEXICON_LINE_BYTES:
        end = start + MAX_LEXICON_LINE_BYTES + 1
        start = max(data.rfind(b"\n", start, end), data.rfind(b"\r", start, end)) + 1
        if not start:
            return True
    return False


def _make_unreadable_error(path: object, reason: object) -> LexiconError:
    return LexiconError(get_text("list-unreadable", path, reason))


def find_system_lists(system_dir: Path = SYSTEM_LIST_DIR) -> tuple[Path, ...]:
    """Return the word lists of the operating system."""
    names = sorted(set(_SYSTEM_LIST_NAMES.values()))
    return tuple(path for name in names if _is_usable(path := system_dir / name))


@dataclass(frozen=True, slots=True)
class OwnLists:
    """The word lists of the table's owner: the one that the settings name, and those that were uploaded.

    `folder` has a sub-folder of uploaded lists for each language of tiles, such as `de`.
    """

    named: Path | None = None
    folder: Path | None = None

    def find(self, tile_set: str) -> Path | None:
        """Return the list for a tile set, or None.

        The list in the settings is used, unless it was uploaded for another language. Otherwise the newest list that
        was uploaded for this language is used.
        """
        language = load_tile_set(tile_set).language_code
        if self.named and self.find_language(self.named) in ("", language):
            return self.named
        return max(self.list_uploads(language), key=_read_change_time, default=None)

    def find_language(self, path: Path) -> str:
        """Return the language code for which a list was uploaded, or an empty text for a list that was not uploaded."""
        return path.parent.name if self.folder and path.parent.parent == self.folder else ""

    def list_uploads(self, language: str = "*") -> tuple[Path, ...]:
        """Return the lists that were uploaded for a language, or for all languages."""
        return tuple(sorted(self.folder.glob(f"{language}/*{_UPLOAD_SUFFIX}"))) if self.folder else ()


def count_words(path: Path, tile_set: str, cache_dir: Path | None = None) -> int | None:
    """Return the number of words that a list has for a tile set, or None if the list cannot be read."""
    try:
        return _count_words(path, path.stat().st_mtime_ns, tile_set, cache_dir)
    except (LexiconError, OSError):
        return None


@lru_cache
def _count_words(path: Path, _changed: int, tile_set: str, cache_dir: Path | None) -> int:
    return len(read_lexicon(path, load_tile_set(tile_set), cache_dir))


def _read_change_time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:  # deleted meanwhile
        return 0


def save_uploaded_list(name: str, data: bytes, folder: Path, tiles: TileSet, cache_dir: Path | None = None) -> Path:
    """Save an uploaded word list in the sub-folder of `folder` for the language of the tiles, and return its path.

    `name` is the name of the file on the user's device. A list of the same name is replaced. Only text is accepted,
    because an invalid compiled list would crash marisa-trie. Raises `LexiconError`, `OSError`.
    """
    if is_compiled(data):
        raise LexiconError(get_text("list-compiled"))
    stem = re.sub(r"[^\w-]+", "-", Path(name).stem).strip("-")[:_MAX_UPLOAD_NAME_LENGTH] or "words"
    _parse_list(stem, stem, data, tiles, cache_dir)
    path = folder / tiles.language_code / f"{stem}{_UPLOAD_SUFFIX}"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, data)
    return path


def find_cache_folder() -> Path:
    """Return the user's folder for the cache of compiled word lists (XDG base directories).

    Raises `HomeFolderError`.
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or find_home_folder() / ".cache") / "tilekeeper"


def _find_system_list(language: str, system_dir: Path) -> Path:
    """Return the path of the word list in `system_dir` for a tile set; it may not exist."""
    code = load_tile_set(language).language_code
    return system_dir / _SYSTEM_LIST_NAMES.get(code, code)


def _is_usable(system_list: Path) -> bool:
    return system_list.is_file() and system_list.stat().st_size <= MAX_LEXICON_BYTES


def _make_cache_key(data: bytes, tiles: TileSet | None) -> str:
    key = hashlib.sha256(b"\0".join((_CACHE_FORMAT, tiles.name.encode() if tiles else b"", b"")))
    key.update(data)
    return key.hexdigest()[:_CACHE_KEY_DIGITS]


def _load_cached(name: str, path: Path) -> Lexicon | None:
    """Return a compiled word list from the cache, or None if the file is missing or its checksum is wrong.

    The checksum is needed because marisa-trie does not validate its input: with an incomplete trie it crashes (SIGSEGV)
    or gives wrong answers.
    """
    try:
        checksum, content = read_small_file(path, 2 * MAX_LEXICON_BYTES).split(b"\n", 1)
        if checksum != _compute_checksum(content):
            return None
        excluded_counts, compiled = content.split(b"\n", 1)
        return Lexicon.from_bytes(name, compiled, json.loads(excluded_counts))
    except (OSError, ValueError):
        return None


def _save_cached(lexicon: Lexicon, path: Path) -> None:
    """Write a compiled word list to the cache.

    The file has three parts: a line with the SHA-256 of the other two parts, a line with the counts of excluded
    words, and the trie.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps(dict(lexicon.excluded_counts)).encode() + b"\n" + lexicon.to_bytes()
    write_file(path, _compute_checksum(content) + b"\n" + content)
    _prune_cache(path)


def _compute_checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _prune_cache(newest: Path) -> None:
    """Keep the `MAX_CACHED_LISTS` newest lists in the cache; delete older lists."""
    pattern = "[0-9a-f]" * _CACHE_KEY_DIGITS
    lists = newest.parent.glob(f"{pattern}{_CACHE_SUFFIX}")
    by_age = sorted(lists, key=lambda file: (file == newest, file.stat().st_mtime_ns))
    for file in by_age[:-MAX_CACHED_LISTS]:
        file.unlink(missing_ok=True)
