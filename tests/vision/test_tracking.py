"""The tracker as a value: what each step keeps, and what replaces corners that a user placed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tests.support.fixed_locator import FixedLocator
from vision.detection.location import BoardLocation, BoardNotFoundError, LocationSource
from vision.geometry import Floats, Image, reverse_quad
from vision.tracking import BoardTracker

IMAGE: Image = np.zeros((300, 400, 3), np.uint8)
HERE: Floats = np.array([[50.0, 20.0], [250.0, 20.0], [250.0, 220.0], [50.0, 220.0]])
PLACED = BoardTracker().place_corners(HERE, IMAGE.shape)


@dataclass(frozen=True)
class DoubtfulFollower(FixedLocator):
    """A locator that always follows a board to `HERE`, with the confidence of a grid in unusual colours."""

    def follow(self, _image: Image, _corners: Floats) -> BoardLocation:
        return BoardLocation(HERE, 0.57, LocationSource.FOLLOWED)


@pytest.mark.parametrize(
    ("found", "x"), [(BoardLocation(HERE + 60, 1.0), 110), (BoardLocation(HERE + 60, 0.5), 50), (None, 50)]
)
def test_doubtful_grid_near_the_last_corners_gives_way_to_a_surer_one(found: BoardLocation | None, x: int) -> None:
    tracker = BoardTracker().update(IMAGE, None).confirm(HERE)
    assert tracker.locate(IMAGE, DoubtfulFollower(found)).corners[0, 0] == x


def test_user_corners_hold_where_nothing_is_found() -> None:
    location = PLACED.locate(IMAGE, FixedLocator(None))
    assert location.source is LocationSource.PLACED and (location.corners == HERE).all()


@pytest.mark.parametrize(("confidence", "shift"), [(0.9, 60.0), (1.0, 10.0)])
def test_user_corners_hold_against_a_doubtful_or_near_location(confidence: float, shift: float) -> None:
    location = PLACED.locate(IMAGE, FixedLocator(BoardLocation(HERE + shift, confidence)))
    assert location.source is LocationSource.PLACED and PLACED.update(IMAGE, location).has_user_corners


def test_user_corners_are_replaced_where_the_board_is_surely_elsewhere() -> None:
    location = PLACED.locate(IMAGE, FixedLocator(BoardLocation(HERE + 60, 1.0)))
    assert (location.corners == HERE + 60).all() and not PLACED.update(IMAGE, location).has_user_corners


def test_user_corners_whose_grid_was_detected_are_replaced_after_a_small_movement() -> None:
    detected = PLACED.update(IMAGE, BoardLocation(HERE, 1.0, LocationSource.FOLLOWED))
    assert (detected.locate(IMAGE, FixedLocator(BoardLocation(HERE + 10, 1.0))).corners == HERE + 10).all()
    placed = detected.place_corners(HERE, IMAGE.shape)
    assert placed.locate(IMAGE, FixedLocator(BoardLocation(HERE + 10, 1.0))).source is LocationSource.PLACED


def test_user_corners_hold_after_a_picture_without_a_board() -> None:
    after = PLACED.mark_unreliable().update(IMAGE, None)
    assert after.has_user_corners and not after.is_unreliable and after.corners is HERE


def test_confirmed_corners_are_forgotten_at_another_size_of_picture() -> None:
    assert BoardTracker().update(IMAGE, None).confirm(HERE).update(IMAGE[:200], None).corners is None


def test_board_that_was_never_found_is_searched() -> None:
    with pytest.raises(BoardNotFoundError):
        BoardTracker().locate(IMAGE, FixedLocator(None))


def test_board_of_a_mirrored_picture_is_followed_in_clockwise_order() -> None:
    locator = FixedLocator(None)
    tracker = (
        BoardTracker(is_mirrored=True).update(IMAGE, None).confirm(reverse_quad(HERE)).place_corners(HERE, IMAGE.shape)
    )
    assert (tracker.locate(IMAGE, locator).corners == HERE).all()
    anticlockwise = BoardTracker(is_mirrored=True).place_corners(reverse_quad(HERE), IMAGE.shape)
    assert (anticlockwise.locate(IMAGE, locator).corners == HERE).all()


def test_anticlockwise_corners_are_refused_unless_pictures_are_mirrored() -> None:
    with pytest.raises(ValueError, match="clockwise"):
        BoardTracker().place_corners(reverse_quad(HERE), IMAGE.shape)


@pytest.mark.parametrize("rows", [slice(0, 2), slice(2, 4)])
def test_corners_far_outside_the_picture_are_refused(rows: slice) -> None:
    far = HERE.copy()
    far[rows, 1] += 1e4 if rows.start else -1e4
    with pytest.raises(ValueError, match="outside the picture"):
        BoardTracker().place_corners(far, IMAGE.shape)


@pytest.mark.parametrize("is_mirrored", [True, False])
def test_implausible_reading_does_not_change_whether_pictures_are_mirrored(is_mirrored: bool) -> None:
    corners = reverse_quad(HERE) if is_mirrored else HERE
    tracker = BoardTracker().update(IMAGE, BoardLocation(HERE, 1.0, is_mirrored=is_mirrored)).confirm(corners)
    misread = tracker.update(IMAGE, BoardLocation(HERE, 1.0, is_mirrored=not is_mirrored)).mark_unreliable()
    assert misread.is_mirrored is is_mirrored


def test_mirrored_pictures_are_remembered_until_a_board_is_read_otherwise() -> None:
    mirrored = BoardTracker().update(IMAGE, BoardLocation(HERE, 1.0, is_mirrored=True))
    assert mirrored.is_mirrored and mirrored.reset().is_mirrored and mirrored.update(IMAGE[:200], None).is_mirrored
    assert not mirrored.update(IMAGE, BoardLocation(HERE, 1.0)).is_mirrored
