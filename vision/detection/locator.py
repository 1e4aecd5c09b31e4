"""Find the board in a picture: a coarse look, a fine fit, and the layout as the judge.

1. A small network on the whole picture, 256 pixels a side, says where corners of a playing grid and the grid are.
2. Another looks at the board rectified by these corners and says where the corners of squares are; a homography is
   fitted to them all, again and again until it stays.
3. The colours of the 225 squares must agree with the standard layout; of several possible grids the best wins.
4. Where nothing is found, or the colours say little, the same once more with the light of all places made alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.messages import said
from vision.detection.candidates import find_grid_patches, fit_quad_to_patch, intersection_over_union, propose_quads
from vision.detection.lattice import fit_lattice, refit_lattice
from vision.detection.layout_check import find_uncovered_squares, fit_layout_shifts, measure_lab_colours
from vision.detection.location import BoardLocation, BoardNotFoundError, LocationSource
from vision.geometry import Floats, Image, grid_corners, homography, project, rectify, square_side
from vision.net import Net
from vision.quad import is_convex, order_corners

MODELS_DIR: Final = Path(__file__).parents[1] / "models"
FINDER_SIDE_PX: Final = 256
"""Pixels a side of the picture that the finder sees; the photograph takes the middle 224."""
_FINDER_CONTENT_PX: Final = 224
_FINDER_CELL_PX: Final = 4

LATTICE_PX_PER_SQUARE: Final = 16
LATTICE_MARGIN_SQUARES: Final = 2.5
LATTICE_SIDE_PX: Final = 320
"""16 pixels a square and 2.5 squares around the grid: cells of 16 pixels then have the corners in their middles."""

_GOOD_LAYOUT_AGREEMENT: Final = 0.34
"""Explained share of the layout's colours from which a grid is taken without looking further."""
_MIN_LAYOUT_AGREEMENT: Final = 0.3
"""Below this it is no board."""
_MAX_FIT_PASSES: Final = 6
_CONVERGED_SHIFT_SQUARES: Final = 0.1
"""Corners that moved by less than this, in squares, between two looks need no more."""
_MIN_SEEN_SHARE: Final = 0.2
_FULL_SEEN_SHARE: Final = 0.7
"""Share of the grid's corners of squares seen in their places: below the first it is no grid, above the second all
that can be asked for under tiles and hands."""
_START_OFFSETS_SQUARES: Final = ((0.0, 0.0), (0.5, 0.5), (0.5, 0.0), (0.0, 0.5))
"""Halfway between two corners of squares the nearest is either: then the look begins half a square further on."""
_CLEAR_SEEN_SHARE: Final = 0.9
_MIN_ROOM_SQUARES: Final = 0.3
"""A grid of which so much is seen is one whatever its colours, if there are so many squares of room around it: half a
board, stretched to a whole one, ends where the picture does."""
_MAX_SIDE_RATIO: Final = 1.65
"""Seen from 50 degrees off, a board is about so much longer one way than the other."""
_COVERED_CORNER_WEIGHT: Final = 0.003
_HALVING_SLACK: Final = 0.1
_MIN_GRID_CONFIDENCE: Final = 0.84
_MIN_CORNER_CONFIDENCE: Final = 0.43
_MIN_QUAD_IOU: Final = 0.78
_NO_BOARD_MESSAGE: Final = said("board-none", "no board in the picture")
_PARTIAL_BOARD_MESSAGE: Final = said("board-part", "only part of the board is in the picture: move the camera back")
_UNCLEAR_GRID_MESSAGE: Final = said(
    "board-unclear", "something like a board is in the picture, but its grid cannot be made out"
)
_CLOSEUP_HALF_SIDE_RATIO: Final = 0.75
_MAX_CLOSEUP_SHARE: Final = 0.8
"""A closer look takes in so much around what looks like a grid, and is worth it below this share of the picture."""
_MAX_SHIFT_SQUARES: Final = 2
LAYOUT_PX_PER_SQUARE: Final = 12
_LIGHT_MAP_SIDE_PX: Final = 64
_LIGHT_BLUR_SHARE: Final = 0.1
"""How far the light of a place is averaged, as a share of the picture: more than a square, less than a board."""
_MIDDLE_GREY: Final = 110.0


