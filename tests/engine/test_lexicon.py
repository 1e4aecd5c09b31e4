"""Word lists: what a list may hold, what is left out of it, and how a word is found."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from engine.board import Board
from engine.gcg import parse_gcg, replay
from engine.lexicon import Lexicon, LexiconError, load_shipped_lexicon, parse_entries
from engine.tiles import Tile, TileSet, load_tile_set, tile_set_names


def build(data: bytes | str, tiles: TileSet | None = None) -> Lexicon:
    """Build a list from the text of a file."""
    return Lexicon.from_words("words", parse_entries("words", data.encode() if isinstance(data, str) else data), tiles)


@pytest.fixture(scope="module")
def english() -> Lexicon:
    lexicon = load_shipped_lexicon("en")
    assert lexicon is not None
    return lexicon


@pytest.mark.parametrize("word", ["HORN", "FARM", "PASTE", "NOT", "QI", "ZA", "AA", "QUIZZICALLY"])
def test_the_shipped_list_knows_common_words(english: Lexicon, word: str) -> None:
    assert word in english


@pytest.mark.parametrize(
    "word",
    ["PAWN", "HELL", "LUST", "BALLS", "KNOB", "SNATCH", "SUCK", "ESCORT", "PLAYBOY", "UNDRESS", "HOAR", "PANTY", "OK"],
)
def test_the_shipped_list_knows_words_that_a_profanity_filter_removed(english: Lexicon, word: str) -> None:
    assert word in english


@pytest.mark.parametrize("word", ["KCAL", "CSC", "CM", "IV", "LS", "NATO", "VEDIC", "MACARENAS"])
def test_the_shipped_list_does_not_know_names_and_abbreviations(english: Lexicon, word: str) -> None:
    assert word not in english


@pytest.mark.parametrize("word", ["HRON", "XQ", "", "A", "PASTEE", "FARMSS"])
def test_the_shipped_list_does_not_know_others(english: Lexicon, word: str) -> None:
    assert word not in english


def test_the_shipped_list_has_words_of_2_to_15_letters(english: Lexicon) -> None:
    lengths = {len(word) for word in english}
    assert (min(lengths), max(lengths)) == (2, 15)
    assert len(english) > 250_000


@pytest.mark.slow
def test_compiling_the_same_words_makes_the_same_bytes(english: Lexicon) -> None:
    again = Lexicon.from_words("en", list(english))
    shipped = Path(__file__).parents[2] / "engine" / "data" / "lexicon" / "en.marisa"
    assert again.to_bytes() == shipped.read_bytes()


def test_a_plain_list_is_read() -> None:
    lexicon = build("horn\nfarm\n")
    assert "HORN" in lexicon
    assert "FARM" in lexicon
    assert "PASTE" not in lexicon
    assert len(lexicon) == 2


@pytest.mark.parametrize(
    "line",
    ["AAH", "aah", "AAH to exclaim in surprise [v AAHED]", "aah\t1234\tAAHS", "AAH, an exclamation", "AAH\r"],
)
def test_a_definition_may_follow_the_word(line: str) -> None:
    lexicon = build(f"{line}\n{line}\n")
    assert "AAH" in lexicon
    assert len(lexicon) == 1


def test_comments_and_empty_lines_are_no_words() -> None:
    lexicon = build("# the list of the club\n\n   \nhorn\n")
    assert len(lexicon) == 1
    assert not lexicon.excluded_counts


def test_utf8_list_that_was_cut_inside_its_last_letter_keeps_its_accented_words() -> None:
    assert list(parse_entries("list", "ÄPFEL\nÜBER\nHORN\nKÄ".encode()[:-1])) == ["ÄPFEL", "ÜBER", "HORN", "K"]


def test_latin1_list_with_an_accent_in_its_last_letter_only_is_read() -> None:
    assert list(parse_entries("list", "HORN\nKOMÄ".encode("iso-8859-1"))) == ["HORN", "KOMÄ"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "iso-8859-1", "utf-16"])
def test_both_encodings_are_read(encoding: str) -> None:
    data = "äpfel\nöl\nhorn\n".encode(encoding)
    assert {"ÄPFEL", "ÖL", "HORN"} == set(build(data))


def test_decomposed_letters_are_composed() -> None:
    assert "ÖL" in build("o\u0308l\n")


def test_forbidden_lines_are_left_out_and_counted() -> None:
    data = "horn\nfarm\nnot\nOhio\nAnna\nx-ray\ndon't\na\netc.\n" + "x" * 16 + "\n"
    lexicon = build(data)
    assert set(lexicon) == {"HORN", "FARM", "NOT"}
    assert lexicon.excluded_counts == {
        "capital letter": 2,
        "hyphen": 1,
        "apostrophe": 1,
        "not only letters": 1,
        "not 2 to 15 letters": 2,
    }


def test_a_word_that_is_also_a_name_stays() -> None:
    assert "MARK" in build("mark\nMark\nhorn\n")


def test_a_list_all_in_capitals_has_no_proper_names() -> None:
    lexicon = build("a list of two\nHORN\nFARM\n")
    assert {"HORN", "FARM"} <= set(lexicon)


def test_german_nouns_are_words() -> None:
    data = "Haus\ngehen\nStraße\nlaufen\n"
    lexicon = build(data, load_tile_set("de"))
    assert set(lexicon) == {"HAUS", "GEHEN", "STRASSE", "LAUFEN"}


@pytest.mark.parametrize(
    ("language", "entry", "word"),
    [("fr", "été", "ETE"), ("es", "ácido", "ACIDO"), ("es", "niño", "NIÑO"), ("tr", "ilik", "İLİK")],
)
def test_words_take_the_letters_of_the_tiles(language: str, entry: str, word: str) -> None:
    assert word in build(f"{entry}\n", load_tile_set(language))


def test_a_digraph_tile_counts_as_one_letter() -> None:
    word = "CHICHA" * 2 + "RREA"  # 16 letters, 11 tiles
    assert word in build(f"{word.lower()}\n", load_tile_set("es"))


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\xff\xd8\xff\xe0\0\x10JFIF", b"PK\x03\x04\x14"])
def test_a_file_that_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(LexiconError, match=r"words is not a text file. Save"):
        build(data)


def test_the_beginning_of_a_word_is_no_word(english: Lexicon) -> None:
    assert "QUIZ" in english
    assert "QUIZZIC" not in english


def test_lexicon_bytes_round_trip() -> None:
    club = Lexicon.from_words("club", ["horn", "farm"])
    assert set(Lexicon.from_bytes("club", club.to_bytes())) == {"HORN", "FARM"}


def test_lexicon_from_bytes_refuses_a_header_alone() -> None:
    with pytest.raises(LexiconError, match="not a compiled word list"):
        Lexicon.from_bytes("club", b"We love Marisa.\0\1\2\3")


def test_load_shipped_lexicon_of_a_language_without_one_is_none() -> None:
    assert load_shipped_lexicon("de") is None


@pytest.mark.parametrize("sign", ["'", "’", "ʼ", "´"])
def test_ukrainian_words_with_an_apostrophe_are_words(sign: str) -> None:
    tiles = load_tile_set("uk")
    words = build(f"п{sign}ять\nдім\nм{sign}ята\n", tiles)
    assert {"П'ЯТЬ", "ДІМ", "М'ЯТА"} == set(words)
    assert "".join(tiles.split(f"п{sign}ять")) == "П'ЯТЬ"


def test_blank_for_the_ukrainian_apostrophe_is_not_the_tile() -> None:
    tiles = load_tile_set("uk")
    blank, tile = Tile("'", is_blank=True), Tile("'")
    assert tiles.parse(tiles.write([blank, tile])) == (blank, tile)
    board = Board().with_tiles({112: blank, 113: tile})
    assert Board.from_rows(board.rows(tiles), tiles) == board


@pytest.mark.parametrize(
    ("tile_set", "entry", "word"),
    [
        ("fr", "cœur", "COEUR"), ("fr", "ŒUF", "OEUF"), ("hr", "ǆep", "DŽEP"), ("hr", "Ǌoka", "NJOKA"),
        ("ca", "coŀlegi", "COL·LEGI"), ("el", "λόγος", "ΛΟΓΟΣ"), ("fr", "é", ""),
    ],
)  # fmt: skip
def test_letters_of_word_lists_are_spelled_with_tiles(tile_set: str, entry: str, word: str) -> None:
    tiles = load_tile_set(tile_set)
    assert set(build(f"{entry.lower()}\n", tiles)) == ({word} if word else set())
    if word:
        assert "".join(tiles.split(tiles.fold(entry))) == word


def test_racks_and_plays_are_spelled_with_tiles() -> None:
    record = parse_gcg("#player1 A A\n#player2 B B\n#tile-distribution french\n>A: ÉTABCDF 8G ET +4 4\n")
    assert not replay(record).problems
    assert [str(tile) for tile in load_tile_set("el").parse("ΛΟΓΟς")] == ["Λ", "Ο", "Γ", "Ο", "σ"]
    assert [str(tile) for tile in load_tile_set("hr").parse("ǇUBAV")] == ["LJ", "U", "B", "A", "V"]


def test_long_list_is_compiled_in_parts_and_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.lexicon._MAX_TRIE_WORDS", 2)
    words = ["HORN", "FARM", "PASTE", "MOB", "BIT"]
    club = Lexicon.from_words("club", words)
    again = Lexicon.from_bytes("club", club.to_bytes())
    assert club.to_bytes().count(b"We love Marisa.") == 3
    for lexicon in (club, again):
        assert sorted(lexicon) == sorted(words) and len(lexicon) == len(words)
        assert all(word in lexicon for word in words) and "HORNS" not in lexicon


@pytest.mark.parametrize("line_end", ["\n", "\r", "\x0b", "\u2028"])
def test_list_with_too_many_lines_is_refused_with_the_limit(monkeypatch: pytest.MonkeyPatch, line_end: str) -> None:
    monkeypatch.setattr("engine.lexicon.MAX_LEXICON_LINES", 4)
    assert len(build(line_end.join(["# ours", "aa", "ab", "ac"]))) == 3
    with pytest.raises(LexiconError, match="more than 4 lines"):
        build(line_end.join(["# ours", "", "aa", "ab", "ac"]))


def test_words_among_definitions_and_comments_are_found() -> None:
    plain, mixed = ["horn", "farm"] * 3000, ["horn, a tool", "# comment", "", "farm;x", " mob\tcrowd", "bit=1"]
    assert set(build("\n".join(plain))) == {"HORN", "FARM"}
    assert set(build("\n".join([*plain, *mixed, *plain]))) == {"HORN", "FARM", "MOB", "BIT"}


@pytest.mark.parametrize("tile_set", ["pl", "fr", "el", "tr", "es", "hr"])
def test_words_are_folded_together_as_each_alone(tile_set: str) -> None:
    tiles, words = load_tile_set(tile_set), ["œuvre", "straße", "λόγος", "ıi", "ĳs", "ǆep", "ŻÓŁW", "été", "ǉubav"]
    assert tiles.fold("\n".join(words)).split("\n") == [tiles.fold(word) for word in words]


@pytest.mark.parametrize("tile_set", tile_set_names())
def test_rare_characters_of_a_text_are_folded_like_frequent_ones(tile_set: str) -> None:
    tiles = load_tile_set(tile_set)
    letters = "".join(filter(str.isalpha, map(chr, range(0x700))))
    plain = max(tiles.letters, key=str.isascii)
    alone = [tiles.fold(letter) for letter in letters]
    assert [tiles.fold(letter + plain * 20) for letter in letters] == [letter + plain * 20 for letter in alone]
    padding = plain * 20 * len(letters)
    assert tiles.fold(letters + padding) == tiles.fold(letters) + padding == "".join(alone) + padding


def test_repeated_words_compile_to_the_same_bytes() -> None:
    words = ["horn", "farm", "paste", "mob", "bit"]
    assert build("\n".join(words * 3)).to_bytes() == build("\n".join(reversed(words))).to_bytes()


def test_long_list_is_compiled_in_little_memory() -> None:
    data = "\n".join(f"a{number:012}".translate(str.maketrans("0123456789", "abcdefghij")) for number in range(60_000))
    tracemalloc.start()
    try:
        assert len(build(data)) == 60_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(data)  # the words of a list as texts take seven times its size


def test_encoding_is_found_in_a_character_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.lexicon._BLOCK_BYTES", 3)
    assert set(build("mäuse\nhäuser\n", load_tile_set("de"))) == {"MÄUSE", "HÄUSER"}
