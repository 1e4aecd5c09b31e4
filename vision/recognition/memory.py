"""Memory of a board between the pictures of one camera: only squares that have changed are read again.

The camera and the board rarely move between two turns, and a turn changes a few squares. So a new picture is rectified
at the earlier corners, and each square is compared with the picture in which it was read. If the board has not moved,
the picture is not searched for it, and squares that look the same keep their predictions.

To avoid lasting errors, unclear tiles are always read again, and all squares are read again after `MAX_RECALLS`
pictures. Slow changes do not add up, because a square is compared with the picture in which it was read, not with the
last picture.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.detection.location import BoardLocation, LocationSource
from vision.geometry import BoardPose, Floats, Image
from vision.recognition.letters import LETTER_CLASSES
from vision.recognition.squares import SquareKinds
from vision.recognition.views import TOPS_MARGIN_SQUARES, TOPS_PX_PER_SQUARE, TilePoses, rectify_tops, split_squares

MAX_RECALLS: Final = 4
"""Number of pictures in a row that may use the memory; in the next picture, all tiles are read again."""
_MAX_CHANGE: Final = 0.15
"""Maximum change of a square that counts as unchanged: the standard deviation of the difference between two pictures,
as a share of the square's contrast. A letter that is displaced by half a pixel of the view (a fiftieth of a square)
changes by more."""
_MAX_GAIN: Final = 2.0
"""Maximum change of the light, as a factor, on a square that counts as unchanged."""
_MIN_CONTRAST: Final = 6.0
"""Grey levels added to a square's contrast before `_MAX_CHANGE` is applied, so that noise on a square of one colour
does not count as a change."""
_TEXTURE_CONTRAST: Final = 10.0
"""Minimum contrast, in grey levels, of a square that is used to find out whether the board has moved."""
_MIN_TEXTURED_SQUARES, _MIN_UNCHANGED_SHARE = 3, 0.4
"""Limits for each quarter of a board that counts as unmoved. `_MIN_TEXTURED_SQUARES`: minimum number of squares with at
least `_TEXTURE_CONTRAST`. `_MIN_UNCHANGED_SHARE`: minimum share of unchanged squares among these, weighted with their
contrast, as noise changes pale print first. It was at most 0.22 after a movement by a pixel of the picture."""
_MIN_TILES, _MIN_TILE_SHARE = 3, 0.5
"""Limits for using the memory. `_MIN_TILES`: minimum number of unchanged tiles. `_MIN_TILE_SHARE`: minimum share of
unchanged tiles. Unchanged squares are not enough: without tiles, a board looks the same after a half turn."""
_MIN_TILE_PROBABILITY: Final = 0.5
"""Minimum tile probability of an unchanged tile. The predictions of squares that are clearly empty are kept too."""
_INNER_EDGE_PX: Final = 2
"""Width of the edge of a square, in pixels of a view from `_halve_grid`, outside the inner part that has the letter."""
_EDGE_PX: Final = round(TOPS_PX_PER_SQUARE * TOPS_MARGIN_SQUARES)


@dataclass(frozen=True, slots=True, eq=False)
class TileTable:
    """Predictions for the n squares that may have a tile, as parallel arrays in the order of `poses.cells`."""

    poses: TilePoses
    """Shift and rotation of each tile in the rectified plane of the tile tops."""
    tile_p: Floats
    """`(n,)`: probability of a tile, from the square network."""
    letters_logp: NDArray[np.float32]
    """`(n, classes)`: log-probabilities of the letter network's classes."""
    turns_logp: NDArray[np.float32]
    """`(n, 4)`: log-probabilities that a tile is upright after 0 to 3 quarter turns."""
    features: NDArray[np.float32]
    """`(n, 128)`: feature vectors of the letter network. Tiles that look similar have similar vectors."""
    value_nats: Floats
    """`(n,)`: log-likelihood ratio that no value is printed on the tile; NaN if it was not read."""
    prints: Floats
    """`(n, 3)`: contrast and rows of the print (`vision.recognition.written_blanks.measure_prints`)."""

    def select(self, rows: Sequence[int]) -> TileTable:
        """Return a table of the rows with the given indices."""
        which = np.array(rows, np.intp)
        poses = TilePoses(self.poses.view, [self.poses.cells[row] for row in rows], self.poses.poses[which])
        return TileTable(poses, *(values[which] for values in self._predictions))

    def select_squares(self, mask: NDArray[np.bool_]) -> TileTable:
        """Return a table of the squares that are marked in `mask` `(15, 15)`."""
        return self.select([row for row, cell in enumerate(self.poses.cells) if mask[cell]])

    def mark_letters(self) -> NDArray[np.bool_]:
        """Return the mask `(15, 15)` of the squares that have a tile with a letter."""
        is_letter = (self.letters_logp.argmax(axis=1) >= LETTER_CLASSES.start) & (self.tile_p >= _MIN_TILE_PROBABILITY)
        mask = np.zeros((BOARD_SIZE, BOARD_SIZE), np.bool_)
        rows, columns = np.array(self.poses.cells, np.intp).reshape(-1, 2)[is_letter].T
        mask[rows, columns] = True
        return mask

    def count_tiles(self) -> int:
        """Return the number of squares that have a tile according to the square network."""
        return int(np.count_nonzero(self.tile_p >= _MIN_TILE_PROBABILITY))

    def join(self, other: TileTable) -> TileTable:
        """Return a table with the rows of this table, then those of `other`; its view is the view of `other`."""
        cells = [*self.poses.cells, *other.poses.cells]
        poses = TilePoses(other.poses.view, cells, np.concatenate([self.poses.poses, other.poses.poses]))
        return TileTable(poses, *map(np.concatenate, zip(self._predictions, other._predictions, strict=True)))

    @property
    def _predictions(self) -> tuple[NDArray[Any], ...]:
        """All arrays except those of the poses, in the order of the fields."""
        return self.tile_p, self.letters_logp, self.turns_logp, self.features, self.value_nats, self.prints


