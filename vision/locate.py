"""Find the board in a picture: a coarse look, a fine fit, and the layout as the judge.

1. A small network on the whole picture, 256 pixels a side, says where corners of a playing grid and the grid are.
2. Another looks at the board rectified by these corners and says where the corners of squares are; a homography is
   fitted to them all, twice.
3. The colours of the 225 squares must agree with the standard layout; of several possible grids the best wins.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats, Image, grid_corners, homography, project, rectify, square_side
from vision.lattice import LatticeFit, fit_lattice
from vision.layout import layout_fit, square_colours
from vision.location import BoardNotFound, Location
from vision.net import MODELS, Net
from vision.quad import is_convex, order_corners

FINDER_SIDE: Final = 256
"""Pixels a side of the picture that the finder sees; the photograph takes the middle 224."""
_FINDER_INNER: Final = 224
_FINDER_CELL: Final = 4

LATTICE_PIXELS: Final = 16
LATTICE_MARGIN: Final = 2.5
LATTICE_SIDE: Final = 320
"""16 pixels a square and 2.5 squares around the grid: cells of 16 pixels then have the corners in their middles."""

_PEAK: Final = 0.08
_PEAKS: Final = 8
_HYPOTHESES: Final = 4
_AGREES: Final = 0.42
"""Explained share of the layout's colours from which a grid is taken without looking further."""
_DIFFERS: Final = 0.25
"""Below this it is no board."""


def standardised(picture: Image, inside: Image | None = None) -> NDArray[np.float32]:
    """(H, W, 3) uint8 to (3, H, W) float32 without the light's strength and colour; 0 where `inside` is 0."""
    mean, deviation = cv2.meanStdDev(picture, mask=inside)
    spread = max(float(np.sqrt((deviation**2).mean())), 4.0)
    planes = cv2.dnn.blobFromImage(picture, 1 / spread, mean=mean.ravel().tolist())[0]
    return np.asarray(planes if inside is None else planes * inside, np.float32)


class BoardLocator:
    """Finds boards. `models` is the folder with `finder.onnx` and `lattice.onnx`."""

    def __init__(self, models: Path = MODELS) -> None:
        self._finder = Net(models / "finder.onnx")
        self._lattice = Net(models / "lattice.onnx")

    def locate(self, image: Image) -> Location:
        """Find the board in an (H, W, 3) uint8 BGR picture. Raises BoardNotFound with a message for a person."""
        quads, doubt = self._coarse(image)
        best: tuple[float, Floats] | None = None
        for quad in quads[:_HYPOTHESES]:
            found = self.refine(image, quad)
            if found is not None and (best is None or found[0] > best[0]):
                best = found
                if best[0] > _AGREES:
                    break
        if best is None or best[0] < _DIFFERS:
            raise BoardNotFound(doubt)
        agreement, corners = best
        height, width = image.shape[:2]
        out = np.maximum(-0.5 - corners, corners - [width - 0.5, height - 0.5]).max()
        if out > square_side(corners):
            raise BoardNotFound("part of the board is out of the picture: move the camera back")
        return Location(order_corners(corners), float(np.clip((agreement - 0.15) / 0.4, 0.0, 1.0)))

    def refine(self, image: Image, quad: Floats) -> tuple[float, Floats] | None:
        """Fit the grid near `quad`: how well it agrees with the layout, and its corners; None if no grid is there."""
        picture, scale = _shrunk(image, quad)
        corners = (quad + 0.5) * scale - 0.5
        for _ in range(2):
            fit = self._fit(picture, corners)
            if fit is None:
                return None
            to_picture = homography(corners) @ _cells_to_board() @ fit.to_cells
            corners = project(to_picture, grid_corners())
            if not is_convex(corners) or not np.isfinite(corners).all():
                return None
        colours = square_colours(rectify(picture, homography(corners), LATTICE_PIXELS), LATTICE_PIXELS)
        return layout_fit(colours, 0)[0].explained, (corners + 0.5) / scale - 0.5

    def _fit(self, picture: Image, corners: Floats) -> LatticeFit | None:
        flat = rectify(picture, homography(corners), LATTICE_PIXELS, LATTICE_MARGIN)
        cells = self._lattice(standardised(flat)[None])[0][0]
        return fit_lattice(cells, LATTICE_MARGIN)

    def _coarse(self, image: Image) -> tuple[list[Floats], str]:
        """Possible quads, the likeliest first, and what to say if none of them is a board."""
        height, width = image.shape[:2]
        k = _FINDER_INNER / max(height, width)
        size = (max(1, round(width * k)), max(1, round(height * k)))
        small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
        left, top = (FINDER_SIDE - size[0]) // 2, (FINDER_SIDE - size[1]) // 2
        canvas = np.zeros((FINDER_SIDE, FINDER_SIDE, 3), np.uint8)
        inside = np.zeros((FINDER_SIDE, FINDER_SIDE), np.uint8)
        canvas[top : top + size[1], left : left + size[0]] = small
        inside[top : top + size[1], left : left + size[0]] = 1
        cells = self._finder(standardised(canvas, inside)[None])[0][0]
        quads = quads_in(cells)
        back = np.array([width / size[0], height / size[1]])
        pixels = [((q + 0.5) * _FINDER_CELL - [left, top]) * back - 0.5 for q in quads]
        on_grid = cells[3] > 0
        if on_grid.mean() < 0.01:
            return pixels, "no board in the picture"
        y, x = np.nonzero(on_grid)
        frame = (np.array([left, top, left + size[0], top + size[1]]) / _FINDER_CELL).round()
        cut = (x.min() <= frame[0], y.min() <= frame[1], x.max() >= frame[2] - 1, y.max() >= frame[3] - 1)
        if any(cut):
            return pixels, "only part of the board is in the picture: move the camera back"
        return pixels, "something like a board is in the picture, but its grid cannot be made out"


