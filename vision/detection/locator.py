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
from vision.detection.candidates import four_sided, overlap, patches, quads_in
from vision.detection.lattice import fit_lattice, refit_lattice
from vision.detection.layout_check import bare_squares, layout_fit, square_colours
from vision.detection.location import BoardNotFound, Location
from vision.geometry import Floats, Image, grid_corners, homography, project, rectify, square_side
from vision.net import Net
from vision.quad import is_convex, order_corners

MODELS: Final = Path(__file__).parents[1] / "models"
FINDER_SIDE: Final = 256
"""Pixels a side of the picture that the finder sees; the photograph takes the middle 224."""
_FINDER_INNER: Final = 224
_FINDER_CELL: Final = 4

LATTICE_PIXELS: Final = 16
LATTICE_MARGIN: Final = 2.5
LATTICE_SIDE: Final = 320
"""16 pixels a square and 2.5 squares around the grid: cells of 16 pixels then have the corners in their middles."""

_AGREES: Final = 0.34
"""Explained share of the layout's colours from which a grid is taken without looking further."""
_DIFFERS: Final = 0.3
"""Below this it is no board."""
_PASSES: Final = 6
_SETTLED: Final = 0.1
"""Corners that moved by less than this, in squares, between two looks need no more."""
_SEEN: Final = 0.2
_WELL_SEEN: Final = 0.7
"""Share of the grid's corners of squares seen in their places: below the first it is no grid, above the second all
that can be asked for under tiles and hands."""
_NUDGES: Final = ((0.0, 0.0), (0.5, 0.5), (0.5, 0.0), (0.0, 0.5))
"""Halfway between two corners of squares the nearest is either: then the look begins half a square further on."""
_PLAIN_TO_SEE: Final = 0.9
_ROOM: Final = 0.3
"""A grid of which so much is seen is one whatever its colours, if there are so many squares of room around it: half a
board, stretched to a whole one, ends where the picture does."""
_LONGEST: Final = 1.65
"""Seen from 50 degrees off, a board is about so much longer one way than the other."""
_TRUST_IN_TILES: Final = 0.003
_SPARE: Final = 0.1
_LIKE_SURE: Final = 0.84
_LIKE_PEAK: Final = 0.43
_LIKE_QUAD: Final = 0.78
_NOTHING: Final = said("board-none", "no board in the picture")
_PART: Final = said("board-part", "only part of the board is in the picture: move the camera back")
_UNCLEAR: Final = said("board-unclear", "something like a board is in the picture, but its grid cannot be made out")
_AROUND: Final = 0.75
_CLOSER: Final = 0.8
"""A closer look takes in so much around what looks like a grid, and is worth it below this share of the picture."""
_FARTHEST: Final = 2
LAYOUT_PIXELS: Final = 12
_LIGHT_SIDE: Final = 64
_LIGHT_REACH: Final = 0.1
"""How far the light of a place is averaged, as a share of the picture: more than a square, less than a board."""
_MIDDLE_GREY: Final = 110.0


def standardised(picture: Image, inside: Image | None = None) -> NDArray[np.float32]:
    """(H, W, 3) uint8 to (3, H, W) float32 without the light's strength and colour; 0 where `inside` is 0."""
    mean, deviation = cv2.meanStdDev(picture, mask=inside)
    spread = max(float(np.sqrt((deviation**2).mean())), 4.0)
    planes = cv2.dnn.blobFromImage(picture, 1 / spread, mean=mean.ravel().tolist())[0]
    return np.asarray(planes if inside is None else planes * inside, np.float32)


