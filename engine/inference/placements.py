"""The plays that a reading may show: where tiles can have been laid, and which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from heapq import nlargest
from math import exp, log, sqrt

from engine.inference.history import Evidence
from engine.plays import Play
from engine.reading import BLANK, BOARD_SIZE
from engine.scoring import Status, check_placement
from engine.squares import SQUARES, Square, square_at
from engine.state import State
from engine.tiles import Tile

Lettering = tuple[float, tuple[Tile, ...]]

_LINES = tuple(tuple(square_at(row, column) for column in range(BOARD_SIZE)) for row in range(BOARD_SIZE)) + tuple(
    tuple(square_at(row, column) for row in range(BOARD_SIZE)) for column in range(BOARD_SIZE)
)
_MIN_RELATIVE_LOG_LIKELIHOOD = log(1e-3)  # letters so much less likely than the best of a square are not tried
_EXHAUSTED_TILE_COUNT = 0.1  # how many are taken to be left of a tile that should not be: somebody may have miscounted
_BEAM_WIDTH = 12  # letterings that are carried from square to square
_PLACEHOLDER = Tile("A")


def find_play_squares(state: State, evidence: Evidence, allow_overlooked: bool = False) -> Iterator[tuple[Square, ...]]:
    """Yield each set of squares that one legal play may have covered: a line without a gap.

    One square of a set may show no tile because it is hidden or, with `allow_overlooked`, because the camera missed
    the tile.
    """
    free = {square for square in evidence.candidate_squares if state.board[square] is None}
    bare = frozenset() if allow_overlooked else evidence.empty_squares
    found: set[tuple[Square, ...]] = set()
    for line in _LINES:
        ends = [place for place, square in enumerate(line) if square in free]
        for number, first in enumerate(ends):
            for last in ends[number:]:
                squares = tuple(s for s in line[first : last + 1] if state.board[s] is None)
                unseen = [square for square in squares if square not in free]
                if len(squares) > state.rules.rack_size or len(unseen) > 1 or not bare.isdisjoint(unseen):
                    break
                if squares not in found and is_legal_placement(state, squares):
                    found.add(squares)
                    yield squares


def is_legal_placement(state: State, squares: Sequence[Square]) -> bool:
    """True when tiles on these squares, whichever, are a legal play."""
    play = Play(tuple((square, _PLACEHOLDER) for square in squares))
    return check_placement(state.board, play, state.layout, state.rules) == Status.VALID


def find_letterings(evidence: Evidence, squares: Sequence[Square], stock: Counter[str], best: int) -> list[Lettering]:
    """The most likely tiles on these squares that the stock still has, with their log-likelihoods.

    A tile of which many are left is more likely than one of which few are; the reading weighs more.
    """
    found: list[Lettering] = [(0.0, ())]
    for square in squares:
        options = _rank_tiles(evidence, square, stock)
        longer = (
            (value + weight, (*tiles, tile))
            for value, tiles in found
            for weight, tile in options
            if sum(other.face == tile.face for other in tiles) < stock[tile.face]
        )
        found = nlargest(_BEAM_WIDTH, longer, key=lambda lettering: lettering[0])
    return found[:best]


def _rank_tiles(evidence: Evidence, square: Square, stock: Counter[str]) -> list[tuple[float, Tile]]:
    """The tiles that may lie on a square, the likeliest first.

    What the reading says is weighed with how many of each tile are left; that a tile lies there becomes neither more
    nor less likely by it, but for letters that are not left. Where one of those is seen, it may be a blank that
    somebody has written on.
    """
    seen = {face: exp(evidence.new_tile_log_likelihood(square, tile_from_face(face))) for face in stock}
    weighed = {face: seen[face] * sqrt(max(number, _EXHAUSTED_TILE_COUNT)) for face, number in stock.items()}
    scale = sum(seen.values()) / sum(weighed.values())
    options = [(log(weighed[face] * scale), tile_from_face(face)) for face, number in stock.items() if number > 0]
    if stock[BLANK] > 0 and evidence.has_marked_blanks:
        marked = (Tile(face, is_blank=True) for face, number in stock.items() if number <= 0)
        options += [(evidence.new_tile_log_likelihood(square, tile), tile) for tile in marked]
    options.sort(key=lambda option: -option[0])
    # Letters that run out make room for the next ones, so keep a few whatever they weigh.
    return [
        option
        for place, option in enumerate(options)
        if place < 4 or option[0] > options[0][0] + _MIN_RELATIVE_LOG_LIKELIHOOD
    ]


@cache
def tile_from_face(face: str) -> Tile:
    """The tile as the camera sees it: a blank has no name yet."""
    return Tile(face, is_blank=face == BLANK)


def build_play_as_seen(state: State, evidence: Evidence) -> Play | None:
    """Everything that is clearly seen on empty squares, as if it were one play; None when there is nothing."""
    squares = [square for square in SQUARES if square in evidence.clear_tile_squares and state.board[square] is None]
    if not squares:
        return None
    faces = (
        max(evidence.reading.squares[s].candidates, key=lambda c: (c[0] in state.tiles.counts, c[1]))[0]
        for s in squares
    )
    return Play(tuple(zip(squares, map(tile_from_face, faces), strict=True)))
