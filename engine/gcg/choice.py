"""Which tiles and which board a recorded game was played with, as far as its file says."""

from __future__ import annotations

from engine.board import Layout, layout, layout_names
from engine.errors import NotationError
from engine.gcg.record import Record
from engine.tiles import TileSet, tile_set, tile_set_names
from engine.turns import Kind

# How the programs of players begin the names of their word lists.
_LEXICA = {
    "en": ("NWL", "CSW", "TWL", "OWL", "OSPD", "OSW", "SOWPODS", "OSWI", "ECWL", "CEL", "COLLINS", "ENABLE"),
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
# The names of Macondo's letter distributions, beside those of the tile sets themselves.
DISTRIBUTIONS = {
    "english": "en", "french": "fr", "german": "de", "polish": "pl", "spanish": "es", "catalan": "ca",
    "norwegian": "no", "dutch": "nl", "romanian": "ro", "italian": "it", "swedish": "sv", "portuguese": "pt",
    "danish": "da", "finnish": "fi", "czech": "cs", "slovak": "sk", "hungarian": "hu", "turkish": "tr",
    "russian": "ru", "bulgarian": "bg", "ukrainian": "uk", "croatian": "hr", "slovene": "sl", "irish": "ga",
    "welsh": "cy", "estonian": "et",
}  # fmt: skip
STANDARD_BOARDS = frozenset({"", "standard", "standard15", "crosswordgame", "classic"})
STANDARD_GAMES = frozenset({"", "classic", "wordsmog", "scrabble", "crosswordgame", "crossword"})


def named_tile_set(record: Record) -> TileSet | None:
    """The tile set that the pragmas of the file tell: `#tile-distribution`, `#tile-set` or `#lexicon`."""
    for pragma in ("tile-distribution", "tile-set"):
        first = (record.pragma(pragma) or "").lower().split(maxsplit=1)[:1]
        for name in first:
            code = DISTRIBUTIONS.get(name, name)
            if code in tile_set_names():
                return tile_set(code)
    lexicon = (record.pragma("lexicon") or "").upper()
    fitting = [code for code, starts in _LEXICA.items() if lexicon.startswith(starts)]
    return tile_set(fitting[0]) if fitting else None


def possible_tile_sets(record: Record) -> tuple[TileSet, ...]:
    """The tile sets that have every tile of the file, English first; all that are left when none is named."""
    texts = {entry.text for entry in record.entries if entry.kind is Kind.PLAY}
    texts |= {entry.rack for entry in record.entries if entry.rack}
    names = sorted(tile_set_names(), key=lambda name: (name != "en", name))
    return tuple(tiles for tiles in map(tile_set, names) if all(_can_write(tiles, text) for text in texts))


def _can_write(tiles: TileSet, text: str) -> bool:
    try:
        tiles.parse(text.translate(_NO_TILES))
    except NotationError:
        return False
    return True


_NO_TILES = dict.fromkeys(map(ord, ".()"))


def named_layout(record: Record) -> Layout | None:
    """The board layout that `#board-layout` names, if it is one of ours."""
    name = record.pragma("board-layout")
    return layout(name) if name in layout_names() else None


def unknown_game(record: Record) -> tuple[str, str] | None:
    """The pragma and its text where the file names a game or a board that is not known here."""
    boards = STANDARD_BOARDS | set(layout_names())
    for pragma, known in (("game-type", STANDARD_GAMES), ("board-layout", boards), ("game-board", boards)):
        text = record.pragma(pragma) or ""
        if text.replace(" ", "").lower() not in known:
            return pragma, text
    return None
