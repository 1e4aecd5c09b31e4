"""Find the plays that are possible in a reading: sets of squares, tiles for these squares, and changes of old tiles.

Players may change old tiles only under a rule variation (travel-case, rules 5 A, 5 B and 6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from heapq import nlargest
from itertools import chain, combinations
from math import log, sqrt
from operator import itemgetter
from typing import NamedTuple

from engine.board import Board, Square, square_at
from engine.events import BlankNamed, BlankTaken, Event, PlayMade, TileRecycled
from engine.game import Game
from engine.inference.evidence import MIN_CLEAR_PROBABILITY, Evidence
from engine.inference.log_priors import VARIATION_LOG_PRIOR
from engine.plays import Play
from engine.reading import BLANK, BOARD_SIZE
from engine.scoring import Status, check_placement, is_one_word_rearranged
from engine.state import State
from engine.tiles import Tile

_LINES = tuple(tuple(square_at(row, column) for column in range(BOARD_SIZE)) for row in range(BOARD_SIZE)) + tuple(
    tuple(square_at(row, column) for row in range(BOARD_SIZE)) for column in range(BOARD_SIZE)
)
_MIN_RELATIVE_LOG_POSTERIOR = log(1e-3)
"""Minimum log-posterior (nats) of a letter, relative to the best letter of its square; others are not tried."""
_EXHAUSTED_TILE_COUNT = 0.1
"""Number of tiles that is assumed for a letter of which none is left, so that its likelihood still counts a little."""
_MIN_TILE_OPTIONS = 4
"""Minimum number of tiles that are tried on a square: the likelier ones may be used up on other squares."""
_BEAM_WIDTH = 12
"""Maximum number of letterings that are kept after each square."""
_MAX_LETTERINGS = 4
"""Maximum number of letterings for each set of squares."""
_MAX_PARTIAL_SWAPS = 3
"""Maximum number of changed old tiles of which each may be swapped or misread; each set of them is tried."""
_PLACEHOLDER = Tile("A")


class Lettering(NamedTuple):
    """Tiles for the squares of a play, with their log-prior (nats), which depends on the number of remaining tiles."""

    tiles: tuple[Tile, ...]
    log_prior: float


Variation = tuple[tuple[Event, ...], float]
"""The events of a rule variation that changes tiles on the board, and their log-prior (nats)."""


def find_play_squares(state: State, evidence: Evidence, allow_overlooked: bool = False) -> Iterator[tuple[Square, ...]]:
    """Yield each set of squares that can be one legal play: new tiles in a line without a gap.

    One square of a set may be hidden. With `allow_overlooked`, one square may also be read as empty, because the camera
    may have missed the tile.
    """
    on_board = state.board.squares
    free = {square for square in evidence.candidate_squares if on_board[square] is None}
    certainly_empty = frozenset() if allow_overlooked else evidence.empty_squares
    found: set[tuple[Square, ...]] = set()
    for line in _LINES:
        ends = [index for index, square in enumerate(line) if square in free]
        for number, first in enumerate(ends):
            for last in ends[number:]:
                squares = tuple([s for s in line[first : last + 1] if on_board[s] is None])
                missed = [square for square in squares if square not in free]
                if len(squares) > state.rules.rack_size or len(missed) > 1 or not certainly_empty.isdisjoint(missed):
                    break  # and a longer play from `first` has the same fault
                if squares not in found and is_legal_placement(state, squares):
                    found.add(squares)
                    yield squares


def is_legal_placement(state: State, squares: Sequence[Square]) -> bool:
    """Return True if new tiles on `squares` are a legal placement. The letters do not matter."""
    play = Play(tuple([(square, _PLACEHOLDER) for square in squares]))
    return check_placement(state.board, play, state.layout, state.rules) == Status.VALID


def find_letterings(
    evidence: Evidence, squares: Sequence[Square], stock: Counter[str], count: int = _MAX_LETTERINGS
) -> list[Lettering]:
    """Return the `count` likeliest assignments of tiles to the squares of a play, the likeliest assignment first.

    `stock` has the number of each tile that is not on the board. The more tiles of a letter remain, the higher is the
    prior of the letter.
    """
    # Beam search from the first square to the last: log-posterior, tiles, and the faces of these tiles.
    beam: list[tuple[float, tuple[Tile, ...], tuple[str, ...]]] = [(0.0, (), ())]
    for square in squares:
        options = _rank_tiles(evidence, square, stock)
        longer = [
            (total + log_posterior, (*tiles, tile), (*faces, tile.face))
            for total, tiles, faces in beam
            for log_posterior, tile in options
            if faces.count(tile.face) < stock[tile.face]
        ]
        beam = nlargest(_BEAM_WIDTH, longer, key=itemgetter(0))
    letterings = []
    for log_posterior, tiles, _ in beam[:count]:
        placed = zip(squares, tiles, strict=True)
        log_likelihood = sum([evidence.new_tile_log_likelihood(square, tile) for square, tile in placed])
        letterings.append(Lettering(tiles, log_posterior - log_likelihood))
    return letterings


def _rank_tiles(evidence: Evidence, square: Square, stock: Counter[str]) -> list[tuple[float, Tile]]:
    """Return the possible tiles of a square with their log-posteriors (nats), the likeliest tile first.

    The likelihood of each letter is multiplied by the square root of the number of remaining tiles. The results are
    then scaled to the same sum as before, so that the numbers of tiles do not change the probability of a tile on the
    square. If no tile of a letter is left, a blank with this letter written on the tile is still possible.
    """
    symbol_likelihoods = evidence.symbol_likelihoods(square)
    likelihoods = {face: symbol_likelihoods[face] for face in stock}
    weighted = {face: likelihoods[face] * sqrt(max(number, _EXHAUSTED_TILE_COUNT)) for face, number in stock.items()}
    scale = sum(likelihoods.values()) / sum(weighted.values())
    options = [(log(weighted[face] * scale), tile_from_face(face)) for face, number in stock.items() if number > 0]
    if stock[BLANK] > 0 and evidence.has_marked_blanks:
        marked = (Tile(face, is_blank=True) for face, number in stock.items() if number <= 0)
        options += [(evidence.new_tile_log_likelihood(square, tile), tile) for tile in marked]
    options.sort(key=itemgetter(0), reverse=True)
    limit = options[0][0] + _MIN_RELATIVE_LOG_POSTERIOR if options else 0.0
    return [option for rank, option in enumerate(options) if rank < _MIN_TILE_OPTIONS or option[0] > limit]


@cache
def tile_from_face(face: str) -> Tile:
    """Return the tile for a symbol of a reading. The symbol `?` gives an unnamed blank."""
    return Tile(face, is_blank=face == BLANK)


def build_play_as_seen(state: State, evidence: Evidence) -> Play | None:
    """Return one play of all new tiles that are clearly read. The play may be illegal.

    If no new tile is clearly read, return None.
    """
    squares = [square for square in sorted(evidence.clear_tile_squares) if state.board[square] is None]
    if not squares:
        return None
    tiles: list[Tile] = []
    for square in squares:
        candidates = evidence.reading.squares[square].candidates  # the most probable first
        symbol = next((symbol for symbol, _ in candidates if symbol in state.tiles.counts), candidates[0][0])
        tiles.append(tile_from_face(symbol))
    return Play(tuple(zip(squares, tiles, strict=True)))


def find_variations(game: Game, evidence: Evidence) -> Iterator[Variation]:
    """Yield the events of a rule variation that explain why tiles on the board have changed."""
    rules = game.rules
    changed = _find_changed_tiles(game.board, evidence)
    if not changed or game.is_over:
        return
    if rules.recycle or rules.retake_blanks:
        yield from _recycle_tiles(game, changed)
    if rules.rearrange:
        yield from _rearrange_word(game, evidence, changed)


def _find_changed_tiles(board: Board, evidence: Evidence) -> dict[Square, str]:
    """Return the squares whose old tile is clearly read as another tile, with the symbol in the reading."""
    changed = {}
    for square in board.occupied_squares():
        read, tile = evidence.reading.squares[square], board.tile(square)
        expected = {tile.face, tile.letter} if evidence.has_marked_blanks else {tile.face}
        if read.is_tile and read.confidence > MIN_CLEAR_PROBABILITY and read.symbol not in expected:
            changed[square] = read.symbol
    return changed


def _recycle_tiles(game: Game, changed: dict[Square, str]) -> Iterator[Variation]:
    """Yield the exchanges of tiles between board and rack that explain changed tiles (rules 5 B and 6).

    Tiles that are not exchanged were misread. With more than `_MAX_PARTIAL_SWAPS` changed tiles, all or none of them
    were exchanged.
    """
    swaps = {square: swap for square, face in changed.items() if (swap := _find_swap(game, square, face))}
    sizes = range(1, len(swaps) + 1) if len(swaps) <= _MAX_PARTIAL_SWAPS else (len(swaps),)
    for squares in chain.from_iterable(combinations(swaps, size) for size in sizes):
        stock = game.unseen
        stock.update(game.board.tile(square).face for square in squares)
        stock.subtract(changed[square] for square in squares)
        if min(stock.values()) >= 0:
            yield tuple(chain.from_iterable(swaps[s] for s in squares)), VARIATION_LOG_PRIOR * len(squares)


def _find_swap(game: Game, square: Square, face: str) -> tuple[Event, ...]:
    """Return the events that exchange the tile on a square for one that is read as `face`; none if no rule allows it.

    A blank is named before it is taken.
    """
    tile, player = game.board.tile(square), game.to_move
    if game.rules.retake_blanks and tile.is_blank and tile.letter in (face, BLANK):
        named = (BlankNamed(square, face),) if tile.is_unnamed else ()
        return (*named, BlankTaken(player, square))
    is_recycled = game.rules.recycle and (face != BLANK or not tile.is_blank)
    return (TileRecycled(player, square, tile_from_face(face)),) if is_recycled else ()


def _rearrange_word(game: Game, evidence: Evidence, changed: dict[Square, str]) -> Iterator[Variation]:
    """Yield the plays that rearrange the letters of one word and add tiles to this word (rule 5 A)."""
    blank = next((tile for square in changed if (tile := game.board.tile(square)).is_blank), Tile.unnamed())

    def make_tile(face: str) -> Tile:
        """Return the tile for a symbol of the reading; for `?`, the blank of a changed square, or an unnamed one."""
        return blank if face == BLANK else Tile(face)

    rearranged = {square: make_tile(face) for square, face in changed.items()}
    stock = game.state.stock()
    stock.update(game.board.tile(square).face for square in changed)
    stock.subtract(changed.values())
    for squares in find_play_squares(game.state, evidence):
        for lettering in find_letterings(evidence, squares, stock):
            placed = dict(zip(squares, lettering.tiles, strict=True))
            play = Play.from_tiles({square: make_tile(tile.face) for square, tile in placed.items()}, rearranged)
            if is_one_word_rearranged(game.board, play):
                yield (PlayMade(game.to_move, play),), VARIATION_LOG_PRIOR + lettering.log_prior
