"""The word lists: what a file may hold, what is left out of it, and how fast a word is found."""

from __future__ import annotations

import os
import timeit
from pathlib import Path

import pytest

from engine.lexicon import MAX_CACHED_LISTS, Lexicon, LexiconError, open_lexicon
from engine.tiles import load_tile_set


def write(folder: Path, data: bytes | str) -> Path:
    path = folder / "words.txt"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.fixture(scope="module")
def english() -> Lexicon:
    lexicon = open_lexicon(None, "en")
    assert lexicon is not None
    return lexicon


@pytest.mark.parametrize("word", ["HORN", "FARM", "PASTE", "NOT", "QI", "ZA", "AA", "QUIZZICALLY"])
def test_the_shipped_list_knows_common_words(english: Lexicon, word: str) -> None:
    assert word in english


@pytest.mark.parametrize("word", ["HRON", "XQ", "", "A", "PASTEE", "FARMSS"])
def test_the_shipped_list_does_not_know_others(english: Lexicon, word: str) -> None:
    assert word not in english


def test_the_shipped_list_has_words_of_2_to_15_letters(english: Lexicon) -> None:
    lengths = {len(word) for word in english}
    assert (min(lengths), max(lengths)) == (2, 15)
    assert len(english) > 250_000


def test_the_shipped_list_is_small_and_quick(english: Lexicon) -> None:
    shipped = Path(__file__).parents[2] / "engine" / "data" / "lexicon" / "en.marisa"
    assert shipped.stat().st_size < 5_000_000
    assert min(timeit.repeat(lambda: open_lexicon(None, "en"), number=1, repeat=5)) < 0.005
    words = ["FARM", "QUIZZICALLY", "XQZZZ", "ZA"]
    looked_up = min(timeit.repeat(lambda: [word in english for word in words], number=500, repeat=5))
    assert looked_up / (500 * len(words)) < 5e-6


@pytest.mark.slow
def test_compiling_the_same_words_makes_the_same_bytes(english: Lexicon, tmp_path: Path) -> None:
    again = Lexicon.from_words("en", list(english))
    again.save(tmp_path / "en.marisa")
    shipped = Path(__file__).parents[2] / "engine" / "data" / "lexicon" / "en.marisa"
    assert (tmp_path / "en.marisa").read_bytes() == shipped.read_bytes()


def test_a_plain_list_is_read(tmp_path: Path) -> None:
    lexicon = Lexicon.from_file(write(tmp_path, "horn\nfarm\n"))
    assert "HORN" in lexicon
    assert "FARM" in lexicon
    assert "PASTE" not in lexicon
    assert len(lexicon) == 2


@pytest.mark.parametrize(
    "line",
    ["AAH", "aah", "AAH to exclaim in surprise [v AAHED]", "aah\t1234\tAAHS", "AAH, an exclamation", "AAH\r"],
)
def test_a_definition_may_follow_the_word(tmp_path: Path, line: str) -> None:
    lexicon = Lexicon.from_file(write(tmp_path, f"{line}\n{line}\n"))
    assert "AAH" in lexicon
    assert len(lexicon) == 1


def test_comments_and_empty_lines_are_no_words(tmp_path: Path) -> None:
    lexicon = Lexicon.from_file(write(tmp_path, "# the list of the club\n\n   \nhorn\n"))
    assert len(lexicon) == 1
    assert not lexicon.excluded_counts


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "iso-8859-1", "utf-16"])
def test_both_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    path = write(tmp_path, "äpfel\nöl\nhorn\n".encode(encoding))
    assert {"ÄPFEL", "ÖL", "HORN"} == set(Lexicon.from_file(path))


def test_decomposed_letters_are_composed(tmp_path: Path) -> None:
    assert "ÖL" in Lexicon.from_file(write(tmp_path, "o\u0308l\n"))


