"""Mirrored pictures and boards upside down: when they are read again, and which reading is taken."""

from __future__ import annotations

import json

import numpy as np
import pytest

from engine.reading import EMPTY
from engine.tiles import load_tile_set
from tests.support.counting_letter_net import CountingLetterNet
from tests.support.fixed_locator import FixedLocator
from tests.support.local_data import PHOTOS_DIR, needs_photos
from vision.detection.location import BoardLocation
from vision.geometry import Image, flip_points, order_corners, reverse_quad, rotate_quad
from vision.photo import load_photo
from vision.recognition.classifier import SquareClassifier
from vision.recognition.problems import MIN_ORIENTATION_CONFIDENCE
from vision.recognition.reader import BoardReader, PhotoReading
from vision.recognition.rereading import are_doubtful, is_clearly_better, measure_tile_confidence
from vision.recognition.squares import SquareNet
from vision.rendering.simulated_table import SimulatedTable
from vision.tracking import BoardTracker


def test_confidences_are_those_of_squares_with_a_tile() -> None:
    squares_p = np.zeros((15, 15, 5))  # no tile, blank, two letters, hidden
    squares_p[:, :, 0] = 1
    squares_p[3, 4] = [0.1, 0, 0.7, 0.2, 0]
    squares_p[3, 5] = [0.2, 0.8, 0, 0, 0]
    squares_p[3, 6] = [0, 0, 0.3, 0, 0.7]
    assert measure_tile_confidence(squares_p, np.zeros((15, 15))).tolist() == [0.7, 0.8]


def test_clear_letter_outside_the_tile_set_is_no_sign_of_a_mirrored_picture() -> None:
    squares_p = np.full((15, 15, 5), [1.0, 0, 0, 0, 0])
    squares_p[3, 4] = [0, 0, 0.5, 0.5, 0]
    foreign_p = np.zeros((15, 15))
    foreign_p[3, 4] = 0.99
    assert measure_tile_confidence(squares_p, foreign_p).tolist() == [0.99]


@pytest.mark.parametrize(("doubtful", "expected"), [(0, False), (1, False), (2, True), (30, True)])
def test_board_may_be_turned_or_mirrored_if_one_tile_in_twenty_is_doubtful(doubtful: int, expected: bool) -> None:
    assert are_doubtful(np.array([0.6] * doubtful + [1.0] * (30 - doubtful))) is expected


@needs_photos
def test_mirrored_photograph_with_one_doubtful_tile_of_seventeen_is_flipped() -> None:
    records = json.loads((PHOTOS_DIR / "scrabscrap" / "manifest.json").read_text(encoding="utf-8"))
    record = next(record for record in records if record["id"] == "scrabscrap-boardtests-err06")
    photo = load_photo(PHOTOS_DIR / "scrabscrap" / record["photo"])
    mirrored = np.ascontiguousarray(photo.image[:, ::-1])
    corners = flip_points(photo.file_to_image(np.array(record["corners"], np.float64)), mirrored.shape[1])
    reader = BoardReader(FixedLocator(BoardLocation(order_corners(corners), 1.0)))
    reading = reader.read(mirrored, load_tile_set("de").letters)
    assert reading.is_mirrored and reading.board is not None
    assert ["".join(row) for row in reading.board.rows()] == record["board"]


def test_board_without_tiles_is_not_doubtful() -> None:
    assert not are_doubtful(np.zeros(0))


@pytest.mark.parametrize(
    ("flipped", "upright", "expected"),
    [
        ([0.99] * 20, [0.8] * 20, True),
        ([0.99] * 20, [0.98] * 20, False),
        ([0.8] * 20, [0.99] * 20, False),
        ([0.99], [0.8], False),
        ([], [0.8], False),
    ],
)
def test_flipped_reading_is_taken_if_its_mean_confidence_is_clearly_higher(
    flipped: list[float], upright: list[float], expected: bool
) -> None:
    assert is_clearly_better(np.array(flipped), np.array(upright)) is expected


