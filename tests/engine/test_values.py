"""Squares, tiles, boards and plays: values with exact notation both ways."""

from __future__ import annotations

import doctest
import importlib

import pytest

from engine.board import (
    SQUARES,
    Board,
    Layout,
    layout_names,
    load_layout,
    parse_position,
    parse_square,
    position_name,
    square_name,
    transpose,
)
from engine.errors import NotationError, RulesError, UnknownLayoutError, UnknownTileSetError
from engine.plays import Play
from engine.reading import BoardReading
from engine.rules import Rules
from engine.tiles import Tile, load_tile_set, playable_tile_set_names, tile_set_names
from tests.support.engine_table import new_game, play, written

EN = load_tile_set("en")


MODULES = ["tiles", "board", "plays", "rules", "events", "game", "inference.explain", "lexicon"]


@pytest.mark.parametrize("module", [*MODULES, "gcg", "gcg.edition", "gcg.record"])
def test_the_examples_in_the_docstrings_hold(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"engine.{module}"))
    assert found.attempted and not found.failed


@pytest.mark.parametrize("square", SQUARES)
def test_every_square_has_a_name(square: int) -> None:
    assert parse_square(square_name(square)) == square == transpose(transpose(square))


@pytest.mark.parametrize("across", [True, False])
def test_a_position_says_the_direction(across: bool) -> None:
    assert parse_position(position_name(17, across)) == (17, across)


@pytest.mark.parametrize("text", ["", "H", "16A", "A16", "A0", "P1", "8H8", "H 8", "hello"])
def test_name_of_no_square_is_refused(text: str) -> None:
    with pytest.raises(NotationError, match="not a square of the board"):
        parse_position(text)


TOTALS = {
    "bg": 102, "ca": 100, "cs": 100, "cy": 105, "da": 100, "de": 102, "el": 104, "en": 100, "en_super": 200, "es": 100,
    "et": 102, "fi": 100, "fr": 102, "ga": 100, "hr": 103, "hu": 100, "it": 120, "nl": 102, "no": 100, "pl": 100,
    "pt": 120, "ro": 100, "ru": 104, "sk": 100, "sl": 100, "sv": 100, "tr": 100, "uk": 104,
    "af": 102, "ar": 100, "de_old": 119, "es_na": 103, "he": 104, "is": 104, "la": 100, "lt": 104, "lv": 104, "ms": 100,
    "nl_old": 102,
}  # fmt: skip


def test_the_tile_sets_are_those() -> None:
    assert tile_set_names() == tuple(sorted(TOTALS))


@pytest.mark.parametrize("name", TOTALS)
def test_every_tile_set_is_whole(name: str) -> None:
    tiles = load_tile_set(name)
    assert tiles.tile_count == TOTALS[name]
    assert tiles.values["?"] == 0 and list(tiles.counts)[-1] == "?"
    assert all(count > 0 and tiles.values[tile] >= 0 for tile, count in tiles.counts.items())


@pytest.mark.parametrize("name", TOTALS)
def test_every_tile_is_read_back_as_it_is_written(name: str) -> None:
    tiles = load_tile_set(name)
    laid = [Tile(letter) for letter in tiles.letters] + [Tile.unnamed()]
    laid += [Tile(letter, is_blank=True) for letter in tiles.letters if tiles.lower(letter) != letter]
    assert tiles.parse(tiles.write(laid)) == tuple(laid)
    assert tiles.parse(tiles.write(laid[::-1])) == tuple(laid[::-1])


def test_super_scrabble_is_not_offered_for_the_board_of_15_squares() -> None:
    assert set(tile_set_names()) - set(playable_tile_set_names()) == {"en_super"}
    assert load_tile_set("en_super").board_size == 21


def test_an_unknown_tile_set_names_those_there_are() -> None:
    with pytest.raises(UnknownTileSetError, match=r"'tlh'. Choose one of af, ar, bg, ca, .*uk"):
        load_tile_set("tlh")


