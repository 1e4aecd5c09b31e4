"""Training batches for the square and letter networks, with random shifts, lighting, blur and other augmentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import Image
from vision.recognition import letters, views
from vision.recognition.edge_comparison import find_neighbours
from vision.recognition.views import EMPTY_KIND, HIDDEN_KIND, TILE_KIND
from vision.rendering.style import LAYOUT
from vision.training.dataset import (
    BOARD_MARGIN,
    BOARD_SQUARE_PX,
    LETTERS,
    TOPS_MARGIN,
    TOPS_SQUARE_PX,
    TrainingViews,
    alphabet_masks,
    class_indices,
    classes,
)

Rng = np.random.Generator
Floats = NDArray[np.float32]

MAX_READABLE_COVER: Final = 0.35
"""Maximum share of a square that may be covered by a hand if the square is labelled as tile or empty."""
MIN_HIDDEN_COVER: Final = 0.5
"""Minimum covered share of a square that is labelled as hidden. Between this and `MAX_READABLE_COVER`, the label is
`IGNORED`."""
IGNORED: Final = -100
"""Label of samples that `cross_entropy` ignores."""
_EMPTY_SHARE: Final = 0.14
"""Share of crops of empty squares in a batch."""
_BLANK_SHARE: Final = 0.1
"""Share of crops of blanks in a batch."""
_FOREIGN_SHARE: Final = 0.32
"""Share of crops of letters other than A to Z in a batch."""
_CENTRE_ERROR_SQUARES: Final = 0.06
_LARGE_CENTRE_ERROR_SQUARES: Final = 0.15
"""`_CENTRE_ERROR_SQUARES` and `_LARGE_CENTRE_ERROR_SQUARES`: standard deviations, in squares, of the random shift of
most crops, and of the few crops with a large shift."""
_LARGE_ERROR_SHARE: Final = 0.15
"""Share of crops with a large shift."""
_VARIED_SHAPE_SHARE: Final = 0.3
"""Share of crops that are stretched and sheared, to vary the shapes of letters."""
_BENT_SHARE: Final = 0.2
"""Share of crops that are deformed smoothly, to vary the shapes of letters."""
_STROKE_CHANGE_SHARE: Final = 0.12
"""Share of crops with thicker dark or light strokes."""
_RELIT_SHARE: Final = 0.5
"""Share of crops with light gradients, shadow edges, reflections, covered corners and noise. The rendered scenes have
all of these effects, too. With a larger share, a third of the crops would be unreadable."""
_MAX_HOLES_COUNTED: Final = 4
"""Maximum number of gaps that increase the sampling weight of a board. A gap is an empty square with at least three
adjacent tiles; gaps are the hardest squares to classify."""
_EMPTY_SQUARE_WEIGHTS: Final = np.array([[{" ": 1.0, "*": 15.0}.get(kind, 3.0) for kind in row] for row in LAYOUT])
"""`(15, 15)`: sampling weights of empty squares: 1 for plain squares, 3 for premium squares, 15 for the centre."""


@dataclass(frozen=True, slots=True, eq=False)
class LetterBatch:
    """Batch of input and target arrays for the letter network."""

    crops: Floats
    """`(n, 1, 36, 36)`: input."""
    letters: NDArray[np.int64]
    """`(n,)`: class index; `IGNORED` for crops rotated by quarter turns."""
    turns: NDArray[np.int64]
    """`(n,)`: number (0..3) of clockwise quarter turns of the tile; `IGNORED` for empty squares and blanks."""
    pose_offsets: Floats
    """`(n, 3)`: offset (right, down) of the tile's centre from the crop's centre, in squares, and clockwise rotation of
    the tile in radians, without quarter turns; NaN without a tile.
    """
    allowed: NDArray[np.bool_]
    """`(n, classes)`: mask of the classes of one tile set that contains the crop's letter. The loss ignores all other
    classes, because a board reader also chooses only among the letters of one tile set."""


@dataclass(frozen=True, slots=True, eq=False)
class SquareBatch:
    """Batch of input and target arrays for the square network."""

    boards: Floats
    """`(n, 3, 272, 272)`: input."""
    kinds: NDArray[np.int64]
    """`(n, 15, 15)`: class index (empty, tile, hidden) of each square, or `IGNORED`."""


def class_shares() -> NDArray[np.float64]:
    """Return the share of each letter class in a batch, `(classes,)`, with sum 1."""
    names = classes()
    share = np.full(len(names), _FOREIGN_SHARE / (len(names) - 2 - len(LETTERS)))
    share[2 : 2 + len(LETTERS)] = (1 - _EMPTY_SHARE - _BLANK_SHARE - _FOREIGN_SHARE) / len(LETTERS)
    share[:2] = _EMPTY_SHARE, _BLANK_SHARE
    return share


def prior_correction() -> Floats:
    """Return offsets `(classes,)` for the letter logits that give all letters of a tile set the same prior probability.

    In training, the softmax for a crop is restricted to a random tile set that contains its letter. So a letter that is
    in few tile sets is more frequent within each of them than a letter that is in many. The offsets correct this
    (Saerens et al., Adjusting the outputs of a classifier to new a priori probabilities, 2002).
    """
    allowed, share = alphabet_masks(), class_shares()
    seen = share / allowed.sum(axis=0)
    usual = seen[2 : 2 + len(LETTERS)].min()
    odds = np.log(usual / seen)
    odds[:2] = 0
    return np.asarray(odds, np.float32)


class LetterSampler:
    """Random sampler of letter batches from training views, with the class shares of `class_shares`."""

    def __init__(self, views: Sequence[TrainingViews]) -> None:
        self._views = views
        labels = class_indices(views)
        hidden = np.stack([v.hidden for v in views])
        names = classes()
        self._cells_by_class = [np.argwhere((labels == k) & (hidden < MAX_READABLE_COVER)) for k in range(len(names))]
        # Sample high-resolution pictures more often than low-resolution ones, and premium squares than plain squares.
        clear = np.clip([(v.square_px - 8) / 16 for v in views], 0.2, 1.5)[:, None, None]
        weight = np.broadcast_to(clear * np.where(labels == 0, _EMPTY_SQUARE_WEIGHTS, 1.0), labels.shape)
        self._cumulative_weights = [np.cumsum(weight[tuple(c.T)]) for c in self._cells_by_class]
        usable = np.array([len(c) > 0 for c in self._cells_by_class])
        share = class_shares()
        self._class_shares = np.where(usable, share, 0) / share[usable].sum()
        self._alphabet_masks = alphabet_masks()
        self._alphabets_by_class = [np.flatnonzero(self._alphabet_masks[:, k]) for k in range(len(names))]

    def draw_batch(self, rng: Rng, size: int, turned_share: float = 0.15) -> LetterBatch:
        """Return a batch of `size` augmented crops; the share `turned_share` is rotated by random quarter turns."""
        kinds = rng.choice(len(self._class_shares), size=size, p=self._class_shares)
        cut = np.empty((size, views.CROP_SIDE_PX, views.CROP_SIDE_PX), np.uint8)
        places = np.empty((size, 3), np.float32)
        for i, kind in enumerate(kinds.tolist()):
            bounds = self._cumulative_weights[kind]
            cell = self._cells_by_class[kind][np.searchsorted(bounds, rng.random() * bounds[-1], side="right")]
            view, row, column = (int(k) for k in cell)
            cut[i], places[i] = self._draw_crop(rng, self._views[view], row, column)
        turns = np.where(rng.random(size) < turned_share, rng.integers(0, 4, size), 0)
        for i in np.flatnonzero(turns).tolist():
            cut[i] = np.rot90(cut[i], -int(turns[i]))
            for _quarter in range(int(turns[i])):  # clockwise
                places[i, :2] = -places[i, 1], places[i, 0]
        lit = augment_crops(rng, cut)
        sets = [
            self._alphabets_by_class[kind][int(u * len(self._alphabets_by_class[kind]))]
            for kind, u in zip(kinds, rng.random(size), strict=True)
        ]
        return LetterBatch(
            crops=letters.normalise_contrast(lit),
            letters=np.where(turns == 0, kinds, IGNORED).astype(np.int64),
            turns=np.where(kinds < 2, IGNORED, turns).astype(np.int64),
            pose_offsets=places,
            allowed=self._alphabet_masks[sets],
        )

    @staticmethod
    def _draw_crop(rng: Rng, view: TrainingViews, row: int, column: int) -> tuple[Image, Floats]:
        """Return an augmented crop of a square, and the offset and rotation of its tile as in `LetterBatch`."""
        # `axes` maps the axes of the crop to pixels of the view: rotated, zoomed, stretched and sheared.
        turn = rng.normal(0, 0.035)
        zoom = TOPS_SQUARE_PX / views.TOPS_PX_PER_SQUARE * np.exp(rng.normal(0, 0.05))
        is_varied = rng.random() < _VARIED_SHAPE_SHARE
        stretch, shear = np.exp(rng.normal(0, 0.12 if is_varied else 0.03)), rng.normal(0, 0.1) if is_varied else 0.0
        axes = zoom * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        axes = axes @ np.array([[stretch, shear], [0, 1]])
        spread = _LARGE_CENTRE_ERROR_SQUARES if rng.random() < _LARGE_ERROR_SHARE else _CENTRE_ERROR_SQUARES
        centre = np.array([column, row]) + 0.5 + rng.normal(0, spread, 2)
        middle = TOPS_SQUARE_PX * (centre + TOPS_MARGIN) - 0.5
        # Find the centre of the tile and its right-hand direction as they appear in the crop.
        askew = view.tile_angles[row, column]
        seen = np.column_stack([TOPS_SQUARE_PX * (view.centres[row, column] - centre), (np.cos(askew), np.sin(askew))])
        (right, ahead), (down, aside) = np.linalg.solve(axes, seen)
        place = right / views.TOPS_PX_PER_SQUARE, down / views.TOPS_PX_PER_SQUARE, np.arctan2(aside, ahead)
        half = (views.CROP_SIDE_PX - 1) / 2
        matrix = np.column_stack([axes, middle - axes @ np.array([half, half])])
        side = (views.CROP_SIDE_PX, views.CROP_SIDE_PX)
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        cut = np.asarray(
            cv2.warpAffine(view.tops, matrix, side, flags=flags, borderMode=cv2.BORDER_REPLICATE), np.uint8
        )
        if rng.random() < _BENT_SHARE:
            cut = bend_crop(rng, cut)
        if rng.random() < _STROKE_CHANGE_SHARE:
            cut = change_strokes(rng, cut)
        return blur_crop(rng, cut), np.asarray(place, np.float32)


@lru_cache(maxsize=4)
def _pixel_grid(side: int) -> Floats:
    """Return the coordinates (x, y) of all pixels of a square picture, `(side, side, 2)`."""
    return np.stack(np.meshgrid(np.arange(side, dtype=np.float32), np.arange(side, dtype=np.float32)), axis=-1)


def bend_crop(rng: Rng, cut: Image) -> Image:
    """Deform a crop `(side, side) uint8` smoothly, by up to about two pixels, to vary the shapes of letters."""
    side = cut.shape[0]
    shift = rng.normal(0, rng.uniform(0.3, 1.3), (4, 4, 2)).astype(np.float32)  # px
    across, down = cv2.split(cv2.resize(shift, (side, side), interpolation=cv2.INTER_CUBIC) + _pixel_grid(side))
    bent = cv2.remap(cut, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(bent, np.uint8)


def change_strokes(rng: Rng, cut: Image) -> Image:
    """Make dark or light strokes of a crop `(side, side) uint8` thicker by half a pixel or one pixel on each side."""
    side = 3 if rng.random() < 0.7 else 5
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    large = cv2.resize(cut, (2 * cut.shape[1], 2 * cut.shape[0]), interpolation=cv2.INTER_LINEAR)
    large = cv2.erode(large, disc) if rng.random() < 0.5 else cv2.dilate(large, disc)
    return np.asarray(cv2.resize(large, (cut.shape[1], cut.shape[0]), interpolation=cv2.INTER_AREA), np.uint8)


def blur_crop(rng: Rng, cut: Image) -> Image:
    """Blur a crop `(side, side) uint8` or reduce its resolution; with a probability of 0.8, return it unchanged."""
    u = rng.random()
    if u < 0.07:
        small = int(rng.integers(15, 30))
        low = cv2.resize(cut, (small, small), interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.resize(low, (cut.shape[1], cut.shape[0])), np.uint8)
    if u < 0.15:
        return np.asarray(cv2.GaussianBlur(cut, (0, 0), float(rng.uniform(0.4, 1.3))), np.uint8)
    if u < 0.2:
        kernel = make_motion_kernel(float(rng.uniform(1.5, 6)), float(rng.uniform(0, np.pi)))
        return np.asarray(cv2.filter2D(cut, -1, kernel), np.uint8)
    return cut


def make_motion_kernel(length: float, angle: float) -> Floats:
    """Return a motion blur kernel `(9, 9)` of sum 1, for a motion of `length` pixels at `angle` radians."""
    kernel = np.zeros((9, 9), np.float32)
    reach = np.array([np.cos(angle), np.sin(angle)]) * length / 2
    ends = (((4 - reach) * 16).round().astype(int).tolist(), ((4 + reach) * 16).round().astype(int).tolist())
    cv2.line(kernel, ends[0], ends[1], 1.0, 1, cv2.LINE_AA, 4)
    return np.asarray(kernel / kernel.sum(), np.float32)


def augment_crops(rng: Rng, cut: Image) -> Image:
    """Augment crops `(n, side, side) uint8`: change the contrast of all, relight half, and invert a tenth."""
    n = len(cut)
    x = cut.astype(np.float32) / 255
    np.power(x, np.exp(rng.normal(0, 0.3, (n, 1, 1))).astype(np.float32), out=x)
    relit = np.flatnonzero(rng.random(n) < _RELIT_SHARE)
    x[relit] = relight_crops(rng, np.asarray(x[relit], np.float32))
    negative = rng.random(n) < 0.1
    x[negative] = 1 - x[negative]
    return np.clip(x * 255, 0, 255).astype(np.uint8)


def relight_crops(rng: Rng, x: Floats) -> Floats:
    """Add light gradients, shadow edges, covered corners, reflections and noise to crops `(n, side, side)`, 0 to 1.

    Values of the result may be outside 0 to 1.
    """
    n, side = len(x), x.shape[1]
    across, down = np.meshgrid(np.linspace(-1, 1, side), np.linspace(-1, 1, side))
    slopes = rng.normal(0, 0.12, (2, n, 1, 1))
    x = x * (1 + slopes[0] * across + slopes[1] * down).astype(np.float32)
    for i in np.flatnonzero(rng.random(n) < 0.12):
        angle = rng.uniform(0, 2 * np.pi)
        edge = (across * np.cos(angle) + down * np.sin(angle) - rng.uniform(-0.7, 0.7)) / rng.uniform(0.03, 0.5)
        x[i] *= (1 - rng.uniform(0.15, 0.6) / (1 + np.exp(-4 * edge))).astype(np.float32)
    for i in np.flatnonzero(rng.random(n) < 0.06):
        size = rng.integers(4, side // 2, 2)
        place = [int(rng.choice([0, side - s])) for s in size]
        x[i, place[0] : place[0] + size[0], place[1] : place[1] + size[1]] = rng.random()
    for i in np.flatnonzero(rng.random(n) < 0.06):  # reflection of a lamp in the tile
        angle = rng.uniform(0, 2 * np.pi)
        far = (across * np.cos(angle) + down * np.sin(angle) - rng.uniform(-0.6, 0.6)) / rng.uniform(0.08, 0.5)
        x[i] += (rng.uniform(0.1, 0.8) * np.exp(-(far**2))).astype(np.float32)
    grain = x.std(axis=(1, 2), keepdims=True) * rng.random((n, 1, 1)) ** 3 * 0.5
    return np.asarray(x + rng.standard_normal(x.shape, np.float32) * grain.astype(np.float32), np.float32)


class SquareSampler:
    """Random sampler of square batches from training views, with rotation, corner errors, blur and lighting changes."""

    def __init__(self, views: Sequence[TrainingViews]) -> None:
        self._views = views
        tile = class_indices(views) > 0
        hidden = np.stack([v.hidden for v in views])
        kinds = np.where(tile, TILE_KIND, EMPTY_KIND)
        kinds = np.where(hidden > MIN_HIDDEN_COVER, HIDDEN_KIND, kinds)
        self._kinds = np.where((hidden > MAX_READABLE_COVER) & (hidden <= MIN_HIDDEN_COVER), IGNORED, kinds)
        holes = (~tile & (find_neighbours(tile).sum(axis=-1) >= 3)).sum(axis=(1, 2))
        weight = 1 + np.minimum(holes, _MAX_HOLES_COUNTED)
        self._view_shares = weight / weight.sum()

    def draw_batch(self, rng: Rng, size: int) -> SquareBatch:
        """Return a batch of `size` augmented boards."""
        boards, kinds = [], []
        for i in rng.choice(len(self._views), size, p=self._view_shares):
            turn = int(rng.integers(4))
            board = self._draw_board(rng, self._views[i].board, turn)
            boards.append(views.normalise_exposure(board))
            kinds.append(np.rot90(self._kinds[i], turn))
        return SquareBatch(np.stack(boards), np.stack(kinds).astype(np.int64))

    @staticmethod
    def _draw_board(rng: Rng, view: Image, quarter_turns: int) -> Image:
        """Return the view of a board with random errors of its corners, blur, colours, a shadow edge and noise.

        The board is rotated anticlockwise by `quarter_turns`.
        """
        grid = np.array([[0, 0], [BOARD_SIZE, 0], [BOARD_SIZE, BOARD_SIZE], [0, BOARD_SIZE]], np.float64)
        source = (grid + rng.normal(0, 0.04, (4, 2)) + rng.normal(0, 0.05, 2) + BOARD_MARGIN) * BOARD_SQUARE_PX - 0.5
        # After an anticlockwise quarter turn, the second corner becomes the first.
        source = np.roll(source, -quarter_turns, axis=0)
        target = (grid + views.VIEW_MARGIN_SQUARES) * views.VIEW_PX_PER_SQUARE - 0.5
        matrix = cv2.getPerspectiveTransform(source.astype(np.float32), target.astype(np.float32))
        n = (BOARD_SIZE + 2 * views.VIEW_MARGIN_SQUARES) * views.VIEW_PX_PER_SQUARE
        view = np.asarray(cv2.warpPerspective(view, matrix, (n, n), borderMode=cv2.BORDER_REPLICATE), np.uint8)
        u = rng.random()
        if u < 0.25:
            view = np.asarray(cv2.GaussianBlur(view, (0, 0), float(rng.uniform(0.4, 1.6))), np.uint8)
        curves = np.linspace(0, 1, 256)[:, None] ** np.exp(rng.normal(0, 0.25, 3))
        x = np.asarray(cv2.LUT(view, curves.astype(np.float32)[None]), np.float32)
        if rng.random() < 0.4:
            # Mix the channels, so that the network does not depend on particular colours.
            mix = np.eye(3) + rng.normal(0, 0.15, (3, 3))
            x = np.asarray(cv2.transform(x, mix / np.abs(mix).sum(axis=1, keepdims=True)), np.float32)
        if rng.random() < 0.05:
            x = np.repeat(x.mean(axis=2, keepdims=True), 3, axis=2)
        if rng.random() < 0.3:
            angle, line = rng.uniform(0, 2 * np.pi), np.linspace(-1, 1, n, dtype=np.float32)
            edge = line * np.float32(np.cos(angle)) + line[:, None] * np.float32(np.sin(angle))
            edge = (edge - np.float32(rng.uniform(-0.8, 0.8))) * np.float32(4 / rng.uniform(0.01, 0.6))
            x *= 1 - np.float32(rng.uniform(0.1, 0.6)) / (1 + np.exp(-np.clip(edge, -30, 30)))[:, :, None]
        if rng.random() < 0.5:
            x += rng.standard_normal(x.shape, np.float32) * np.float32(rng.random() ** 2 * 0.05)
        return np.asarray(np.clip(x * 255, 0, 255), np.uint8)
