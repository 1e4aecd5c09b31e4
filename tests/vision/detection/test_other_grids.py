"""Pictures that show no board: drawn of every kind, and rejected by the reader."""

from __future__ import annotations

import os

import numpy as np
import pytest

from engine.tiles import load_tile_set
from tests.support.other_grids import KINDS, draw_other_grid
from vision.recognition.reader import BoardReader
from vision.rendering.fonts import packaged_fonts

PICTURES_PER_KIND = 2 if os.environ.get("CI") else 5
"""With 13 kinds these are 26 pictures in CI, 65 otherwise; drawing and reading one takes 1.6 s."""
MIN_SIDE_PX = 200


@pytest.fixture(scope="module")
def reader() -> BoardReader:
    return BoardReader()


@pytest.mark.parametrize("kind", KINDS)
def test_picture_of_another_grid_is_large_and_the_same_for_a_seed(kind: str) -> None:
    one, again = (draw_other_grid(np.random.default_rng(3), kind, packaged_fonts()) for _ in range(2))
    assert min(one.shape[:2]) >= MIN_SIDE_PX and (one == again).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_board_is_found_in_a_picture_of_another_grid(reader: BoardReader, kind: str) -> None:
    english = load_tile_set("en").letters
    for number in range(PICTURES_PER_KIND):
        rng = np.random.default_rng((29, list(KINDS).index(kind), number))
        reading = reader.read(draw_other_grid(rng, kind, packaged_fonts()), english)
        assert reading.board is None and reading.problems, (kind, number)
