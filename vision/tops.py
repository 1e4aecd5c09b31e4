"""The tops of a board's tiles, seen from straight above, and where to cut each out.

They lie in a plane of their own, seen from low down well beside their squares. How far is known only nearly: corners
are found a little off, tiles are thicker or thinner than most, and laid beside the middle of their squares. So each
crop can be moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import TILE_HEIGHT, BoardPose, Image, rectify

SCALE: Final = 28
"""Pixels a square."""
SIDE: Final = 36
"""Pixels of a crop: the square and a little more, for tiles beside their squares."""
MARGIN: Final = 0.5
"""Squares of a view beyond the grid: room for a crop at its edge that is moved, and looked at from beside."""
FARTHEST: Final = 8
"""Pixels, down or right, by which a crop is moved at most: from half a square on a tile would be its neighbour's."""
_FIRST: Final = round(SCALE * MARGIN) - (SIDE - SCALE) // 2


def tops_view(image: Image, pose: BoardPose) -> Image:
    """The plane of the tile tops in grey, `(448, 448) uint8`."""
    return rectify(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).astype(np.uint8), pose.plane(TILE_HEIGHT), SCALE, MARGIN)


def crops(view: Image, cells: Sequence[tuple[int, int]]) -> Image:
    """Cut `(row, column)` squares from a `tops_view`: `(n, 36, 36) uint8`."""
    return Spots.on(view, cells).crops()


@dataclass(frozen=True, slots=True, eq=False)
class Spots:
    """Where on a `tops_view` the tiles of n squares are looked for."""

    view: Image
    cells: Sequence[tuple[int, int]]
    """Their rows and columns."""
    off: NDArray[np.intp]
    """`(n, 2)`: pixels down and right from the middle of each square to where its tile is."""

    @classmethod
    def on(cls, view: Image, cells: Sequence[tuple[int, int]]) -> Spots:
        """The middles of squares."""
        return cls(view, cells, np.zeros((len(cells), 2), np.intp))

    def moved(self, which: NDArray[np.intp], off: NDArray[np.intp]) -> Spots:
        """With those of these numbers so many pixels further down and right, `(len(which), 2)`, as far as may be."""
        further = self.off.copy()
        further[which] = np.clip(further[which] + off, -FARTHEST, FARTHEST)
        return replace(self, off=further)

    def crops(self, which: NDArray[np.intp] | None = None, beside: tuple[int, int] = (0, 0)) -> Image:
        """Cut out all, or those of these numbers, `beside` pixels further down and right: `(n, 36, 36) uint8`."""
        numbers = range(len(self.cells)) if which is None else which.tolist()
        starts = np.array([self.cells[n] for n in numbers], np.intp).reshape(-1, 2) * SCALE + _FIRST
        starts += self.off[list(numbers)] + np.array(beside)
        inside = np.clip(starts, 0, len(self.view) - SIDE)
        cut = [self.view[y : y + SIDE, x : x + SIDE] for y, x in inside.tolist()]
        return np.stack(cut) if cut else np.zeros((0, SIDE, SIDE), np.uint8)
