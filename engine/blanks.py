"""Letters that a blank may stand for (rule 6): the player names it, and the word list suggests what fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from engine.board import Square
from engine.game import Game
from engine.reading import BOARD_SIZE
from engine.scoring import WordScore


def unnamed_blanks(game: Game) -> tuple[Square, ...]:
    """Return the squares of blanks that have not been named."""
    return tuple(square for square in game.board.occupied_squares() if (tile := game.board[square]) and tile.is_unnamed)


def find_blank_letters(game: Game, square: Square, is_word: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the letters that make every word through this blank valid, in alphabetical order.

    Another unnamed blank in one of the words may be any letter. If no letter fits (a phony), all letters are returned.
    """
    words = list(_find_words_through(game, square))
    letters = game.tiles.letters
    fitting = tuple(
        letter for letter in letters if all(_can_complete_word(game, word, square, letter, is_word) for word in words)
    )
    return fitting or letters


def _find_words_through(game: Game, square: Square) -> Iterator[WordScore]:
    for turn in game.turns:
        if turn.stands:
            yield from (word for word in turn.words if square in _word_squares(word))


def _word_squares(word: WordScore) -> range:
    step = 1 if word.across else BOARD_SIZE
    return range(word.start, word.start + step * len(word.tiles), step)


def _can_complete_word(
    game: Game, word: WordScore, square: Square, letter: str, is_word: Callable[[str], bool]
) -> bool:
    choices = [
        (letter,) if at == square else game.tiles.letters if tile.is_unnamed else (tile.letter,)
        for at, tile in zip(_word_squares(word), word.tiles, strict=True)
    ]
    return any(is_word("".join(letters)) for letters in product(*choices))
