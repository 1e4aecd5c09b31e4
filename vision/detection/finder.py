"""Run the finder network: propose outlines of boards in a picture, and say why there may be none.

The network takes a square picture with a border. It predicts a heat map of grid corners and a mask of cells on the
grid (`candidates`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.messages import make_message
from vision.detection.candidates import find_grid_patches, fit_quad_to_patch, intersection_over_union, propose_quads
from vision.detection.image_pyramid import ImagePyramid
from vision.detection.lighting import equalise_lighting, standardise_colours
from vision.detection.location import CUT_OFF_MESSAGES
from vision.geometry import Floats, Image
from vision.net import MODELS_DIR, Net

FINDER_SIDE_PX: Final = 256
"""Side of the finder network's square input, in pixels."""
_FINDER_CONTENT_PX: Final = 224
"""Length of the picture's longer side in the finder's input, in pixels; the rest of the input is a border."""
_FINDER_CELL_PX: Final = 4
_NO_BOARD_MESSAGE: Final = make_message("board-none", "Make sure that the whole board is in the picture.")
_UNCLEAR_GRID_MESSAGE: Final = make_message(
    "board-unclear", "The squares of the board are hard to see. Check the light and the focus."
)


@dataclass(frozen=True, slots=True)
class FinderConfig:
    """Thresholds of `Finder`."""

    min_grid_confidence: float = 0.84
    """Minimum mean grid probability of a region of cells that is reported as an unclear or partial board."""
    min_corner_confidence: float = 0.43
    """Minimum probability of the most probable corner; below it, no unclear or partial board is reported."""
    min_quad_iou: float = 0.78
    """Minimum intersection over union of a region of cells and the quad fitted to the region; below it, the region is
    not reported as an unclear or partial board."""
    closeup_half_side_ratio: float = 0.75
    """Half the side of the close-up crop, as a multiple of the longer side of the region of grid cells."""
    max_closeup_share: float = 0.8
    """Maximum side of the close-up crop as a share of the picture's longer side; a larger crop would add no detail."""


_CONFIG: Final = FinderConfig()

Box = tuple[int, int, int, int]
"""Left, top, right and bottom of a rectangle in a picture, in pixels; right and bottom are exclusive."""


@dataclass(frozen=True, slots=True, eq=False)
class FinderResult:
    """Result of `Finder`.

    `quads` are candidates `(4, 2)` in px of the picture, the best first. `closeup` is the part of
    the picture to search if no quad leads to a good grid; None if a close-up would not help. `failure_message` is the
    error message if no board is found at all.
    """

    quads: list[Floats]
    closeup: Box | None
    failure_message: str