def evenly_lit(picture: Image) -> Image:
    """(H, W, 3) uint8 with the light of each place made middling: half a board in shadow is still one board."""
    height, width = picture.shape[:2]
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    small = cv2.resize(grey, (_LIGHT_SIDE, _LIGHT_SIDE), interpolation=cv2.INTER_AREA).astype(np.float32)
    light = np.maximum(cv2.GaussianBlur(small, (0, 0), _LIGHT_REACH * _LIGHT_SIDE), 1.0)
    gain = cv2.resize(_MIDDLE_GREY / light, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(np.clip(picture * gain[:, :, None], 0, 255), np.uint8)


Box = tuple[int, int, int, int]
"""Left, top, right and bottom pixel of a part of a picture, the last two beyond it."""


_Grid = tuple[float, Floats]
"""How good a grid is, as the share of colours that the layout explains, and its corners in the picture."""


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """What the finder sees: possible quads, where to look closer, and what to say if none of them is a board."""

    quads: list[Floats]
    closer: Box | None
    doubt: str


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """A grid fitted in one look: its corners in the picture, the share of its corners of squares that were seen, how
    far it lay from where it was believed (squares), what the network said, and where its cells lie in the picture."""

    corners: Floats
    seen: float
    moved: float
    cells: NDArray[np.float32]
    from_cells: Floats

    def without_tiles(self, corners: Floats, bare: NDArray[np.bool_]) -> Floats:
        """The grid at `corners` fitted again by the corners of squares that the board itself shows.

        `bare` (15, 15) tells where no tile lies. Tile tops stand behind their squares seen from the side.
        """
        around = np.pad(bare, 1, constant_values=True).astype(np.float64)
        trust = (around[:-1, :-1] + around[1:, :-1] + around[:-1, 1:] + around[1:, 1:]) / 4
        to_cells = np.linalg.inv(self.from_cells) @ homography(corners)
        refit = refit_lattice(self.cells, to_cells, trust**4 + _TRUST_IN_TILES)
        return corners if refit is None else project(self.from_cells @ refit, grid_corners())


class _Pyramid:
    """A picture and its halves, made when asked for: halving is several times cheaper than any other shrinking."""

    def __init__(self, image: Image) -> None:
        self.height, self.width = image.shape[:2]
        self._levels = [image]

    def level(self, finer: float) -> tuple[Image, Floats]:
        """The picture halved while it is more than twice too fine, and its size as a share (2,) of the whole's."""
        halvings = max(0, math.floor(math.log2(max(finer, 1.0)) - _SPARE))
        while len(self._levels) <= halvings:
            last = self._levels[-1]
            size = (max(1, last.shape[1] // 2), max(1, last.shape[0] // 2))
            self._levels.append(np.asarray(cv2.resize(last, size, interpolation=cv2.INTER_AREA), np.uint8))
        level = self._levels[halvings]
        return level, np.array([level.shape[1] / self.width, level.shape[0] / self.height])


class BoardLocator:
    """Finds boards. `models` is the folder with `finder.onnx` and `lattice.onnx`."""

    def __init__(self, models: Path = MODELS, net: Callable[[Path], Net] = Net) -> None:
        self._finder = net(models / "finder.onnx")
        self._lattice = net(models / "lattice.onnx")

    def locate(self, image: Image) -> Location:
        """Find the board in an (H, W, 3) uint8 BGR picture. Raises BoardNotFound with a message for a person."""
        found, doubt = self._found(image)
        if found is None or found[0] < _AGREES:
            again, _ = self._found(evenly_lit(image))
            found = _better(found, again)
        if found is None:
            raise BoardNotFound(doubt)
        agreement, corners = found
        return Location(order_corners(corners), _confidence(agreement))

    def _found(self, image: Image) -> tuple[_Grid | None, str]:
        """The best grid in a picture and how good it is, or None and what to say then."""
        height, width = image.shape[:2]
        picture = _Pyramid(image)
        look = self._look(picture, (0, 0, width, height))
        best = self._best_fit(picture, look.quads)
        closer = look.closer
        if (best is None or best[0] < _AGREES) and closer is not None:
            again = self._best_fit(picture, self._look(picture, closer).quads)
            best = _better(best, again)
        if best is None or best[0] < _DIFFERS:
            return None, look.doubt
        if _beyond(best[1], width, height) > 1:
            return None, _PART
        return best, look.doubt

    def follow(self, image: Image, corners: Floats) -> Location:
        """The same board as in an earlier picture, where it had these `corners`, after a small push at most.

        Much cheaper than `locate`, and the corners keep their order, so that which way is up stays known. Raises
        BoardNotFound when the board is no longer about there: more than a square off, covered, or gone.
        """
        found = self._refined(_Pyramid(image), corners)
        if found is None or found[0] < _DIFFERS:
            raise BoardNotFound(said("board-moved", "the board is not where it was"))
        return Location(found[1], _confidence(found[0]))

    def _best_fit(self, picture: _Pyramid, quads: list[Floats]) -> _Grid | None:
        """The likeliest quads tried in turn until one agrees with the layout; else the best of them."""
        best: _Grid | None = None
        for quad in quads:
            best = _better(best, self._refined(picture, quad))
            if best is not None and best[0] > _AGREES:
                break
        return best

    def _refined(self, pyramid: _Pyramid, quad: Floats) -> _Grid | None:
        """Fit the grid near `quad`: how good a grid it is, and its corners; None if no grid is there."""
        picture, scale = pyramid.level(square_side(quad) / LATTICE_PIXELS)
        settled = self._settled(picture, (quad + 0.5) * scale - 0.5)
        if settled is None:
            return None
        corners = settled.corners
        colours = _colours(picture, corners, 0)
        agreement = layout_fit(colours, 0)[0].explained
        if agreement < _AGREES:  # the right lattice, perhaps, but counted from another square
            best = layout_fit(_colours(picture, corners, _FARTHEST), _FARTHEST)[0]
            if best.explained > _DIFFERS:
                agreement = best.explained
                corners = project(homography(corners), grid_corners() + best.shift)
                colours = _colours(picture, corners, 0)
        if agreement > _DIFFERS:
            corners = settled.without_tiles(corners, bare_squares(colours))
        corners = (corners + 0.5) / scale - 0.5
        # A lattice that skips a row can still lie under most of the premium squares, but not under the lines.
        worth = agreement * min(1.0, settled.seen / _WELL_SEEN)
        room = -_beyond(corners, pyramid.width, pyramid.height)
        if settled.seen > _PLAIN_TO_SEE and room > _ROOM and _longer(corners) < _LONGEST:
            worth = max(worth, _DIFFERS)  # colours that tell little: tiles everywhere, odd light, a pale print
        return worth, corners

    def _settled(self, picture: Image, corners: Floats) -> _Fitted | None:
        """Look and fit again until the corners stay where they are; None where they do not make a grid."""
        for nudge in _NUDGES:
            fitted = self._fitted(picture, project(homography(corners), grid_corners() + nudge))
            if fitted is not None:
                break
        for _ in range(_PASSES - 1):
            if fitted is None or fitted.moved < _SETTLED:
                break
            fitted = self._fitted(picture, fitted.corners)
        return fitted

    def _fitted(self, picture: Image, corners: Floats) -> _Fitted | None:
        """One look at the board rectified by `corners`, and the grid seen there."""
        flat = rectify(picture, homography(corners), LATTICE_PIXELS, LATTICE_MARGIN)
        cells = self._lattice(standardised(flat)[None])[0][0]
        fit = fit_lattice(cells, LATTICE_MARGIN)
        if fit is None or fit.seen < _SEEN:
            return None
        from_cells = homography(corners) @ _cells_to_board()
        fitted = project(from_cells @ fit.to_cells, grid_corners())
        if not np.isfinite(fitted).all() or not is_convex(fitted):
            return None
        moved = float(np.abs(fitted - corners).max()) / square_side(fitted)
        return _Fitted(fitted, fit.seen, moved, cells, from_cells)

    def _look(self, picture: _Pyramid, box: Box) -> _Look:
        """What the finder sees in a part of the picture."""
        x0, y0, x1, y1 = box
        image, scale = picture.level(max(x1 - x0, y1 - y0) / _FINDER_INNER)
        a0, b0, a1, b1 = np.round(np.array([*scale, *scale]) * box).astype(int).tolist()
        width, height = x1 - x0, y1 - y0
        k = _FINDER_INNER / max(height, width)
        w, h = max(1, round(width * k)), max(1, round(height * k))
        left, top = (FINDER_SIDE - w) // 2, (FINDER_SIDE - h) // 2
        canvas = np.zeros((FINDER_SIDE, FINDER_SIDE, 3), np.uint8)
        inside = np.zeros((FINDER_SIDE, FINDER_SIDE), np.uint8)
        canvas[top : top + h, left : left + w] = cv2.resize(image[b0:b1, a0:a1], (w, h), interpolation=cv2.INTER_AREA)
        inside[top : top + h, left : left + w] = 1
        cells = self._finder(standardised(canvas, inside)[None])[0][0]

        def to_picture(points: Floats) -> Floats:
            return ((points + 0.5) * _FINDER_CELL - [left, top]) * [width / w, height / h] - 0.5 + [x0, y0]

        quads = [to_picture(quad) for quad in quads_in(cells)]
        on_grid = patches(cells[3])
        if not on_grid:
            return _Look(quads, None, _NOTHING)
        ys, xs = np.nonzero(on_grid[0])
        low, high = np.array([xs.min(), ys.min()]), np.array([xs.max(), ys.max()])
        doubt = _NOTHING
        if _like_a_board(cells, on_grid[0]):
            first, last = np.array([left, top]) / _FINDER_CELL, np.array([left + w, top + h]) / _FINDER_CELL - 1
            doubt = _PART if (low < first + 0.5).any() or (high > last - 0.5).any() else _UNCLEAR
        spread = to_picture(np.stack([low - 0.5, high + 0.5]).astype(np.float64))
        return _Look(quads, _closer(spread, picture.width, picture.height), doubt)


def _better(one: _Grid | None, other: _Grid | None) -> _Grid | None:
    """The better of two grids, the first of two equals; None only where there is neither."""
    return max((grid for grid in (one, other) if grid is not None), key=lambda grid: grid[0], default=None)


def _like_a_board(cells: NDArray[np.float32], patch: Image) -> bool:
    """Whether a patch of grid is as sure, as four-sided and as sharp at a corner as boards and parts of boards are."""
    sure = float((1 / (1 + np.exp(-cells[3][patch > 0]))).mean())
    peak = float(1 / (1 + np.exp(-cells[0].max())))
    return sure > _LIKE_SURE and peak > _LIKE_PEAK and overlap(four_sided(patch), patch) > _LIKE_QUAD


def _closer(spread: Floats, width: int, height: int) -> Box | None:
    """The part of the picture worth a closer look at what spreads from one point to another (2, 2); None if all."""
    middle, half = spread.mean(axis=0), np.ptp(spread, axis=0).max() * _AROUND
    low = np.clip(np.floor(middle - half), 0, [width, height]).astype(int)
    high = np.clip(np.ceil(middle + half), 0, [width, height]).astype(int)
    if (high - low).max() > _CLOSER * max(width, height) or (high - low).min() < FINDER_SIDE // 8:
        return None
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def _beyond(corners: Floats, width: int, height: int) -> float:
    """How far, in squares, the farthest corner lies beyond the edge of a picture; negative when all are inside."""
    beyond = np.maximum(-0.5 - corners, corners - [width - 0.5, height - 0.5])
    return float(beyond.max()) / square_side(corners)


def _longer(corners: Floats) -> float:
    """The longer pair of opposite sides over the shorter."""
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
    one, other = float(sides[0] + sides[2]), float(sides[1] + sides[3])
    return max(one, other) / min(one, other)


def _confidence(agreement: float) -> float:
    """From the share of the colours that the layout explains: 0.1 is chance, and most true grids have 0.45 or more."""
    return float(np.clip((agreement - 0.1) / 0.35, 0.0, 1.0))


def _colours(picture: Image, corners: Floats, around: int) -> Floats:
    """The colours of the squares of a grid and of so many around it."""
    return square_colours(rectify(picture, homography(corners), LAYOUT_PIXELS, around), LAYOUT_PIXELS)


def _cells_to_board() -> Floats:
    """Cells of the rectified picture to board coordinates as believed."""
    offset = 0.5 - LATTICE_MARGIN
    return np.array([[1.0, 0, offset], [0, 1.0, offset], [0, 0, 1.0]])
