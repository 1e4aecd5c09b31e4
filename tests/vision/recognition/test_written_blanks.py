"""Blanks on which somebody has written the letter."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.reading import BLANK
from engine.tiles import load_tile_set
from tests.support.local_data import PHOTOS_DIR, needs_photos
from vision.photo import load_photo
from vision.recognition.letters import BLANK_CLASS, FEATURE_COUNT
from vision.recognition.reader import BoardReader
from vision.recognition.written_blanks import find_unlike_tiles, weigh_written_blanks

WITH_VALUE, WITHOUT_VALUE = -8.0, 1.5
LETTERS = 4


def make_tiles(count: int, *, odd: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Return the class probabilities and features of `count` clear tiles of each letter; tile `odd` looks different."""
    rng = np.random.default_rng(0)
    shapes = rng.normal(size=(LETTERS, FEATURE_COUNT))
    letters = np.repeat(np.arange(LETTERS), count)
    features = shapes[letters] + rng.normal(0, 0.1, (len(letters), FEATURE_COUNT))
    if odd is not None:
        features[odd] = shapes[letters[odd]] + rng.normal(0, 1, FEATURE_COUNT)
    letters_p = np.zeros((len(letters), 2 + LETTERS))
    letters_p[np.arange(len(letters)), 2 + letters] = 0.9995
    letters_p[:, BLANK_CLASS] = 0.0005
    return letters_p, features.astype(np.float32)


def weigh_odd_tile(own: float, others: float) -> float:
    """Return the probability of a blank for a tile unlike the others; `own` and `others` tell of their values."""
    letters_p, features = make_tiles(5, odd=3)
    value_nats = np.full(len(letters_p), others)
    value_nats[3] = own
    return float(weigh_written_blanks(letters_p, np.ones(len(letters_p)), features, value_nats)[3, BLANK_CLASS])


def test_tile_unlike_the_others_of_its_letter_is_found() -> None:
    letters_p, features = make_tiles(5, odd=3)
    assert np.flatnonzero(find_unlike_tiles(letters_p, np.ones(len(letters_p)), features)).tolist() == [3]


def test_only_tile_of_its_letter_is_unlike_the_others() -> None:
    letters_p, features = make_tiles(1)
    assert find_unlike_tiles(letters_p, np.ones(len(letters_p)), features).all()


def test_tile_that_is_certainly_no_blank_is_not_examined() -> None:
    letters_p, features = make_tiles(1)
    letters_p[:, BLANK_CLASS] = 1e-6
    assert not find_unlike_tiles(letters_p, np.ones(len(letters_p)), features).any()


def test_odd_letter_without_value_is_doubted_where_the_others_have_values() -> None:
    assert weigh_odd_tile(WITHOUT_VALUE, WITH_VALUE) > 0.5


def test_odd_letter_with_value_is_a_letter() -> None:
    assert weigh_odd_tile(WITH_VALUE, WITH_VALUE) < 0.01


def test_missing_value_says_little_on_a_set_without_values() -> None:
    assert weigh_odd_tile(WITHOUT_VALUE, WITHOUT_VALUE) < weigh_odd_tile(WITHOUT_VALUE, WITH_VALUE) / 3


def test_letters_like_the_others_stay_clear() -> None:
    letters_p, features = make_tiles(5)
    weighed = weigh_written_blanks(letters_p, np.ones(len(letters_p)), features, np.full(len(letters_p), np.nan))
    assert weighed[:, BLANK_CLASS].max() < 0.001
    assert weighed.sum(axis=1) == pytest.approx(letters_p.sum(axis=1))


def test_board_without_tiles_stays_as_it_is() -> None:
    nothing = np.zeros((0, 2 + LETTERS))
    weighed = weigh_written_blanks(nothing, np.zeros(0), np.zeros((0, FEATURE_COUNT), np.float32), np.zeros(0))
    assert weighed.shape == nothing.shape


@needs_photos
def test_pale_letter_on_a_blank_is_a_blank() -> None:
    photo = PHOTOS_DIR / "homes" / "photos" / "conda.jpg"
    if not photo.exists():
        pytest.skip("the photographs have no homes/photos/conda.jpg")
    board = BoardReader().read(load_photo(photo).image, load_tile_set("en").letters).board
    assert board is not None
    assert board[12, 12].symbol == BLANK