def standardise_colours(picture: Image, inside: Image | None = None) -> NDArray[np.float32]:
    """(H, W, 3) uint8 to (3, H, W) float32 without the light's strength and colour; 0 where `inside` is 0."""
    mean, deviation = cv2.meanStdDev(picture, mask=inside)
    spread = max(float(np.sqrt((deviation**2).mean())), 4.0)
    planes = cv2.dnn.blobFromImage(picture, 1 / spread, mean=mean.ravel().tolist())[0]
    return np.asarray(planes if inside is None else planes * inside, np.float32)


def equalise_lighting(picture: Image) -> Image:
    """(H, W, 3) uint8 with the light of each place made middling: half a board in shadow is still one board."""
    height, width = picture.shape[:2]
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    small = cv2.resize(grey, (_LIGHT_MAP_SIDE_PX, _LIGHT_MAP_SIDE_PX), interpolation=cv2.INTER_AREA).astype(np.float32)
    light = np.maximum(cv2.GaussianBlur(small, (0, 0), _LIGHT_BLUR_SHARE * _LIGHT_MAP_SIDE_PX), 1.0)
    gain = cv2.resize(_MIDDLE_GREY / light, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(np.clip(picture * gain[:, :, None], 0, 255), np.uint8)


Box = tuple[int, int, int, int]
"""Left, top, right and bottom pixel of a part of a picture, the last two beyond it."""


_ScoredGrid = tuple[float, Floats]
"""How good a grid is, as the share of colours that the layout explains, and its corners in the picture."""


@dataclass(frozen=True, slots=True, eq=False)
class _FinderResult:
    """What the finder sees: possible quads, where to look closer, and what to say if none of them is a board."""

    quads: list[Floats]
    closeup: Box | None
    failure_message: str


@dataclass(frozen=True, slots=True, eq=False)
class _GridFit:
    """A grid fitted in one look: its corners in the picture, the share of its corners of squares that were seen, how
    far it lay from where it was believed (squares), what the network said, and where its cells lie in the picture."""

    corners: Floats
    seen_share: float
    shift_squares: float
    cells: NDArray[np.float32]
    cells_to_picture: Floats

    def refit_without_tiles(self, corners: Floats, bare: NDArray[np.bool_]) -> Floats:
        """The grid at `corners` fitted again by the corners of squares that the board itself shows.

        `bare` (15, 15) tells where no tile lies. Tile tops stand behind their squares seen from the side.
        """
        around = np.pad(bare, 1, constant_values=True).astype(np.float64)
        trust = (around[:-1, :-1] + around[1:, :-1] + around[:-1, 1:] + around[1:, 1:]) / 4
        to_cells = np.linalg.inv(self.cells_to_picture) @ homography(corners)
        refit = refit_lattice(self.cells, to_cells, trust**4 + _COVERED_CORNER_WEIGHT)
        return corners if refit is None else project(self.cells_to_picture @ refit, grid_corners())


class _Pyramid:
    """A picture and its halves, made when asked for: halving is several times cheaper than any other shrinking."""

    def __init__(self, image: Image) -> None:
        self.height, self.width = image.shape[:2]
        self._levels = [image]

    def level(self, finer: float) -> tuple[Image, Floats]:
        """The picture halved while it is more than twice too fine, and its size as a share (2,) of the whole's."""
        halvings = max(0, math.floor(math.log2(max(finer, 1.0)) - _HALVING_SLACK))
        while len(self._levels) <= halvings:
            last = self._levels[-1]
            size = (max(1, last.shape[1] // 2), max(1, last.shape[0] // 2))
            self._levels.append(np.asarray(cv2.resize(last, size, interpolation=cv2.INTER_AREA), np.uint8))
        level = self._levels[halvings]
        return level, np.array([level.shape[1] / self.width, level.shape[0] / self.height])


class BoardLocator:
    """Finds boards. `models` is the folder with `finder.onnx` and `lattice.onnx`."""

    def __init__(self, models: Path = MODELS_DIR, load_net: Callable[[Path], Net] = Net) -> None:
        self._finder = load_net(models / "finder.onnx")
        self._lattice = load_net(models / "lattice.onnx")

    def locate(self, image: Image) -> BoardLocation:
        """Find the board in an (H, W, 3) uint8 BGR picture. Raises BoardNotFound with a message for a person."""
        found, doubt = self._find_best_grid(image)
        if found is None or found[0] < _GOOD_LAYOUT_AGREEMENT:
            again, _ = self._find_best_grid(equalise_lighting(image))
            found = _choose_better_grid(found, again)
        if found is None:
            raise BoardNotFoundError(doubt)
        agreement, corners = found
        return BoardLocation(order_corners(corners), _confidence_from_agreement(agreement))

    def _find_best_grid(self, image: Image) -> tuple[_ScoredGrid | None, str]:
        """The best grid in a picture and how good it is, or None and what to say then."""
        height, width = image.shape[:2]
        picture = _Pyramid(image)
        look = self._run_finder(picture, (0, 0, width, height))
        best = self._fit_best_quad(picture, look.quads)
        closer = look.closeup
        if (best is None or best[0] < _GOOD_LAYOUT_AGREEMENT) and closer is not None:
            again = self._fit_best_quad(picture, self._run_finder(picture, closer).quads)
            best = _choose_better_grid(best, again)
        if best is None or best[0] < _MIN_LAYOUT_AGREEMENT:
            return None, look.failure_message
        if _measure_overhang(best[1], width, height) > 1:
            return None, _PARTIAL_BOARD_MESSAGE
        return best, look.failure_message

    def follow(self, image: Image, corners: Floats) -> BoardLocation:
        """The same board as in an earlier picture, where it had these `corners`, after a small push at most.

        Much cheaper than `locate`, and the corners keep their order, so that which way is up stays known. Raises
        BoardNotFound when the board is no longer about there: more than a square off, covered, or gone.
        """
        found = self._fit_grid(_Pyramid(image), corners)
        if found is None or found[0] < _MIN_LAYOUT_AGREEMENT:
            raise BoardNotFoundError(said("board-moved", "the board is not where it was"))
        return BoardLocation(found[1], _confidence_from_agreement(found[0]), LocationSource.FOLLOWED)

    def _fit_best_quad(self, picture: _Pyramid, quads: list[Floats]) -> _ScoredGrid | None:
        """The likeliest quads tried in turn until one agrees with the layout; else the best of them."""
        best: _ScoredGrid | None = None
        for quad in quads:
            best = _choose_better_grid(best, self._fit_grid(picture, quad))
            if best is not None and best[0] > _GOOD_LAYOUT_AGREEMENT:
                break
        return best

    def _fit_grid(self, pyramid: _Pyramid, quad: Floats) -> _ScoredGrid | None:
        """Fit the grid near `quad`: how good a grid it is, and its corners; None if no grid is there."""
        picture, scale = pyramid.level(square_side(quad) / LATTICE_PX_PER_SQUARE)
        settled = self._fit_until_stable(picture, (quad + 0.5) * scale - 0.5)
        if settled is None:
            return None
        corners = settled.corners
        colours = _measure_square_colours(picture, corners, 0)
        agreement = fit_layout_shifts(colours, 0)[0].explained_share
        if agreement < _GOOD_LAYOUT_AGREEMENT:  # the right lattice, perhaps, but counted from another square
            best = fit_layout_shifts(_measure_square_colours(picture, corners, _MAX_SHIFT_SQUARES), _MAX_SHIFT_SQUARES)[
                0
            ]
            if best.explained_share > _MIN_LAYOUT_AGREEMENT:
                agreement = best.explained_share
                corners = project(homography(corners), grid_corners() + best.shift)
                colours = _measure_square_colours(picture, corners, 0)
        if agreement > _MIN_LAYOUT_AGREEMENT:
            corners = settled.refit_without_tiles(corners, find_uncovered_squares(colours))
        corners = (corners + 0.5) / scale - 0.5
        # A lattice that skips a row can still lie under most of the premium squares, but not under the lines.
        worth = agreement * min(1.0, settled.seen_share / _FULL_SEEN_SHARE)
        room = -_measure_overhang(corners, pyramid.width, pyramid.height)
        if (
            settled.seen_share > _CLEAR_SEEN_SHARE
            and room > _MIN_ROOM_SQUARES
            and _compute_side_ratio(corners) < _MAX_SIDE_RATIO
        ):
            worth = max(
                worth, _MIN_LAYOUT_AGREEMENT
            )  # colours that tell little: tiles everywhere, odd light, a pale print
        return worth, corners

    def _fit_until_stable(self, picture: Image, corners: Floats) -> _GridFit | None:
        """Look and fit again until the corners stay where they are; None where they do not make a grid."""
        for nudge in _START_OFFSETS_SQUARES:
            fitted = self._fit_once(picture, project(homography(corners), grid_corners() + nudge))
            if fitted is not None:
                break
        for _ in range(_MAX_FIT_PASSES - 1):
            if fitted is None or fitted.shift_squares < _CONVERGED_SHIFT_SQUARES:
                break
            fitted = self._fit_once(picture, fitted.corners)
        return fitted

    def _fit_once(self, picture: Image, corners: Floats) -> _GridFit | None:
        """One look at the board rectified by `corners`, and the grid seen there."""
        flat = rectify(picture, homography(corners), LATTICE_PX_PER_SQUARE, LATTICE_MARGIN_SQUARES)
        cells = self._lattice(standardise_colours(flat)[None])[0][0]
        fit = fit_lattice(cells, LATTICE_MARGIN_SQUARES)
        if fit is None or fit.seen_share < _MIN_SEEN_SHARE:
            return None
        from_cells = homography(corners) @ _cells_to_board()
        fitted = project(from_cells @ fit.to_cells, grid_corners())
        if not np.isfinite(fitted).all() or not is_convex(fitted):
            return None
        moved = float(np.abs(fitted - corners).max()) / square_side(fitted)
        return _GridFit(fitted, fit.seen_share, moved, cells, from_cells)

    def _run_finder(self, picture: _Pyramid, box: Box) -> _FinderResult:
        """What the finder sees in a part of the picture."""
        x0, y0, x1, y1 = box
        image, scale = picture.level(max(x1 - x0, y1 - y0) / _FINDER_CONTENT_PX)
        a0, b0, a1, b1 = np.round(np.array([*scale, *scale]) * box).astype(int).tolist()
        width, height = x1 - x0, y1 - y0
        k = _FINDER_CONTENT_PX / max(height, width)
        w, h = max(1, round(width * k)), max(1, round(height * k))
        left, top = (FINDER_SIDE_PX - w) // 2, (FINDER_SIDE_PX - h) // 2
        canvas = np.zeros((FINDER_SIDE_PX, FINDER_SIDE_PX, 3), np.uint8)
        inside = np.zeros((FINDER_SIDE_PX, FINDER_SIDE_PX), np.uint8)
        canvas[top : top + h, left : left + w] = cv2.resize(image[b0:b1, a0:a1], (w, h), interpolation=cv2.INTER_AREA)
        inside[top : top + h, left : left + w] = 1
        cells = self._finder(standardise_colours(canvas, inside)[None])[0][0]

        def to_picture(points: Floats) -> Floats:
            return ((points + 0.5) * _FINDER_CELL_PX - [left, top]) * [width / w, height / h] - 0.5 + [x0, y0]

        quads = [to_picture(quad) for quad in propose_quads(cells)]
        on_grid = find_grid_patches(cells[3])
        if not on_grid:
            return _FinderResult(quads, None, _NO_BOARD_MESSAGE)
        ys, xs = np.nonzero(on_grid[0])
        low, high = np.array([xs.min(), ys.min()]), np.array([xs.max(), ys.max()])
        doubt = _NO_BOARD_MESSAGE
        if _is_board_like(cells, on_grid[0]):
            first, last = np.array([left, top]) / _FINDER_CELL_PX, np.array([left + w, top + h]) / _FINDER_CELL_PX - 1
            doubt = (
                _PARTIAL_BOARD_MESSAGE
                if (low < first + 0.5).any() or (high > last - 0.5).any()
                else _UNCLEAR_GRID_MESSAGE
            )
        spread = to_picture(np.stack([low - 0.5, high + 0.5]).astype(np.float64))
        return _FinderResult(quads, _find_closeup(spread, picture.width, picture.height), doubt)


def _choose_better_grid(one: _ScoredGrid | None, other: _ScoredGrid | None) -> _ScoredGrid | None:
    """The better of two grids, the first of two equals; None only where there is neither."""
    return max((grid for grid in (one, other) if grid is not None), key=lambda grid: grid[0], default=None)


def _is_board_like(cells: NDArray[np.float32], patch: Image) -> bool:
    """Whether a patch of grid is as sure, as four-sided and as sharp at a corner as boards and parts of boards are."""
    sure = float((1 / (1 + np.exp(-cells[3][patch > 0]))).mean())
    peak = float(1 / (1 + np.exp(-cells[0].max())))
    return (
        sure > _MIN_GRID_CONFIDENCE
        and peak > _MIN_CORNER_CONFIDENCE
        and intersection_over_union(fit_quad_to_patch(patch), patch) > _MIN_QUAD_IOU
    )


def _find_closeup(spread: Floats, width: int, height: int) -> Box | None:
    """The part of the picture worth a closer look at what spreads from one point to another (2, 2); None if all."""
    middle, half = spread.mean(axis=0), np.ptp(spread, axis=0).max() * _CLOSEUP_HALF_SIDE_RATIO
    low = np.clip(np.floor(middle - half), 0, [width, height]).astype(int)
    high = np.clip(np.ceil(middle + half), 0, [width, height]).astype(int)
    if (high - low).max() > _MAX_CLOSEUP_SHARE * max(width, height) or (high - low).min() < FINDER_SIDE_PX // 8:
        return None
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def _measure_overhang(corners: Floats, width: int, height: int) -> float:
    """How far, in squares, the farthest corner lies beyond the edge of a picture; negative when all are inside."""
    beyond = np.maximum(-0.5 - corners, corners - [width - 0.5, height - 0.5])
    return float(beyond.max()) / square_side(corners)


def _compute_side_ratio(corners: Floats) -> float:
    """The longer pair of opposite sides over the shorter."""
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
    one, other = float(sides[0] + sides[2]), float(sides[1] + sides[3])
    return max(one, other) / min(one, other)


def _confidence_from_agreement(agreement: float) -> float:
    """From the share of the colours that the layout explains: 0.1 is chance, and most true grids have 0.45 or more."""
    return float(np.clip((agreement - 0.1) / 0.35, 0.0, 1.0))


def _measure_square_colours(picture: Image, corners: Floats, around: int) -> Floats:
    """The colours of the squares of a grid and of so many around it."""
    return measure_lab_colours(
        rectify(picture, homography(corners), LAYOUT_PX_PER_SQUARE, around), LAYOUT_PX_PER_SQUARE
    )


def _cells_to_board() -> Floats:
    """Cells of the rectified picture to board coordinates as believed."""
    offset = 0.5 - LATTICE_MARGIN_SQUARES
    return np.array([[1.0, 0, offset], [0, 1.0, offset], [0, 0, 1.0]])
