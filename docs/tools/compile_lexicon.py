"""Compile the English word list in `engine/data/lexicon/` from its two sources.

One command downloads the sources (with npm and with apt of Debian) and compiles the list:

    npm pack word-list@4.1.0 && apt-get download scowl &&
    python -m docs.tools.compile_lexicon word-list-4.1.0.tgz scowl_*.deb engine/data/lexicon/en.marisa

The npm package `word-list` is the base. A profanity filter was applied to it, which also removed ordinary words: PAWN,
ESCORT, UNDRESS. SCOWL has these words, and some newer ones.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.lexicon import Lexicon, parse_entries
from engine.tiles import load_tile_set

SPELLINGS = ("english", "american", "british", "british_z", "variant_1")
"""The spelling categories of SCOWL whose words are added. `english` has the words that are spelled alike everywhere."""
MAX_SIZE, MAX_CHECKED_SIZE = 70, 60
"""Largest sizes of SCOWL that are added: `MAX_SIZE` for `english`, `MAX_CHECKED_SIZE` for the other spellings.

The author of SCOWL is confident that the lists up to size 60 have no misspellings.
"""
UNITS = frozenset({"kcal", "psia", "psid"})
"""Abbreviations in the word lists of SCOWL that its lists of abbreviations do not have."""
SHORT_WORDS = ("ok",)
"""The words of two letters that are added.

SCOWL lists OK as a word of size 35, in capitals. Its other words of two letters that the base lacks are plurals of
letters, units and abbreviations.
"""
_SCOWL_FILE = re.compile(r"\./usr/share/dict/scowl/(\w+)-([a-z-]+)\.(\d+)\Z")
_WORD = re.compile(r"[^\W\d_A-Z]{3,}\Z")
_VOWEL = re.compile(r"[aeiouyáâèéêíîñóôöü]")


def read_word_list(package: Path) -> list[str]:
    """Return the words of the npm package `word-list` in capitals."""
    with tarfile.open(package) as members:
        member = members.extractfile("package/words.txt")
        assert member is not None, package
        return list(Lexicon.from_words("word-list", parse_entries(str(package), member.read())))


def read_scowl(package: Path) -> dict[tuple[str, str, int], list[str]]:
    """Return the lists in the Debian package `scowl`, by spelling, category and size."""
    archive = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, capture_output=True).stdout
    lists = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        for member in members:
            if (match := _SCOWL_FILE.match(member.name)) and (file := members.extractfile(member)):
                lists[match[1], match[2], int(match[3])] = file.read().decode("iso-8859-1").split()
    return lists


def select_words(lists: Mapping[tuple[str, str, int], list[str]]) -> Iterator[str]:
    """Yield the words of SCOWL to add: no names, no abbreviations, no words of two letters except `SHORT_WORDS`.

    Up to `MAX_CHECKED_SIZE`, a word that is also a name or an abbreviation is a word (`hell`). Above this size, it is
    left out (`vedic`).
    """
    yield from SHORT_WORDS
    others = {word.lower() for (_, category, _), words in lists.items() if category != "words" for word in words}
    for (spelling, category, size), words in lists.items():
        if category != "words" or spelling not in SPELLINGS:
            continue
        if size <= MAX_CHECKED_SIZE:
            yield from filter(_WORD.match, words)
        elif size <= MAX_SIZE and spelling == "english":
            yield from (word for word in words if _WORD.match(word) and _VOWEL.search(word) and word not in others)


def compile_list(word_list: Path, scowl: Path, target: Path) -> tuple[int, Lexicon]:
    """Write the English word list to `target`. Return the number of words in the base, and the list."""
    base = read_word_list(word_list)
    added = Lexicon.from_words("scowl", sorted(set(select_words(read_scowl(scowl))) - UNITS), load_tile_set("en"))
    lexicon = Lexicon.from_words("en", sorted({*base, *added}))
    target.write_bytes(lexicon.to_bytes())
    return len(base), lexicon


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: python -m docs.tools.compile_lexicon WORD-LIST.tgz SCOWL.deb TARGET.marisa")
    base_count, compiled = compile_list(*map(Path, sys.argv[1:]))
    print(f"{len(compiled)} words, {len(compiled) - base_count} of them from SCOWL")
