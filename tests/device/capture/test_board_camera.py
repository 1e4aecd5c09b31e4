"""The location of the board from picture to picture: followed, searched for, or placed by players."""

from __future__ import annotations

import threading
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import engine.board
from device.cameras.base import Frame
from device.capture.board_camera import AdvanceReading, BoardCamera
from device.capture.motion import RestScene
from engine.reading import BoardReading
from engine.tiles import Tile
from tests.support.text_table import EMPTY_ROWS, FARM, HORN, RuledTable, TextTable
from tests.support.waiting import PATIENCE_S, until
from vision.detection.location import BoardLocation, BoardNotFoundError, LocationSource
from vision.geometry import Floats, Image, reverse_quad
from vision.recognition.reader import PhotoReading, ReadingTimes
from vision.tracking import BoardTracker

IMAGE: Image = np.zeros((300, 400, 3), np.uint8)
HERE: Floats = np.array([[50.0, 20.0], [250.0, 20.0], [250.0, 220.0], [50.0, 220.0]])
TILES = ("A",)
ONE_TILE = ("A" + EMPTY_ROWS[0][1:], *EMPTY_ROWS[1:])


class Board:
    """A locator that knows where the board is."""

    def __init__(self) -> None:
        self.at: Floats | None = HERE
        self.sure = 0.9
        self.search_count = 0

    def locate(self, _: Image) -> BoardLocation:
        self.search_count += 1
        if self.at is None:
            raise BoardNotFoundError("no board in the picture")
        return BoardLocation(self.at, self.sure)

    def follow(self, _: Image, corners: Floats) -> BoardLocation:
        if self.at is None or np.abs(self.at - corners).max() > 13:
            raise BoardNotFoundError("the board has moved")
        return BoardLocation(self.at, self.sure, LocationSource.FOLLOWED)


class Letters:
    """A reader that locates the board by `board`, `turn` quarters from upright with the confidence `upright`.

    It reads the tiles `rows`.
    """

    def __init__(self, board: Board) -> None:
        self.board = board
        self.turn = 0
        self.upright = 1.0
        self.rows = ONE_TILE

    def read(
        self,
        image: Image,
        _: Collection[str],
        *,
        corners: Floats | None = None,
        hint: BoardTracker | None = None,
    ) -> PhotoReading:
        ms = ReadingTimes(1, 1, 2)
        if corners is not None:
            return PhotoReading(BoardReading.from_rows(self.rows), corners, (), ms)
        try:
            found = (hint or BoardTracker()).locate(image, self.board)
        except BoardNotFoundError as error:
            return PhotoReading(None, None, (str(error),), ms)
        turned = np.roll(found.corners, -self.turn, axis=0)
        board = replace(BoardReading.from_rows(self.rows), offset_confidence=found.confidence)
        return PhotoReading(board, turned, (), ms, orientation_confidence=self.upright, location=found)


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def letters(board: Board) -> Letters:
    return Letters(board)


@pytest.fixture
def sight(letters: Letters) -> BoardCamera:
    return BoardCamera(TextTable(), letters)


def corners(sight: BoardCamera) -> Floats:
    """Read the board, confirm its location, and return its corners."""
    found = sight.read_board(IMAGE, TILES)
    assert found.corners is not None
    sight.confirm_location(found)
    return found.corners


def test_board_at_rest_is_searched_once(sight: BoardCamera, board: Board) -> None:
    for _ in range(5):
        assert (corners(sight) == HERE).all()
    assert board.search_count == 1


def test_nudged_board_is_followed_in_the_same_picture(sight: BoardCamera, board: Board) -> None:
    corners(sight)
    board.at = HERE + 6
    assert (corners(sight) == HERE + 6).all() and board.search_count == 1


def test_board_that_was_moved_far_is_found_in_the_same_picture(sight: BoardCamera, board: Board) -> None:
    corners(sight)
    board.at = HERE + 60
    assert (corners(sight) == HERE + 60).all() and board.search_count == 2


def test_followed_place_that_is_not_sure_is_searched_anew(sight: BoardCamera, board: Board) -> None:
    corners(sight)
    board.sure = 0.3
    corners(sight)
    assert board.search_count == 2


def test_board_that_was_read_without_sense_is_searched_anew(sight: BoardCamera, board: Board) -> None:
    corners(sight)
    sight.mark_location_unreliable()
    corners(sight)
    corners(sight)
    assert board.search_count == 2


def test_location_of_an_implausible_reading_is_not_used(sight: BoardCamera, board: Board) -> None:
    corners(sight)
    board.at = HERE + 6
    sight.read_board(IMAGE, TILES)
    assert sight.tracker.corners is not None and (sight.tracker.corners == HERE).all()