@dataclass(frozen=True, slots=True, eq=False)
class _FinderFrame:
    """The square input of the finder network: a part of the picture, scaled and centred, with a border.

    `box` is the part of the picture. `size` `(2,)` and `start` `(2,)` are the width and height of the scaled part, and
    its left top corner in the input, in px of the input.
    """

    box: Box
    size: NDArray[np.int64]
    start: NDArray[np.int64]

    @classmethod
    def around(cls, box: Box) -> _FinderFrame:
        """Return the frame in which the longer side of the part `box` has `_FINDER_CONTENT_PX` pixels."""
        box_size = np.array(box[2:]) - box[:2]
        size = np.array([max(1, round(side * (_FINDER_CONTENT_PX / box_size.max()))) for side in box_size.tolist()])
        return cls(box, size, (FINDER_SIDE_PX - size) // 2)

    def make_input(self, pyramid: ImagePyramid, *, is_equalised: bool) -> NDArray[np.float32]:
        """Return the network's input `(3, n, n)`, made from the picture in `pyramid`."""
        image, to_level = pyramid.find_level((np.array(self.box[2:]) - self.box[:2]).max() / _FINDER_CONTENT_PX)
        scale = to_level.diagonal()[:2]
        left, top, right, bottom = np.round(np.array([*scale, *scale]) * self.box).astype(int).tolist()
        (x, y), (width, height) = self.start.tolist(), self.size.tolist()
        content = (slice(y, y + height), slice(x, x + width))
        canvas = np.zeros((FINDER_SIDE_PX, FINDER_SIDE_PX, 3), np.uint8)
        inside = np.zeros((FINDER_SIDE_PX, FINDER_SIDE_PX), np.uint8)
        part = np.asarray(
            cv2.resize(image[top:bottom, left:right], (width, height), interpolation=cv2.INTER_AREA), np.uint8
        )
        canvas[content] = equalise_lighting(part) if is_equalised else part
        inside[content] = 1
        return standardise_colours(canvas, inside)

    def to_picture(self, points: Floats) -> Floats:
        """Convert `points` `(n, 2)` from cells of the network's output to px of the picture."""
        box_start, box_size = np.array(self.box[:2]), np.array(self.box[2:]) - self.box[:2]
        in_content = (points + 0.5) * _FINDER_CELL_PX - self.start
        return np.asarray(in_content * (box_size / self.size) - 0.5 + box_start, np.float64)

    def find_side_reached(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> int | None:
        """Return the side of the part that a region from cell `low` to cell `high` reaches most, None if none.

        The sides are numbered left, top, right, bottom. Cells are (x, y).
        """
        first = self.start / _FINDER_CELL_PX
        last = (self.start + self.size) / _FINDER_CELL_PX - 1
        beyond = np.concatenate([first + 0.5 - low, high - last + 0.5])
        return int(beyond.argmax()) if (beyond > 0).any() else None


class Finder:
    """Detector of board outlines that uses the network `finder.onnx`."""

    def __init__(self) -> None:
        self._net = Net(MODELS_DIR / "finder.onnx")

    def propose(self, pyramid: ImagePyramid, box: Box, *, is_equalised: bool) -> FinderResult:
        """Run the network on the part `box` of the picture in `pyramid`, with equalised lighting or not.

        The result has the outlines of boards that were found (`quads`, in px of the picture). If the network sees the
        grid of a board, it also has the corners for a close-up of the largest patch of grid. A message says what is
        wrong if no whole board is in view.
        """
        frame = _FinderFrame.around(box)
        inputs = frame.make_input(pyramid, is_equalised=is_equalised)
        cells = self._net(inputs[None])[0][0]  # the last channel is the mask of the grid
        quads = [frame.to_picture(quad) for quad in propose_quads(cells)]
        patches = find_grid_patches(cells[-1])
        if not patches:
            return FinderResult(quads, None, _NO_BOARD_MESSAGE)
        # Find the bounding box of the largest patch of the grid mask, in cells.
        ys, xs = np.nonzero(patches[0])
        low, high = np.array([xs.min(), ys.min()]), np.array([xs.max(), ys.max()])
        message = _NO_BOARD_MESSAGE
        if _is_board_like(cells, patches[0]):
            side = frame.find_side_reached(low, high)
            message = _UNCLEAR_GRID_MESSAGE if side is None else CUT_OFF_MESSAGES[side]
        # The box reaches to the edges of its cells, which are half a cell from their centres.
        bounds = frame.to_picture(np.stack([low - 0.5, high + 0.5]).astype(np.float64))
        return FinderResult(quads, _find_closeup(bounds, pyramid.width, pyramid.height), message)


def _is_board_like(cells: NDArray[np.float32], patch: Image) -> bool:
    """Return True if `patch`, a region of grid cells, is probably a board: it has high probabilities and four sides."""
    corner_logits, _, _, grid_logits = cells
    grid_p = float((1 / (1 + np.exp(-grid_logits[patch > 0]))).mean())
    best_corner_p = float(1 / (1 + np.exp(-corner_logits.max())))
    return (
        grid_p > _CONFIG.min_grid_confidence
        and best_corner_p > _CONFIG.min_corner_confidence
        and intersection_over_union(fit_quad_to_patch(patch), patch) > _CONFIG.min_quad_iou
    )


def _find_closeup(bounds: Floats, width: int, height: int) -> Box | None:
    """Return the close-up crop around the bounding box `bounds` `(2, 2)` px; None if the crop is too large or small."""
    middle, half = bounds.mean(axis=0), np.ptp(bounds, axis=0).max() * _CONFIG.closeup_half_side_ratio
    low = np.clip(np.floor(middle - half), 0, [width, height]).astype(int)
    high = np.clip(np.ceil(middle + half), 0, [width, height]).astype(int)
    if (high - low).max() > _CONFIG.max_closeup_share * max(width, height) or (high - low).min() < FINDER_SIDE_PX // 8:
        return None
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])
