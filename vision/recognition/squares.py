"""Classify the 225 squares of a rectified board as empty, tile or hidden.

The square network gets the whole board at low resolution, so it classifies each square by its surroundings and the
lighting, without colour thresholds. Inside the network, averages over the whole board are added to the features of each
square; they are called the context.

If the light has not changed since an earlier picture, only windows around the squares that look different are
classified again, with the context of the earlier picture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import Image
from vision.net import MODELS_DIR, Net
from vision.recognition.colour_change import find_recoloured_squares
from vision.recognition.views import (
    TILE_KIND,
    VIEW_MARGIN_SQUARES,
    VIEW_PX_PER_SQUARE,
    ExposureRange,
    apply_exposure,
    measure_exposure,
    split_squares,
)

GIVEN_CONTEXT: Final = "given_context"
OWN_CONTEXT_SHARE: Final = "own_context_share"
"""Names of two inputs of the network, `GIVEN_CONTEXT` `(1, features, 1, 1)` and `OWN_CONTEXT_SHARE` `(1,)`.

The context is the average of features over the board. The network uses `OWN_CONTEXT_SHARE * own + GIVEN_CONTEXT`, where
`own` is the context of the picture itself (`vision.training.squares`).
"""
CONTEXT_FEATURES: Final = "context_features"
"""Key of the network's metadata for the number of features in the context, the averages over the whole board."""
_MIN_CLEAR_PROBABILITY: Final = 0.9
"""Minimum probability of a square's best class. A square below it is unclear: predictions for four rotations of the
square and its surroundings are averaged."""
_MIN_TILE_PROBABILITY: Final = 0.003
"""Minimum tile probability of a square; the letters of other squares are not read."""
_SQUARES_BEFORE, _SQUARES_AFTER = 3, 2
"""Number of squares around a square that influence its prediction, besides the averages over the whole board:
`_SQUARES_BEFORE` to the left and above, `_SQUARES_AFTER` to the right and below. The receptive field of an output
begins 44 px before its square and ends 30 px after it."""
_VIEW_SQUARES: Final = BOARD_SIZE + 2 * VIEW_MARGIN_SQUARES
_MAX_WINDOW_SHARE: Final = 0.6
"""Maximum area of all windows, as a share of the view. If they are larger, the whole view is classified."""


