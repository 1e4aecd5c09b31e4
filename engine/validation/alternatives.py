"""Plays that look like the one that was read, and would be valid: the word list as evidence, not as judge.

An alternative must be plausible from the picture: a letter that the reading considers, one of the same shape, or a tile
beside the word. Nearly every short word has a neighbour in the list, so the list alone would prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from engine.board import SQUARES, Board, Square, column_of, row_of
from engine.game import Game
from engine.plays import Play
from engine.reading import BLANK, BOARD_SIZE, EMPTY, HIDDEN, BoardReading
from engine.scoring import PlayScore, Status
from engine.tiles import Tile
from engine.validation.findings import WordList

MIN_PLAUSIBLE_PROBABILITY = 0.001
"""Probability from which a symbol that the reading considers is plausible."""
MAX_EXCLUDING_PROBABILITY = 0.99
"""Confidence of a letter from which its shape alone makes no other letter plausible."""
MIN_TILE_BESIDE_PROBABILITY = 0.005
"""Probability of a tile from which a square at the end of a word may hold one that was not seen.

Of the empty squares of photographs one in 500 has it.
"""

_SIMILAR_SHAPES = (
    "AÀÁÂÄÅĄ", "BPR", "CGOQÖD", "EFĘÉÈ", "HNMKW", "ILTJ", "UVY", "SZ", "OÖÓ", "UÜÚ", "NÑŃ", "CČĆ", "SŠŚ", "ZŽŻŹ",
    "ЕЭВ", "ИНМ", "ШЩЦ", "ЬЪЫ", "ΕΣΞ", "ΟΘΦ", "ΛΑΔ",
)  # fmt: skip
"""Letters of similar shape in print, which readers of printed letters confuse most."""


def _collect_similar_letters() -> Mapping[str, frozenset[str]]:
    similar: dict[str, set[str]] = {}
    for shapes in _SIMILAR_SHAPES:
        for letter in shapes:
            similar.setdefault(letter, set()).update(set(shapes) - {letter})
    return MappingProxyType({letter: frozenset(others) for letter, others in similar.items()})


_SIMILAR_LETTERS = _collect_similar_letters()


def find_listed_alternatives(game: Game, play: Play, reading: BoardReading, words: WordList) -> tuple[Play, ...]:
    """Return the legal plays with listed words that differ from `play` by one plausible tile, the most plausible first.

    Either one of its tiles is another letter, or one more tile is at an end of its words.
    """
    found: dict[Play, float] = {}
    for other, probability in (*_replace_one_tile(game, play, reading), *iterate_longer_plays(game, play, reading)):
        if other in found or game.check_play(other) is not Status.VALID:
            continue
        if not find_unlisted_words(game.score_play(other), words):
            found[other] = probability
    return tuple(sorted(found, key=lambda other: -found[other]))


def find_unlisted_words(score: PlayScore, words: WordList) -> tuple[str, ...]:
    """Return the words of a play that the list lacks; those with an unnamed blank are left out."""
    return tuple(word.word for word in score.words if BLANK not in word.word and word.word not in words)


def _replace_one_tile(game: Game, play: Play, reading: BoardReading) -> Iterator[tuple[Play, float]]:
    tiles = dict(play.tiles)
    for square, tile in play.tiles:
        for letter, probability in find_plausible_letters(game, reading, square, tile).items():
            yield Play.from_tiles({**tiles, square: Tile(letter)}, dict(play.rearranged)), probability


def find_plausible_letters(game: Game, reading: BoardReading, square: Square, tile: Tile) -> Mapping[str, float]:
    """Return the other letters that a tile may be, with their probability; 0 for those with its shape only."""
    read = reading.squares[square]
    known = {
        symbol: probability
        for symbol, probability in read.candidates
        if symbol not in (EMPTY, HIDDEN, BLANK, tile.face) and probability >= MIN_PLAUSIBLE_PROBABILITY
    }
    if read.confidence >= MAX_EXCLUDING_PROBABILITY:
        return known
    similar = _SIMILAR_LETTERS.get(tile.letter, frozenset()) & set(game.tiles.letters)
    return {**dict.fromkeys(similar, 0.0), **known}


def iterate_longer_plays(game: Game, play: Play, reading: BoardReading) -> Iterator[tuple[Play, float]]:
    """Yield the plays with one more tile at an end of the main word, where the picture does not exclude one."""
    tiles = dict(play.tiles)
    for square in find_faint_end_squares(game, play, reading):
        for letter in game.tiles.letters:
            longer = Play.from_tiles({**tiles, square: Tile(letter)}, dict(play.rearranged))
            yield longer, reading.squares[square].probability(letter)


def find_faint_end_squares(game: Game, play: Play, reading: BoardReading) -> tuple[Square, ...]:
    """Return the squares at the ends of the main word that may hold a tile which was not seen."""
    ends = find_end_squares(play.apply_to(game.board), play)
    return tuple(s for s in ends if 1.0 - reading.squares[s].probability(EMPTY) >= MIN_TILE_BESIDE_PROBABILITY)


def find_end_squares(board: Board, play: Play) -> tuple[Square, ...]:
    """Return the empty squares before and after the main word of a play; `board` has its tiles.

    A single tile has two main words, if it makes one across and one down.
    """
    squares = play.squares
    lines = [
        across for across in (True, False) if all(square in board.tile_run(squares[0], across) for square in squares)
    ]
    ends = set()
    for across in lines:
        run = board.tile_run(squares[0], across)
        if len(run) < 2:
            continue
        step, line = (1, row_of) if across else (BOARD_SIZE, column_of)
        ends |= {s for s in (run[0] - step, run[-1] + step) if s in SQUARES and line(s) == line(run[0])}
    return tuple(sorted(square for square in ends if board[square] is None))
