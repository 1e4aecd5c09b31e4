"""Checks of one picture of the table: brightness, reflections, board size, focus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from device.doctor.finding import Finding, Subject
from device.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from device.cameras import Image

MIN_BRIGHTNESS, MAX_BRIGHTNESS = 40.0, 215.0
"""Limits of the mean brightness (0 to 255) of a good picture."""
OVEREXPOSED_LEVEL, MAX_OVEREXPOSED_SHARE = 250, 0.04
"""Lowest grey level of an overexposed pixel (`OVEREXPOSED_LEVEL`), and maximum share (0..1) of overexposed pixels on
the board (`MAX_OVEREXPOSED_SHARE`); a higher share counts as glare."""
GOOD_SQUARE_PX = 32.0
"""Sufficient size of squares in pixels; larger squares do not improve readings. Letters are read at 28 pixels
(docs/reading.md)."""
MIN_SQUARE_PX = 24.0
"""Minimum size of squares in pixels; letters on smaller ones are often confused."""
SOFT_EDGE_WIDTH = 0.10
"""Maximum width of edges in a sharp picture, as a fraction of a square; wider edges mean a soft picture."""
MIN_CONFIDENCE = 0.9
"""Minimum confidence of the reading of a square; if it is lower, the square counts as doubtful."""


def check_image(image: Image, settings: Settings) -> Iterator[Finding]:
    """Check light, focus and board size in one picture, `(H, W, 3) uint8 BGR`."""
    import cv2

    from engine.tiles import load_tile_set
    from vision.recognition.reader import BoardReader

    yield from _check_light(float(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).mean()))
    reading = BoardReader().read(image, load_tile_set(settings.game.tiles).letters)
    board = Subject("board")
    if reading.corners is None:
        yield board.warning(
            "there is no board in the picture",
            "put the board under the camera with all four edges in view, then run this again",
        )
        return
    yield from _check_board(image, reading.corners)
    if reading.board is not None:
        doubtful = sum(square.confidence < MIN_CONFIDENCE for square in reading.board.squares)
        if doubtful > 5:
            yield board.warning(f"{doubtful} of 225 squares are uncertain", "check light and focus")
        else:
            yield board.good(f"read in {reading.ms.total:.0f} ms; {doubtful} of 225 squares are uncertain")
    for problem in reading.problems:
        yield board.note(problem)


def _check_light(mean: float) -> Iterator[Finding]:
    subject = Subject("light")
    if mean < MIN_BRIGHTNESS:
        yield subject.warning(f"the picture is dark ({mean:.0f} of 255)", "light the board with a lamp from the side")
    elif mean > MAX_BRIGHTNESS:
        yield subject.warning(f"the picture is too bright ({mean:.0f} of 255)", "remove a lamp, or turn it aside")
    else:
        yield subject.good(f"the picture's brightness is {mean:.0f} of 255")


def _check_board(image: Image, corners: npt.NDArray[np.float64]) -> Iterator[Finding]:
    """Check the size of the board in the picture, glare and focus; `corners` are `(4, 2)` in pixels."""
    import cv2
    import numpy as np

    from vision.focus import measure_edge_width
    from vision.geometry import homography, rectify, square_side

    subject = Subject("board")
    side = square_side(corners)
    if side < MIN_SQUARE_PX:
        yield subject.warning(
            f"it is small in the picture: {side:.0f} pixels per square, but {GOOD_SQUARE_PX:.0f} are good",
            "move the camera closer to the board (docs/parts.md has a table of heights)",
        )
    else:
        yield subject.good(f"found, {side:.0f} pixels per square")
    flat = np.asarray(cv2.cvtColor(rectify(image, homography(corners), round(side)), cv2.COLOR_BGR2GRAY), np.uint8)
    overexposed_share = float((flat >= OVEREXPOSED_LEVEL).mean())
    if overexposed_share > MAX_OVEREXPOSED_SHARE:
        yield Subject("light").warning(
            f"{100 * overexposed_share:.0f} % of the board is overexposed: a lamp is reflected there",
            "move the lamp to the side, or put something thin and white in front of it",
        )
    yield from _check_focus(measure_edge_width(flat), side)


def _check_focus(edge: float | None, side: float) -> Iterator[Finding]:
    """Check the focus, given the typical width of edges and the side of a square, both in pixels."""
    from vision.focus import BLURRED_EDGE_WIDTH, MIN_EDGE_WIDTH_PX

    subject = Subject("focus")
    if edge is None:
        yield subject.note("cannot be judged: nothing on the board has edges", "place some tiles, then run this again")
        return
    width = f"edges are {edge / side:.2f} of a square wide"
    if edge > max(BLURRED_EDGE_WIDTH * side, MIN_EDGE_WIDTH_PX):
        yield subject.warning(
            f"the picture is blurred: {width}", "turn the lens (a module 3 focuses by itself: clean it, wait 3 s)"
        )
    elif edge > max(SOFT_EDGE_WIDTH * side, MIN_EDGE_WIDTH_PX):
        yield subject.note(f"the picture is a little soft: {width}", "turn the lens, or clean it")
    else:
        yield subject.good(f"sharp: {width}")