@pytest.mark.parametrize(
    ("name", "word", "tiles"),
    [
        ("es", "CHICO", ("CH", "I", "C", "O")),
        ("es", "chico", ("CH", "I", "C", "O")),
        ("hu", "gyöngy", ("GY", "Ö", "N", "GY")),
        ("ca", "COL·LEGI", ("C", "O", "L·L", "E", "G", "I")),
        ("ca", "COL•LEGI", ("C", "O", "L·L", "E", "G", "I")),
        ("ca", "coŀlegi", ("C", "O", "L·L", "E", "G", "I")),
        ("tr", "ılık", ("I", "L", "I", "K")),
        ("tr", "isim", ("İ", "S", "İ", "M")),
        ("el", "ΛΟΓΟΣ", ("Λ", "Ο", "Γ", "Ο", "Σ")),
    ],
)
def test_a_word_is_split_into_tiles(name: str, word: str, tiles: tuple[str, ...]) -> None:
    assert load_tile_set(name).split(word) == tiles


def test_a_word_with_a_strange_letter() -> None:
    with pytest.raises(NotationError, match="has the letter 'Ä', but the tile set 'en'"):
        EN.split("käse")


def test_tile_with_the_sign_of_a_blank_is_refused() -> None:
    with pytest.raises(NotationError):
        Tile("?")


def test_the_layouts_are_symmetric() -> None:
    for name in layout_names():
        board = load_layout(name)
        assert all(board.premiums[s] == board.premiums[transpose(s)] == board.premiums[224 - s] for s in SQUARES)


@pytest.mark.parametrize("rows", [["." * 15] * 14, ["." * 15] * 14 + ["." * 16], ["." * 15] * 14 + ["." * 14 + "x"]])
def test_layout_of_other_rows_or_signs_is_refused(rows: list[str]) -> None:
    with pytest.raises(NotationError, match="layout 'own'"):
        Layout.from_rows("own", rows)


def test_an_unknown_layout_names_those_there_are() -> None:
    with pytest.raises(UnknownLayoutError, match=", ".join(layout_names())):
        load_layout("round")


ROWS = ["." * 15] * 7 + ["....äHO?N......"] + ["." * 15] * 7


def test_a_board_prints_as_it_is_read() -> None:
    board = Board.from_rows(ROWS)
    assert str(board) == "\n".join(ROWS)
    assert board[parse_square("E8")] == Tile("Ä", is_blank=True)
    assert board.occupied_squares() == tuple(range(109, 114))


def test_a_turkish_board_keeps_its_dots() -> None:
    tiles = load_tile_set("tr")
    rows = ["Iİıi..........."] + ["." * 15] * 14
    board = Board.from_rows(rows, tiles)
    assert [board[s] for s in range(4)] == [Tile("I"), Tile("İ"), Tile("I", is_blank=True), Tile("İ", is_blank=True)]
    assert "".join(board.rows(tiles)[0]) == rows[0]


@pytest.mark.parametrize("rows", [ROWS[:-1], ["." * 14] * 15, ["1" * 15] * 15])
def test_rows_of_no_board_are_refused(rows: list[str]) -> None:
    with pytest.raises(NotationError):
        Board.from_rows(rows)


def test_boards_are_values() -> None:
    board = Board()
    assert board.with_tiles({3: Tile("A")}) == board.with_tiles({3: Tile("A")}) != board
    assert hash(board.with_tiles({3: Tile("A")}).without_tiles([3])) == hash(board)


@pytest.mark.parametrize(
    "notation", ["H6 FA.M", "8E T....S", "J8 SO", "F7 S.ot", "I4 ABCd.", "12D AT"], ids=lambda notation: notation
)
def test_a_play_is_written_as_it_is_read(notation: str) -> None:
    game = play(new_game(), "8F HORN")
    assert written(game, notation).to_gcg(game.board, EN) == notation


@pytest.mark.parametrize("word", ["FA.M", "FA(R)M", "FARM"])
def test_tiles_of_the_board_are_written_in_three_ways(word: str) -> None:
    game = play(new_game(), "8F HORN")
    assert written(game, f"H6 {word}") == written(game, "H6 FA.M")


