"""New tiles of one play or of two plays, separated by key frames."""

from __future__ import annotations

import pytest

from device.session.turns.key_frame_plays import MIN_STABLE_UNKNOWN_WORDS_S, find_earlier_tile
from engine.board import parse_square
from tests.support.engine_table import new_game, play, seen, written


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