def test_board_turned_on_the_spot_is_read_as_its_tiles_say(sight: BoardCamera, letters: Letters) -> None:
    corners(sight)
    letters.turn = 1
    assert (corners(sight) == np.roll(HERE, -1, axis=0)).all()


def test_board_with_few_tiles_keeps_its_orientation(sight: BoardCamera, letters: Letters) -> None:
    letters.turn = 3
    corners(sight)
    letters.turn, letters.upright = 2, 0.6
    assert (corners(sight) == np.roll(HERE, -3, axis=0)).all()


def test_orientation_that_is_kept_makes_the_place_no_more_certain(sight: BoardCamera, letters: Letters) -> None:
    corners(sight)
    letters.upright = 0.6
    reading = sight.read_board(IMAGE, TILES)
    assert reading.board is not None and reading.board.offset_confidence == 0.9


def test_empty_board_does_not_say_which_way_up_it_is(sight: BoardCamera, letters: Letters) -> None:
    letters.rows = EMPTY_ROWS
    corners(sight)
    letters.rows, letters.turn, letters.upright = ONE_TILE, 2, 0.6
    reading = sight.read_board(IMAGE, TILES)
    assert reading.orientation_confidence == 0.6 and (reading.corners == np.roll(HERE, -2, axis=0)).all()


def test_empty_board_that_is_searched_again_keeps_its_orientation(sight: BoardCamera, letters: Letters) -> None:
    letters.turn = 3
    corners(sight)
    letters.rows, letters.turn = EMPTY_ROWS, 0
    sight.mark_location_unreliable()
    assert (corners(sight) == np.roll(HERE, -3, axis=0)).all() and sight.tracker.is_upright


def test_other_size_of_picture_begins_anew(sight: BoardCamera, board: Board) -> None:
    corners(sight)
    sight.read_board(np.zeros((600, 800, 3), np.uint8), TILES)
    assert board.search_count == 2


def test_placed_corners_count_if_no_board_is_found(sight: BoardCamera, board: Board) -> None:
    board.at = None
    assert sight.read_board(IMAGE, TILES).board is None
    sight.place_corners(HERE + 5, IMAGE.shape)
    assert (corners(sight) == HERE + 5).all() and sight.tracker.has_user_corners


def test_placed_corners_count_until_the_board_is_moved(sight: BoardCamera, board: Board) -> None:
    sight.place_corners(HERE + 10, IMAGE.shape)
    assert (corners(sight) == HERE + 10).all() and sight.tracker.has_user_corners
    board.at, board.sure = HERE + 70, 1.0
    assert (corners(sight) == HERE + 70).all() and not sight.tracker.has_user_corners


def test_placed_corners_must_be_a_board(sight: BoardCamera) -> None:
    for wrong in (HERE[::-1], HERE[:3], HERE * np.nan):
        with pytest.raises(ValueError, match="corners"):
            sight.place_corners(wrong, IMAGE.shape)


def test_corners_that_a_user_placed_count_where_the_board_is_not_followed(letters: Letters, board: Board) -> None:
    camera = BoardCamera(TextTable(), letters, follows_board=False)
    board.at = None
    camera.place_corners(HERE + 5, IMAGE.shape)
    assert (corners(camera) == HERE + 5).all()


def test_board_is_searched_in_each_picture_where_it_is_not_followed(letters: Letters, board: Board) -> None:
    camera = BoardCamera(TextTable(), letters, follows_board=False)
    for _ in range(3):
        corners(camera)
    assert board.search_count == 3


def test_corners_that_a_user_placed_survive_a_confirmed_reading(sight: BoardCamera) -> None:
    sight.place_corners(HERE, IMAGE.shape)
    corners(sight)
    sight.mark_location_unreliable()
    assert (corners(sight) == HERE).all() and sight.tracker.has_user_corners


class SlowTable(RuledTable):
    """A camera whose previews arrive when the test allows; each reading of its clock is a second later."""

    def __init__(self) -> None:
        super().__init__(self.tick)
        self.now = 0.0
        self.previews = 0
        self.arrived = threading.Event()

    def tick(self) -> float:
        self.now += 1
        return self.now

    def capture_preview(self) -> Frame:
        self.previews += 1
        assert self.arrived.wait(PATIENCE_S)
        return super().capture_preview()


@pytest.fixture
def slow_table() -> SlowTable:
    table = SlowTable()
    table.lay(HORN)
    return table


@pytest.fixture
def slow_sight(slow_table: SlowTable) -> BoardCamera:
    return BoardCamera(slow_table, slow_table, clock=slow_table.tick, wait=lambda _: None)


def read_in_advance(sight: BoardCamera, table: SlowTable) -> AdvanceReading:
    still = table.capture_still()
    advance = sight.read_in_advance(RestScene(still, still.image, still.image), TILES)
    assert advance is not None
    return advance


