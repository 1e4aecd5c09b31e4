"""What the tile sets say about the letters on a board."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.tiles import load_tile_set
from vision.recognition.alphabet import letter_shape
from vision.recognition.tile_sets import find_better_set, list_extra_tiles


def letters_of(name: str) -> frozenset[str]:
    return frozenset(load_tile_set(name).letters)


@pytest.mark.parametrize(("played", "given"), [("pl", "en"), ("de", "en"), ("es", "en"), ("ru", "bg"), ("en", "de")])
def test_letters_of_another_set_are_told_by_its_name(played: str, given: str) -> None:
    tiles = load_tile_set(played)
    shapes = [letter_shape(tile) for tile, count in tiles.counts.items() for _ in range(count) if tile != "?"]
    found = find_better_set(shapes, letters_of(given))
    assert found is not None and letters_of(found) == letters_of(played)


@pytest.mark.parametrize("name", ["en", "pl", "de", "fr", "ro", "hu"])
def test_letters_of_the_set_fit(name: str) -> None:
    tiles = load_tile_set(name)
    shapes = [letter_shape(tile) for tile, count in tiles.counts.items() for _ in range(count) if tile != "?"]
    assert find_better_set(shapes, letters_of(name)) is None
    assert find_better_set([letter_shape(tile) for tile in tiles.letters[:7]], letters_of(name)) is None


def test_one_strange_letter_is_no_other_set() -> None:
    assert find_better_set([*"HOUSE", "Ł"], letters_of("en")) is None


def test_letters_outside_all_sets_have_no_better_set() -> None:
    assert find_better_set([*"HOUSE"], frozenset("HOUSE")) is None


def test_tiles_beyond_those_of_the_set_are_listed() -> None:
    assert list_extra_tiles(Counter({"?": 5, "Ź": 2, "A": 9, ".": 200}), letters_of("pl")) == "Ź 2, ? 5"
    assert list_extra_tiles(Counter({"?": 2, "A": 9}), letters_of("pl")) == ""