def test_what_the_sheets_forbid_is_left_out_with_a_count(tmp_path: Path) -> None:
    path = write(tmp_path, "horn\nfarm\nnot\nOhio\nAnna\nx-ray\ndon't\na\netc.\n" + "x" * 16 + "\n")
    lexicon = Lexicon.from_file(path)
    assert set(lexicon) == {"HORN", "FARM", "NOT"}
    assert lexicon.excluded_counts == {
        "capital letter": 2,
        "hyphen": 1,
        "apostrophe": 1,
        "not only letters": 1,
        "not 2 to 15 letters": 2,
    }


def test_a_word_that_is_also_a_name_stays(tmp_path: Path) -> None:
    assert "MARK" in Lexicon.from_file(write(tmp_path, "mark\nMark\nhorn\n"))


def test_a_list_all_in_capitals_has_no_proper_names(tmp_path: Path) -> None:
    lexicon = Lexicon.from_file(write(tmp_path, "a list of two\nHORN\nFARM\n"))
    assert {"HORN", "FARM"} <= set(lexicon)


def test_german_nouns_are_words(tmp_path: Path) -> None:
    path = write(tmp_path, "Haus\ngehen\nStraße\nlaufen\n")
    lexicon = Lexicon.from_file(path, load_tile_set("de"))
    assert set(lexicon) == {"HAUS", "GEHEN", "STRASSE", "LAUFEN"}


@pytest.mark.parametrize(
    ("language", "entry", "word"),
    [("fr", "été", "ETE"), ("es", "ácido", "ACIDO"), ("es", "niño", "NIÑO"), ("tr", "ilik", "İLİK")],
)
def test_words_take_the_letters_of_the_tiles(tmp_path: Path, language: str, entry: str, word: str) -> None:
    assert word in Lexicon.from_file(write(tmp_path, f"{entry}\n"), load_tile_set(language))


def test_a_digraph_tile_counts_as_one_letter(tmp_path: Path) -> None:
    word = "CHICHA" * 2 + "RREA"  # 16 letters, 11 tiles
    assert word in Lexicon.from_file(write(tmp_path, f"{word.lower()}\n"), load_tile_set("es"))


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\xff\xd8\xff\xe0\0\x10JFIF", b"PK\x03\x04\x14"])
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(LexiconError, match=r"words\.txt: not a text file; export"):
        Lexicon.from_file(write(tmp_path, data))


def test_a_file_without_a_word_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match="holds no word of 2 to 15 letters"):
        Lexicon.from_file(write(tmp_path, "1\n2\n3\n"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=r"nowhere\.txt: cannot be read \(No such file"):
        open_lexicon(str(tmp_path / "nowhere.txt"), "en")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match="cannot be read"):
        open_lexicon(str(tmp_path), "en")


def test_a_broken_compiled_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match="not a compiled word list"):
        Lexicon.from_file(write(tmp_path, b"We love Marisa.\0\1\2\3"))


def test_a_saved_list_is_loaded(tmp_path: Path) -> None:
    Lexicon.from_words("club", ["horn", "farm"]).save(tmp_path / "club.marisa")
    for lexicon in (Lexicon.load(tmp_path / "club.marisa"), Lexicon.from_file(tmp_path / "club.marisa")):
        assert (lexicon.name, set(lexicon)) == ("club", {"HORN", "FARM"})


def test_the_users_list_is_compiled_once(tmp_path: Path) -> None:
    path, kept_in = write(tmp_path, "horn\nOhio\nfarm\n"), tmp_path / "kept"
    first = Lexicon.from_file(path, cache_dir=kept_in)
    compiled = {file: file.stat().st_mtime_ns for file in kept_in.iterdir()}
    second = Lexicon.from_file(path, cache_dir=kept_in)
    assert {file: file.stat().st_mtime_ns for file in kept_in.iterdir()} == compiled
    assert (first, dict(first.excluded_counts)) == (second, dict(second.excluded_counts))


def test_a_changed_list_is_compiled_again(tmp_path: Path) -> None:
    kept_in = tmp_path / "kept"
    Lexicon.from_file(write(tmp_path, "horn\n"), cache_dir=kept_in)
    assert "FARM" in Lexicon.from_file(write(tmp_path, "horn\nfarm\n"), cache_dir=kept_in)


