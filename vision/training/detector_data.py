"""Training data of the finder and lattice networks: samples from rendered scenes with random homographies and lighting.

Two small pictures are kept of each scene: the whole picture scaled down (`overview`), and the rectified board with a
margin (`flat`). A sample is one of these pictures warped by a random homography, with target arrays computed from the
true corners.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.detection.finder import FINDER_SIDE_PX
from vision.detection.lighting import standardise_colours
from vision.detection.locator import LATTICE_MARGIN_SQUARES, LATTICE_PX_PER_SQUARE, LATTICE_SIDE_PX
from vision.geometry import Floats, Image, grid_corners, homography, project, rectify
from vision.rendering.scene import Scene

OVERVIEW_SIDE_PX = 384
"""Length of the longer side of `DetectorScene.overview`, in pixels."""
FLAT_SQUARE_PX = 20
"""Resolution of `DetectorScene.flat`, in pixels per square."""
FLAT_MARGIN_SQUARES = 4.5
"""Margin around the grid in `DetectorScene.flat`, in squares."""
NO_BOARD_SHARE = 0.1
"""Share of the finder's training samples without a board."""
CELL_PX = 4
"""Side of a cell of the finder's output, in pixels of its input."""

Array = NDArray[np.float32]
Rng = np.random.Generator


@dataclass(frozen=True, slots=True)
class DetectorScene:
    """Data of one rendered scene for the training of the finder and lattice networks."""

    overview: Image
    """`(h, w, 3) uint8 BGR`: the whole picture, scaled down."""
    corners: Floats
    """`(4, 2)`: true corners of the grid, in pixels of `overview`."""
    flat: Image
    """`(480, 480, 3) uint8 BGR`: the rectified board with a margin."""


def extract_detector_scene(scene: Scene) -> DetectorScene:
    """Extract from a scene the scaled-down picture, the rectified board and the corners of the grid."""
    height, width = scene.image.shape[:2]
    k = OVERVIEW_SIDE_PX / max(height, width)
    overview = cv2.resize(scene.image, (round(width * k), round(height * k)), interpolation=cv2.INTER_AREA)
    scale = np.array([overview.shape[1] / width, overview.shape[0] / height])
    flat = rectify(scene.image, homography(scene.corners), FLAT_SQUARE_PX, FLAT_MARGIN_SQUARES)
    return DetectorScene(np.asarray(overview, np.uint8), (scene.corners + 0.5) * scale - 0.5, flat)


def make_finder_sample(kept: DetectorScene, rng: Rng) -> tuple[Array, Array]:
    """Return a random training sample for the finder: input (3, 256, 256) and targets (5, 64, 64).

    The targets for each cell are: 0 the corner heat map (0..1); 1 and 2 the offset (x, y) of the nearest grid corner
    from the cell's centre, in cells; 3 the mask of the grid; 4 the mask of cells in which the offset is defined.
    """
    n = FINDER_SIDE_PX
    height, width = kept.overview.shape[:2]
    grid = kept.corners
    box = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float64) - 0.5
    if rng.random() < 0.6:
        box = _crop_box(box, grid, rng)
    # Scale the picture to the finder's input with a margin, as at run time, and add a small random perspective.
    size = box[2] - box[0]
    k = n * rng.uniform(0.84, 0.92) / size.max()
    target = (box - box.mean(axis=0)) * k + (n - 1) / 2 + rng.uniform(-6, 6, 2)
    if rng.random() < 0.5:
        target += rng.normal(0, 0.04 * n, (4, 2))
    frame = target
    if rng.random() < 0.3:  # a small board on a large table
        shrink = rng.uniform(0.45, 1.0)
        k *= shrink
        target = target.mean(axis=0) + (target - target.mean(axis=0)) * shrink
        target += rng.uniform(-0.5, 0.5, 2) * (np.ptp(frame, axis=0) - np.ptp(target, axis=0))
    symmetry = int(rng.integers(8))
    target, frame = _apply_symmetry(target, symmetry, n - 1), _apply_symmetry(frame, symmetry, n - 1)
    view = np.asarray(cv2.getPerspectiveTransform(box.astype(np.float32), target.astype(np.float32)), np.float64)
    has_board = rng.random() >= NO_BOARD_SHARE
    overview = kept.overview if has_board else _replace_board(kept.overview, grid, rng)
    source = cv2.GaussianBlur(overview, (0, 0), 0.45 / k) if k < 0.9 else overview  # prevents aliasing
    picture = cv2.warpPerspective(source, view, (n, n), borderMode=cv2.BORDER_REPLICATE)
    picture = augment_photo(np.asarray(picture, np.uint8), rng)
    targets = _draw_finder_targets((project(view, grid) + 0.5) / CELL_PX - 0.5)
    if not has_board:
        targets[:] = 0
    return standardise_colours(picture, _fill_quad(frame, n)), targets


