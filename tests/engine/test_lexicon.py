"""Word lists: what a list may hold, what is left out of it, and how a word is found."""

from __future__ import annotations

import itertools
import tracemalloc
from pathlib import Path

import pytest

from engine.board import Board
from engine.gcg import parse_gcg, replay
from engine.lexicon import Lexicon, LexiconError, describe_list, load_shipped_lexicon, parse_entries
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


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ("farm#", "FARM"), ("mob!", "MOB"), ("farm*", "FARM"), ("bit†", "BIT"), ("bank²", "BANK"), ("tile ‡", "TILE"),
        ('"note"', "NOTE"), ("„haus“", "HAUS"), ("knäuel+", "KNÄUEL"), ("bit^$", "BIT"), ("cafe\u0301", "CAFÉ"),
    ],
)  # fmt: skip
def test_marks_after_a_word_are_dropped(entry: str, word: str) -> None:
    lexicon = build(f"{entry}\nhorn\n")
    assert set(lexicon) == {word, "HORN"} and lexicon.is_authoritative and not lexicon.excluded_counts


@pytest.mark.parametrize("entry", ["etc.", "anti-", "goin'", "km\\/h", "h0rn", "A1", "<li>horn</li>"])
def test_entry_that_is_no_word_is_left_out(entry: str) -> None:
    lexicon = build(f"{entry}\nhorn\nfarm\n")
    assert set(lexicon) == {"HORN", "FARM"} and sum(lexicon.excluded_counts.values()) == 1


@pytest.mark.parametrize(
    "lines",
    [
        ["horn/SM", "farm/MDRSGZ"], ["horn/12,34", "farm/5"], ["horn/SM po:noun", "farm/S ph:pharm"],
        ["horn/äß", "farm/é"], ["farm", "horn/SM\tst:horn"], ["horn/", "farm/X"],
    ],
)  # fmt: skip
def test_list_of_a_spell_checker_only_gives_advice(lines: list[str]) -> None:
    lexicon = build("\n".join([str(len(lines)), *lines, "Ohio/M", ""]))
    assert set(lexicon) == {"HORN", "FARM"} and not lexicon.is_authoritative and lexicon.has_missing_forms
    assert "it only gives advice" in describe_list(lexicon)[-1]


def test_single_stroke_in_a_long_list_does_not_make_it_the_list_of_a_spell_checker() -> None:
    words = ["".join(letters) for letters in itertools.product("abcdefg", repeat=3)]
    assert build("\n".join([*words, "and/or"])).is_authoritative


@pytest.mark.parametrize(
    ("code", "encoding", "word"),
    [
        ("pl", "cp1250", "łąka"), ("pl", "iso-8859-2", "łąka"), ("cs", "cp1250", "žába"), ("hu", "iso-8859-2", "erdő"),
        ("ro", "cp1250", "mână"), ("tr", "cp1254", "ışık"), ("el", "iso-8859-7", "σπίτι"), ("ru", "cp1251", "ёлка"),
        ("ru", "koi8-r", "кот"), ("hr", "cp1250", "šuma"), ("bg", "cp1251", "къща"), ("uk", "koi8-u", "їжак"),
        ("de", "iso-8859-1", "größe"), ("fr", "iso-8859-15", "cœur"),
    ],
)  # fmt: skip
def test_list_in_the_encoding_of_its_language_is_read(code: str, encoding: str, word: str) -> None:
    tiles = load_tile_set(code)
    lexicon = build(f"{word}\r\n".encode(encoding), tiles)
    assert set(lexicon) == {tiles.fold(word)} and lexicon.is_authoritative


