"""What the board looked like between two presses, and for how long."""

from __future__ import annotations

import numpy as np
import pytest

from device.cameras import Frame
from device.capture.turn_images import (
    MIN_STABLE_S,
    MIN_STABLE_UNKNOWN_WORDS_S,
    KeyFrameBuffer,
    find_earlier_tile,
    find_stable_frames,
)
from engine.board import parse_square
from tests.support.engine_table import new_game, play, seen, written


def frame(laid: int, time: float) -> Frame:
    """A board with so many tiles in a row, at a moment."""
    image = np.full((240, 320, 3), 60, np.uint8)
    image[100:130, 20 : 20 + 40 * laid] = 230
    return Frame(image, time)


def stood(*frames: Frame) -> list[float]:
    """How long each board lay there that differs from the last; the first was read at the last press."""
    glimpses = KeyFrameBuffer()
    glimpses.set_reference(frames[0])
    for one in frames[1:]:
        glimpses.add(one)
    return [seconds for _, seconds in find_stable_frames(glimpses.take_all(), frames[-1])]


def test_what_lay_there_alone_for_a_while_is_told() -> None:
    assert stood(frame(0, 0), frame(3, 1), frame(4, 1 + 2 * MIN_STABLE_S)) == [2 * MIN_STABLE_S]


def test_what_was_tried_and_taken_back_did_not_lie_there_while_its_player_thought() -> None:
    assert stood(frame(0, 0), frame(3, 1), frame(0, 1.5), frame(4, 1.5 + 2 * MIN_STABLE_S)) == []


@pytest.mark.parametrize(
    ("shown", "stable_s", "expected"),
    [
        ("8J S", MIN_STABLE_UNKNOWN_WORDS_S, "J8"),
        ("8J S", MIN_STABLE_UNKNOWN_WORDS_S / 2, None),  # the next player may be placing tiles
        ("8J T", MIN_STABLE_UNKNOWN_WORDS_S, None),
        ("J7 IS", MIN_STABLE_UNKNOWN_WORDS_S, None),
        ("J7 I", MIN_STABLE_UNKNOWN_WORDS_S, None),
    ],
)
def test_tile_at_the_end_of_the_last_word_is_earlier_if_it_is_alone_for_long(
    shown: str, stable_s: float, expected: str | None
) -> None:
    game = play(new_game(), "8F HORN")
    key_frame = seen(play(game, shown).board)
    found = find_earlier_tile(game, written(game, "J7 ISLE"), [(key_frame, stable_s)])
    assert found == (parse_square(expected) if expected else None)
