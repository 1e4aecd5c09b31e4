"""Messages for the user about an uncertain reading of a board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from engine.board import square_name
from engine.messages import make_message
from engine.reading import HIDDEN, BoardReading
from vision.detection.layout_check import is_aligned_rectangle
from vision.detection.location import CUT_OFF_MESSAGES, BoardLocation, LocationSource, measure_overhangs
from vision.recognition.classifier import ClassifiedBoard
from vision.recognition.tile_sets import find_better_set, list_extra_tiles

MIN_ORIENTATION_CONFIDENCE: Final = 0.95
"""Minimum confidence of the orientation; if it is lower, the reading reports a problem, and a tracked board keeps its
previous orientation."""
FOREIGN_TILES: Final = "tiles-foreign"
"""Key of the message about tiles whose letters are not in the tile set."""
OTHER_SET: Final = "tiles-other-set"
"""Key of the message about another tile set that the letters fit better."""
EXTRA_TILES: Final = "tiles-extra"
"""Key of the message about more tiles than the set has."""
MIRRORED: Final = "board-mirrored"
"""Key of the message about a mirrored picture."""
_MAX_CUT_SQUARES: Final = 0.25
"""Maximum distance, in squares, by which the board may extend beyond the picture; with more, the reading reports a
problem."""
_MIN_FOREIGN_TILES: Final = 2
"""Minimum number of tiles with foreign letters for reporting a problem. A single tile may only be dirty."""
_MIN_FOREIGN_PROBABILITY: Final = 0.99
"""Minimum probability of a letter or an accent outside the tile set for a tile to count as one with a foreign letter.
Dimples in tiles reach 0.98 as accents."""


def list_location_problems(
    location: BoardLocation, size: tuple[int, int], *, is_unsure: bool, is_tracked: bool
) -> list[str]:
    """Return messages about the location of the board: it may be no board, a screen, cut off or mirrored.

    `size` is the picture's (width, height) in px. `is_unsure` is True if the search alone was not sure that this is the
    board, and `is_tracked` if the board was followed from earlier pictures.
    """
    problems: list[str] = []
    if is_unsure:
        text = "This may not be the board ({0} % sure). Check the corners."
        problems.append(make_message("board-unsure", text, f"{100 * location.confidence:.0f}"))
    if location.source is LocationSource.SEARCHED and not is_tracked and is_aligned_rectangle(location.corners):
        problems.append(
            make_message("board-screen", "This looks like a screen. Point the camera at a board on a table.")
        )
    overhangs = measure_overhangs(location.corners, *size)
    if location.source is not LocationSource.PLACED and overhangs.max() > _MAX_CUT_SQUARES:
        problems.append(CUT_OFF_MESSAGES[int(overhangs.argmax())])
    if location.is_mirrored:
        text = "The picture is mirrored, so it was flipped before reading. Switch mirroring off in the camera."
        problems.append(make_message(MIRRORED, text))
    return problems


def list_square_problems(
    classified: ClassifiedBoard, board: BoardReading, tiles: Collection[str], unsupported_tiles: Sequence[str]
) -> list[str]:
    """Return messages about the squares: uncertain orientation, letters that cannot be read, hidden squares.

    `board` is the reading of `classified` with the letters `tiles`. `unsupported_tiles` are the tiles of the set that
    no reading can contain.
    """
    problems: list[str] = []
    orientation = classified.orientation
    if orientation.confidence < MIN_ORIENTATION_CONFIDENCE and orientation.vote_count:
        text = "It is not clear which way up the board is ({0} % sure). Place more tiles, or set the corners."
        problems.append(make_message("board-way-up", text, f"{100 * orientation.confidence:.0f}"))
    if unsupported_tiles:
        text = "The camera cannot read these letters of the tile set: {0}. Enter turns with these letters by hand."
        problems.append(make_message("board-letters", text, " ".join(unsupported_tiles)))
    foreign_count = np.count_nonzero(classified.foreign_p >= _MIN_FOREIGN_PROBABILITY)
    if foreign_count >= _MIN_FOREIGN_TILES:
        text = "{0} tiles seem to have letters or accents that the set does not have. Is it the right tile set?"
        problems.append(make_message(FOREIGN_TILES, text, foreign_count))
    better_set = find_better_set(classified.clear_shapes, frozenset(tiles))
    if better_set:
        text = "The letters on the board fit the tile set {0} better. Check that you have chosen the right tile set."
        problems.append(make_message(OTHER_SET, text, better_set))
    extra = list_extra_tiles(Counter(square.symbol for square in board.squares), frozenset(tiles))
    if extra:
        text = "More tiles seem to be on the board than the set has: {0}. Check these tiles."
        problems.append(make_message(EXTRA_TILES, text, extra))
    hidden = [square_name(i) for i, square in enumerate(board.squares) if square.symbol == HIDDEN]
    if hidden:
        problems.append(make_message("board-hidden", "These squares are hidden: {0}.", " ".join(hidden)))
    return problems
