"""What the tile sets say about the letters on a board."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from engine.tiles import load_tile_set
from vision.recognition.alphabet import letter_shape
from vision.recognition.tile_sets import find_better_set, limit_counts, list_extra_tiles, list_limits


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


def test_set_of_a_larger_board_has_no_say_about_extra_tiles() -> None:
    assert list_extra_tiles(Counter({"?": 3, "Q": 2, "E": 12}), letters_of("en_super")) == "Q 2, ? 3"


CLASSES = (".", "?", "Z", "Ź", "Ż")
LIMITS = np.append(list_limits(CLASSES, letters_of("pl")), 0)


def test_numbers_of_a_set_are_known_by_its_letters() -> None:
    assert LIMITS.tolist() == [0, 2, 5, 1, 1, 0]
    assert not list_limits(CLASSES, frozenset("AB")).any()


def test_second_tile_of_a_kind_is_doubted_more_if_the_first_is_clear() -> None:
    squares_p = np.array([[0.0, 0.0, 0.0, 0.01, 0.99, 0.0], [0.0, 0.0, 0.0, 0.4, 0.6, 0.0]])
    first, second = limit_counts(squares_p, LIMITS)
    assert first[4] > 0.95
    assert second[3] > 0.9


def test_blanks_beyond_those_of_the_set_are_doubted() -> None:
    squares_p = np.tile([0.4, 0.6, 0.0, 0.0, 0.0, 0.0], (40, 1))
    limited = limit_counts(squares_p, LIMITS)
    assert limited[:, 1].max() < 0.3
    assert limited.sum(axis=1) == pytest.approx(1)


def test_tiles_within_the_numbers_of_the_set_stay_as_they_are() -> None:
    squares_p = np.array([[0.3, 0.7, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.9, 0.1, 0.0, 0.0]])
    assert limit_counts(squares_p, LIMITS) == pytest.approx(squares_p, abs=0.12)


def test_two_sets_on_one_board_are_not_doubted() -> None:
    squares_p = np.tile([0.0, 0.0, 0.0, 0.01, 0.99, 0.0], (4, 1))
    assert limit_counts(squares_p, LIMITS) is squares_p


def test_letter_on_far_more_squares_than_a_set_has_is_hidden() -> None:
    squares_p = np.tile([0.02, 0.0, 0.0, 0.01, 0.97, 0.0], (30, 1))
    limited = limit_counts(squares_p, LIMITS)
    assert limited[:, -1].min() > 0.9
    assert limited.sum(axis=1) == pytest.approx(1)