def _draw_finder_targets(seen: Floats) -> Array:
    """Return the targets of the finder `(5, 64, 64)` that `make_finder_sample` describes, for grid corners `(4, 2)`.

    The corners are in cells of the finder's output. The centre of a cell has integer coordinates.
    """
    cells = FINDER_SIDE_PX // CELL_PX
    targets = np.zeros((5, cells, cells), np.float32)
    yy, xx = np.mgrid[0:cells, 0:cells]
    for x, y in seen:
        distance2 = (xx - x) ** 2 + (yy - y) ** 2
        # Heat map of the corners.
        targets[0] = np.maximum(targets[0], np.exp(-distance2 / (2 * 0.8**2)))
        # Offset (x, y) of the corner from the cells near it, and the mask of these cells.
        near = distance2 < 1.6**2
        targets[1][near], targets[2][near], targets[4][near] = (x - xx)[near], (y - yy)[near], 1
    targets[3] = _fill_quad(seen, cells)  # mask of the grid
    return targets


def _fill_quad(corners: Floats, side: int) -> Image:
    """Return a mask `(side, side) uint8` that is 1 in the quad with these corners `(4, 2)` and 0 elsewhere."""
    mask = np.zeros((side, side), np.uint8)
    cv2.fillConvexPoly(mask, np.round(corners * 16).astype(np.int32), 1, cv2.LINE_8, 4)
    return mask


def _replace_board(overview: Image, grid: Floats, rng: Rng) -> Image:
    """Return a copy of the picture in which a random plain, chequered or blurred pattern covers the board.

    `grid` are the corners of the grid, `(4, 2)` px.
    """
    picture = overview.copy()
    reach = grid.mean(axis=0) + (grid - grid.mean(axis=0)) * rng.uniform(1.25, 1.6)
    fields = rng.integers(1, 24, 2) if rng.random() < 0.7 else np.array([1, 1])
    colours = rng.integers(0, 255, (int(rng.integers(2, 12)), 3))
    cloth = colours[rng.integers(0, len(colours), fields)].astype(np.uint8)
    enlarge = cv2.INTER_NEAREST if rng.random() < 0.5 else cv2.INTER_CUBIC
    cloth = np.asarray(cv2.resize(cloth, (256, 256), interpolation=enlarge), np.uint8)
    corners = np.array([[0, 0], [255, 0], [255, 255], [0, 255]], np.float32)
    view = cv2.getPerspectiveTransform(corners, reach.astype(np.float32))
    size = (picture.shape[1], picture.shape[0])
    here = cv2.warpPerspective(np.full((256, 256), 255, np.uint8), view, size) > 127
    picture[here] = cv2.warpPerspective(cloth, view, size)[here]
    return picture


def _crop_box(box: Floats, grid: Floats, rng: Rng) -> Floats:
    """Return the corners (4, 2) of a random crop of a picture; the crop usually contains the whole grid.

    `box` and `grid` are the corners (4, 2) of the picture and of the grid.
    """
    low, high = box[0], box[2]
    reach = grid.mean(axis=0) + (grid - grid.mean(axis=0)) * rng.uniform(1.0, 1.6)
    if rng.random() < 0.12:
        reach = grid.mean(axis=0) + (grid - grid.mean(axis=0)) * 0.6  # the crop may cut off parts of the grid
    reach_low, reach_high = np.clip(reach.min(axis=0), low, high), np.clip(reach.max(axis=0), low, high)
    a = low + (reach_low - low) * rng.random(2)
    b = high - (high - reach_high) * rng.random(2)
    if (b - a).min() < 40:
        return box
    return np.array([[a[0], a[1]], [b[0], a[1]], [b[0], b[1]], [a[0], b[1]]])


def _apply_symmetry(points: Floats, symmetry: int, side: float) -> Floats:
    """Mirror or rotate `points` (n, 2) in a square from (0, 0) to (`side`, `side`), by symmetry number 0..7."""
    p = points.copy()
    if symmetry & 1:
        p[:, 0] = side - p[:, 0]
    if symmetry & 2:
        p[:, 1] = side - p[:, 1]
    return p[:, ::-1].copy() if symmetry & 4 else p


