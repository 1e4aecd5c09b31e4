"""Tiles, and the tile sets of languages and editions.

A tile of a tile set is a string: one letter or more (`A`, `Ä`, Spanish `CH`), or `?` for the blank. A tile on the
board is a `Tile`, which also has the letter that a blank stands for.
"""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

from engine.errors import NotationError, UnknownTileSetError
from engine.messages import make_message
from engine.reading import BLANK, BOARD_SIZE

_TILE_SET_DIR = files("engine") / "data" / "tilesets"
_APOSTROPHE, _BLANK_APOSTROPHE = "'", "`"
"""The Ukrainian apostrophe as a tile (`_APOSTROPHE`), and the sign for a blank that stands for it
(`_BLANK_APOSTROPHE`).

Other blanks are written in lower case, which an apostrophe does not have. No keyboard uses this sign for an apostrophe.
"""
_BLANK_MARK = "*"
"""Sign after a letter that marks a blank, for scripts without lower case (Hebrew, Arabic)."""
_RARE_INTERVAL = 16
"""Limit for `TileSet.fold`: if a text has at most one character to replace in this number of characters, only the
characters to replace are looked up, which is faster."""
# Other spellings of letters: ligatures, the Greek final sigma, the Hebrew final letters, the Arabic letter yeh without
# dots, the apostrophes of keyboards and word lists, and the dots of the Catalan L·L.
_SPELLINGS = str.maketrans(
    {"Œ": "OE", "œ": "oe", "ς": "σ", "’": "'", "ʼ": "'", "´": "'", "Ǆ": "DŽ", "ǅ": "Dž", "ǆ": "dž", "Ǉ": "LJ",
     "ǈ": "Lj", "ǉ": "lj", "Ǌ": "NJ", "ǋ": "Nj", "ǌ": "nj", "Ĳ": "IJ", "ĳ": "ij", "ך": "כ", "ם": "מ", "ן": "נ",
     "ף": "פ", "ץ": "צ", "ى": "ي", "Ŀ": "L·", "ŀ": "l·", "•": "·", "‧": "·", "∙": "·", "⋅": "·"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile on the board.

    `letter` is the letter that the tile stands for, in capitals, or `?` for a blank without a named letter.

    >>> str(Tile("A")), str(Tile("A", is_blank=True)), str(Tile.unnamed())
    ('A', 'a', '?')
    """

    letter: str
    is_blank: bool = False
    face: str = field(init=False, repr=False, compare=False)
    """The symbol printed on the tile: a letter, or `?` for a blank."""

    def __post_init__(self) -> None:
        if self.letter == BLANK and not self.is_blank:
            raise NotationError("only a blank can stand for '?'")
        object.__setattr__(self, "face", BLANK if self.is_blank else self.letter)

    @classmethod
    def unnamed(cls) -> Tile:
        """Return a blank whose letter has not been named."""
        return cls(BLANK, is_blank=True)

    @property
    def is_unnamed(self) -> bool:
        """True for a blank whose letter has not been named."""
        return self.letter == BLANK

    def __str__(self) -> str:
        return self.letter if not self.is_blank else _lower(self.letter)


@dataclass(frozen=True, slots=True)
class TileSet:
    """The tiles of one language or edition, with the number and the value of each tile.

    The keys of `counts` and `values` are the tiles, in alphabetical order of the language with the blank last. The
    value of a blank is 0 (rule sheets, Scoring 1). `board_size` is the number of squares on a side of the board.

    If `right_to_left` is True, column A is the right-hand column of the board, and words across are read from the
    right. Squares and plays are the same as in other languages: a word at 8H starts on H8 and continues on I8. Only
    drawings of the board are mirrored. If `by_hand_only` is True, no camera can read the tiles, and turns are entered
    by hand.

    If `has_fixed_digraphs` is True, single tiles may not replace a tile of two letters: C and H are not the tile CH. In
    other languages they may: Hungarian SZ is one tile or two, depending on the word.
    """

    name: str
    language: str
    counts: Mapping[str, int]
    values: Mapping[str, int]
    board_size: int = BOARD_SIZE
    right_to_left: bool = False
    by_hand_only: bool = False
    has_fixed_digraphs: bool = False
    _tile_by_text: Mapping[str, Tile] = field(init=False, repr=False, compare=False)
    """The tile for each of its spellings: `CH` and `Ch` are a tile, `ch` is a blank."""
    _long_forms: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The spellings of more than one character."""
    _divisible_tiles: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The tiles of several letters, each of which is a tile, too."""
    _max_text_length: int = field(init=False, repr=False, compare=False)
    _characters: frozenset[str] = field(init=False, repr=False, compare=False)
    """All characters that occur in a spelling."""
    _needs_folding: re.Pattern[str] = field(init=False, repr=False, compare=False)
    """Pattern of a character that `fold` changes in another way than `str.upper`."""

    def __post_init__(self) -> None:
        forms: dict[str, Tile] = {BLANK: Tile.unnamed()}
        for letter in self.letters:
            forms[self.lower(letter)] = Tile(letter, is_blank=True)
        for letter in self.letters:
            forms[letter] = forms[letter.capitalize() if len(letter) > 1 else letter] = Tile(letter)
        object.__setattr__(self, "_tile_by_text", MappingProxyType(forms))
        object.__setattr__(self, "_long_forms", tuple(form for form in forms if len(form) > 1))
        divisible = (letter for letter in self.letters if len(letter) > 1 and all(c in self.counts for c in letter))
        object.__setattr__(self, "_divisible_tiles", tuple(divisible))
        object.__setattr__(self, "_max_text_length", max(map(len, forms)))
        object.__setattr__(self, "_characters", frozenset("".join(forms)))
        plain = "".join(c for c in (*self._characters, *" \n") if self._fold_character(c) == c.upper())
        object.__setattr__(self, "_needs_folding", re.compile(f"[^{re.escape(plain)}]"))

    @classmethod
    def from_rows(cls, name: str, language: str, rows: Iterable[tuple[str, int, int]]) -> TileSet:
        """Return a tile set from rows (tile, count, value) in alphabetical order."""
        rows = tuple(rows)
        counts = MappingProxyType({tile: count for tile, count, _ in rows})
        values = MappingProxyType({tile: value for tile, _, value in rows})
        return cls(name, language, counts, values)

    def __repr__(self) -> str:
        return f"<TileSet {self.name!r}: {self.language}, {self.tile_count} tiles>"

    @property
    def language_code(self) -> str:
        """The ISO 639 code of the language: the name without the edition (`de` for the set `de_old`)."""
        return self.name.partition("_")[0]

    @property
    def letters(self) -> tuple[str, ...]:
        """The tiles without the blank, in alphabetical order."""
        return tuple(tile for tile in self.counts if tile != BLANK)

    @property
    def tile_count(self) -> int:
        """The number of tiles in the set."""
        return sum(self.counts.values())

    def points(self, tiles: Iterable[str]) -> int:
        """Return the sum of the values of tiles, without premiums. `?` is a blank."""
        return sum(self.values[tile] for tile in tiles)

    def lower(self, letter: str) -> str:
        """Return a letter in the lower case of the language, which is the notation of a blank.

        Turkish has a dotted and a dotless I, which Python's `str.lower` does not distinguish. A letter of a script
        without lower case gets an asterisk.
        """
        if letter == "I" and "İ" in self.counts:
            return "ı"
        return _lower(letter)

    def text(self, tile: Tile) -> str:
        """Return a tile as text: its letter in upper case, in lower case for a blank, or `?` for an unnamed blank."""
        return self.lower(tile.letter) if tile.is_blank else tile.letter

    def parse(self, text: str) -> tuple[Tile, ...]:
        """Parse tiles in a text: upper case for tiles, lower case for named blanks, `?` for unnamed blanks.

        A tile of several letters may be written in square brackets. Without brackets, the longest possible tile is
        used: `CH` is one tile. Raises `NotationError`.

        >>> [str(tile) for tile in load_tile_set("es").parse("CHIcO")]
        ['CH', 'I', 'c', 'O']
        """
        text = text.translate(_SPELLINGS)
        tiles: list[Tile] = []
        at = 0
        while at < len(text):
            if text[at] == "[" and (end := text.find("]", at)) > 0 and text[at + 1 : end] in self._tile_by_text:
                tiles.append(self._tile_by_text[text[at + 1 : end]])
                at = end + 1
                continue
            for length in range(self._max_text_length, 0, -1):
                if tile := self._tile_by_text.get(text[at : at + length]):
                    tiles.append(tile)
                    at += length
                    break
            else:
                wrong = "{0} has the letter {2}, but the tile set {1} has no such tile."
                raise NotationError(make_message("no-such-tile", wrong, repr(text), repr(self.name), repr(text[at])))
        return tuple(tiles)

    def parse_tile(self, text: str) -> Tile:
        """Parse one tile as `parse` does. Raises `NotationError` if the text is empty or has several tiles."""
        tiles = self.parse(text)
        if len(tiles) != 1:
            wrong = "{0} has the letter {2}, but the tile set {1} has no such tile."
            raise NotationError(make_message("no-such-tile", wrong, repr(text), repr(self.name), repr(text)))
        return tiles[0]

    def write(self, tiles: Sequence[Tile]) -> str:
        """Return tiles as a text that `parse` can read. Brackets are added where the text would be ambiguous.

        >>> spanish = load_tile_set("es")
        >>> spanish.write(spanish.parse("CHI[L]L"))
        '[CH]I[L]L'
        """
        texts = [self.text(tile) for tile in tiles]
        written = []
        for place, text in enumerate(texts):
            follow = "".join(texts[place:])
            longer = any(follow.startswith(form) for form in self._long_forms if len(form) > len(text))
            written.append(f"[{text}]" if len(text) > 1 or longer else text)
        return "".join(written)

    def split(self, word: str) -> tuple[str, ...]:
        """Return the tiles that a word needs. The case of the word is ignored. Raises `NotationError`.

        >>> load_tile_set("es").split("chico"), load_tile_set("fr").split("cœur")
        (('CH', 'I', 'C', 'O'), ('C', 'O', 'E', 'U', 'R'))
        """
        return tuple(tile.letter for tile in self.parse(self.upper(word)))

    def has_other_split(self, letters: Sequence[str]) -> bool:
        """Return True if `split` divides the word that is spelled by `letters` into other tiles.

        >>> spanish = load_tile_set("es")
        >>> spanish.has_other_split(("C", "A", "LL", "E")), spanish.has_other_split(("C", "A", "L", "L", "E"))
        (False, True)
        """
        if not self._divisible_tiles:
            return False
        word = "".join(letters)
        return any(tile in word for tile in self._divisible_tiles) and self.split(word) != tuple(letters)

    def fold(self, text: str) -> str:
        """Return a text in capitals, without the accents on letters that are not in the tile set.

        Each character is folded separately, so all words of a list can be folded in one call.
        """
        most = len(text) // _RARE_INTERVAL
        found = [match[0] for match in itertools.islice(self._needs_folding.finditer(text), most + 1)]
        if len(found) > most:
            return text.translate({ord(character): self._fold_character(character) for character in set(text)})
        folded = {character: self._fold_character(character) for character in set(found)}
        return self._needs_folding.sub(lambda match: folded[match[0]], text).upper()

    def _fold_character(self, character: str) -> str:
        """Return a character in capitals, without an accent that no tile has. The result may have several letters."""
        capitals = self.upper(character.translate(_SPELLINGS))
        return "".join(c if c in self._characters else _strip_accents(c) for c in capitals)

    def has_apostrophe(self) -> bool:
        """Return True if the apostrophe is a tile of the set."""
        return _APOSTROPHE in self.counts

    def upper(self, word: str) -> str:
        """Return a word in the upper case of the language."""
        return word.replace("i", "İ").upper() if "İ" in self.counts else word.upper()

    def count_remaining(self, tiles: Iterable[str]) -> Counter[str]:
        """Return how many of each tile are left in the set without `tiles`.

        The number is negative if `tiles` has more of a tile than the set.
        """
        left = Counter(self.counts)
        left.subtract(tiles)
        return left

    def remove_tiles(self, lost: Iterable[str]) -> TileSet:
        """Return the set without the tiles `lost`. Raises `NotationError` if the set has fewer of one of them."""
        lost = tuple(lost)
        if excess := self.find_excess(lost):
            raise NotationError(f"the tile set {self.name!r} has fewer of {', '.join(excess)}")
        return replace(self, counts=MappingProxyType(dict(self.count_remaining(lost))))

    def find_excess(self, tiles: Iterable[str]) -> tuple[str, ...]:
        """Return each tile that occurs in `tiles` more often than in the set."""
        found = Counter(tiles)
        return tuple(tile for tile in {**self.counts, **found} if found[tile] > self.counts.get(tile, 0))


def _lower(letter: str) -> str:
    """Return the notation of a blank that stands for a letter: its lower case, or a mark after a letter without one."""
    small = {"İ": "i", _APOSTROPHE: _BLANK_APOSTROPHE}.get(letter) or letter.lower()
    return small if small != letter or letter == BLANK else letter + _BLANK_MARK


def _strip_accents(letter: str) -> str:
    return "".join(part for part in unicodedata.normalize("NFD", letter) if not unicodedata.combining(part))


def tile_set_names() -> tuple[str, ...]:
    """Return the names that `load_tile_set` accepts."""
    return tuple(sorted(entry.name.removesuffix(".json") for entry in _TILE_SET_DIR.iterdir()))


def playable_tile_set_names() -> tuple[str, ...]:
    """Return the names of the tile sets for a board of 15 x 15 squares, the only size for new games."""
    return tuple(name for name in tile_set_names() if load_tile_set(name).board_size == BOARD_SIZE)


@lru_cache(maxsize=64)
def load_tile_set(name: str, lost: tuple[str, ...] = ()) -> TileSet:
    """Return the packaged tile set with a name such as `en` or `de`, without the tiles that players have lost.

    A letter stays in the set even if all its tiles are lost: a blank may still stand for it. Raises
    `UnknownTileSetError` for an unknown name, and `NotationError` if the set has fewer of a tile than `lost`.

    >>> load_tile_set("de").values["Ä"], load_tile_set("de", ("Ä",)).tile_count
    (6, 101)
    """
    if lost:
        return load_tile_set(name).remove_tiles(lost)
    names = tile_set_names()
    if name not in names:
        raise UnknownTileSetError(f"There is no tile set {name!r}. Choose one of {', '.join(names)}.")
    data = json.loads((_TILE_SET_DIR / f"{name}.json").read_text(encoding="utf-8"))
    tiles = TileSet.from_rows(name, data["language"], (tuple(row) for row in data["tiles"]))
    keys = "board_size", "right_to_left", "by_hand_only", "has_fixed_digraphs"
    return replace(tiles, **{key: data[key] for key in keys if key in data})