def test_words_with_letters_that_no_tile_has_are_counted() -> None:
    lexicon = build("kot\ndom\npies\nkoń\nquiz\n", load_tile_set("pl"))
    assert "QUIZ" not in lexicon and lexicon.excluded_counts == {"letter without a tile": 1}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("кот\nдом\nмышь\n", "with letters that no tile of this set has: 3"),
        ("1;horn\n2;farm\n3;mob\n", "with digits or signs: 3"),
        ("[horn]\n{farm}\n<mob>\n", "with digits or signs: 3"),
        ("don't\nwon't\ncan't\nhorn\n", "with an apostrophe: 3"),
    ],
)
def test_list_of_mostly_unusable_lines_is_refused_with_the_counts(data: str, reason: str) -> None:
    with pytest.raises(LexiconError, match=rf"Words read: [01]\. Lines left out: 3 \({reason}\)\. Save the list"):
        build(data, load_tile_set("en"))


AFFIXES = """SET UTF-8
TRY esianrtolcdugmphbyfvkwz
SFX S Y 4
SFX S y ies [^aeiou]y
SFX S 0 s [aeiou]y
PFX A Y 1
PFX A 0 re .
REP 90
REP a ei
REP ei a
"""


@pytest.mark.parametrize(
    "text",
    [AFFIXES, f"# Affixes of our language\r\n\r\n{AFFIXES}", "PFX A N 2\nPFX A 0 anti .\n", "SET ISO8859-1\nTRY abc\n"],
)
def test_affixes_of_a_spell_checker_are_refused(text: str) -> None:
    with pytest.raises(LexiconError, match=r"^words has the rules of a spell checker"):
        build(text, load_tile_set("en"))


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("horn farm mob bit", "utf-8"), ("horn, farm, mob, bit\n", "utf-8"), ("HORN;FARM;MOB;BIT\r\n", "cp1252"),
        ("horn\tfarm\tmob\tbit\n", "utf-8-sig"), ('["horn", "farm", "mob", "bit"]', "utf-8"),
        ("# our words\n\nhorn farm\nmob bit\n", "utf-8"), ("Words\nhorn farm mob\nbit words horns\n", "utf-8"),
        ("horn farm mob bit\n", "utf-16"), ("horn,\n farm, mob,\nbit,horns\n", "utf-8"),
        ("horn farm mob bit.", "utf-8"),
    ],
)  # fmt: skip
def test_several_words_on_a_line_are_read(text: str, encoding: str) -> None:
    lexicon = build(text.encode(encoding), load_tile_set("en"))
    assert {"HORN", "FARM", "MOB"} <= set(lexicon) and lexicon.is_authoritative


def test_several_words_on_a_line_are_read_in_the_encoding_of_their_language() -> None:
    lexicon = build("łąka źródło ćma śnieg miód kot dom dłoń żaba".encode("cp1250"), load_tile_set("pl"))
    assert set(lexicon) == {"ŁĄKA", "ŹRÓDŁO", "ĆMA", "ŚNIEG", "MIÓD", "KOT", "DOM", "DŁOŃ", "ŻABA"}


@pytest.mark.parametrize(
    "text",
    [
        "HORN to blow a horn\nFARM to till the soil\nMOB to crowd about\n", "horn noun\nfarm noun\nmob noun\n",
        "horn,4\nfarm,4\nmob,3\n", "horn;n;x\nfarm;n;x\nmob;n;x\n", "horn: a tool\nfarm: a place\nmob: many\n",
        "horn\nfarm\nmob a crowd\n",
    ],
)  # fmt: skip
def test_definitions_are_no_words(text: str) -> None:
    assert set(build(text, load_tile_set("en"))) == {"HORN", "FARM", "MOB"}


@pytest.mark.parametrize(
    "text",
    ["The horn of the farm is the horn of the mob.\n", "HORN is a tool\n", "\n".join(["a horn and a farm " * 9] * 9)],
)
def test_text_on_one_line_is_refused(text: str) -> None:
    with pytest.raises(LexiconError, match=r"several words on one line\. Put one word on each line"):
        build(text, load_tile_set("en"))


def test_list_that_repeats_most_of_its_words_is_refused_with_the_counts() -> None:
    with pytest.raises(
        LexiconError, match=r"Words read: 3\. Lines left out: 9 \(that repeat a word: 9\)\. Save the list"
    ):
        build("if horn:\nelse farm:\nfor mob:\n" * 4, load_tile_set("en"))


