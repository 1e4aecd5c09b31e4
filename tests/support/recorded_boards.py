"""Pictures of the board after each turn of a recorded game, drawn with the simulated table."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import cv2
import numpy as np

from device.cameras.base import Camera, CameraError
from device.demo.demo_table import load_demo_games
from engine.board import SQUARES, Board, column_of, row_of
from engine.gcg import replay
from engine.tiles import load_tile_set
from tests.support.waiting import PATIENCE_S
from vision.geometry import Image
from vision.rendering.simulated_table import SimulatedTable

TURNS = 10
GAME = "three-of-us"
"""A recorded game whose first ten turns have no blank: nine plays and a pass."""
_REDUCED_SIZE_PX = (160, 120)


def render_boards(turns: int) -> Iterator[tuple[Image, int]]:
    """Yield a picture of the board after each turn of the recorded game, and the score of the turn."""
    record = load_demo_games()[GAME]
    table, board = SimulatedTable(seed=3, size=(1600, 1200), values=load_tile_set("en").values), Board()
    for event in replay(record).events[:turns]:
        board = event.play.apply_to(board) if event.play else board
        faces = {(row_of(s), column_of(s)): tile.face for s in SQUARES if (tile := board[s]) is not None}
        table.lay_tiles(faces)
        yield table.photograph().image, event.counted_score


def wait_for_picture(camera: Camera, images: Sequence[Image], number: int, max_s: float = PATIENCE_S) -> None:
    """Wait until the camera's preview is more like `images[number]` than like the other pictures.

    Raises `AssertionError` after `max_s` seconds.
    """
    begun = time.monotonic()
    while _find_shown(camera, images) != number:
        assert time.monotonic() - begun < max_s, f"the camera never showed picture {number}"


def _find_shown(camera: Camera, images: Sequence[Image]) -> int | None:
    """Return the index of the picture that the preview is most like, or None if the camera has no preview now."""
    try:
        preview = camera.capture_preview()
    except CameraError:
        return None
    if preview is None:
        return None
    # Correlation does not depend on contrast: a video codec may store a smaller range of grey levels.
    shown = _reduce(preview.image)
    return int(np.argmax([np.corrcoef(_reduce(image), shown)[0, 1] for image in images]))


def _reduce(image: Image) -> Image:
    """Return the grey levels (n,) of a picture, reduced so far that noise and compression matter little."""
    grey = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return cv2.resize(grey, _REDUCED_SIZE_PX, interpolation=cv2.INTER_AREA).ravel()