def test_a_tile_alone_reads_in_the_direction_of_its_longer_word() -> None:
    game = play(new_game(), "8F HORN")
    assert written(game, "J8 S").to_gcg(game.board, EN) == "8F ....S"
    assert [word.word for word in game.score_play(written(game, "J8 S")).words] == ["HORNS"]


@pytest.mark.parametrize(
    ("down", "words", "notation"),
    [
        ("J5 CAT", ["HORNS", "CATS"], "8F ....S"),
        ("J2 ORCHID", ["ORCHIDS", "HORNS"], "J2 ......S"),
        ("J4 FARM", ["HORNS", "FARMS"], "8F ....S"),
    ],
)
def test_longer_word_of_a_tile_alone_is_its_main_word(down: str, words: list[str], notation: str) -> None:
    game = play(new_game(), "8F HORN", down)
    tile = written(game, "8J S")
    assert [word.word for word in game.score_play(tile).words] == words
    assert tile.to_gcg(game.board, EN) == notation


@pytest.mark.parametrize(("notation", "words"), [("7H AT", ["AT", "AR", "TN"]), ("E8 AT", ["AT", "AHORN"])])
def test_word_of_two_tiles_is_their_main_word(notation: str, words: list[str]) -> None:
    game = play(new_game(), "8F HORN")
    assert [word.word for word in game.score_play(written(game, notation)).words] == words


def test_rearranged_tiles_have_one_order() -> None:
    moved = {112: Tile("A"), 113: Tile("T")}
    assert Play.from_tiles({114: Tile("S")}, moved) == Play.from_tiles({114: Tile("S")}, dict(reversed(moved.items())))


def test_tiles_of_several_letters_stand_in_brackets() -> None:
    tiles = load_tile_set("es")
    shown = Play.from_gcg(Board(), "8H", "CHI[LL]A", tiles)
    assert shown.to_gcg(Board(), tiles) == "8H [CH]I[LL]A" and len(shown.tiles) == 4
    apart = Play.from_gcg(Board(), "8H", "A[L]L", tiles)
    assert apart.to_gcg(Board(), tiles) == "8H A[L]L" and len(apart.tiles) == 3


@pytest.mark.parametrize(
    ("notation", "error", "reason"),
    [
        ("8O HORN", NotationError, "does not fit on the board"),
        ("H6 F.RM", RulesError, "runs through H7, which is empty"),
        ("H6 FATM", RulesError, "the tile on H8 is R, not T"),
        ("H6 F(A)RM", RulesError, "runs through H7, which is empty"),
        ("H6 FA(T)M", RulesError, "the tile on H8 is R, not T"),
        ("H6 F4RM", NotationError, "'4'"),
    ],
)
def test_a_play_that_does_not_fit_says_why(notation: str, error: type[Exception], reason: str) -> None:
    with pytest.raises(error, match=reason):
        written(play(new_game(), "8F HORN"), notation)


def test_repr_is_short_and_names_the_state() -> None:
    game = play(new_game(), "8F HORN")
    reading = BoardReading.from_rows(game.board.rows())
    values = [game, game.board, game.layout, game.tiles, game.rules, Rules(rack_size=9), reading]
    assert [repr(value) for value in values] == [
        "<Game: Anna 14, Ben 0; 1 turns>",
        "<Board with 4 tiles>",
        "<Layout 'standard'>",
        "<TileSet 'en': English, 100 tiles>",
        "Rules()",
        "Rules(rack_size=9)",
        "<BoardReading with 4 tiles, 0 squares hidden>",
    ]


def test_printed_board_shows_rows_and_blanks() -> None:
    board = Board().with_tiles({112: Tile("A"), 113: Tile("T", is_blank=True)})
    assert str(board).splitlines()[7] == ".......At......"


@pytest.mark.parametrize("text", ["", "AB", "1"])
def test_text_that_is_not_one_tile_is_refused(text: str) -> None:
    assert load_tile_set("es").parse_tile("CH").letter == "CH"
    with pytest.raises(NotationError):
        load_tile_set("es").parse_tile(text)
