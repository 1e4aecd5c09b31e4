"""The tracker as a value: what each step keeps, and what replaces corners that a user placed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.fixed_locator import FixedLocator
from vision.detection.location import BoardLocation, BoardNotFoundError, LocationSource
from vision.geometry import Floats, Image
from vision.tracking import BoardTracker

IMAGE: Image = np.zeros((300, 400, 3), np.uint8)
HERE: Floats = np.array([[50.0, 20.0], [250.0, 20.0], [250.0, 220.0], [50.0, 220.0]])
PLACED = BoardTracker().place_corners(HERE, IMAGE.shape)


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


def test_user_corners_hold_after_a_picture_without_a_board() -> None:
    after = PLACED.mark_unreliable().update(IMAGE, None)
    assert after.has_user_corners and not after.is_unreliable and after.corners is HERE


def test_confirmed_corners_are_forgotten_at_another_size_of_picture() -> None:
    assert BoardTracker().update(IMAGE, None).confirm(HERE).update(IMAGE[:200], None).corners is None


def test_board_that_was_never_found_is_searched() -> None:
    with pytest.raises(BoardNotFoundError):
        BoardTracker().locate(IMAGE, FixedLocator(None))
