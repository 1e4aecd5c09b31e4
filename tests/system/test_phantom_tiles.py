"""Boards drawn without the renderer of the training, and the phantom tiles on them."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from engine.reading import EMPTY
from engine.tiles import load_tile_set
from tests.support import drawn_boards
from tests.support.drawn_boards import LIGHTS, PRINTS, draw_board, lay_tiles
from tests.system.phantom_tiles import BoardCount, describe_counts, measure_boards
from vision.recognition.reader import BoardReader

MAX_PHANTOM_SHARE = 0.005
"""Limit for the sample of the test. The aim is 0.001: a board whose squares look like tiles has many phantom tiles."""


def test_boards_share_no_code_with_the_renderer_of_the_training() -> None:
    modules = {getattr(value, "__module__", None) or "" for value in vars(drawn_boards).values()}
    assert {name for name in modules if name.startswith("vision")} == {"vision.rendering.fonts"}


@pytest.mark.parametrize("count", [0, 1, 40])
def test_tiles_are_connected_and_from_one_set(count: int) -> None:
    symbols = lay_tiles(np.random.default_rng(3), count)
    tiles = [symbol for symbol in symbols if symbol != EMPTY]
    assert len(tiles) == count and len(symbols) == 225
    assert all(tiles.count(symbol) <= load_tile_set("en").counts[symbol] for symbol in tiles)


@pytest.mark.parametrize("kind", ["glossy", "plain"])
def test_board_lies_in_its_picture(kind: Literal["glossy", "plain"]) -> None:
    board = draw_board(np.random.default_rng(5), kind, PRINTS[:1], LIGHTS[1:2])
    height, width = board.image.shape[:2]
    assert ((board.corners > 0) & (board.corners < (width, height))).all()
    assert board.name == ("lines" if kind == "plain" else board.name)


def test_report_counts_phantom_tiles_by_confidence() -> None:
    counts = [BoardCount("lines", is_read=True, empty=200, phantoms=(0.4, 0.97), letters=24, blanks=1)]
    assert "| x | 1 | 0 | 200 | 2 | 1 | 1 | 1 | 0 | 24 | 0 | 1 | 0 |" in describe_counts({"x": counts})


@pytest.mark.slow
def test_phantom_tiles_are_rare_and_never_certain() -> None:
    groups = measure_boards(BoardReader(), 6, seed=4)
    counts = [count for name, group in groups.items() if "corners" in name for count in group]
    phantoms = [p for count in counts for p in count.phantoms]
    assert len(phantoms) <= MAX_PHANTOM_SHARE * sum(count.empty for count in counts)
    assert max(phantoms, default=0.0) < 0.95
    assert sum(count.is_read for count in counts) >= 20
