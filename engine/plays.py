"""A play as a value (the newly placed tiles and their squares), and its conversion to and from GCG notation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from engine.board import Board, Square, column_of, parse_position, parse_square, position_name, row_of, square_name
from engine.errors import NotationError, RulesError
from engine.messages import make_message
from engine.reading import BLANK, BOARD_SIZE
from engine.tiles import Tile, TileSet

Placement = tuple[Square, Tile]

WordLetter = tuple[Tile | None, bool]
"""A letter of a word in GCG notation: its tile, and True if the tile is marked as one that was on the board already.

Such a tile may be written as a dot, and is None then.
"""

_THROUGH_TILE = re.compile(r"(\.|\([^()]*\))")


@dataclass(frozen=True, slots=True)
class Play:
    """The tiles that a player places on the board in one turn.

    `tiles` has each newly covered square with its tile, in ascending order of squares. `rearranged` is only used under
    rule 5 A of travel-case, which allows players to rearrange the letters of a word on the board while adding tiles to
    it. It has the changed squares of the old word, each with its tile after the play.

    >>> from engine.tiles import load_tile_set
    >>> Play.from_tiles({112: Tile("A"), 113: Tile("T")}).to_gcg(Board(), load_tile_set("en"))
    '8H AT'
    """

    tiles: tuple[Placement, ...]
    rearranged: tuple[Placement, ...] = ()

    @classmethod
    def from_tiles(cls, tiles: Mapping[Square, Tile], rearranged: Mapping[Square, Tile] | None = None) -> Play:
        """Return the play that places `tiles`, given in any order. See `Play` for `rearranged`."""
        return cls(tuple(sorted(tiles.items())), tuple(sorted((rearranged or {}).items())))

    @classmethod
    def from_gcg(cls, board: Board, position: str, word: str, tiles: TileSet) -> Play:
        """Parse a play in GCG notation, for example `8H HORN` or `H6 FA.M`.

        A tile that was already on the board may be written as a dot, in parentheses, or as its letter. Raises
        `NotationError` for text that cannot be parsed, and `RulesError` for a word that does not fit the tiles on the
        board.
        """
        start, across = parse_position(position)
        step, room = (1, BOARD_SIZE - column_of(start)) if across else (BOARD_SIZE, BOARD_SIZE - row_of(start))
        letters = parse_word(word, tiles)
        if len(letters) > room:
            text = (
                "{0} at {1} does not fit on the board (tiles: {2}, squares: {3}). Check the square and the direction."
            )
            raise NotationError(make_message("does-not-fit", text, repr(word), position, len(letters), room))
        placed: dict[Square, Tile] = {}
        for place, (tile, through) in enumerate(letters):
            square = start + place * step
            old = board[square]
            if old is None:
                if tile is None or through:
                    text = "{0} at {1} runs through {2}, which is empty. Enter a letter instead of the dot."
                    raise RulesError(make_message("runs-through", text, repr(word), position, square_name(square)))
                placed[square] = tile
            elif tile is not None and not _is_same_tile(old, tile):
                text = "{0} at {1} does not match the board: the tile on {2} is {3}, not {4}."
                raise RulesError(
                    make_message("already-holds", text, repr(word), position, square_name(square), old, tile)
                )
        return cls.from_tiles(placed)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Play:
        """Return the play from plain data, the reverse of `to_json`."""
        return cls.from_tiles(read_placements(data["tiles"]), read_placements(data.get("rearranged", [])))

    def to_json(self) -> dict[str, Any]:
        """Return the play as plain data, ready for JSON."""
        data = {"tiles": write_placements(self.tiles)}
        if self.rearranged:
            data["rearranged"] = write_placements(self.rearranged)
        return data

    @property
    def squares(self) -> tuple[Square, ...]:
        """The newly covered squares."""
        return tuple([square for square, _ in self.tiles])

    def with_tile(self, square: Square, tile: Tile) -> Play:
        """Return the play with `tile` on `square`. Another tile that the play has on this square is replaced."""
        return Play.from_tiles({**dict(self.tiles), square: tile}, dict(self.rearranged))

    def apply_to(self, board: Board) -> Board:
        """Return the board after the play."""
        return board.with_tiles(dict(self.tiles + self.rearranged))

    def is_across(self, board: Board) -> bool:
        """Return True if the play is across. A play of one tile has the direction of the longer word through the tile.

        `board` is the board before the play.
        """
        squares = self.squares
        if len(squares) > 1:
            return row_of(squares[0]) == row_of(squares[-1])
        return len(board.tile_run(squares[0], True)) >= len(board.tile_run(squares[0], False))

    def position(self, board: Board) -> str:
        """Return the position of the main word in GCG notation: `8H` for across, `H8` for down."""
        across = self.is_across(board)
        return position_name(self.apply_to(board).tile_run(self.squares[0], across).start, across)

    def word(self, board: Board, tiles: TileSet) -> str:
        """Return the main word in GCG notation: `.` for a tile that was on the board, lower case for a blank.

        Tiles of several letters are in brackets, for example `[CH]`.
        """
        new = dict(self.tiles)
        run = self.apply_to(board).tile_run(self.squares[0], self.is_across(board))
        return write_word([(new.get(square), square not in new) for square in run], tiles)

    def to_gcg(self, board: Board, tiles: TileSet) -> str:
        """Return the position and the word in GCG notation. `board` is the board before the play."""
        return f"{self.position(board)} {self.word(board, tiles)}"


def write_tile(tile: Tile) -> str:
    """Return a tile as a string: `A` for a tile, `?A` for a blank that stands for A, `?` for an unnamed blank."""
    return tile.letter if not tile.is_blank or tile.is_unnamed else BLANK + tile.letter


def read_tile(text: str) -> Tile:
    """Return the tile from a string, the reverse of `write_tile`."""
    if text == BLANK:
        return Tile.unnamed()
    return Tile(text.removeprefix(BLANK), is_blank=text.startswith(BLANK))


def write_placements(placements: Iterable[Placement]) -> list[list[str]]:
    """Return placements as plain data: the name of each square and its tile.

    >>> write_placements([(112, Tile("A"))])
    [['H8', 'A']]
    """
    return [[square_name(square), write_tile(tile)] for square, tile in placements]


def read_placements(data: Sequence[Sequence[str]]) -> dict[Square, Tile]:
    """Return the tile of each square from plain data, the reverse of `write_placements`."""
    return {parse_square(name): read_tile(text) for name, text in data}


def _is_same_tile(old: Tile, new: Tile) -> bool:
    """Return True if `new`, a tile in a written word, can be the tile `old` on the board.

    Old GCG files write a blank as a capital letter, so a blank and a tile with the same letter count as the same.
    """
    return old.letter == new.letter or old.is_unnamed


def parse_word(word: str, tiles: TileSet) -> list[WordLetter]:
    """Return the letter of each square of a word in GCG notation. Raises `NotationError`.

    >>> from engine.tiles import load_tile_set
    >>> [(str(tile), is_marked) for tile, is_marked in parse_word("F.r(M)", load_tile_set("en"))]
    [('F', False), ('None', True), ('r', False), ('M', True)]
    """
    letters: list[WordLetter] = []
    for part in _THROUGH_TILE.split(word):
        if part == ".":
            letters.append((None, True))
        elif part.startswith("("):
            inner = part[1:-1]
            letters += [(None, True)] * len(inner) if set(inner) == {"."} else [(t, True) for t in tiles.parse(inner)]
        else:
            letters += [(tile, False) for tile in tiles.parse(part)]
    if not letters:
        raise NotationError(make_message("play-needs-word", "Enter the word that was played."))
    return letters


def write_word(letters: Iterable[WordLetter], tiles: TileSet) -> str:
    """Return a word in GCG notation, the reverse of `parse_word`."""
    parts: list[str] = []
    for is_marked, group in groupby(letters, key=itemgetter(1)):
        run = [tile for tile, _ in group]
        if is_marked:
            parts += ["." if tile is None else f"({tiles.text(tile)})" for tile in run]
        else:
            parts.append(tiles.write([tile for tile in run if tile is not None]))
    return "".join(parts)
