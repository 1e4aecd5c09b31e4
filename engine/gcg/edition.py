"""Find the tile set, the board layout, the kind of game, its variants and its changed tiles in a GCG file.

GCG has no notation for rule variations that change tiles on the board (travel-case, rules 5 A, 5 B and 6). Each change
is a mark such as `H8=A` in a note. Other programs show the note as text; `replay` and `build_game` read the marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from engine.board import Layout, layout_names, load_layout, parse_square, square_name
from engine.errors import NotationError
from engine.gcg.record import Pragma, Record
from engine.plays import Placement
from engine.rules import PRESETS, STANDARD_RULES, FinishLineLevel, Rules
from engine.state import TurnKind
from engine.tiles import TileSet, load_tile_set, tile_set_names

_LEXICON_NAMES = {
    "en": ("NWL", "CSW", "TWL", "OWL", "OSPD", "OTCWL", "OSW", "SOWPODS", "ECWL", "CEL", "COLLINS", "ENABLE"),
    "fr": ("FRA", "ODS"),
    "de": ("GERMAN", "DEUTSCH", "RD", "DUDEN"),
    "pl": ("OSPS", "POLISH"),
    "es": ("FISE", "FILE", "LELA", "SPANISH"),
    "ca": ("DISC", "CATALAN"),
    "no": ("NSF", "NORWEGIAN"),
    "nl": ("SWL", "OWLNL", "DUTCH"),
    "ro": ("LOC", "ROMANIAN"),
    "it": ("ZINGARELLI", "ITALIAN"),
    "sv": ("SAOL", "SWEDISH"),
    "pt": ("PORTUGUESE",),
}
"""Names of word lists in `#lexicon` pragmas, without the year or edition (`CSW24` is `CSW`), by language."""
_EDITION_OF_LIST = re.compile(r"[\d(]")
"""Pattern of the beginning of the year or edition in the name of a word list."""
TILE_SET_BY_DISTRIBUTION = {
    "english": "en", "french": "fr", "german": "de", "polish": "pl", "spanish": "es", "catalan": "ca",
    "norwegian": "no", "dutch": "nl", "romanian": "ro", "italian": "it", "swedish": "sv", "portuguese": "pt",
    "danish": "da", "finnish": "fi", "czech": "cs", "slovak": "sk", "hungarian": "hu", "turkish": "tr",
    "russian": "ru", "bulgarian": "bg", "ukrainian": "uk", "croatian": "hr", "slovene": "sl", "irish": "ga",
    "welsh": "cy", "estonian": "et", "icelandic": "is", "latvian": "lv", "lithuanian": "lt", "afrikaans": "af",
    "malay": "ms", "latin": "la", "arabic": "ar", "hebrew": "he",
}  # fmt: skip
"""Names of letter distributions in the program Macondo. The names of the tile sets (`en`, `de`) are accepted, too."""
_RARE_TILE_SETS = frozenset({"af", "is", "la", "lt", "lv", "ms"})
"""Tile sets with few recorded games. They are tried last, because other sets have the same letters."""
STANDARD_LAYOUT_NAME = "CrosswordGame"
"""Name of the standard board layout in the program Macondo, which refuses a file with an unknown name."""
STANDARD_BOARDS = frozenset({"", "standard", "standard15", "crosswordgame", "classic"})
STANDARD_GAMES = frozenset({"", "classic", "wordsmog", "scrabble", "crosswordgame", "crossword"})
_NON_TILE_SIGNS = dict.fromkeys(map(ord, ".()"))
_BRACKET_OR_LETTER = re.compile(r"\[[^][]*\]|[^\W\d_]")
_FINISHED_ROUND = "all players finish the round"
_RACK_SIZES = {f"{rules.rack_size} tiles on a rack": rules.rack_size for rules in PRESETS.values()}
_FINISH_LINE = re.compile(r"Finish Line game \(([a-z, ]+)\)\Z")


def find_named_tile_set(record: Record) -> TileSet | None:
    """Return the tile set for the `#tile-distribution`, `#tile-set` or `#lexicon` pragma of a file.

    If none of these pragmas has a known name, return None.
    """
    for pragma in ("tile-distribution", "tile-set"):
        for name in (record.pragma_text(pragma) or "").lower().split()[:1]:
            code = TILE_SET_BY_DISTRIBUTION.get(name, name)
            if code in tile_set_names():
                return load_tile_set(code)
    # `CSW24` and `NWL (2020)` become `CSW` and `NWL`.
    without_edition = _EDITION_OF_LIST.split((record.pragma_text("lexicon") or "").upper())[0]
    name = next(iter(without_edition.rstrip(" _-").split()), "")
    return next((load_tile_set(code) for code, names in _LEXICON_NAMES.items() if name in names), None)


def find_possible_tile_sets(record: Record) -> tuple[TileSet, ...]:
    """Return the tile sets that contain every letter used in the file.

    The English set is the first one. Editions that are no longer sold and sets with few recorded games are the last.
    """
    texts = {entry.text for entry in record.entries if entry.kind is TurnKind.PLAY}
    texts |= {entry.rack for entry in record.entries if entry.rack}
    names = sorted(tile_set_names(), key=lambda name: (name != "en", "_" in name or name in _RARE_TILE_SETS, name))
    return tuple(tiles for tiles in map(load_tile_set, names) if all(_can_write(tiles, text) for text in texts))


def _can_write(tiles: TileSet, text: str) -> bool:
    try:
        tiles.parse(text.translate(_NON_TILE_SIGNS))
    except NotationError:
        return False
    return True


def bracket_tiles(record: Record, tiles: TileSet) -> Record:
    """Return the record with every tile in brackets, if the file has brackets or a `#tile` line.

    In such a file, a tile of several letters always has brackets: `[LL]` is the Spanish tile LL, and `LL` means two
    tiles L, which become `[L][L]`. In any other file `LL` is the tile LL, and the record is returned unchanged.
    """
    if all(len(letter) == 1 for letter in tiles.letters):
        return record
    texts = (text for entry in record.entries for text in (entry.text, entry.rack or ""))
    if record.find_pragma("tile") is None and not any("[" in text for text in texts):
        return record
    entries = tuple(
        replace(entry, text=_bracket_text(entry.text), rack=_bracket_text(entry.rack) if entry.rack else entry.rack)
        for entry in record.entries
    )
    racks = tuple(replace(rack, tiles=_bracket_text(rack.tiles)) for rack in record.racks)
    return replace(record, entries=entries, racks=racks)


def _bracket_text(text: str) -> str:
    """Return the text of tiles with brackets around each tile that has none."""
    return _BRACKET_OR_LETTER.sub(lambda match: match[0] if match[0].startswith("[") else f"[{match[0]}]", text)


def find_named_layout(record: Record) -> Layout | None:
    """Return the board layout in the `#board-layout` pragma, or None if the pragma is missing or not a known layout."""
    name = record.pragma_text("board-layout") or ""
    if name and _normalise_text(name) in STANDARD_BOARDS:
        return load_layout()
    return load_layout(name) if name in layout_names() else None


def find_unknown_game(record: Record) -> Pragma | None:
    """Return the `#game-type` pragma if the kind of game is not one of `STANDARD_GAMES`, otherwise None."""
    pragma = record.find_pragma("game-type")
    return pragma if pragma and _normalise_text(pragma.text) not in STANDARD_GAMES else None


def describe_variants(rules: Rules) -> str:
    """Return a description of the rule variations that another program would report as errors.

    For the standard game, return an empty string. `find_variants` reads the description.
    """
    variants = [f"{rules.rack_size} tiles on a rack"] if rules.rack_size != STANDARD_RULES.rack_size else []
    if rules.finish_line:
        variants.append(f"Finish Line game ({', '.join(rules.finish_line)})")
    if rules.finish_line and rules.finish_round:
        variants.append(_FINISHED_ROUND)
    return "; ".join(variants)


def find_variants(record: Record) -> Rules:
    """Return the standard rules with the variations in the `#description` pragma, as `describe_variants` writes it.

    >>> find_variants(Record((), (), (Pragma("description", "9 tiles on a rack"),)))
    Rules(rack_size=9)
    """
    rules, levels = STANDARD_RULES, set(FinishLineLevel)
    for variant in (record.pragma_text("description") or "").split("; "):
        rules = replace(rules, rack_size=_RACK_SIZES.get(variant, rules.rack_size))
        names = found[1].split(", ") if (found := _FINISH_LINE.match(variant)) else []
        if names and levels.issuperset(names) and len(names) in (1, len(record.players)):
            rules = replace(rules, finish_line=tuple(map(FinishLineLevel, names)))
        elif variant == _FINISHED_ROUND:
            rules = replace(rules, finish_round=True)
    return rules


def find_unknown_board(record: Record) -> Pragma | None:
    """Return the pragma for a board layout that is not in this package, such as the board of 21 x 21 squares.

    The layout is in the `#board-layout` or `#game-board` pragma. A `#game-type` pragma for Super Scrabble also means
    the board of 21 x 21 squares. If the record has no such pragma, return None.
    """
    boards = STANDARD_BOARDS | set(layout_names())
    named = [pragma for name in ("board-layout", "game-board") if (pragma := record.find_pragma(name))]
    game = record.find_pragma("game-type")
    return next(
        (pragma for pragma in named if _normalise_text(pragma.text) not in boards),
        game if game and "super" in _normalise_text(game.text) else None,
    )


def _normalise_text(text: str) -> str:
    return text.replace(" ", "").lower()


_REARRANGED = "the letters of a word on the board were rearranged before"
_TEXT_BY_KIND = {
    TurnKind.RECYCLED: "then took a tile of the board for one of the rack",
    TurnKind.BLANK_TAKEN: "then took a blank of the board for its letter",
}
_MARKS = re.compile(rf"({'|'.join((_REARRANGED, *_TEXT_BY_KIND.values()))}):((?: [A-O]\d+=\S+)+)")


class TileChange(NamedTuple):
    """An exchange of a tile on the board for a tile of the rack: `kind` is `RECYCLED` or `BLANK_TAKEN`."""

    kind: TurnKind
    placement: Placement
    """The square of the exchanged tile, and the tile on this square after the exchange."""


def format_rearranged(placements: Iterable[Placement], tiles: TileSet) -> str:
    """Return the note for the tiles that a play moved to other squares of a word on the board (rule 5 A).

    >>> from engine.tiles import Tile, load_tile_set
    >>> format_rearranged([(112, Tile("A"))], load_tile_set("en"))
    'the letters of a word on the board were rearranged before: H8=A'
    """
    return f"{_REARRANGED}:{_format_marks(placements, tiles)}"


def format_change(change: TileChange, tiles: TileSet) -> str:
    """Return the note for an exchange of a tile on the board for a tile of the rack."""
    return f"{_TEXT_BY_KIND[change.kind]}:{_format_marks([change.placement], tiles)}"


def parse_rearranged(note: str, tiles: TileSet) -> tuple[Placement, ...]:
    """Return the rearranged squares in a note of `format_rearranged`, with their tiles after the play."""
    return tuple(placement for text, placement in _parse_marks(note, tiles) if text == _REARRANGED)


def parse_changes(note: str, tiles: TileSet) -> list[TileChange]:
    """Return the exchanges of tiles between board and rack in a note of `format_change`, in the order of the note."""
    kinds = {text: kind for kind, text in _TEXT_BY_KIND.items()}
    return [TileChange(kinds[text], placement) for text, placement in _parse_marks(note, tiles) if text in kinds]


def has_marks(note: str) -> bool:
    """Return True if a note has marks such as `H8=A`, which say that a tile on the board was changed."""
    return _MARKS.search(note) is not None


def _format_marks(placements: Iterable[Placement], tiles: TileSet) -> str:
    return "".join(f" {square_name(square)}={tiles.text(tile)}" for square, tile in placements)


def _parse_marks(note: str, tiles: TileSet) -> Iterator[tuple[str, Placement]]:
    """Yield each mark of a note such as `H8=A`: the text before it, and its square and tile.

    A mark with a tile that is not in the tile set is left out.
    """
    for match in _MARKS.finditer(note):
        for mark in match[2].split():
            square, _, text = mark.partition("=")
            try:
                [tile] = tiles.parse(text)
                yield match[1], (parse_square(square), tile)
            except (NotationError, ValueError):
                continue