@pytest.mark.parametrize(("flipped", "expected"), [(0.3, False), (0.4, False), (0.5, True), (0.9, True)])
def test_flipped_reading_in_an_unfamiliar_face_is_taken_only_if_a_third_of_the_doubt_is_gone(
    flipped: float, expected: bool
) -> None:
    assert is_clearly_better(np.full(70, flipped), np.full(70, 0.2)) is expected


@pytest.mark.parametrize("quarter_turns", [0, 1, 2])
@pytest.mark.parametrize("is_mirrored", [False, True])
def test_sample_of_the_letters_shows_which_picture_is_mirrored(is_mirrored: bool, quarter_turns: int) -> None:
    tile_set = load_tile_set("en")
    table = SimulatedTable(seed=3, values=tile_set.values)
    table.lay_tiles({(7, 4 + i): letter for i, letter in enumerate("FLEXGRAF")})
    scene = table.photograph()
    image, corners = scene.image, scene.corners
    if is_mirrored:
        image = np.ascontiguousarray(image[:, ::-1])
        corners = flip_points(reverse_quad(corners), image.shape[1])
    letters = CountingLetterNet()
    classifier = SquareClassifier(SquareNet(), letters)
    found = classifier.classify(
        classifier.classify_squares(image, rotate_quad(corners, quarter_turns)), tile_set.letters
    )
    letters.crop_counts.clear()
    assert classifier.may_be_mirrored(found, tile_set.letters) is is_mirrored
    assert letters.crop_counts == [16]


@pytest.mark.parametrize(("quarter_turns", "expected"), [(0, False), (2, True)])
def test_sample_of_the_letters_shows_which_board_is_upside_down(quarter_turns: int, expected: bool) -> None:
    tile_set = load_tile_set("en")
    table = SimulatedTable(seed=3, values=tile_set.values)
    table.lay_tiles({(7, 4 + i): letter for i, letter in enumerate("FLEXGRAF")})
    scene, letters = table.photograph(), CountingLetterNet()
    classifier = SquareClassifier(SquareNet(), letters)
    corners = rotate_quad(scene.corners, quarter_turns)
    found = classifier.classify(classifier.classify_squares(scene.image, corners), tile_set.letters, is_upright=True)
    letters.crop_counts.clear()
    assert classifier.may_be_reversed(found, tile_set.letters) is expected
    assert letters.crop_counts == [8]


def read_letters(reading: PhotoReading) -> tuple[str, ...]:
    """Return the letters on the board, row by row."""
    assert reading.board is not None
    return tuple(symbol for symbol in reading.board.symbols if symbol != EMPTY)


def photograph(word: str) -> Image:
    """Return a picture of a board with one word."""
    table = SimulatedTable(seed=3, values=load_tile_set("en").values)
    table.lay_tiles({(7, 4 + column): letter for column, letter in enumerate(word)})
    return table.photograph().image


def test_flip_shown_by_few_tiles_is_uncertain_and_does_not_change_the_tracker() -> None:
    image = np.ascontiguousarray(photograph("FERGS")[:, ::-1])
    reading = BoardReader().read(image, load_tile_set("en").letters)
    assert reading.is_mirrored and read_letters(reading) == tuple("FERGS")
    assert reading.orientation_confidence < MIN_ORIENTATION_CONFIDENCE
    assert not BoardTracker().update(image, reading.location).is_mirrored


def test_flip_shown_by_few_tiles_keeps_the_reading_of_the_picture_as_it_is() -> None:
    image = photograph("FERGS")
    tracker = BoardTracker(image_shape=image.shape, is_mirrored=True)
    reading = BoardReader().read(image, load_tile_set("en").letters, hint=tracker)
    assert not reading.is_mirrored and reading.board is not None and reading.board.alternative is not None
    assert reading.board.alternative.tile_count == 5
