"""Word lists on disk: files, lists of the system, and the cache of compiled lists."""

from __future__ import annotations

import os
import random
import string
import time
import timeit
from collections.abc import Callable
from pathlib import Path

import pytest

from device.storage.lexicons import (
    MAX_CACHED_LISTS,
    OwnLists,
    count_words,
    find_system_lists,
    has_default_lexicon,
    open_lexicon,
    read_lexicon,
    save_uploaded_list,
)
from engine.lexicon import Lexicon, LexiconError, load_shipped_lexicon
from engine.limits import MAX_LEXICON_BYTES, MAX_LEXICON_LINE_BYTES
from engine.tiles import load_tile_set

WORDS = "\n".join(f"{a}{b}{c}{d}" for a in "bcdfghk" for b in "aeiou" for c in "lmnrst" for d in "aeo")


def write(folder: Path, data: bytes | str) -> Path:
    path = folder / "words.txt"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.fixture(scope="module")
def english() -> Lexicon:
    lexicon = load_shipped_lexicon("en")
    assert lexicon is not None
    return lexicon


def measure_cpu_s(work: Callable[[], object], number: int) -> float:
    """Return the processor time of `number` calls, which hardly depends on what else the machine does."""
    return min(timeit.repeat(work, timer=time.process_time, number=number, repeat=5))


def test_the_shipped_list_is_small_and_quick(english: Lexicon) -> None:
    shipped = Path(__file__).parents[3] / "engine" / "data" / "lexicon" / "en.marisa"
    assert shipped.stat().st_size < 5_000_000
    assert measure_cpu_s(lambda: open_lexicon(None, "en"), 1) < 0.005
    words = ["FARM", "QUIZZICALLY", "XQZZZ", "ZA"]
    assert measure_cpu_s(lambda: [word in english for word in words], 500) / (500 * len(words)) < 5e-6


def test_a_file_without_a_word_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=r"Words read: 0\. Lines left out: 3 \(with digits or signs: 3\)"):
        read_lexicon(write(tmp_path, "1\n2\n3\n"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=r"nowhere\.txt cannot be read \(No such file"):
        open_lexicon(str(tmp_path / "nowhere.txt"), "en")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=r"^[^()]* cannot be read \(it is no file\)\. [^()]*$"):
        open_lexicon(str(tmp_path), "en")


def test_a_broken_compiled_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match="not a compiled word list"):
        read_lexicon(write(tmp_path, b"We love Marisa.\0\1\2\3"))


def test_a_saved_list_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "club.marisa").write_bytes(Lexicon.from_words("club", ["horn", "farm"]).to_bytes())
    lexicon = read_lexicon(tmp_path / "club.marisa")
    assert (lexicon.name, set(lexicon)) == ("club", {"HORN", "FARM"})


def test_the_users_list_is_compiled_once(tmp_path: Path) -> None:
    path, cache = write(tmp_path, "horn\nOhio\nfarm\n"), tmp_path / "kept"
    first = read_lexicon(path, cache_dir=cache)
    compiled = {file: file.stat().st_mtime_ns for file in cache.iterdir()}
    second = read_lexicon(path, cache_dir=cache)
    assert {file: file.stat().st_mtime_ns for file in cache.iterdir()} == compiled
    assert (first, dict(first.excluded_counts)) == (second, dict(second.excluded_counts))


def test_a_changed_list_is_compiled_again(tmp_path: Path) -> None:
    cache = tmp_path / "kept"
    read_lexicon(write(tmp_path, "horn\n"), cache_dir=cache)
    assert "FARM" in read_lexicon(write(tmp_path, "horn\nfarm\n"), cache_dir=cache)


def test_a_damaged_kept_list_is_compiled_again(tmp_path: Path) -> None:
    path, cache = write(tmp_path, "horn\n"), tmp_path / "kept"
    read_lexicon(path, cache_dir=cache)
    for file in cache.iterdir():
        file.write_bytes(b"")
    assert "HORN" in read_lexicon(path, cache_dir=cache)


def test_a_list_that_cannot_be_kept_is_used_all_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, "horn\n")
    assert "HORN" in read_lexicon(path, cache_dir=path / "no folder")


