"""Readings of single squares and boards: clear ones, those with the doubts of photographs, and disturbed ones.

The probabilities of a disturbed square (`make_square`): the symbol that is read has the confidence of the row. A
runner-up has most of the rest: the true symbol if the square is read wrong, a similar letter if it is read right. It
has 2/3 if one letter is taken for another (a letter that is wrong at 0.97 leaves 0.02 for the true one) and 9/10 if the
mistake is whether a tile is there at all. What is left goes to up to three letters that look like the true one. All
other squares are read with probability 1.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from random import Random

from engine.board import NEIGHBOURS, SQUARES, Board, Square, column_of, row_of, square_at
from engine.events import PlayMade
from engine.reading import BLANK, BOARD_SIZE, EMPTY, HIDDEN, BoardReading, SquareReading
from tests.support.recorded_positions import (
    Position,
    Squares,
)

LETTER_RUNNER_UP_SHARE = 2 / 3
PRESENCE_RUNNER_UP_SHARE = 0.9
HIDDEN_PROBABILITY = 0.95
MARKED_BLANK_CONFIDENCE = 0.95
_SIMILAR_LETTERS = (
    "EFB", "ILTJ", "UJV", "OQCGD", "MNHW", "VYUW", "PRBF", "SZB", "KXH", "ARK",
    "ЕЭВ", "ИНМ", "ШЩЦ", "ЬЪЫ", "ΕΣΞ", "ΟΘΦ", "ΛΑΔ",
)  # fmt: skip
_MAX_OTHERS = 3
_LETTER_DOUBTS = {1e-4: 0.7985, 1e-3: 0.116, 1e-2: 0.0726, 0.03: 0.0068, 0.1: 0.0035, 0.5: 0.0026}
"""Shares of the letters of photographs by the probability of not being what they are, up to each limit."""
_EMPTY_SQUARE_DOUBTS = {1e-4: 0.9209, 1e-3: 0.0692, 2e-3: 0.0066, 5e-3: 0.0027, 1e-2: 0.0002, 0.1: 0.0003, 0.5: 0.0001}
"""The same for empty squares and the probability of a tile."""


# Readings


def make_clear_reading(board: Board) -> BoardReading:
    """Return the reading of a board without doubt; a blank is seen as a blank, whatever its name."""
    return BoardReading(tuple(make_certain_square(EMPTY if tile is None else tile.face) for tile in board.squares))


def make_lifelike_reading(board: Board, letters: Sequence[str], seed: str) -> BoardReading:
    """Return the right reading of a board with the doubts that photographs have, the same for each tile every time.

    The probabilities are those of 6,351 letters and 26,500 empty squares in 186 photographs of games.
    """
    squares = []
    for square, tile in enumerate(board.squares):
        symbol = EMPTY if tile is None else tile.face
        chance = Random(f"{seed}/{square}/{tile and tile.face}")
        squares.append(draw_square(symbol, letters, chance))
    return BoardReading(tuple(squares))


def draw_square(symbol: str, letters: Sequence[str], chance: Random, max_doubt: float = 0.5) -> SquareReading:
    """Return the right reading of a square with the doubt that photographs have, `max_doubt` at most."""
    if symbol == EMPTY:
        faint = min(_draw_doubt(chance, _EMPTY_SQUARE_DOUBTS), max_doubt)
        candidates = {EMPTY: 1 - faint, chance.choice(letters): faint}
        return SquareReading(tuple(candidates.items()))
    doubt = min(_draw_doubt(chance, _LETTER_DOUBTS), max_doubt)
    return make_square(symbol, 1 - doubt, symbol, letters, chance)


def _draw_doubt(chance: Random, shares: Mapping[float, float]) -> float:
    """Return a probability of being wrong: of the squares, `shares` maps the limits of classes to their shares."""
    limits = sorted(shares)
    at = chance.choices(range(len(limits)), [shares[limit] for limit in limits])[0]
    return chance.uniform(limits[at - 1] if at else 0.0, limits[at])


@lru_cache(maxsize=256)
def make_certain_square(symbol: str) -> SquareReading:
    """Return the reading of a square without doubt."""
    return SquareReading(((symbol, 1.0),))


def change_reading(reading: BoardReading, changed: Squares) -> BoardReading:
    """Return the reading with these squares changed."""
    return BoardReading(tuple(changed.get(square, read) for square, read in enumerate(reading.squares)))


def make_square(symbol: str, confidence: float, truth: str, letters: Sequence[str], chance: Random) -> SquareReading:
    """Return a square that is read as `symbol`, right or wrong, with plausible probabilities of other symbols.

    `letters` are those of the tile set. See the module for the model.
    """
    similar = find_similar_letters(truth if truth not in (EMPTY, BLANK) else symbol, letters)
    runner_up = truth if truth != symbol else chance.choice(similar)
    is_presence = (symbol == EMPTY) != (runner_up == EMPTY)
    share = PRESENCE_RUNNER_UP_SHARE if is_presence else LETTER_RUNNER_UP_SHARE
    others = [letter for letter in similar if letter not in (symbol, runner_up)]
    others = chance.sample(others, min(_MAX_OTHERS, len(others)))
    rest = 1 - confidence
    probabilities = {symbol: confidence, runner_up: rest * share}
    probabilities |= {letter: rest * (1 - share) / len(others) for letter in others}
    return SquareReading(tuple(sorted(probabilities.items(), key=lambda pair: (-pair[1], pair[0]))))


def make_hidden_square(truth: str) -> SquareReading:
    """Return a square that a hand covers."""
    return SquareReading(((HIDDEN, HIDDEN_PROBABILITY), (truth, 1 - HIDDEN_PROBABILITY)))


def find_similar_letters(symbol: str, letters: Sequence[str]) -> list[str]:
    """Return the letters that look like `symbol`: of its group, or with other accents; all if there are none."""
    base = _strip_accents(symbol)
    others = [letter for letter in letters if letter != symbol]
    groups = [group for group in _SIMILAR_LETTERS if base in group]
    similar = [
        letter
        for letter in others
        if (plain := _strip_accents(letter)) == base or any(plain in group for group in groups)
    ]
    return similar or others


def _strip_accents(letter: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", letter) if not unicodedata.combining(sign))


# Squares that are read wrong


def _misread(position: Position, square: Square, confidence: float, chance: Random) -> Squares:
    letters, truth = position.before.tiles.letters, position.after.board.tile(square).face
    wrong = chance.choice(find_similar_letters(truth, letters))
    return {square: make_square(wrong, confidence, truth, letters, chance)}


def _read_as(position: Position, square: Square, symbol: str, confidence: float, chance: Random) -> Squares:
    tile = position.after.board[square]
    truth = EMPTY if tile is None else tile.face
    return {square: make_square(symbol, confidence, truth, position.before.tiles.letters, chance)}


def misread_new_letter(position: Position, chance: Random, confidence: float) -> Squares | None:
    new = position.new_letters
    return _misread(position, chance.choice(new), confidence, chance) if new else None


def misread_old_letter(position: Position, chance: Random, confidence: float) -> Squares | None:
    old = position.old_letters
    return _misread(position, chance.choice(old), confidence, chance) if old else None


def misread_letters(position: Position, chance: Random, share: float, confidence: float) -> Squares | None:
    """A share of all letters, among them a new one: the picture is hardly legible, and the reader does not know it."""
    new, old = position.new_letters, position.old_letters
    if not new or not old:
        return None
    wrong = [chance.choice(new), *(square for square in (*new, *old) if chance.random() < share)]
    changed: Squares = {}
    for square in wrong:
        changed |= _misread(position, square, confidence, chance)
    return changed


def doubt_new_letter(position: Position, chance: Random, confidence: float) -> Squares | None:
    if not position.new_letters:
        return None
    square = chance.choice(position.new_letters)
    return _read_as(position, square, position.after.board.tile(square).face, confidence, chance)


def miss_new_tile(position: Position, chance: Random, confidence: float) -> Squares | None:
    return _read_as(position, chance.choice(position.event.play.squares), EMPTY, confidence, chance)


def miss_end_tile(position: Position, chance: Random, confidence: float) -> Squares | None:
    """The first or last tile of the word, if it is new and not the only new one."""
    squares, board = position.event.play.squares, position.after.board
    run = board.tile_run(squares[0], position.event.play.is_across(position.before.board))
    ends = [square for square in (run[0], run[-1]) if square in squares]
    if len(squares) < 2 or not ends:
        return None
    return _read_as(position, chance.choice(ends), EMPTY, confidence, chance)


def miss_single_tile(position: Position, chance: Random, confidence: float) -> Squares | None:
    return miss_new_tile(position, chance, confidence) if len(position.event.play.squares) == 1 else None


def miss_old_tile(position: Position, chance: Random, confidence: float) -> Squares | None:
    old = position.before.board.occupied_squares()
    return _read_as(position, chance.choice(old), EMPTY, confidence, chance) if old else None


def _draw_letter(position: Position, chance: Random) -> str:
    """Return a letter that is not on the board yet; any letter if none is left."""
    unseen = [letter for letter in position.after.unseen.elements() if letter != BLANK]
    return chance.choice(unseen or position.before.tiles.letters)


def add_far_tile(position: Position, chance: Random, confidence: float) -> Squares | None:
    """A tile that touches none, not at a corner either."""
    taken = [(row_of(square), column_of(square)) for square in position.after.board.occupied_squares()]
    free = [
        square_at(row, column)
        for row in range(BOARD_SIZE)
        for column in range(BOARD_SIZE)
        if all(max(abs(row - r), abs(column - c)) > 1 for r, c in taken)
    ]
    if not free:
        return None
    return _read_as(position, chance.choice(free), _draw_letter(position, chance), confidence, chance)


def add_touching_tile(position: Position, chance: Random, confidence: float) -> Squares | None:
    """A tile beside one of the play."""
    board = position.after.board
    free = [near for square in position.event.play.squares for near in NEIGHBOURS[square] if board[near] is None]
    if not free:
        return None
    return _read_as(position, chance.choice(free), _draw_letter(position, chance), confidence, chance)


def cover_play(position: Position, chance: Random) -> Squares:
    """A hand over 3 x 3 squares around a tile of the play."""
    middle, board = chance.choice(position.event.play.squares), position.after.board
    return {
        square: make_hidden_square(EMPTY if (tile := board[square]) is None else tile.face)
        for square in SQUARES
        if max(abs(row_of(square) - row_of(middle)), abs(column_of(square) - column_of(middle))) <= 1
    }


def wash_new_letter(position: Position, chance: Random, confidence: float) -> Squares | None:
    new = position.new_letters
    return _read_as(position, chance.choice(new), BLANK, confidence, chance) if new else None


def turn_over_old_tile(position: Position, chance: Random, confidence: float) -> Squares | None:
    old = position.old_letters
    return _read_as(position, chance.choice(old), BLANK, confidence, chance) if old else None


def nudge_old_tile(position: Position, chance: Random) -> Squares | None:
    """An old tile on the square beside its own."""
    board = position.after.board
    pairs = [(s, near) for s in position.old_letters for near in NEIGHBOURS[s] if board[near] is None]
    if not pairs:
        return None
    square, other = chance.choice(pairs)
    face = board.tile(square).face
    gone = _read_as(position, square, EMPTY, 0.97, chance)
    return {**gone, **_read_as(position, other, face, 0.97, chance)}


def swap_old_tile(position: Position, chance: Random) -> Squares | None:
    """An old tile that was exchanged for one of another letter: read without doubt."""
    if not position.old_letters:
        return None
    square = chance.choice(position.old_letters)
    unseen = sorted(position.after.unseen.keys() - {BLANK, position.before.board.tile(square).face})
    return {square: make_certain_square(chance.choice(unseen))} if unseen else None


def mark_blank(position: Position, chance: Random) -> Squares | None:
    """A new blank with a letter written on it."""
    blanks = [(s, tile) for s, tile in position.event.play.tiles if tile.is_blank and not tile.is_unnamed]
    if not blanks:
        return None
    square, tile = chance.choice(blanks)
    return _read_as(position, square, tile.letter, MARKED_BLANK_CONFIDENCE, chance)


def shift_word(position: Position, chance: Random) -> Squares | None:
    """The new tiles a row higher or lower: tiles stand above the board, so a low camera sees them shifted."""
    step = chance.choice((-BOARD_SIZE, BOARD_SIZE))
    old = position.before.board
    moved = {square + step: tile for square, tile in position.event.play.tiles}
    if any(square not in SQUARES or old[square] is not None for square in moved):
        return None
    gone = dict.fromkeys(position.event.play.squares, make_certain_square(EMPTY))
    return {**gone, **{square: make_certain_square(tile.face) for square, tile in moved.items()}}


def swap_new_letters(position: Position, chance: Random) -> Squares | None:
    """Two new tiles side by side in the wrong order, noticed and put right after the press."""
    tiles = dict(position.event.play.tiles)
    step = 1 if position.event.play.is_across(position.before.board) else BOARD_SIZE
    pairs = [(s, s + step) for s in tiles if s + step in tiles and tiles[s].face != tiles[s + step].face]
    if not pairs:
        return None
    one, other = chance.choice(pairs)
    return {one: make_certain_square(tiles[other].face), other: make_certain_square(tiles[one].face)}


def begin_next_play(position: Position, chance: Random) -> Squares | None:
    """The next player lays tiles before the press: some of the next play, from one of its ends."""
    event = position.recorded.events[position.at + 1]
    if not isinstance(event, PlayMade) or len(event.play.tiles) < 2:
        return None
    count = chance.randrange(1, len(event.play.tiles))
    tiles = event.play.tiles[:count] if chance.random() < 0.5 else event.play.tiles[-count:]
    return {square: make_certain_square(tile.face) for square, tile in tiles}
