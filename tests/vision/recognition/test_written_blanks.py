"""Blanks on which somebody has written the letter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.reading import BLANK
from engine.tiles import load_tile_set
from tests.support.local_data import PHOTOS_DIR, needs_photos
from vision.photo import load_photo
from vision.recognition.letters import BLANK_CLASS, FEATURE_COUNT
from vision.recognition.memory import TileTable
from vision.recognition.reader import BoardReader
from vision.recognition.views import CROP_SIDE_PX, TilePoses
from vision.recognition.written_blanks import find_unlike_tiles, measure_prints, weigh_written_blanks

WITH_VALUE, WITHOUT_VALUE = -8.0, 1.5
LETTERS = 4


def make_crops(count: int, height: int = 16, ink: int = 40) -> NDArray[np.uint8]:
    """Return `count` crops of tiles with a stroke of the given height in pixels and darkness."""
    crops = np.full((count, CROP_SIDE_PX, CROP_SIDE_PX), 200, np.uint8)
    top = (CROP_SIDE_PX - height) // 2
    crops[:, top : top + height, 16:20] = ink
    return crops


def make_tiles(
    count: int, *, odd: int | None = None, odd_print: NDArray[np.uint8] | None = None
) -> tuple[NDArray[np.float64], TileTable]:
    """Return the class probabilities and the table of `count` clear tiles of each letter; tile `odd` looks different.

    If `odd_print` is not given, the print of the odd tile is small and pale.
    """
    rng = np.random.default_rng(0)
    shapes = rng.normal(size=(LETTERS, FEATURE_COUNT))
    letters = np.repeat(np.arange(LETTERS), count)
    features = shapes[letters] + rng.normal(0, 0.1, (len(letters), FEATURE_COUNT))
    crops = make_crops(len(letters))
    if odd is not None:
        features[odd] = shapes[letters[odd]] + rng.normal(0, 1, FEATURE_COUNT)
        crops[odd] = make_crops(1, 8, 150)[0] if odd_print is None else odd_print
    letters_p = np.zeros((len(letters), 2 + LETTERS))
    letters_p[np.arange(len(letters)), 2 + letters] = 0.9995
    letters_p[:, BLANK_CLASS] = 0.0005
    cells = [divmod(k, 15) for k in range(len(letters))]
    poses = TilePoses.at_centres(np.zeros((448, 448), np.uint8), cells)
    turns_logp = np.zeros((len(letters), 4), np.float32)
    unread = np.full(len(letters), np.nan)
    return letters_p, TileTable(
        poses,
        np.ones(len(letters)),
        np.log(letters_p + 1e-9).astype(np.float32),
        turns_logp,
        features.astype(np.float32),
        unread,
        measure_prints(crops),
    )


def weigh_odd_tile(own: float, others: float, odd_print: NDArray[np.uint8] | None = None) -> float:
    """Return the probability of a blank for a tile unlike the others; `own` and `others` tell of their values."""
    letters_p, table = make_tiles(5, odd=3, odd_print=odd_print)
    value_nats = np.full(len(letters_p), others)
    value_nats[3] = own
    return float(weigh_written_blanks(letters_p, replace(table, value_nats=value_nats))[3, BLANK_CLASS])


def test_tile_unlike_the_others_of_its_letter_is_found() -> None:
    assert np.flatnonzero(find_unlike_tiles(*make_tiles(5, odd=3))).tolist() == [3]


def test_only_tiles_of_their_letters_are_unlike_the_others_until_their_print_can_be_compared() -> None:
    assert find_unlike_tiles(*make_tiles(1)).all()


def test_tile_that_is_certainly_no_blank_is_not_examined() -> None:
    letters_p, table = make_tiles(1)
    letters_p[:, BLANK_CLASS] = 1e-6
    assert not find_unlike_tiles(letters_p, table).any()


def test_tile_printed_like_the_others_is_not_examined() -> None:
    assert not find_unlike_tiles(*make_tiles(5, odd=3, odd_print=make_crops(1)[0])).any()


def test_print_is_measured_by_its_contrast_and_rows() -> None:
    (usual,), (small,), (pale,) = map(measure_prints, (make_crops(1), make_crops(1, 8), make_crops(1, 16, 150)))
    assert usual[1:].tolist() == pale[1:].tolist() == [1, 17] and small[1:].tolist() == [5, 13]
    assert pale[0] < usual[0] == small[0]


def test_odd_letter_without_value_is_doubted_where_the_others_have_values() -> None:
    assert weigh_odd_tile(WITHOUT_VALUE, WITH_VALUE) > 0.5


def test_odd_letter_is_a_letter_rather_if_it_is_printed_like_the_others() -> None:
    assert weigh_odd_tile(WITHOUT_VALUE, WITH_VALUE, make_crops(1)[0]) < weigh_odd_tile(WITHOUT_VALUE, WITH_VALUE)


def test_odd_letter_with_value_is_a_letter() -> None:
    assert weigh_odd_tile(WITH_VALUE, WITH_VALUE, make_crops(1)[0]) < 0.01


def test_missing_value_says_little_on_a_set_without_values() -> None:
    usual = make_crops(1)[0]
    assert weigh_odd_tile(WITHOUT_VALUE, WITHOUT_VALUE, usual) < weigh_odd_tile(WITHOUT_VALUE, WITH_VALUE, usual) / 3


def test_letters_like_the_others_stay_clear() -> None:
    letters_p, table = make_tiles(5)
    weighed = weigh_written_blanks(letters_p, table)
    assert weighed[:, BLANK_CLASS].max() < 0.001
    assert weighed.sum(axis=1) == pytest.approx(letters_p.sum(axis=1))


def test_board_without_tiles_stays_as_it_is() -> None:
    letters_p, table = make_tiles(0)
    assert weigh_written_blanks(letters_p, table).shape == letters_p.shape


@needs_photos
def test_pale_letter_on_a_blank_is_a_blank() -> None:
    photo = PHOTOS_DIR / "homes" / "photos" / "conda.jpg"
    if not photo.exists():
        pytest.skip("the photographs have no homes/photos/conda.jpg")
    board = BoardReader().read(load_photo(photo).image, load_tile_set("en").letters).board
    assert board is not None
    assert board[12, 12].symbol == BLANK