def make_lattice_sample(kept: DetectorScene, rng: Rng) -> tuple[Array, Array]:
    """Return a random training sample for the lattice network: input (3, 320, 320) and targets (3, 20, 20).

    The targets for each cell are: 0 and 1 the offset (x, y) of the nearest corner of squares from the cell's centre, in
    cells; 2 the mask of cells on the grid.
    """
    n, p = LATTICE_SIDE_PX, LATTICE_PX_PER_SQUARE
    # At run time, the corners that the lattice network is given are not exact: draw corners with errors.
    spread = float(rng.choice([0.06, 0.25, 0.6], p=[0.4, 0.4, 0.2]))
    believed = grid_corners() + rng.normal(0, spread, (4, 2)) + rng.normal(0, spread, 2)
    kind = rng.random()
    if kind < 0.1:  # shift the whole grid by up to two squares, or one corner by up to three
        believed += rng.uniform(-2, 2, 2)
    elif kind < 0.25:
        believed[int(rng.integers(4))] += rng.uniform(-3, 3, 2)
    believed = _apply_symmetry(believed, int(rng.integers(8)), 15.0)
    # Map pixels of the sample to board coordinates under the erroneous corners, then to pixels of `flat`.
    to_believed = np.array(
        [[1 / p, 0, 0.5 / p - LATTICE_MARGIN_SQUARES], [0, 1 / p, 0.5 / p - LATTICE_MARGIN_SQUARES], [0, 0, 1]]
    )
    to_board = homography(believed) @ to_believed
    f = FLAT_SQUARE_PX
    to_flat = np.array([[f, 0, FLAT_MARGIN_SQUARES * f - 0.5], [0, f, FLAT_MARGIN_SQUARES * f - 0.5], [0, 0, 1]])
    source = kept.flat
    if rng.random() < 0.3:  # simulate a board photographed at low resolution
        k = rng.uniform(0.5, 0.9)
        small = cv2.resize(source, None, fx=k, fy=k, interpolation=cv2.INTER_AREA)
        source = np.asarray(cv2.resize(small, source.shape[1::-1], interpolation=cv2.INTER_LINEAR), np.uint8)
    picture = cv2.warpPerspective(
        source,
        to_flat @ to_board,
        (n, n),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    cells = n // p
    middles = (np.stack(np.meshgrid(np.arange(cells), np.arange(cells)), axis=-1) + 0.5) * p - 0.5
    # `at` are the centres of the cells on the true board; the target of a cell is the nearest corner of squares.
    at = project(to_board, middles)
    corner = np.clip(np.round(at), 0, 15)
    seen = project(np.linalg.inv(to_board), corner)
    targets = np.zeros((3, cells, cells), np.float32)
    targets[:2] = ((seen - middles) / p).transpose(2, 0, 1)
    targets[2] = (np.abs(at - 7.5) < 8.0).all(axis=2)
    return standardise_colours(augment_photo(np.asarray(picture, np.uint8), rng)), targets


def augment_photo(picture: Image, rng: Rng) -> Image:
    """Augment a picture `(H, W, 3) uint8` with random colours, brightness, blur, noise and JPEG compression."""
    u = rng.random
    if u() < 0.12:
        picture = picture[:, :, rng.permutation(3)]
    if u() < 0.05:
        picture = np.repeat(picture.mean(axis=2, keepdims=True), 3, axis=2).astype(np.uint8)
    if u() < 0.7:
        ramp = np.arange(256, dtype=np.float64)[:, None] / 255
        gamma = np.exp(rng.normal(0, 0.25)) * np.exp(rng.normal(0, 0.06, 3))
        curve = ramp**gamma * np.exp(rng.normal(0, 0.2)) * np.exp(rng.normal(0, 0.1, 3)) + rng.normal(0, 0.03)
        picture = np.asarray(cv2.LUT(picture, np.clip(curve * 255, 0, 255).astype(np.uint8)[None]), np.uint8)
    if u() < 0.25:
        picture = np.asarray(cv2.GaussianBlur(picture, (0, 0), rng.uniform(0.4, 1.4)), np.uint8)
    if u() < 0.35:
        noise = rng.standard_normal(picture.shape, np.float32) * np.float32(rng.uniform(1, 10))
        picture = np.clip(picture + noise, 0, 255).astype(np.uint8)
    if u() < 0.2:
        _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(25, 80))])
        picture = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
    return picture
