"""Find plays with listed words that resemble a play with an unlisted word, in case a tile was misread.

An alternative must be plausible from the picture: a letter among the candidates of the reading, a letter of similar
shape, or one more tile beside the word. The word list alone is no evidence of a misread tile, because nearly every
short phony differs from a valid word in only one letter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from engine.board import SQUARES, Board, Square, column_of, row_of
from engine.game import Game
from engine.lexicon import WordList
from engine.plays import Play
from engine.reading import BLANK, BOARD_SIZE, EMPTY, HIDDEN, BoardReading
from engine.scoring import PlayScore, Status
from engine.tiles import Tile

MIN_PLAUSIBLE_PROBABILITY = 0.001
"""Probability from which a symbol among the candidates of a reading is plausible."""
MAX_EXCLUDING_PROBABILITY = 0.99
"""Confidence of a letter from which other letters of similar shape are not plausible."""
MIN_TILE_BESIDE_PROBABILITY = 0.005
"""Probability of a tile from which an empty square at the end of a word may have a missed tile.

In photographs, one in 500 empty squares reaches this probability.
"""

_SIMILAR_SHAPES = (
    "AÀÁÂÄÅĄ", "BPR", "CGOQÖD", "EFĘÉÈ", "HNMKW", "ILTJ", "UVY", "SZ", "OÖÓ", "UÜÚ", "NÑŃ", "CČĆ", "SŠŚ", "ZŽŻŹ",
    "ЕЭВ", "ИНМ", "ШЩЦ", "ЬЪЫ", "ΕΣΞ", "ΟΘΦ", "ΛΑΔ",
)  # fmt: skip
"""Groups of letters with similar shapes in print, which character recognition confuses most often."""


def _collect_similar_letters() -> Mapping[str, frozenset[str]]:
    similar: dict[str, set[str]] = {}
    for shapes in _SIMILAR_SHAPES:
        for letter in shapes:
            similar.setdefault(letter, set()).update(set(shapes) - {letter})
    return MappingProxyType({letter: frozenset(others) for letter, others in similar.items()})


_SIMILAR_LETTERS = _collect_similar_letters()


def find_listed_alternatives(game: Game, play: Play, reading: BoardReading, words: WordList) -> tuple[Play, ...]:
    """Return the legal plays with listed words that differ from `play` in one tile, the most plausible play first.

    An alternative has either another plausible letter for one tile, or one more tile at an end of the main word.
    """
    found: dict[Play, float] = {}
    for other, probability in (*_replace_one_tile(game, play, reading), *iterate_longer_plays(game, play, reading)):
        if other in found or game.check_play(other) is not Status.VALID:
            continue
        if not find_unlisted_words(game.score_play(other), words):
            found[other] = probability
    return tuple(sorted(found, key=lambda other: -found[other]))


def find_unlisted_words(score: PlayScore, words: WordList) -> tuple[str, ...]:
    """Return the words of a play that are not in the word list. Words with an unnamed blank are left out."""
    return tuple(word.word for word in score.words if BLANK not in word.word and word.word not in words)


def _replace_one_tile(game: Game, play: Play, reading: BoardReading) -> Iterator[tuple[Play, float]]:
    tiles = dict(play.tiles)
    for square, tile in play.tiles:
        for letter, probability in find_plausible_letters(game, reading, square, tile).items():
            yield Play.from_tiles({**tiles, square: Tile(letter)}, dict(play.rearranged)), probability


def find_plausible_letters(game: Game, reading: BoardReading, square: Square, tile: Tile) -> Mapping[str, float]:
    """Return other plausible letters for a tile, with their probabilities.

    The probability is 0 for a letter that is plausible only because of its similar shape.
    """
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
    """Yield longer plays with one more tile at an end of the main word, each with the probability of this tile.

    Squares that are certainly empty in the reading are left out.
    """
    tiles = dict(play.tiles)
    for square in find_faint_end_squares(game, play, reading):
        for letter in game.tiles.letters:
            longer = Play.from_tiles({**tiles, square: Tile(letter)}, dict(play.rearranged))
            yield longer, reading.squares[square].probability(letter)


def find_faint_end_squares(game: Game, play: Play, reading: BoardReading) -> tuple[Square, ...]:
    """Return the squares directly before and after the main word that may have a missed tile."""
    ends = find_end_squares(play.apply_to(game.board), play)
    return tuple(s for s in ends if 1.0 - reading.squares[s].probability(EMPTY) >= MIN_TILE_BESIDE_PROBABILITY)


def find_end_squares(board: Board, play: Play) -> tuple[Square, ...]:
    """Return the empty squares directly before and after the main word of a play.

    `board` is the board after the play. A play of a single tile may form two words. Both then count as main words.
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
