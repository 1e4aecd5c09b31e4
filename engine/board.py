"""The board: names of squares, premium squares (`Layout`), and the tiles on the board (`Board`).

A square is an int, `row * 15 + column`, both from 0 at the top left: the centre, `H8`, is 112. A position is the square
and the direction of a play in GCG notation: `8H` (row first) is across, `H8` (column first) is down.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from itertools import compress
from operator import is_not

from engine.errors import NotationError, RulesError, UnknownLayoutError
from engine.messages import make_message
from engine.reading import BLANK, BOARD_SIZE, EMPTY
from engine.tiles import Tile, TileSet

Square = int

SQUARES = range(BOARD_SIZE * BOARD_SIZE)
COLUMNS = "ABCDEFGHIJKLMNO"
CENTRE: Square = (BOARD_SIZE * BOARD_SIZE) // 2

_POSITION = re.compile(r"(?:(?P<row1>\d{1,2})(?P<column1>[A-Oa-o])|(?P<column2>[A-Oa-o])(?P<row2>\d{1,2}))\Z")

_LAYOUT_DIR = files("engine") / "data" / "layouts"


def square_at(row: int, column: int) -> Square:
    """Return the square in a row and a column. Both are counted from 0.

    >>> square_at(7, 7)
    112
    """
    return row * BOARD_SIZE + column


def row_of(square: Square) -> int:
    """Return the row of a square, from 0 at the top."""
    return square // BOARD_SIZE


def column_of(square: Square) -> int:
    """Return the column of a square, from 0 at the left."""
    return square % BOARD_SIZE


def transpose(square: Square) -> Square:
    """Return the square mirrored in the diagonal from A1 to O15: rows become columns."""
    return (square % BOARD_SIZE) * BOARD_SIZE + square // BOARD_SIZE


def square_name(square: Square) -> str:
    """Return the name of a square: the letter of its column and the number of its row.

    >>> square_name(112)
    'H8'
    """
    return f"{COLUMNS[square % BOARD_SIZE]}{square // BOARD_SIZE + 1}"


def join_square_names(squares: Iterable[Square]) -> str:
    """Return the names of several squares as one text.

    >>> join_square_names([112, 113])
    'H8, I8'
    """
    return ", ".join(map(square_name, squares))


def position_name(square: Square, across: bool) -> str:
    """Return the position of a play in GCG notation, from its first square and its direction.

    >>> position_name(112, across=True), position_name(112, across=False)
    ('8H', 'H8')
    """
    column, row = COLUMNS[square % BOARD_SIZE], square // BOARD_SIZE + 1
    return f"{row}{column}" if across else f"{column}{row}"


def parse_position(text: str) -> tuple[Square, bool]:
    """Return the first square of a position in GCG notation, and True if the position is across.

    Raises `NotationError`.

    >>> parse_position("8H")
    (112, True)
    """
    match = _POSITION.match(text.strip())
    if match:
        row = int(match["row1"] or match["row2"])
        column = COLUMNS.index((match["column1"] or match["column2"]).upper())
        if 1 <= row <= BOARD_SIZE:
            return square_at(row - 1, column), match["row1"] is not None
    wrong = "{0} is not a square of the board. Enter A1 to O15 for a word down, or 1A to 15O for a word across."
    raise NotationError(make_message("no-square", wrong, repr(text)))


def parse_square(text: str) -> Square:
    """Return the square with a name such as `H8` or `8H`. Raises `NotationError`.

    >>> parse_square("H8")
    112
    """
    return parse_position(text)[0]


def _build_rays(step: int) -> tuple[tuple[Square, ...], ...]:
    """Return, for each square, the line of squares from its neighbour to the edge of the board.

    `step` is the difference between two neighbours in the line: 1 right, -1 left, 15 down, -15 up.
    """
    rays = []
    for square in SQUARES:
        row, column = divmod(square, BOARD_SIZE)
        room = {1: BOARD_SIZE - 1 - column, -1: column, BOARD_SIZE: BOARD_SIZE - 1 - row, -BOARD_SIZE: row}[step]
        rays.append(tuple(square + step * n for n in range(1, room + 1)))
    return tuple(rays)


# `RAYS_BACK[across][square]` are the squares before a square in its row (across) or column, the nearest first.
# `RAYS_FORWARD` has the squares after it.
RAYS_BACK = (_build_rays(-BOARD_SIZE), _build_rays(-1))
RAYS_FORWARD = (_build_rays(BOARD_SIZE), _build_rays(1))
NEIGHBOURS = tuple(tuple(rays[s][0] for rays in (*RAYS_BACK, *RAYS_FORWARD) if rays[s]) for s in SQUARES)
"""The two, three or four squares that share an edge with each square."""


class Premium(StrEnum):
    """The premium of a square. The value is the sign for this premium in a layout file."""

    NONE = "."
    DOUBLE_LETTER = "'"
    TRIPLE_LETTER = '"'
    DOUBLE_WORD = "-"
    TRIPLE_WORD = "="


_LETTER_MULTIPLIERS = {Premium.DOUBLE_LETTER: 2, Premium.TRIPLE_LETTER: 3}
_WORD_MULTIPLIERS = {Premium.DOUBLE_WORD: 2, Premium.TRIPLE_WORD: 3}


@dataclass(frozen=True, slots=True)
class Layout:
    """The premium squares of a board, and the square that the first play must cover (`centre`).

    `letter_multipliers` and `word_multipliers` have one multiplier for each of the 225 squares. The multiplier of a
    square without a premium is 1.
    """

    name: str
    premiums: tuple[Premium, ...]
    letter_multipliers: tuple[int, ...]
    word_multipliers: tuple[int, ...]
    centre: Square = CENTRE

    def __repr__(self) -> str:
        return f"<Layout {self.name!r}>"

    @classmethod
    def from_rows(cls, name: str, rows: Sequence[str]) -> Layout:
        """Return a layout from 15 rows of 15 signs. The signs are the values of `Premium`. Raises `NotationError`."""
        if len(rows) != BOARD_SIZE or any(len(row) != BOARD_SIZE for row in rows):
            raise NotationError(f"layout {name!r}: {BOARD_SIZE} rows of {BOARD_SIZE} signs are needed")
        try:
            premiums = tuple(Premium(sign) for row in rows for sign in row)
        except ValueError as error:
            raise NotationError(f"layout {name!r}: {error}; use . ' \" - =") from None
        letter = tuple(_LETTER_MULTIPLIERS.get(premium, 1) for premium in premiums)
        word = tuple(_WORD_MULTIPLIERS.get(premium, 1) for premium in premiums)
        return cls(name, premiums, letter, word)


def layout_names() -> tuple[str, ...]:
    """Return the names that `load_layout` accepts."""
    return tuple(sorted(entry.name.removesuffix(".json") for entry in _LAYOUT_DIR.iterdir()))


@lru_cache(maxsize=16)
def load_layout(name: str = "standard") -> Layout:
    """Return the packaged board layout with the given name. Raises `UnknownLayoutError`.

    >>> load_layout().word_multipliers[0], load_layout().letter_multipliers[3]
    (3, 2)
    """
    names = layout_names()
    if name not in names:
        raise UnknownLayoutError(f"There is no board layout {name!r}. Choose one of {', '.join(names)}.")
    return Layout.from_rows(name, json.loads((_LAYOUT_DIR / f"{name}.json").read_text(encoding="utf-8"))["rows"])


@dataclass(frozen=True, slots=True)
class Board:
    """The tiles on the board, as an immutable value. `with_tiles` returns a changed board.

    `squares` has the tile of each of the 225 squares, or None for an empty square. The truth value of a board without
    tiles is False.

    >>> board = Board().with_tiles({112: Tile("A")})
    >>> board[112], board[0]
    (Tile(letter='A', is_blank=False), None)
    """

    squares: tuple[Tile | None, ...] = (None,) * (BOARD_SIZE * BOARD_SIZE)

    def __post_init__(self) -> None:
        if len(self.squares) != BOARD_SIZE * BOARD_SIZE:
            raise ValueError(f"a board has {BOARD_SIZE * BOARD_SIZE} squares, got {len(self.squares)}")

    def __repr__(self) -> str:
        return f"<Board with {len(self.faces())} tiles>"

    def __getitem__(self, square: Square) -> Tile | None:
        return self.squares[square]

    def tile(self, square: Square) -> Tile:
        """Return the tile on a square. Raises `RulesError` for an empty square."""
        tile = self.squares[square]
        if tile is None:
            raise RulesError(make_message("no-tile-on", "There is no tile on {0}.", square_name(square)))
        return tile

    def __bool__(self) -> bool:
        """Return True if there is at least one tile on the board."""
        return any(self.squares)

    @classmethod
    def from_rows(cls, rows: Sequence[Iterable[str]], tiles: TileSet | None = None) -> Board:
        """Return a board from 15 rows of 15 symbols: `.` empty, `A` a tile, `a` a blank, `?` an unnamed blank.

        A row is a string of one-letter symbols, or a sequence of strings if tiles have several letters. The tile set
        is needed only for a language in which Python's `str.lower` gives wrong letters (Turkish).

        Raises `NotationError`.
        """
        symbols = [list(row) for row in rows]
        if len(symbols) != BOARD_SIZE or any(len(row) != BOARD_SIZE for row in symbols):
            raise NotationError(f"a board is {BOARD_SIZE} rows of {BOARD_SIZE} symbols")
        return cls(tuple(_parse_symbol(symbol, tiles) for row in symbols for symbol in row))

    def rows(self, tiles: TileSet | None = None) -> tuple[tuple[str, ...], ...]:
        """Return the board as 15 rows of 15 symbols, the inverse of `from_rows`."""
        text = str if tiles is None else tiles.text
        symbols = [EMPTY if tile is None else text(tile) for tile in self.squares]
        return tuple(tuple(symbols[at : at + BOARD_SIZE]) for at in range(0, BOARD_SIZE * BOARD_SIZE, BOARD_SIZE))

    def symbols(self) -> list[str]:
        """Return the symbol of each square as in a correct `BoardReading`: `.`, a letter, or `?` for any blank."""
        return [EMPTY if tile is None else tile.face for tile in self.squares]

    def __str__(self) -> str:
        return "\n".join("".join(row) for row in self.rows())

    def with_tiles(self, placed: Mapping[Square, Tile | None]) -> Board:
        """Return the board with other tiles on the squares of `placed`. The value None removes a tile."""
        squares = list(self.squares)
        for square, tile in placed.items():
            squares[square] = tile
        return Board(tuple(squares))

    def without_tiles(self, squares: Iterable[Square]) -> Board:
        """Return the board without the tiles on `squares`."""
        return self.with_tiles(dict.fromkeys(squares))

    def occupied_squares(self) -> tuple[Square, ...]:
        """Return the squares that hold a tile, row by row from the top left."""
        return tuple([square for square, tile in enumerate(self.squares) if tile is not None])

    def faces(self) -> list[str]:
        """Return the faces of all tiles on the board: a letter, or `?` for a blank."""
        return [tile.face for tile in self.squares if tile is not None]

    def differences(self, other: Board) -> tuple[Square, ...]:
        """Return the squares on which the two boards differ."""
        # Most squares have the same object on both boards. To compare identities first is much faster.
        changed = compress(SQUARES, map(is_not, self.squares, other.squares))
        return tuple([square for square in changed if self.squares[square] != other.squares[square]])

    def tile_run(self, square: Square, across: bool) -> range:
        """Return the squares of the unbroken line of tiles through `square`. The square itself may be empty."""
        return find_tile_run(self.squares, square, across)


def find_tile_run(tiles: Sequence[Tile | None], square: Square, across: bool) -> range:
    """Return the squares of the unbroken line of tiles through `square`; `tiles` has the tile of each square."""
    start = end = square
    for before in RAYS_BACK[across][square]:
        if tiles[before] is None:
            break
        start = before
    for after in RAYS_FORWARD[across][square]:
        if tiles[after] is None:
            break
        end = after
    return range(start, end + 1, 1 if across else BOARD_SIZE)


def run_ends(run: range, across: bool) -> tuple[Square, ...]:
    """Return the squares directly before and after a run of squares; a square outside the board is left out.

    >>> run_ends(range(112, 115), across=True), run_ends(range(105, 120), across=True)
    ((111, 115), ())
    """
    return RAYS_BACK[across][run[0]][:1] + RAYS_FORWARD[across][run[-1]][:1]


EMPTY_BOARD = Board()


def _parse_symbol(symbol: str, tiles: TileSet | None) -> Tile | None:
    """Return the tile for a symbol, or None for an empty square. Without a tile set, any letter counts."""
    if symbol == EMPTY:
        return None
    if tiles is not None:
        return tiles.parse_tile(symbol)
    if symbol == BLANK:
        return Tile.unnamed()
    # The second comparison excludes signs, which are the same in both cases.
    if symbol == symbol.lower() != symbol.upper():
        return Tile(symbol.upper(), is_blank=True)
    if symbol == symbol.upper() != symbol.lower():
        return Tile(symbol)
    raise NotationError(f"{symbol!r} is no tile: write . for an empty square, A for a tile, a for a blank as A")