class Box(NamedTuple):
    """Rectangle of squares; `bottom` and `right` are exclusive."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def area(self) -> int:
        """Number of squares."""
        return (self.bottom - self.top) * (self.right - self.left)

    def unite(self, other: Box) -> Box:
        """Return the smallest box that contains both boxes."""
        top, left = min(self.top, other.top), min(self.left, other.left)
        return Box(top, left, max(self.bottom, other.bottom), max(self.right, other.right))

    def to_slices(self, scale: int = 1) -> tuple[slice, slice]:
        """Return the rows and columns of the box, multiplied by `scale`."""
        return slice(self.top * scale, self.bottom * scale), slice(self.left * scale, self.right * scale)


@dataclass(frozen=True, slots=True, eq=False)
class SquareKinds:
    """Predictions of the square network for a board, with the data needed to reuse them for the next picture."""

    kinds_p: NDArray[np.float32]
    """`(15, 15, 3)`: probabilities of empty, tile and hidden for each square."""
    view: Image
    """`(272, 272, 3) uint8 BGR`: rectified board; each square is from the picture in which it was classified."""
    context: NDArray[np.float32]
    """`(1, features, 1, 1)`: the context, averages of features over the board, from the last picture that was
    classified completely."""


class SquareNet:
    """Neural network that classifies the 225 squares of a board as empty, tile or hidden."""

    def __init__(self, path: Path = MODELS_DIR / "squares.onnx", load_net: Callable[[Path], Net] = Net) -> None:
        self._net = load_net(path)
        features = self._net.metadata[CONTEXT_FEATURES]
        assert isinstance(features, int)
        self._no_context = np.zeros((1, features, 1, 1), np.float32)

    def predict(self, view: Image, changed: NDArray[np.bool_] | None = None) -> SquareKinds:
        """Classify all squares of a rectified board.

        `view` is the image from `rectify_board`. For unclear squares, the log-probabilities for the board rotated by 0
        to 3 quarter turns are averaged. If `changed` `(15, 15)` is given, only unclear squares in this mask are
        averaged.
        """
        exposure = measure_exposure(view)
        kinds_p, context = self._predict_whole(apply_exposure(view, exposure))
        mask = np.ones(kinds_p.shape[:2], np.bool_) if changed is None else changed
        self._average_unclear(kinds_p, mask, view, exposure, context)
        return SquareKinds(kinds_p, view, context)

    def predict_changed(self, view: Image, before: SquareKinds, changed: NDArray[np.bool_]) -> SquareKinds:
        """Classify the squares that have changed since the predictions `before`; the others keep their predictions.

        `view` is the image from `rectify_board` at the same corners. Squares count as changed if they are marked in
        `changed` `(15, 15)` or have another colour. The whole board is classified if the light is too different, or if
        that takes less time because many squares have changed.
        """
        recoloured = find_recoloured_squares(before.view, view)
        if recoloured is None:
            return self.predict(view, changed)
        new = changed | recoloured
        boxes = _find_boxes(new)
        if sum(_add_margins(box).area for box in boxes) > _MAX_WINDOW_SHARE * _VIEW_SQUARES**2:
            return self.predict(view, new)
        kinds_p, kept_view = before.kinds_p.copy(), before.view.copy()
        exposure = measure_exposure(view)
        for box in boxes:
            part = box.to_slices()
            kinds_p[part][new[part]] = self._predict_box(view, box, 0, exposure, before.context)[new[part]]
        self._average_unclear(kinds_p, new, view, exposure, before.context)
        split_squares(kept_view)[new] = split_squares(view)[new]
        return SquareKinds(kinds_p, kept_view, before.context)

    def _average_unclear(
        self,
        kinds_p: NDArray[np.float32],
        mask: NDArray[np.bool_],
        view: Image,
        exposure: ExposureRange,
        context: NDArray[np.float32],
    ) -> None:
        """Average the predictions for the unclear squares in `mask` over four rotations, in place."""
        unclear = mask & (kinds_p.max(axis=2) < _MIN_CLEAR_PROBABILITY)
        for box in _find_boxes(unclear):
            part = box.to_slices()
            turned = (self._predict_box(view, box, k, exposure, context) for k in (1, 2, 3))
            kinds_p[part][unclear[part]] = _average_rotations([kinds_p[part], *turned])[unclear[part]]

    def predict_normalised(self, normalised: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probabilities `(15, 15, 3)` for an array `(3, 272, 272)` from `normalise_exposure`.

        Unlike `predict`, this does not average over rotations of the board.
        """
        return self._predict_whole(normalised)[0]

    def _predict_whole(self, normalised: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the probabilities `(15, 15, 3)` for a view `(3, 272, 272)`, and the context.

        The context consists of averages of features over the board.
        """
        own = {GIVEN_CONTEXT: self._no_context, OWN_CONTEXT_SHARE: np.ones(1, np.float32)}
        logits, context = self._net(np.ascontiguousarray(normalised)[None], **own)
        grid = slice(VIEW_MARGIN_SQUARES, -VIEW_MARGIN_SQUARES)
        return _softmax(logits[0, :, grid, grid]), context

    def _predict_box(
        self, view: Image, box: Box, quarter_turns: int, exposure: ExposureRange, context: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Classify the squares of a part of the board, in the view rotated anticlockwise by `quarter_turns`.

        Returns probabilities `(rows, columns, 3)` for the squares in the order of the unrotated board.
        """
        box = _rotate_box(box, quarter_turns)
        window = _add_margins(box)
        pixels = np.rot90(view, quarter_turns)[window.to_slices(VIEW_PX_PER_SQUARE)]
        normalised = apply_exposure(np.ascontiguousarray(pixels), exposure)
        given = {GIVEN_CONTEXT: context, OWN_CONTEXT_SHARE: np.zeros(1, np.float32)}
        logits, _ = self._net(normalised[None], **given)
        # Cut the box out of the window; the box is in squares of the board, the window in squares of the view.
        row_shift, column_shift = VIEW_MARGIN_SQUARES - window.top, VIEW_MARGIN_SQUARES - window.left
        rows = slice(box.top + row_shift, box.bottom + row_shift)
        columns = slice(box.left + column_shift, box.right + column_shift)
        return np.rot90(_softmax(logits[0, :, rows, columns]), -quarter_turns)


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Convert logits `(3, rows, columns)` to probabilities `(rows, columns, 3)`."""
    grid = logits.transpose(1, 2, 0)
    odds = np.exp(grid - grid.max(axis=2, keepdims=True))
    return np.asarray(odds / odds.sum(axis=2, keepdims=True), np.float32)


def _average_rotations(predictions: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Average probabilities, arrays `(rows, columns, 3)`, by the mean of their logarithms."""
    odds = np.exp(np.mean([np.log(kinds_p + 1e-7) for kinds_p in predictions], axis=0))
    return np.asarray(odds / odds.sum(axis=2, keepdims=True), np.float32)


def _find_boxes(changed: NDArray[np.bool_]) -> list[Box]:
    """Return boxes that contain all squares of the mask `changed` `(15, 15)`.

    A box is classified in a window with a margin. Two boxes become one if the window around both is not larger than the
    two windows together.
    """
    count, _, stats, _ = cv2.connectedComponentsWithStats(changed.astype(np.uint8), connectivity=8)
    boxes = [Box(int(y), int(x), int(y + h), int(x + w)) for x, y, w, h, _ in stats[1:count]]
    apart: list[Box] = []
    while boxes:
        box = boxes.pop()
        for other in apart:
            united = box.unite(other)
            if _add_margins(united).area <= _add_margins(box).area + _add_margins(other).area:
                apart.remove(other)
                boxes.append(united)
                break
        else:
            apart.append(box)
    return apart


def _add_margins(box: Box) -> Box:
    """Return the part of the view, in squares, that the predictions for a box of squares depend on."""
    before, after = VIEW_MARGIN_SQUARES - _SQUARES_BEFORE, VIEW_MARGIN_SQUARES + _SQUARES_AFTER
    bottom, right = min(_VIEW_SQUARES, box.bottom + after), min(_VIEW_SQUARES, box.right + after)
    return Box(max(0, box.top + before), max(0, box.left + before), bottom, right)


def _rotate_box(box: Box, quarter_turns: int) -> Box:
    """Return a box of squares after anticlockwise quarter turns of the board."""
    for _ in range(quarter_turns):
        box = Box(BOARD_SIZE - box.right, box.top, BOARD_SIZE - box.left, box.bottom)
    return box


def find_likely_tiles(kinds_p: NDArray[np.float32]) -> list[tuple[int, int]]:
    """Return (row, column) of the squares with a tile probability of at least 0.003, the most probable first.

    `kinds_p` `(15, 15, 3)` are the probabilities of `SquareKinds`.
    """
    tile_p = kinds_p[:, :, TILE_KIND].ravel()
    likely = np.flatnonzero(tile_p >= _MIN_TILE_PROBABILITY)
    order = np.argsort(-tile_p[likely], kind="stable")
    return [divmod(square, BOARD_SIZE) for square in likely[order].tolist()]
