"""The 8-bit encoding of a text is found by the letters of the tile set."""

from __future__ import annotations

import pytest

from engine.text_encoding import find_encoding
from engine.tiles import load_tile_set

WORDS = {
    "bg": ("къща човек щъркел", "cp1251 koi8-r iso-8859-5"),
    "cs": ("příliš žluťoučký kůň", "cp1250 iso-8859-2 cp852"),
    "cy": ("tŷ dŵr ŷd cŵn", "iso-8859-14"),
    "de": ("äpfel größe über", "cp1252 iso-8859-1 iso-8859-15 cp850"),
    "el": ("σπίτι θάλασσα ήλιος", "cp1253 iso-8859-7"),
    "es": ("niño acción", "cp1252 iso-8859-1"),
    "et": ("õun öö šokk", "cp1257 iso-8859-13 iso-8859-15"),
    "fr": ("été garçon cœur", "cp1252 iso-8859-15"),
    "he": ("בית שלום", "cp1255 iso-8859-8"),
    "hr": ("kuća žaba džep", "cp1250 iso-8859-2"),
    "hu": ("ház űr fű erdő", "cp1250 iso-8859-2"),
    "is": ("þú það ís", "cp1252 iso-8859-1"),
    "lt": ("ąžuolas šuo žemė", "cp1257 iso-8859-13 iso-8859-4"),
    "pl": ("łąka żaba śnieg źródło", "cp1250 iso-8859-2 cp852"),
    "ro": ("ţară mână pâine", "cp1250 iso-8859-2"),
    "ru": ("кот ёлка мышь", "cp1251 koi8-r iso-8859-5 cp866"),
    "sv": ("ål ögon", "cp1252 iso-8859-1"),
    "tr": ("ağaç ışık şeker", "cp1254 iso-8859-9"),
    "uk": ("їжак єнот щастя", "cp1251 koi8-u"),
}
CASES = [(code, words, name) for code, (words, names) in WORDS.items() for name in names.split()]


@pytest.mark.parametrize(("code", "words", "encoding"), CASES)
def test_encoding_of_a_few_words_is_found(code: str, words: str, encoding: str) -> None:
    data = words.replace(" ", "\n").encode(encoding)
    assert data.decode(find_encoding(data, load_tile_set(code))).split() == words.split()


@pytest.mark.parametrize(("code", "words", "encoding"), CASES)
def test_encoding_of_capitals_is_found(code: str, words: str, encoding: str) -> None:
    tiles = load_tile_set(code)
    capitals = tiles.upper(words).replace(" ", "\n")
    data = capitals.encode(encoding)
    assert tiles.fold(data.decode(find_encoding(data, tiles))) == tiles.fold(capitals)


@pytest.mark.parametrize("code", ["en", "fr", "it", "nl", "pt", "ca"])
def test_signs_of_windows_do_not_make_another_encoding(code: str) -> None:
    text = "été – l’été “chaud”…\naujourd’hui\n“île”\nc’est\n# – ’ ” –\n" * 50
    assert find_encoding(text.encode("cp1252"), load_tile_set(code)) == "cp1252"


def test_definitions_do_not_make_another_encoding() -> None:
    text = "kot; ÿ þ ð õ\nłąka, ÿÿÿ\nżaba = þþþ\nmysz\n"
    data = b"\n".join(
        line[: line.find(" ")].encode("cp1250") + line[line.find(" ") :].encode("cp1252") for line in text.split("\n")
    )
    assert find_encoding(data, load_tile_set("pl")) == "cp1250"


def test_encoding_of_ascii_is_the_western_one() -> None:
    assert find_encoding(b"horn farm", load_tile_set("en")) == "cp1252"
