"""The tops of a board's tiles, seen from straight above, and where to cut each out.

They lie in a plane of their own, seen from low down well beside their squares. How far is known only nearly: corners
are found a little off, tiles are thicker or thinner than most, and laid beside the middle of their squares. So each
crop can be moved and turned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.reading import SIZE
from vision.geometry import TILE_HEIGHT, BoardPose, Floats, Image, rectify

SCALE: Final = 28
"""Pixels a square."""
SIDE: Final = 36
"""Pixels of a crop: the square and a little more, for tiles beside their squares."""
MARGIN: Final = 0.5
"""Squares of a view beyond the grid: room for a crop at its edge that is moved, and looked at from beside."""
FARTHEST: Final = np.array([0.3, 0.3, 0.6])
"""Squares right and down, and radians, by which a crop is moved at most: from half a square on it shows a neighbour."""
_FIRST: Final = round(SCALE * MARGIN) - (SIDE - SCALE) // 2


def tops_view(image: Image, pose: BoardPose) -> Image:
    """The plane of the tile tops in grey, `(448, 448) uint8`."""
    return rectify(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).astype(np.uint8), pose.plane(TILE_HEIGHT), SCALE, MARGIN)


def crops(view: Image, cells: Sequence[tuple[int, int]]) -> Image:
    """Cut `(row, column)` squares from a `tops_view`: `(n, 36, 36) uint8`."""
    return Spots.on(view, cells).crops()


@dataclass(frozen=True, slots=True, eq=False)
class Spots:
    """Where and how on a `tops_view` the tiles of n squares lie, as far as is known."""

    view: Image
    cells: Sequence[tuple[int, int]]
    """Their rows and columns."""
    lies: Floats
    """`(n, 3)`: squares right and down from the middle of each square to that of its tile, and how far the tile is
    turned on it, in radians clockwise."""

    @classmethod
    def on(cls, view: Image, cells: Sequence[tuple[int, int]]) -> Spots:
        """Straight in the middles of their squares."""
        return cls(view, cells, np.zeros((len(cells), 3)))

    def moved(self, which: NDArray[np.intp], by: Floats) -> Spots:
        """With those of these numbers further right, down and clockwise, `(len(which), 3)`, as far as may be.

        Right and down are those of the crop, which slants as its tile does so far.
        """
        right, down, turn = by.T
        cos, sin = np.cos(self.lies[which, 2]), np.sin(self.lies[which, 2])
        further = self.lies.copy()
        further[which] += np.column_stack([cos * right - sin * down, sin * right + cos * down, turn])
        return replace(self, lies=np.clip(further, -FARTHEST, FARTHEST))

    def by_square(self) -> Floats:
        """`lies` of all squares, `(15, 15, 3)`; 0 where none is looked for."""
        lies = np.zeros((SIZE, SIZE, 3))
        for cell, lie in zip(self.cells, self.lies, strict=True):
            lies[cell] = lie
        return lies

    def crops(self, which: NDArray[np.intp] | None = None, beside: ArrayLike = (0, 0)) -> Image:
        """Cut out all, or those of these numbers, `beside` pixels further down and right: `(n, 36, 36) uint8`.

        `beside` is the same for all, or `(n, 2)`.
        """
        numbers = np.arange(len(self.cells)) if which is None else which
        first = SCALE * np.array(self.cells, np.intp).reshape(-1, 2)[numbers] + _FIRST + np.asarray(beside)
        cut = np.empty((len(numbers), SIDE, SIDE), np.uint8)
        for k, (y, x) in enumerate(np.clip(first, 0, len(self.view) - SIDE).tolist()):
            cut[k] = self.view[y : y + SIDE, x : x + SIDE]
        lies = self.lies[numbers]
        moved = np.flatnonzero(lies.any(axis=1))
        if len(moved):
            flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
            for n, matrix in zip(moved, _matrices(first[moved], lies[moved]), strict=True):
                cut[n] = cv2.warpAffine(self.view, matrix, (SIDE, SIDE), flags=flags, borderMode=cv2.BORDER_REPLICATE)
        return cut


def _matrices(first: NDArray[np.intp], lies: Floats) -> Floats:
    """From crops to the view, `(n, 2, 3)`, of tiles that lie so in squares whose crops begin with the `first` rows and
    columns, `(n, 2)`."""
    half = (SIDE - 1) / 2
    cos, sin = np.cos(lies[:, 2]), np.sin(lies[:, 2])
    axes = np.stack([cos, -sin, sin, cos], axis=1).reshape(-1, 2, 2)
    middles = first[:, ::-1] + half + SCALE * lies[:, :2]
    return np.concatenate([axes, (middles - half * axes.sum(axis=2))[:, :, None]], axis=2)
