"""The set-up of a table: its picture with corners, corners that players place, the enrolment of tiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.profile import TableProfile
from device.cameras.base import CameraError
from device.cameras.folder import FolderCamera
from device.capture.board_camera import BoardCamera
from device.session.messages import CommandRefusedError
from device.session.setup import TableSetup
from device.storage.store import GameStore
from tests.device.capture.test_board_camera import HERE, Board, Letters, MirroredLetters
from tests.support.own_tiles import Muddle, OwnTable, rows_of
from tests.support.text_table import PaintedTable
from vision.geometry import is_convex

TILES = ("A", "B", "C")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[GameStore]:
    with GameStore(tmp_path / "games.db") as store:
        yield store


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def set_up(store: GameStore, board: Board) -> TableSetup:
    return TableSetup(BoardCamera(PaintedTable(), Letters(board)), store, None)


def again(store: GameStore, board: Board) -> TableSetup:
    """The set-up after a restart."""
    return TableSetup(BoardCamera(PaintedTable(), Letters(board)), store, None)


def test_picture_shows_where_the_board_is(set_up: TableSetup) -> None:
    view = set_up.capture_setup_view(TILES)
    assert view.size == (300, 300) and view.corners is not None and not view.placed
    assert view.corners[0] == (50.0, 20.0)


def test_picture_without_a_board_says_so(set_up: TableSetup, board: Board) -> None:
    board.at = None
    view = set_up.capture_setup_view(TILES)
    assert view.corners is None and view.problems and view.confidence == 0


def test_placed_corners_are_kept_over_a_restart(set_up: TableSetup, store: GameStore, board: Board) -> None:
    board.at = None
    set_up.capture_setup_view(TILES)
    placed = tuple((float(x), float(y)) for x, y in HERE + 7)
    assert set_up.place_corners(placed, TILES).corners == placed
    view = again(store, board).capture_setup_view(TILES)
    assert view.corners == placed and view.placed


def test_board_that_moved_a_little_before_a_restart_is_found(
    set_up: TableSetup, store: GameStore, board: Board
) -> None:
    set_up.place_corners([(float(x), float(y)) for x, y in HERE], TILES)
    board.at, board.sure = HERE + 10, 1.0
    view = again(store, board).capture_setup_view(TILES)
    assert not view.placed and view.corners is not None and view.corners[0] == (60.0, 30.0)


def test_placed_corners_are_forgotten_on_demand(set_up: TableSetup, store: GameStore, board: Board) -> None:
    set_up.place_corners([(float(x), float(y)) for x, y in HERE + 7], TILES)
    assert not set_up.place_corners(None, TILES).placed
    assert not again(store, board).capture_setup_view(TILES).placed


@pytest.mark.parametrize("corners", [[(0.0, 0.0)] * 4, [(1.0, 2.0)], [(0.0, 0.0), (0.0, 9.0), (9.0, 9.0), (9.0, 0.0)]])
def test_corners_that_are_no_board_are_refused(set_up: TableSetup, corners: list[tuple[float, float]]) -> None:
    with pytest.raises(CommandRefusedError, match="corners"):
        set_up.place_corners(corners, TILES)


def test_broken_note_of_corners_is_as_none(store: GameStore, board: Board) -> None:
    for text in ("nonsense", '{"corners": [[1, 2]], "shape": [3]}', "[]"):
        store.save_note(0, "corners", text)
        assert not again(store, board).capture_setup_view(TILES).placed


@pytest.mark.parametrize("is_unsure", [False, True])
def test_corners_of_a_mirrored_picture_can_be_moved(store: GameStore, is_unsure: bool) -> None:
    """A picture that only few tiles show as mirrored is taken as it is."""
    set_up = TableSetup(BoardCamera(PaintedTable(), MirroredLetters(is_unsure=is_unsure)), store, None)
    shown = set_up.capture_setup_view(TILES).corners
    assert shown is not None
    assert set_up.place_corners([(x + 1, y) for x, y in shown], TILES).placed
    tracker = set_up._board_camera.tracker
    assert tracker.corners is not None and is_convex(tracker.corners) is is_unsure is not tracker.is_mirrored


# Learning

LAYOUT = {100: "A", 102: "B", 104: "C", 106: "?"}


class TaughtTable(PaintedTable):
    """A painted table whose reader also hands out the views of an `OwnTable`."""

    def read(self, *args: object, **named: object) -> object:  # type: ignore[override]
        found = super().read(*args, **named)  # type: ignore[arg-type]
        return replace(found, views=OwnTable().picture(LAYOUT))


@pytest.fixture
def taught() -> TaughtTable:
    table = TaughtTable()
    table.rows = tuple("".join(row) for row in rows_of(LAYOUT))
    return table


@pytest.fixture
def knowledge() -> TableProfile:
    return TableProfile(None, Muddle())


def test_layout_that_is_placed_as_drawn_is_learnt(
    taught: TaughtTable, store: GameStore, knowledge: TableProfile
) -> None:
    set_up = TableSetup(BoardCamera(taught, taught), store, knowledge)  # type: ignore[arg-type]
    assert set_up.enrol_tiles(rows_of(LAYOUT), TILES) == ()
    assert {one.symbol for one in knowledge.examples} >= set(TILES)


def test_tile_that_is_missing_is_named_and_nothing_is_learnt(
    taught: TaughtTable, store: GameStore, knowledge: TableProfile
) -> None:
    set_up = TableSetup(BoardCamera(taught, taught), store, knowledge)  # type: ignore[arg-type]
    for _ in range(2):
        assert set_up.enrol_tiles(rows_of({**LAYOUT, 0: "A"}), TILES) == ("A1",)
    assert not knowledge.examples


def test_tile_read_as_another_is_learnt_after_a_confirmation(
    taught: TaughtTable, store: GameStore, knowledge: TableProfile
) -> None:
    set_up = TableSetup(BoardCamera(taught, taught), store, knowledge)  # type: ignore[arg-type]
    taught.rows = tuple(row.replace("B", "C") for row in taught.rows)
    assert set_up.enrol_tiles(rows_of(LAYOUT), TILES) == ("M7",)
    assert set_up.enrol_tiles(rows_of(LAYOUT), TILES) == ()


def test_enrolment_layout_of_another_size_is_refused(
    taught: TaughtTable, store: GameStore, knowledge: TableProfile
) -> None:
    with pytest.raises(CommandRefusedError, match="15 rows"):
        TableSetup(BoardCamera(taught, taught), store, knowledge).enrol_tiles(["A"], TILES)  # type: ignore[arg-type]


def test_table_without_a_place_for_it_teaches_nothing(taught: TaughtTable, store: GameStore) -> None:
    with pytest.raises(CommandRefusedError, match="no folder to save them in"):
        TableSetup(BoardCamera(taught, taught), store, None).enrol_tiles(rows_of(LAYOUT), TILES)  # type: ignore[arg-type]


# A folder as the camera


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    return folder


@pytest.fixture
def folder_set_up(store: GameStore, board: Board, pictures: Path) -> TableSetup:
    return TableSetup(BoardCamera(FolderCamera.from_folder(pictures), Letters(board)), store, None)


def add_picture(folder: Path, name: str, shade: int) -> None:
    """Add a grey picture, (300, 300, 3) uint8, to a folder."""
    assert cv2.imwrite(str(folder / name), np.full((300, 300, 3), shade, np.uint8))


def test_board_stays_found_in_the_last_picture_of_a_folder(folder_set_up: TableSetup, pictures: Path) -> None:
    add_picture(pictures, "1.png", 90)
    first = folder_set_up.capture_setup_view(TILES)
    assert first.corners is not None and folder_set_up.capture_setup_view(TILES) == first
    assert folder_set_up.place_corners(None, TILES) == first


def test_new_picture_of_a_folder_replaces_the_one_before(folder_set_up: TableSetup, pictures: Path) -> None:
    add_picture(pictures, "1.png", 90)
    first = folder_set_up.capture_setup_view(TILES)
    add_picture(pictures, "2.png", 160)
    assert folder_set_up.capture_setup_view(TILES).jpeg != first.jpeg


def test_picture_of_a_folder_that_the_set_up_has_shown_is_left_for_the_turn(
    store: GameStore, board: Board, pictures: Path
) -> None:
    camera = BoardCamera(FolderCamera.from_folder(pictures), Letters(board))
    add_picture(pictures, "1.png", 90)
    TableSetup(camera, store, None).capture_setup_view(TILES)
    assert camera.capture_still().image.mean() == 90


def test_folder_without_a_picture_asks_for_one_and_for_no_turn(folder_set_up: TableSetup) -> None:
    with pytest.raises(CameraError) as caught:
        folder_set_up.capture_setup_view(TILES)
    assert "Add a picture of the board" in str(caught.value) and "End turn" not in str(caught.value)