def test_only_the_lists_compiled_last_are_kept(tmp_path: Path) -> None:
    cache = tmp_path / "kept"
    cache.mkdir()
    (cache / "other.txt").write_text("not ours")
    for letter in "ABCDEFGHIJKL":
        read_lexicon(write(tmp_path, f"{letter}horn\n"), cache_dir=cache)
        for file in cache.iterdir():  # so that file times tell them apart on any disk
            os.utime(file, ns=(0, file.stat().st_mtime_ns - 10**9))
    assert len(list(cache.glob("*.lexicon"))) == MAX_CACHED_LISTS
    assert (cache / "other.txt").exists()
    compiled = {file: file.stat().st_mtime_ns for file in cache.iterdir()}
    assert "LHORN" in read_lexicon(write(tmp_path, "Lhorn\n"), cache_dir=cache)
    assert {file: file.stat().st_mtime_ns for file in cache.iterdir()} == compiled, "the newest is still there"


def test_none_means_that_words_are_not_checked() -> None:
    assert open_lexicon("none", "en") is None


def test_a_language_without_a_list_is_not_checked(tmp_path: Path) -> None:
    assert open_lexicon(None, "ro", system_dir=tmp_path) is None
    assert open_lexicon(None, "de", system_dir=tmp_path) is None


def test_default_list_is_packaged_or_one_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "ngerman").write_text("Haus\n")
    assert [has_default_lexicon(name, tmp_path) for name in ("en", "de", "de_old", "ro")] == [True, True, True, False]


def test_a_list_of_the_system_advises_and_never_decides(tmp_path: Path) -> None:
    list_of_the_system = tmp_path / "ngerman"
    list_of_the_system.write_text("Äpfel\nHaus\n", encoding="utf-8")
    for choice in (None, str(list_of_the_system)):
        lexicon = open_lexicon(choice, "de", system_dir=tmp_path)
        assert lexicon is not None and "HAUS" in lexicon
        assert (lexicon.name, lexicon.is_authoritative) == ("ngerman", False)


def test_older_edition_of_the_tiles_has_the_list_of_its_language(tmp_path: Path) -> None:
    (tmp_path / "ngerman").write_text("Äpfel\nHaus\n", encoding="utf-8")
    lexicon = open_lexicon(None, "de_old", system_dir=tmp_path)
    assert lexicon is not None and "HAUS" in lexicon and "ÄPFEL" in lexicon


def test_a_list_of_the_system_is_compiled_once(tmp_path: Path) -> None:
    (tmp_path / "french").write_text("été\n", encoding="utf-8")
    for _ in range(2):
        lexicon = open_lexicon(None, "fr", tmp_path / "kept", system_dir=tmp_path)
        assert lexicon is not None and "ETE" in lexicon and not lexicon.is_authoritative


def test_a_list_of_the_system_that_is_too_large_is_left_alone(tmp_path: Path) -> None:
    with (tmp_path / "polish").open("wb") as file:
        file.truncate(MAX_LEXICON_BYTES + 1)
    assert open_lexicon(None, "pl", system_dir=tmp_path) is None


def test_the_shipped_list_and_the_users_own_decide(english: Lexicon, tmp_path: Path) -> None:
    own = open_lexicon(str(write(tmp_path, "Haus\n")), "de")
    assert own is not None and own.is_authoritative and english.is_authoritative


def test_a_file_serves_any_language(tmp_path: Path) -> None:
    lexicon = open_lexicon(str(write(tmp_path, "țap\n")), "ro")
    assert lexicon is not None
    assert "TAP" in lexicon


def test_cached_list_that_is_a_fifo_is_compiled_again(tmp_path: Path) -> None:
    path, cache = write(tmp_path, "horn\n"), tmp_path / "cache"
    read_lexicon(path, cache_dir=cache)
    [file] = cache.iterdir()
    file.unlink()
    os.mkfifo(file)
    assert "HORN" in read_lexicon(path, cache_dir=cache)
    assert file.is_file()


def test_cached_list_torn_by_a_power_cut_is_compiled_again(tmp_path: Path) -> None:
    path, cache = write(tmp_path, WORDS), tmp_path / "cache"
    whole = set(read_lexicon(path, cache_dir=cache))
    [file] = cache.iterdir()
    data = file.read_bytes()
    for length in range(0, len(data), 97):
        for torn in (data[:length], data[:length] + bytes(len(data) - length)):
            file.write_bytes(torn)
            assert set(read_lexicon(path, cache_dir=cache)) == whole
            assert file.read_bytes() == data


def test_cached_list_with_flipped_bits_is_compiled_again(tmp_path: Path) -> None:
    path, cache, chance = write(tmp_path, WORDS), tmp_path / "cache", random.Random(5)
    whole = set(read_lexicon(path, cache_dir=cache))
    [file] = cache.iterdir()
    data = file.read_bytes()
    for _ in range(200):
        damaged = bytearray(data)
        for _ in range(chance.randint(1, 16)):
            damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        file.write_bytes(damaged)
        assert set(read_lexicon(path, cache_dir=cache)) == whole


