"""The key frames between two presses, and the time for which each board stayed unchanged."""

from __future__ import annotations

import numpy as np

from device.cameras import Frame
from device.capture.key_frames import MIN_STABLE_S, KeyFrameBuffer, find_stable_frames
from tests.support.engine_table import new_game


def frame(laid: int, time: float) -> Frame:
    """Return a picture of a board with `laid` tiles in a row."""
    image = np.full((240, 320, 3), 60, np.uint8)
    image[100:130, 20 : 20 + 40 * laid] = 230
    return Frame(image, time)


def stood(*frames: Frame) -> list[float]:
    """Return the seconds for which each board stayed that differs from the last one; the first frame is a reference."""
    glimpses = KeyFrameBuffer()
    glimpses.set_reference(frames[0])
    for one in frames[1:]:
        glimpses.add(one)
    return [seconds for _, seconds in find_stable_frames(glimpses.list_frames(new_game()), frames[-1])]


def test_board_that_stayed_for_a_while_is_stable() -> None:
    assert stood(frame(0, 0), frame(3, 1), frame(4, 1 + 2 * MIN_STABLE_S)) == [2 * MIN_STABLE_S]


def test_what_was_tried_and_taken_back_did_not_lie_there_while_its_player_thought() -> None:
    assert stood(frame(0, 0), frame(3, 1), frame(0, 1.5), frame(4, 1.5 + 2 * MIN_STABLE_S)) == []
