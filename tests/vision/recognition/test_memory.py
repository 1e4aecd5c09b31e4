"""Reading only what changed: tiles that look the same keep their predictions, all others are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import cv2
import numpy as np
import pytest

from engine.reading import BOARD_SIZE, EMPTY, HIDDEN
from engine.tiles import load_tile_set
from tests.support.counting_letter_net import CountingLetterNet
from tests.support.fixed_locator import FixedLocator
from vision.detection.location import BoardLocation
from vision.geometry import TILE_HEIGHT_SQUARES, Image, homography, project
from vision.recognition.memory import MAX_RECALLS
from vision.recognition.problems import MIN_ORIENTATION_CONFIDENCE
from vision.recognition.reader import BoardReader, PhotoReading
from vision.rendering.light import Light
from vision.rendering.simulated_table import EVENING_LIGHT, Hands, SimulatedTable
from vision.tracking import BoardTracker

Tiles = Mapping[tuple[int, int], str]

GERMAN = load_tile_set("de")
QUARTZ: Tiles = {(7, 5 + i): c for i, c in enumerate("QUARTZ")}
FLEX: Tiles = {(8 + i, 9): c for i, c in enumerate("FLEX")}


class Table:
    """A simulated table, a reader that counts crops, and the tracker of its camera."""

    def __init__(self, tiles: Tiles = QUARTZ, seed: int = 3, light: Light = EVENING_LIGHT) -> None:
        self.net = CountingLetterNet()
        self.table = SimulatedTable(seed, tilt=12.0, turn=4.0, values=GERMAN.values, light=light)
        self.table.lay_tiles(tiles)
        scene = self.table.photograph()
        self.locator = FixedLocator(BoardLocation(scene.corners, 1.0))
        self.reader = BoardReader(self.locator, letter_net=self.net)
        self.tracker = BoardTracker()
        self.read(scene.image)

    def read(self, image: Image | None = None, letters: tuple[str, ...] = GERMAN.letters) -> PhotoReading:
        """Read a picture, of the table if none is given, and confirm the reading."""
        image = self.table.photograph().image if image is None else image
        self.net.crop_counts.clear()
        reading = self.reader.read(image, letters, hint=self.tracker)
        assert reading.corners is not None
        self.tracker = self.tracker.update(image, reading.location).confirm(reading.corners, reading.memory)
        return reading


@pytest.fixture
def table() -> Table:
    return Table()


def find_tiles(reading: PhotoReading) -> Tiles:
    assert reading.board is not None
    symbols = reading.board.rows()
    return {
        (r, c): symbols[r][c]
        for r in range(BOARD_SIZE)
        for c in range(BOARD_SIZE)
        if symbols[r][c] not in (EMPTY, HIDDEN)
    }


def test_tiles_that_look_the_same_are_not_read_again(table: Table) -> None:
    first = table.tracker.memory
    reading = table.read()
    assert find_tiles(reading) == QUARTZ and sum(table.net.crop_counts) < len(QUARTZ)
    assert first and reading.location and reading.location.corners is first.location.corners


def test_unclear_crops_of_empty_squares_are_not_read_again() -> None:
    table = Table(seed=22)
    memory, image = table.tracker.memory, table.table.photograph().image
    recalled = table.tracker.recall(image, GERMAN.letters)
    assert memory and recalled
    assert (memory.kept_tiles.letters_logp.max(axis=1) < np.log(0.95)).any()
    kept = {cell for cell in memory.kept_tiles.poses.cells if recalled.is_unchanged[cell]}
    assert kept == set(recalled.unchanged_tiles.poses.cells)
    table.read(image)
    assert not table.net.crop_counts


def test_only_new_tiles_are_read(table: Table) -> None:
    table.table.lay_tiles({**QUARTZ, **FLEX})
    assert find_tiles(table.read()) == {**QUARTZ, **FLEX}
    assert 0 < sum(table.net.crop_counts) < 2 * len(FLEX) + 2


def test_tile_with_a_shadow_at_its_edge_is_not_read_again(table: Table) -> None:
    image = table.table.photograph().image
    assert table.tracker.memory
    tops = table.tracker.memory.pose.plane_homography(TILE_HEIGHT_SQUARES)
    edge = project(tops, np.array([[5, 7], [11, 7], [11, 7.12], [5, 7.12]]))
    shadow = cv2.fillConvexPoly(np.ones(image.shape[:2], np.float32), edge.round().astype(np.int32), 0.4)
    assert find_tiles(table.read((image * shadow[:, :, None]).astype(np.uint8))) == QUARTZ
    assert not table.net.crop_counts


@pytest.mark.parametrize(("before", "after"), ["EF", "OQ", "CG", "PR", "IL", "OÖ", "UÜ", "AÄ", "MN", "VW", "BE", "A?"])
def test_tile_that_was_exchanged_for_a_similar_one_is_read(before: str, after: str) -> None:
    table = Table({**QUARTZ, (8, 9): before})
    table.table.lay_tiles({**QUARTZ, (8, 9): after})
    image = table.table.photograph().image
    assert table.tracker.recall(image, GERMAN.letters) is not None
    assert find_tiles(table.read(image))[8, 9] == after


def test_tile_that_was_taken_away_is_gone(table: Table) -> None:
    left = {at: letter for at, letter in QUARTZ.items() if letter != "Z"}
    table.table.lay_tiles(left)
    image = table.table.photograph().image
    assert table.tracker.recall(image, GERMAN.letters) is not None
    assert find_tiles(table.read(image)) == left


@pytest.mark.parametrize("shift", [(3, 0), (0, -3), (2, 2)])
def test_board_that_moved_by_a_few_pixels_is_looked_for(table: Table, shift: tuple[int, int]) -> None:
    image = np.roll(table.table.photograph().image, shift, axis=(0, 1))
    assert table.tracker.recall(image, GERMAN.letters) is None


def test_board_that_was_turned_by_half_is_read_completely(table: Table) -> None:
    turned = np.ascontiguousarray(table.table.photograph().image[::-1, ::-1])
    assert table.tracker.recall(turned, GERMAN.letters) is None


@pytest.mark.parametrize("gain", [0.7, 1.2])
def test_tiles_are_recognised_in_another_light(table: Table, gain: float) -> None:
    picture = cv2.convertScaleAbs(table.table.photograph().image, alpha=gain)
    reading = table.read(np.asarray(picture, np.uint8))
    assert find_tiles(reading) == QUARTZ and sum(table.net.crop_counts) < len(QUARTZ)


def test_two_plays_in_one_corner_leave_the_board_in_its_place(table: Table) -> None:
    plays = {(row, 8 + i): c for row, word in ((9, "FLECKEN"), (12, "GARTENS")) for i, c in enumerate(word)}
    table.table.lay_tiles({**QUARTZ, **plays})
    image = table.table.photograph().image
    assert table.tracker.recall(image, GERMAN.letters) is not None
    assert find_tiles(table.read(image)) == {**QUARTZ, **plays}


def test_tiles_are_recognised_in_the_noise_of_a_dark_room() -> None:
    table = Table(light=replace(EVENING_LIGHT, noise=7.0))
    assert find_tiles(table.read()) == QUARTZ and sum(table.net.crop_counts) < len(QUARTZ)


def test_much_darker_picture_is_read_completely(table: Table) -> None:
    darker = cv2.convertScaleAbs(table.table.photograph().image, alpha=0.3)
    assert table.tracker.recall(np.asarray(darker, np.uint8), GERMAN.letters) is None


def test_another_tile_set_is_read_completely(table: Table) -> None:
    table.read(letters=load_tile_set("en").letters)
    assert sum(table.net.crop_counts) >= len(QUARTZ)


def test_squares_under_a_hand_are_hidden_and_the_other_tiles_kept(table: Table) -> None:
    scene = table.table.photograph(Hands(fingertips=((2.5, 2.5),)))
    reading = table.read(scene.image)
    assert reading.board and any(square.symbol == HIDDEN for square in reading.board.squares)
    assert find_tiles(reading) == QUARTZ


def test_tile_under_a_sheet_of_paper_is_not_remembered(table: Table) -> None:
    scene = table.table.photograph()
    sheet = project(homography(scene.corners), np.array([[6.8, 6.5], [8.2, 6.5], [8.2, 8.5], [6.8, 8.5]]))
    covered = cv2.fillConvexPoly(scene.image.copy(), sheet.round().astype(np.int32), (180, 195, 205))
    recalled = table.tracker.recall(np.asarray(covered, np.uint8), GERMAN.letters)
    assert recalled is not None and not recalled.is_unchanged[7, 7]
    assert recalled.is_unchanged[7, 5] and recalled.is_unchanged[7, 9]


def test_all_tiles_are_read_again_after_some_pictures(table: Table) -> None:
    for _ in range(MAX_RECALLS):
        table.read()
        assert sum(table.net.crop_counts) < len(QUARTZ)
    table.read()
    assert sum(table.net.crop_counts) >= len(QUARTZ)


def test_slow_change_is_compared_with_the_picture_in_which_tiles_were_read(table: Table) -> None:
    first = table.tracker.memory
    table.read()
    second = table.tracker.memory
    assert first and second
    assert (first.tops[14:-14, 14:-14] == second.tops[14:-14, 14:-14]).mean() > 0.9


def test_memory_ends_with_an_implausible_reading_and_with_placed_corners(table: Table) -> None:
    image, tracker = table.table.photograph().image, table.tracker
    assert tracker.corners is not None and tracker.recall(image, GERMAN.letters) is not None
    for after in (
        tracker.mark_unreliable(),
        tracker.place_corners(tracker.corners, image.shape),
        tracker.reset(),
        replace(tracker, image_shape=(10, 10, 3)),
    ):
        assert after.recall(image, GERMAN.letters) is None


def test_picture_after_a_mirrored_one_is_read_completely() -> None:
    tiles = {**QUARTZ, **FLEX}  # a single word is often not enough to see that a picture is not mirrored
    table = Table(tiles)
    mirrored = np.ascontiguousarray(table.table.photograph().image[:, ::-1])
    location = BoardLocation(table.locator.locate(mirrored).corners, 1.0, is_mirrored=True)
    table.tracker = table.tracker.update(mirrored, location)
    reading = table.read()
    assert find_tiles(reading) == tiles and not reading.is_mirrored


def test_empty_board_is_not_remembered() -> None:
    table = Table({})
    table.table.lay_tiles(QUARTZ)
    assert find_tiles(table.read()) == QUARTZ


def test_first_word_on_an_empty_board_with_clear_squares_is_read_upright() -> None:
    table = Table({}, seed=5)
    memory = table.tracker.memory
    assert memory and len(memory.kept_tiles.tile_p) >= 3
    table.table.lay_tiles(QUARTZ)
    reading = table.read()
    assert reading.orientation_confidence >= MIN_ORIENTATION_CONFIDENCE and find_tiles(reading) == QUARTZ