def test_list_that_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path, Path("/dev/zero")):
        with pytest.raises(LexiconError, match=r"cannot be read .*Put the word list in /etc/tilekeeper"):
            read_lexicon(path)


@pytest.mark.parametrize("name", ["~nouser/words.txt", "words\0.txt"])
def test_name_that_names_no_file_is_refused(name: str) -> None:
    with pytest.raises(LexiconError, match=r"^[^\n\0]*cannot be read[^\n\0]*$"):
        open_lexicon(name, "en")


def test_list_that_is_too_large_is_refused_with_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    with path.open("wb") as file:
        file.truncate(MAX_LEXICON_BYTES + 1)
    with pytest.raises(LexiconError, match=f"is larger than {MAX_LEXICON_BYTES // 1_000_000} MB"):
        read_lexicon(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_line_that_is_too_long_is_refused_with_the_limit(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "words.txt"
    path.write_text("WORD\n" + "X" * MAX_LEXICON_LINE_BYTES * 2 + "\n", encoding=encoding)
    with pytest.raises(LexiconError, match="a line of more than 10000 bytes"):
        read_lexicon(path)


def test_list_of_long_lines_within_the_limit_is_read_in_little_time(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    words = [f"{a}{b}" for a in string.ascii_uppercase for b in string.ascii_uppercase][:500]
    path.write_text("".join(f"{word} {'x' * (MAX_LEXICON_LINE_BYTES - 100)}\n" for word in words))
    began = time.process_time()
    assert set(read_lexicon(path)) == set(words)
    assert time.process_time() - began < 3  # 25 s if the length of a line is counted at each of its characters


def test_uploaded_list_has_the_name_of_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "lexicons"
    path = save_uploaded_list("../../Our words (2).txt", b"horn\n", folder, load_tile_set("en"))
    assert path == folder / "en" / "Our-words-2.txt" and path.read_bytes() == b"horn\n"
    assert OwnLists(folder=folder).list_uploads() == (path,)


def test_uploaded_list_is_the_owners_list_for_its_language_only(tmp_path: Path) -> None:
    german = save_uploaded_list("woerter.txt", b"horn\nfarm\n", tmp_path, load_tile_set("de"))
    lists = OwnLists(german, tmp_path)
    assert (lists.find("de"), lists.find("de_old"), lists.find("en")) == (german, german, None)
    assert lists.find_language(german) == "de" and count_words(german, "de") == 2


def test_newest_uploaded_list_is_the_owners_list(tmp_path: Path) -> None:
    first, second = (save_uploaded_list(name, b"horn\n", tmp_path, load_tile_set("en")) for name in ("b", "a"))
    os.utime(first, (1, 1))
    assert OwnLists(folder=tmp_path).find("en") == second


def test_named_list_that_was_not_uploaded_is_the_owners_list_for_all_tiles(tmp_path: Path) -> None:
    named = tmp_path / "club.txt"
    assert OwnLists(named, tmp_path / "lexicons").find("ro") == named


def test_list_that_cannot_be_read_has_no_number_of_words(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    assert count_words(tmp_path / "empty.txt", "en") is None and count_words(tmp_path / "none.txt", "en") is None


@pytest.mark.parametrize("data", [b"", b"1\n2\n", Lexicon.from_words("x", ["HORN"]).to_bytes()])
def test_upload_without_words_leaves_the_former_list(tmp_path: Path, data: bytes) -> None:
    path = save_uploaded_list("words.txt", b"horn\n", tmp_path, load_tile_set("en"))
    with pytest.raises(LexiconError):
        save_uploaded_list("words.txt", data, tmp_path, load_tile_set("en"))
    assert list(path.parent.iterdir()) == [path] and path.read_bytes() == b"horn\n"


def test_lists_of_the_system_are_found(tmp_path: Path) -> None:
    for name in ("ngerman", "words", "README"):
        (tmp_path / name).write_text("horn\n", encoding="utf-8")
    assert find_system_lists(tmp_path) == (tmp_path / "ngerman",)


def test_control_characters_in_the_name_of_a_file_are_not_in_the_name_of_the_list(tmp_path: Path) -> None:
    path = Path(os.fsdecode(bytes(tmp_path) + b"/club\xff\x1b\xe2\x80\xae.txt"))
    path.write_text(WORDS)
    assert read_lexicon(path).name == "club???"
