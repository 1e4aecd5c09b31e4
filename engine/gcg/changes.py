"""Notes in a GCG file for rule variations that change tiles on the board (travel-case, rules 5 A, 5 B and 6).

GCG has no notation for these changes. Each change is therefore a mark such as `H8=A` in a note. Other programs show
the note as text, and `replay` and `build_game` read the marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from engine.board import parse_square, square_name
from engine.errors import NotationError
from engine.plays import Placement
from engine.state import TurnKind
from engine.tiles import TileSet

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
    """Return True if a note has marks of `format_rearranged` or `format_change`."""
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