def test_a_damaged_kept_list_is_compiled_again(tmp_path: Path) -> None:
    path, kept_in = write(tmp_path, "horn\n"), tmp_path / "kept"
    Lexicon.from_file(path, cache_dir=kept_in)
    for file in kept_in.iterdir():
        file.write_bytes(b"")
    assert "HORN" in Lexicon.from_file(path, cache_dir=kept_in)


def test_a_list_that_cannot_be_kept_is_used_all_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, "horn\n")
    assert "HORN" in Lexicon.from_file(path, cache_dir=path / "no folder")


def test_only_the_lists_compiled_last_are_kept(tmp_path: Path) -> None:
    kept_in = tmp_path / "kept"
    kept_in.mkdir()
    (kept_in / "other.txt").write_text("not ours")
    for letter in "ABCDEFGHIJKL":
        Lexicon.from_file(write(tmp_path, f"{letter}horn\n"), cache_dir=kept_in)
        for file in kept_in.iterdir():  # so that file times tell them apart on any disk
            os.utime(file, ns=(0, file.stat().st_mtime_ns - 10**9))
    assert len(list(kept_in.glob("*.marisa"))) == len(list(kept_in.glob("*.json"))) == MAX_CACHED_LISTS
    assert (kept_in / "other.txt").exists()
    compiled = {file: file.stat().st_mtime_ns for file in kept_in.iterdir()}
    assert "LHORN" in Lexicon.from_file(write(tmp_path, "Lhorn\n"), cache_dir=kept_in)
    assert {file: file.stat().st_mtime_ns for file in kept_in.iterdir()} == compiled, "the newest is still there"


def test_the_beginning_of_a_word_is_found(english: Lexicon) -> None:
    assert english.has_prefix("QUIZZIC")
    assert not english.has_prefix("QUIZZX")


def test_none_means_that_words_are_not_checked() -> None:
    assert open_lexicon("none", "en") is None


def test_a_language_without_a_list_is_not_checked(tmp_path: Path) -> None:
    assert open_lexicon(None, "ro", system_dir=tmp_path) is None
    assert open_lexicon(None, "de", system_dir=tmp_path) is None


def test_a_list_of_the_system_advises_and_never_decides(tmp_path: Path) -> None:
    list_of_the_system = tmp_path / "ngerman"
    list_of_the_system.write_text("Äpfel\nHaus\n", encoding="utf-8")
    for choice in (None, str(list_of_the_system)):
        lexicon = open_lexicon(choice, "de", system_dir=tmp_path)
        assert lexicon is not None and "HAUS" in lexicon
        assert (lexicon.name, lexicon.is_authoritative) == ("ngerman", False)


def test_a_list_of_the_system_is_compiled_once(tmp_path: Path) -> None:
    (tmp_path / "french").write_text("été\n", encoding="utf-8")
    for _ in range(2):
        lexicon = open_lexicon(None, "fr", tmp_path / "kept", system_dir=tmp_path)
        assert lexicon is not None and "ETE" in lexicon and not lexicon.is_authoritative


def test_a_list_of_the_system_that_is_too_large_for_a_small_computer_is_left_alone(tmp_path: Path) -> None:
    with (tmp_path / "polish").open("wb") as file:
        file.truncate(60_000_000)
    assert open_lexicon(None, "pl", system_dir=tmp_path) is None


def test_the_shipped_list_and_the_users_own_decide(english: Lexicon, tmp_path: Path) -> None:
    own = open_lexicon(str(write(tmp_path, "Haus\n")), "de")
    assert own is not None and own.is_authoritative and english.is_authoritative


def test_a_file_serves_any_language(tmp_path: Path) -> None:
    lexicon = open_lexicon(str(write(tmp_path, "țap\n")), "ro")
    assert lexicon is not None
    assert "TAP" in lexicon
