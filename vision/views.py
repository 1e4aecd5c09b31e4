"""The two views that a board is read by, kept with the reading for whoever learns from it."""

from __future__ import annotations

from dataclasses import dataclass

from vision.geometry import Image


@dataclass(frozen=True, slots=True, eq=False)
class BoardViews:
    """One picture of a board, rectified; upright as the tiles read."""

    board: Image
    """`(272, 272, 3) uint8 BGR`: the board and a little around it, half way up the tiles (`vision.squares`)."""
    tops: Image
    """`(448, 448) uint8`: the plane of the tile tops in grey (`vision.tops`)."""