def test_list_that_repeats_many_words_only_gives_advice() -> None:
    lexicon = build("horn\nfarm\nmob\n" * 2 + "horn\n")
    assert not lexicon.is_authoritative and lexicon.excluded_counts == {"repeated": 4}


def test_list_with_two_senses_of_each_word_decides() -> None:
    assert build("horn\nfarm\nmob\n" * 2).is_authoritative


def test_list_with_many_misread_lines_only_gives_advice() -> None:
    lexicon = build("horn\nfarm\nmob\nh0rn\nf4rm\n")
    assert not lexicon.is_authoritative and describe_list(lexicon)[1:] == [
        "Lines left out: 2 (with digits or signs: 2).",
        "Many lines have no word for these tiles, so the list only gives advice. Save it as UTF-8 text, with one word "
        "in small letters on each line.",
    ]


@pytest.mark.parametrize("data", ["Horn\nFarm\nPaste\nmob\n", "HORN\nFarm\nPASTE\nmob\n", "Horn\nfarm\nPASTE\nmob\n"])
def test_words_with_a_capital_letter_are_words_if_most_have_one(data: str) -> None:
    lexicon = build(data, load_tile_set("en"))
    assert set(lexicon) == {"HORN", "FARM", "PASTE", "MOB"} and lexicon.is_authoritative


def test_list_with_many_capital_letters_only_gives_advice() -> None:
    lexicon = build("horn\nfarm\nmob\nPaste\nBit\n")
    assert set(lexicon) == {"HORN", "FARM", "MOB"} and not lexicon.is_authoritative


def test_list_with_possessives_and_names_decides() -> None:
    lexicon = build("horn\nhorn's\nfarm\nfarm's\nOhio\nmob\n")
    assert lexicon.is_authoritative and describe_list(lexicon) == [
        "Words read from words: 3.",
        "Lines left out: 3 (with an apostrophe: 2; names and other words with a capital letter: 1).",
    ]


@pytest.mark.parametrize(
    ("name", "tile_set", "words"),
    [
        ("04-hunspell-list/words.dic", "en", "BIT FARM HORN MOB NOTE PASTE RACK SCORE TABLE TILE"),
        ("04-hunspell-list/marked.txt", "en", "FARM HORN MOB PASTE TILE"),
        ("12-national-encodings/polish-cp1250.txt", "pl", "DOM KOT KOŃ MIĘSO PIES ĆMA ŁĄKA ŚNIEG ŹRÓDŁO ŻABA"),
        ("12-national-encodings/polish-iso-8859-2.txt", "pl", "DOM KOT KOŃ MIĘSO PIES ĆMA ŁĄKA ŚNIEG ŹRÓDŁO ŻABA"),
        ("12-national-encodings/hungarian-iso-8859-2.txt", "hu", "ERDŐ FŰ HÁZ KUTYA ŐR ŰR"),
        ("12-national-encodings/russian-cp1251.txt", "ru", "ДОМ КОТ МЫШЬ ЁЛКА"),
        ("12-national-encodings/turkish-cp1254.txt", "tr", "AĞAÇ GÜN IŞIK KEDİ ŞEKER"),
    ],
)
def test_list_of_a_reported_case_is_read(name: str, tile_set: str, words: str) -> None:
    path = Path(__file__).parents[3] / "shared" / "findings" / "cases" / name
    if not path.exists():
        pytest.skip("the reported cases are in ../shared/findings")
    tiles = load_tile_set(tile_set)
    lexicon = build(path.read_bytes(), tiles)
    assert set(lexicon) == {tiles.fold(word) for word in words.split()}
    assert lexicon.is_authoritative == (path.suffix != ".dic")


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
    plain = list(map("".join, itertools.product("abcdefgh", repeat=4)))
    mixed = ["horn, a tool", "# comment", "", "farm;x", " mob\tcrowd", "bit=1"]
    lexicon = build("\n".join([*plain, *mixed, *(f"{word}s" for word in plain)]))
    assert len(lexicon) == 2 * len(plain) + 4 and {"HORN", "FARM", "MOB", "BIT"} <= set(lexicon)


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
