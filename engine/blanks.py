"""Letters that a blank may stand for (rule 6), and the invalid words of a play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from engine.board import Square
from engine.lexicon import WordList, is_word_listed
from engine.scoring import WordScore
from engine.state import State
from engine.tiles import TileSet

MAX_SEARCHED_BLANKS = 3
"""Maximum number of unnamed blanks whose letters are searched together; more than these count as letters that fit.

No tile set has more blanks, but players may enter more of them by hand. A search for seven would never end.
"""


def unnamed_blanks(state: State) -> tuple[Square, ...]:
    """Return the squares of the blanks on the board whose letter has not been named."""
    return tuple(square for square, tile in enumerate(state.board.squares) if tile and tile.is_unnamed)


def find_blank_letters(state: State, square: Square, is_word: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the letters, in alphabetical order, with which every word through the blank on `square` is valid.

    If a word has a second unnamed blank, that blank may stand for any letter. If no letter makes all words valid (the
    play is a phony), return all letters of the tile set.
    """
    words = [word for turn in state.turns if turn.stands for word in turn.words if square in word.squares]
    letters = state.tiles.letters

    def fits(letter: str) -> bool:
        return all(_can_complete_word(state.tiles, word, square, letter, is_word) for word in words)

    return tuple(filter(fits, letters)) or letters


def find_invalid_words(words: Sequence[WordScore], tiles: TileSet, lexicon: WordList) -> tuple[str, ...]:
    """Return the words of a play that are not in the word list.

    An unnamed blank counts as the letter that makes the fewest words invalid. If there are more than
    `MAX_SEARCHED_BLANKS` unnamed blanks, words with a blank count as valid.
    """
    return _look_up_words(words, tiles, lexicon)[0]


def is_play_valid(words: Sequence[WordScore], tiles: TileSet, lexicon: WordList) -> bool | None:
    """Return True if the word list has all words of a play, False if it does not, and None if it cannot decide.

    A list has the text of a word, not its tiles. So it cannot decide if other tiles spell the same text: in Hungarian,
    SZ is one tile or two. An unnamed blank counts as the letter that makes the fewest words invalid.
    """
    invalid, undecided = _look_up_words(words, tiles, lexicon)
    if invalid:
        return False
    return None if undecided else True


def _look_up_words(
    words: Sequence[WordScore], tiles: TileSet, lexicon: WordList
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a play that are not in the word list, and the words about which it cannot decide.

    All letters of the unnamed blanks are tried. Those with the fewest invalid words count.
    """
    blanks = _find_unnamed_squares(words)
    if len(blanks) > MAX_SEARCHED_BLANKS:
        words = [word for word in words if not _find_unnamed_squares([word])]
        blanks = ()
    best: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    for chosen in product(tiles.letters, repeat=len(blanks)):
        names = dict(zip(blanks, chosen, strict=True))
        spellings = [
            [names.get(square, tile.letter) for square, tile in zip(word.squares, word.tiles, strict=True)]
            for word in words
        ]
        listed = [is_word_listed(letters, lexicon, tiles) for letters in spellings]
        if all(listed):
            return (), ()
        if best is None or (listed.count(False), listed.count(None)) < (len(best[0]), len(best[1])):
            invalid = tuple(word.word for word, is_listed in zip(words, listed, strict=True) if is_listed is False)
            undecided = tuple(word.word for word, is_listed in zip(words, listed, strict=True) if is_listed is None)
            best = invalid, undecided
    return best or ((), ())


def _find_unnamed_squares(words: Sequence[WordScore]) -> tuple[Square, ...]:
    pairs = (pair for word in words for pair in zip(word.squares, word.tiles, strict=True))
    return tuple(sorted({square for square, tile in pairs if tile.is_unnamed}))


def _can_complete_word(
    tiles: TileSet, word: WordScore, square: Square, letter: str, is_word: Callable[[str], bool]
) -> bool:
    """Return True if a word is valid with `letter` on `square`. Its other unnamed blanks may stand for any letter."""
    if len(_find_unnamed_squares([word])) > MAX_SEARCHED_BLANKS:
        return True
    choices: list[Sequence[str]] = []
    for word_square, tile in zip(word.squares, word.tiles, strict=True):
        if word_square == square:
            choices.append((letter,))
        else:
            choices.append(tiles.letters if tile.is_unnamed else (tile.letter,))
    return any(
        is_word("".join(chosen)) and not (tiles.has_fixed_digraphs and tiles.has_other_split(chosen))
        for chosen in product(*choices)
    )