def test_press_uses_the_preview_for_which_another_thread_waits(slow_sight: BoardCamera, slow_table: SlowTable) -> None:
    advance = read_in_advance(slow_sight, slow_table)
    with ThreadPoolExecutor(2) as threads:
        threads.submit(slow_sight.capture_preview)
        until(lambda: slow_table.previews == 1)
        before = slow_table.now
        press = threads.submit(slow_sight.capture_board, TILES, advance)
        until(lambda: slow_table.now > before)
        slow_table.arrived.set()
        assert press.result(PATIENCE_S) is advance.capture
    assert slow_table.previews == 1


def test_press_takes_a_preview_if_the_newest_is_older_than_the_press(
    slow_sight: BoardCamera, slow_table: SlowTable
) -> None:
    advance = read_in_advance(slow_sight, slow_table)
    slow_table.arrived.set()
    slow_sight.capture_preview()
    slow_table.lay(HORN, FARM)
    assert slow_sight.capture_board(TILES, advance) is not advance.capture
    assert slow_table.previews > 1


class MirroredLetters:
    """A reader to which few tiles look mirrored: `flipped` in the flipped picture, `as_is` in the picture as it is.

    If it `is_unsure` of that, its readings have both.
    """

    flipped = ("A" + EMPTY_ROWS[0][1:], *EMPTY_ROWS[1:])
    as_is = (EMPTY_ROWS[0][1:] + "V", *EMPTY_ROWS[1:])

    def __init__(self, *, is_unsure: bool = True) -> None:
        self._other = BoardReading.from_rows(self.as_is) if is_unsure else None

    def read(self, *_: object, hint: BoardTracker | None = None, **__: object) -> PhotoReading:
        is_placed = hint is not None and hint.has_user_corners
        board = replace(BoardReading.from_rows(self.flipped), alternative=self._other)
        source = LocationSource.PLACED if is_placed else LocationSource.SEARCHED
        found = BoardLocation(HERE, 1.0, source, is_mirrored=self._other is None)
        ms = ReadingTimes(1, 1, 2)
        return PhotoReading(
            board, reverse_quad(HERE), (), ms, orientation_confidence=0.9, location=found, is_mirrored=True
        )


@pytest.mark.parametrize(("square", "letter", "expected"), [(0, "A", True), (14, "V", False), (0, "B", False)])
def test_recorded_tiles_show_whether_pictures_are_mirrored(square: int, letter: str, expected: bool) -> None:
    camera = BoardCamera(TextTable(), MirroredLetters())
    camera.capture_board(TILES)
    assert not camera.tracker.is_mirrored and camera.tracker.corners is None
    camera.settle_flip(engine.board.Board().with_tiles({square: Tile(letter)}))
    assert camera.tracker.is_mirrored is expected and (camera.tracker.corners is not None) is expected


def test_corners_of_a_picture_that_few_tiles_show_as_mirrored_are_not_adopted() -> None:
    camera = BoardCamera(TextTable(), MirroredLetters())
    camera.adopt_location(camera.capture_board(TILES).reading)
    assert camera.tracker.corners is None


def test_recorded_tiles_are_compared_later_while_another_thread_reads_a_picture() -> None:
    camera = BoardCamera(TextTable(), MirroredLetters())
    camera.capture_board(TILES)
    recorded = engine.board.Board().with_tiles({0: Tile("A")})
    with camera._lock, ThreadPoolExecutor(1) as other:
        other.submit(camera.settle_flip, recorded).result(PATIENCE_S)
    assert not camera.tracker.is_mirrored
    camera.settle_flip(recorded)
    assert camera.tracker.is_mirrored


def test_undone_play_takes_back_that_pictures_are_mirrored() -> None:
    camera = BoardCamera(TextTable(), MirroredLetters())
    camera.capture_board(TILES)
    camera.settle_flip(engine.board.Board().with_tiles({0: Tile("A")}))
    camera.settle_flip(engine.board.Board())
    assert not camera.tracker.is_mirrored and camera.tracker.corners is None


@pytest.mark.parametrize("corners", [HERE + 50, None])
def test_corners_of_a_user_are_kept_if_the_recorded_tiles_show_mirroring_later(corners: Floats | None) -> None:
    camera = BoardCamera(TextTable(), MirroredLetters())
    camera.capture_board(TILES)
    if corners is None:
        camera.forget_corners()
    else:
        camera.place_corners(corners, IMAGE.shape)
    camera.settle_flip(engine.board.Board().with_tiles({0: Tile("A")}))
    kept = camera.tracker.corners
    assert not camera.tracker.is_mirrored
    assert kept is None if corners is None else kept is not None and np.array_equal(kept, corners)