def quads_in(cells: NDArray[np.float32]) -> list[Floats]:
    """Possible boards in the finder's answer (4, n, n), in cells, the likeliest first.

    Four peaks of the corner heat whose quad covers the cells on the grid; failing that, the box around these.
    """
    heat = 1 / (1 + np.exp(-cells[0]))
    peak = (heat >= cv2.dilate(heat, np.ones((3, 3)))) & (heat > _PEAK)
    ys, xs = np.nonzero(peak)
    order = np.argsort(-heat[ys, xs])[:_PEAKS]
    points = [np.array([xs[i] + cells[1, ys[i], xs[i]], ys[i] + cells[2, ys[i], xs[i]]], np.float64) for i in order]
    strength = [float(heat[ys[i], xs[i]]) for i in order]
    on_grid = (cells[3] > 0).astype(np.uint8)
    scored = []
    for four in combinations(range(len(points)), 4):
        quad = order_corners(np.stack([points[i] for i in four]))
        if not is_convex(quad) or cv2.contourArea(quad.astype(np.float32)) < 30:
            continue
        cover = _overlap(quad, on_grid)
        if cover > 0.5:
            scored.append((cover * float(np.mean([strength[i] for i in four])) ** 0.5, quad))
    scored.sort(key=lambda s: -s[0])
    quads = [q for _, q in scored]
    contours = cv2.findContours(on_grid, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]
    if contours:
        largest = max(contours, key=cv2.contourArea)
        if cv2.contourArea(largest) > 30:
            quads.insert(min(len(quads), _HYPOTHESES - 1), order_corners(_four_sided(largest)))
    return quads


def _four_sided(contour: NDArray[np.int32]) -> Floats:
    """The quad about a contour: its hull, simplified until four corners are left, else the box around it."""
    hull = cv2.convexHull(contour)
    length = cv2.arcLength(hull, True)
    for part in np.linspace(0.02, 0.15, 14):
        simple = cv2.approxPolyDP(hull, part * length, True).reshape(-1, 2)
        if len(simple) == 4:
            return np.asarray(simple, np.float64)
        if len(simple) < 4:
            break
    return np.asarray(cv2.boxPoints(cv2.minAreaRect(hull)), np.float64)


def _overlap(quad: Floats, on_grid: Image) -> float:
    """Intersection over union of a quad and the cells on the grid."""
    drawn = np.zeros_like(on_grid)
    cv2.fillConvexPoly(drawn, np.round(quad * 16).astype(np.int32), 1, cv2.LINE_8, 4)
    union = int(np.count_nonzero(drawn | on_grid))
    return int(np.count_nonzero(drawn & on_grid)) / max(union, 1)


def _shrunk(image: Image, quad: Floats) -> tuple[Image, Floats]:
    """The picture made so small that a square has about 1.3 times the pixels it is looked at with; the scale (2,)."""
    k = LATTICE_PIXELS * 1.3 / square_side(quad)
    height, width = image.shape[:2]
    if k > 0.8:
        return image, np.ones(2)
    size = (max(1, round(width * k)), max(1, round(height * k)))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8), np.array([size[0] / width, size[1] / height])


def _cells_to_board() -> Floats:
    """Cells of the rectified picture to board coordinates as believed."""
    offset = 0.5 - LATTICE_MARGIN
    return np.array([[1.0, 0, offset], [0, 1.0, offset], [0, 0, 1.0]])