@dataclass(frozen=True, slots=True, eq=False)
class BoardMemory:
    """Location and squares of a board in earlier pictures of one camera."""

    location: BoardLocation
    """Location of the board. The first corner is the top left of the upright board."""
    pose: BoardPose
    """Pose of the upright board."""
    orientation_confidence: float
    """Probability (0..1) that the orientation is correct."""
    tops: Image
    """`(448, 448) uint8`: rectified plane of the tile tops. Each square shows the picture in which its tile was read.
    """
    kept_tiles: TileTable
    """Predictions for the tiles with a clear letter, and for the squares that are empty or have a blank."""
    kinds: SquareKinds | None
    """Predictions of the square network; None if the whole board must be classified again."""
    tiles: frozenset[str]
    """Letters of the tile set with which the tiles were read."""
    recall_count: int = 0
    """Number of pictures since all tiles were read, at most `MAX_RECALLS`."""

    @property
    def is_worn(self) -> bool:
        """True if the last `MAX_RECALLS` pictures used the memory, so that the next one must be read completely."""
        return self.recall_count >= MAX_RECALLS

    def recall(self, image: Image, tiles: Collection[str]) -> RecalledBoard | None:
        """Compare a picture `(H, W, 3) uint8 BGR` with the memory.

        Returns None if all squares must be read, for one of these reasons: the board has moved, too few tiles look the
        same, `tiles` is another tile set, or the last `MAX_RECALLS` pictures used the memory.
        """
        if self.is_worn or self.tiles != frozenset(tiles):
            return None
        tops = rectify_tops(image, self.pose)
        before, now = _halve_grid(self.tops), _halve_grid(tops)
        is_unchanged, contrast = _compare_squares(before, now)
        if not _is_in_place(is_unchanged, contrast):
            return None
        # The edges of a tile change with the shadows of its neighbours, its letter does not.
        has_same_print, _ = _compare_squares(_cut_inner_parts(before), _cut_inner_parts(now))
        is_unchanged |= has_same_print & self.kept_tiles.mark_letters()
        unchanged = self.kept_tiles.select_squares(is_unchanged)
        if unchanged.count_tiles() < max(_MIN_TILES, _MIN_TILE_SHARE * self.kept_tiles.count_tiles()):
            return None
        return RecalledBoard(self, tops, is_unchanged, unchanged)


