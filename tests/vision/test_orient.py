"""Which way up a board lies: the tiles vote, each by what it knows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.orient import upright


def votes(*chances: tuple[float, float, float, float]) -> NDArray[np.float32]:
    return np.log(np.maximum(np.array(chances), 1e-9)).astype(np.float32)


@pytest.mark.parametrize("turn", range(4))
def test_tiles_that_agree_decide(turn: int) -> None:
    sure = np.roll([0.97, 0.01, 0.01, 0.01], turn)
    decided = upright(np.log(np.stack([sure] * 5)).astype(np.float32))
    assert decided.quarter_turns == turn
    assert decided.confidence > 0.99
    assert decided.tiles == 5


def test_letters_that_look_alike_turned_say_little() -> None:
    either = (0.49, 0.01, 0.49, 0.01)
    decided = upright(votes(either, either, either, (0.9, 0.04, 0.03, 0.03)))
    assert decided.quarter_turns == 0
    assert decided.confidence > 0.9


def test_one_tile_laid_the_wrong_way_round_does_not_decide() -> None:
    right, wrong = (0.9, 0.03, 0.04, 0.03), (1e-9, 1e-9, 1.0, 1e-9)
    assert upright(votes(right, right, right, wrong)).quarter_turns == 0


def test_tiles_that_contradict_each_other_leave_doubt() -> None:
    decided = upright(votes((0.98, 0.01, 0.005, 0.005), (0.005, 0.98, 0.01, 0.005)))
    assert decided.confidence < 0.7


def test_without_tiles_the_view_stays_as_it_is() -> None:
    decided = upright(np.zeros((0, 4), np.float32))
    assert decided.quarter_turns == 0
    assert decided.tiles == 0
    assert decided.confidence == 0.25
