"""Blanks: who has no name, and which names would make words."""

from __future__ import annotations

import pytest

from engine.blanks import find_blank_letters, find_invalid_words, is_play_valid, unnamed_blanks
from engine.board import parse_square
from engine.events import BlankNamed
from tests.support.engine_table import new_game, play

WORDS = {"HORN", "BORN", "CORN", "THE", "CAT", "CART", "CANT", "CAST", "CO", "BO"}
F8 = parse_square("F8")


def test_letters_that_make_a_word_are_offered() -> None:
    assert find_blank_letters(play(new_game(), "8F ?ORN").state, F8, WORDS.__contains__) == ("B", "C", "H")


def test_every_word_through_the_blank_must_fit() -> None:
    game = play(new_game(), "8F ?ORN", "F8 .O")
    assert find_blank_letters(game.state, F8, WORDS.__contains__) == ("B", "C")


def test_other_words_need_not_be_valid() -> None:
    game = play(new_game(), "8F ?ORN", "H8 .ZZ")
    assert find_blank_letters(game.state, F8, WORDS.__contains__) == ("B", "C", "H")


def test_two_blanks_in_one_word() -> None:
    game = play(new_game(), "8F CA??")
    assert find_blank_letters(game.state, parse_square("H8"), WORDS.__contains__) == ("N", "R", "S")
    assert find_blank_letters(game.state, parse_square("I8"), WORDS.__contains__) == ("T",)


def test_where_no_letter_makes_a_word_all_are_offered() -> None:
    assert len(find_blank_letters(play(new_game(), "8F ?XXX").state, F8, WORDS.__contains__)) == 26


def test_a_blank_that_was_named_has_a_name() -> None:
    game = play(new_game(), "8F ?ORN")
    assert unnamed_blanks(game.state) == (F8,)
    assert unnamed_blanks(game.push(BlankNamed(F8, "H")).state) == ()


def test_blank_is_no_half_of_a_spanish_tile() -> None:
    whole, half = (play(new_game(tile_set="es"), word) for word in ("8F CA?E", "8F CAL?E"))
    assert find_blank_letters(whole.state, parse_square("H8"), {"CALLE"}.__contains__) == ("LL",)
    assert find_blank_letters(half.state, parse_square("I8"), {"CALLE"}.__contains__) == half.tiles.letters
    assert find_invalid_words(whole.turns[0].words, whole.tiles, {"CALLE"}) == ()
    assert find_invalid_words(half.turns[0].words, half.tiles, {"CALLE"}) == ("CAL?E",)


@pytest.mark.parametrize(
    ("tile_set", "at", "listed", "is_valid"),
    [
        ("es", "8F CALLE", "CALLE", True),
        ("es", "8F CA[L]LE", "CALLE", False),
        ("es", "8F CAlLE", "CALLE", False),
        ("es", "8F CAllE", "CALLE", True),
        ("es_na", "8F CA[L]LE", "CALLE", False),
        ("es_na", "8F CHICO", "CHICO", True),
        ("cy", "8F LLAN", "LLAN", True),
        ("cy", "8F [L]LAN", "LLAN", None),
        ("cy", "8F [L]LAN", "LLANC", False),
        ("hu", "8F KÖ[Z]SÉG", "KÖZSÉG", None),
        ("ca", "8F COLLA", "COLLA", True),
    ],
)
def test_play_with_other_tiles_than_its_word_is_not_valid(
    tile_set: str, at: str, listed: str, is_valid: bool | None
) -> None:
    """Except in Spanish, only players know the tiles of a word: Welsh LL is one letter or two."""
    game = play(new_game(tile_set=tile_set), at)
    assert is_play_valid(game.turns[0].words, game.tiles, {listed}) is is_valid


class CountedWords:
    """A word list that counts its look-ups, and fails after more than a press may take."""

    def __init__(self) -> None:
        self.count = 0

    def __contains__(self, word: str) -> bool:
        self.count += 1
        assert self.count < 100_000, "the search does not end"
        return False


def test_letters_of_more_blanks_than_a_set_has_are_not_searched() -> None:
    game = play(new_game(), "8F ?????")
    assert find_blank_letters(game.state, F8, CountedWords().__contains__) == game.tiles.letters


def test_word_of_more_blanks_than_a_set_has_counts_as_valid() -> None:
    game = play(new_game(), "8F ?????")
    assert find_invalid_words(game.turns[0].words, game.tiles, CountedWords()) == ()


def test_other_words_of_a_play_with_too_many_blanks_are_looked_up() -> None:
    game = play(new_game(), "8F HORN", "9F ????")
    words = [*game.turns[0].words, *game.turns[1].words]
    assert find_invalid_words(words, game.tiles, CountedWords()) == ("HORN",)