@dataclass(frozen=True, slots=True, eq=False)
class RecalledBoard:
    """A new picture of a board that has not moved, compared with the memory of earlier pictures."""

    memory: BoardMemory
    tops: Image
    """`(448, 448) uint8`: rectified plane of the tile tops in the picture."""
    is_unchanged: NDArray[np.bool_]
    """`(15, 15)`: True for squares that look the same as when they were read, or whose letter does."""
    unchanged_tiles: TileTable
    """Earlier predictions for the tiles that look the same."""

    @property
    def location(self) -> BoardLocation:
        """The remembered location of the board; its source is `FOLLOWED`, or `PLACED` if a user placed the corners."""
        location = self.memory.location
        is_placed = location.source is LocationSource.PLACED
        return location if is_placed else replace(location, source=LocationSource.FOLLOWED)

    def update_memory(self, kept_tiles: TileTable, kinds: SquareKinds | None) -> BoardMemory:
        """Return the memory for the next picture; the arguments are the predictions for this picture."""
        tops = self.tops.copy()
        kept = split_squares(self.memory.tops, TOPS_PX_PER_SQUARE)
        split_squares(tops, TOPS_PX_PER_SQUARE)[self.is_unchanged] = kept[self.is_unchanged]
        count = self.memory.recall_count + 1
        return replace(self.memory, tops=tops, kept_tiles=kept_tiles, kinds=kinds, recall_count=count)


def _compare_squares(x: NDArray[np.float32], y: NDArray[np.float32]) -> tuple[NDArray[np.bool_], Floats]:
    """Compare the squares of two views `x` (before) and `y` (now) from `_halve_grid` or `_cut_inner_parts`.

    Returns a mask `(15, 15)` of the squares that are unchanged apart from the light, and the contrast of each square
    in grey levels, `(15, 15)`.
    """
    x_mean, y_mean = _average_squares(x), _average_squares(y)
    # Fit y = gain * x + offset in each square: another light changes both. What remains is a change of the print.
    variance = _average_squares(x * x) - x_mean**2
    covariance = _average_squares(x * y) - x_mean * y_mean
    gain = covariance / np.maximum(variance, 1)
    contrast = np.sqrt(np.maximum(_average_squares(y * y) - y_mean**2, 0))
    remainder = np.sqrt(np.maximum(contrast**2 - gain * covariance, 0))
    # A square of one colour has no gain. It counts as unchanged if it had one colour before, too: otherwise something
    # may cover its print.
    is_plain = np.maximum(contrast, np.sqrt(np.maximum(variance, 0))) < _TEXTURE_CONTRAST
    is_lit_alike = (gain >= 1 / _MAX_GAIN) & (gain <= _MAX_GAIN) | is_plain
    return is_lit_alike & (remainder <= _MAX_CHANGE * (contrast + _MIN_CONTRAST)), contrast


def _halve_grid(tops: Image) -> NDArray[np.float32]:
    """Return the grid of a view from `rectify_tops` at half size, `(210, 210)`, with half of the camera's noise."""
    half = cv2.resize(tops, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    edge = _EDGE_PX // 2
    return np.asarray(half[edge:-edge, edge:-edge], np.float32)


def _cut_inner_parts(grid: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the inner parts of the squares of a view from `_halve_grid`, side by side: `(150, 150)`."""
    side, inner = len(grid) // BOARD_SIZE, slice(_INNER_EDGE_PX, -_INNER_EDGE_PX)
    squares = grid.reshape(BOARD_SIZE, side, BOARD_SIZE, side)[:, inner, :, inner]
    return squares.reshape(-1, BOARD_SIZE * (side - 2 * _INNER_EDGE_PX))


def _average_squares(values: NDArray[np.float32]) -> Floats:
    """Return the mean of each square of an array `(n, n)`: `(15, 15)`, exact for values below 2**16."""
    return np.asarray(cv2.resize(values, (BOARD_SIZE, BOARD_SIZE), interpolation=cv2.INTER_AREA), np.float64)


def _is_in_place(is_unchanged: NDArray[np.bool_], contrast: Floats) -> bool:
    """Return True if the board has not moved: in each of its quarters, many squares with high contrast are unchanged.

    `contrast` `(15, 15)` is in grey levels. Squares with little contrast look the same after a movement.
    """
    near, far = slice(0, BOARD_SIZE // 2), slice(BOARD_SIZE // 2, BOARD_SIZE)
    weights = np.where(contrast >= _TEXTURE_CONTRAST, contrast, 0.0)
    for rows in (near, far):
        for columns in (near, far):
            quarter, unchanged = weights[rows, columns], is_unchanged[rows, columns]
            if np.count_nonzero(quarter) < _MIN_TEXTURED_SQUARES:
                return False
            if quarter[unchanged].sum() < _MIN_UNCHANGED_SHARE * quarter.sum():
                return False
    return True
