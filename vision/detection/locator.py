"""Find the board in a picture: detect candidates, fit the grid, compare colours with the standard layout.

1. The finder network takes the whole picture, scaled to 256 x 256 pixels, and predicts a heat map of grid corners and a
   mask of cells on the grid. Candidate quads are made from both.
2. The lattice network takes the picture rectified by a candidate and predicts the corners of squares. A homography is
   fitted to these corners. Rectification and fit are repeated until the corners converge.
3. The colours of the 225 squares are compared with the standard layout. A grid that agrees ends the search.

Further steps are the finder's run on a close-up of the largest region of the mask, and all of these on the picture with
equalised lighting. The steps are in one queue, the most promising first. The number of network runs is limited: a
picture without a board costs a few times as much as one with a board. Then the grid that agrees best is the result.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.messages import make_message
from vision.detection.finder import Box, Finder
from vision.detection.image_pyramid import ImagePyramid
from vision.detection.lattice import fit_lattice, is_larger_than_board, refit_lattice
from vision.detection.layout_check import compare_with_layout, grade_agreement, has_squares_outside
from vision.detection.lighting import equalise_lighting, standardise_colours
from vision.detection.location import (
    CUT_OFF_MESSAGES,
    OTHER_GRID_MESSAGE,
    BoardLocation,
    BoardNotFoundError,
    LocationSource,
    measure_overhangs,
)
from vision.geometry import (
    Floats,
    Image,
    grid_corners,
    homography,
    is_convex,
    order_corners,
    project,
    rectify,
    square_side,
)
from vision.net import MODELS_DIR, Net

LATTICE_PX_PER_SQUARE: Final = 16
LATTICE_MARGIN_SQUARES: Final = 2.5
LATTICE_SIDE_PX: Final = 320
"""Side of the lattice network's input, in pixels. With this size, output cells are centred on corners of squares."""
_MAX_OVERHANG_SQUARES: Final = 1
"""Maximum distance, in squares, by which a detected board may extend beyond the picture; with more, it is cut off."""
LAYOUT_PX_PER_SQUARE: Final = 12


@dataclass(frozen=True, slots=True)
class LocatorConfig:
    """Thresholds of `BoardLocator`.

    The layout agreement of a grid is the share (0..1) of its colour variation that the standard layout explains. Its
    seen share is the share (0..1) of its cells for which the lattice network sees a corner in the expected position.
    """

    good_layout_agreement: float = 0.34
    """Layout agreement that is good enough to end the search; with less, further candidates are tried."""
    min_layout_agreement: float = 0.3
    """Minimum layout agreement of an accepted grid."""
    max_layout_shift_squares: int = 2
    """Maximum shift, in squares, that is tried for a grid whose colours do not agree with the layout."""
    max_fit_passes: int = 4
    """Maximum number of fits of one candidate; one or two are usual."""
    max_runs: int = 20
    """Maximum number of runs of both networks on one picture. Two are usual."""
    quad_promise: float = 0.6
    """Seen share that is expected of the finder's first candidate."""
    rank_promise: float = 0.93
    """Factor by which the seen share that is expected of a candidate is lower than that of the candidate before it."""
    equalised_promise: float = 0.75
    """Factor by which the seen share that is expected of a candidate is lower with equalised lighting."""
    proposal_promise: float = 0.5
    """Seen share that is expected after another run of the finder, on a close-up or with equalised lighting."""
    converged_shift_squares: float = 0.2
    """Maximum movement of a corner by the last fit, in squares; after a larger movement, another fit is made."""
    good_shift_squares: float = 1.2
    """Maximum movement of a corner by the last fit, in squares, if the grid agrees with the layout. On 102 photographs,
    another fit after it reduced the mean error of the corners by only 0.006 of a square."""
    max_shift_squares: float = 8.0
    """Maximum movement of a corner by a fit, in squares; farther away, the network has not seen the grid."""
    same_grid_squares: float = 1.0
    """Maximum distance, in squares, of the corners of a candidate from those of a fitted grid; a candidate that is
    closer is not tried, because it leads to the same grid."""
    same_fit_squares: float = 0.5
    """Maximum distance, in squares, of the corners of a fit from those of an earlier fit; a fit that is closer is not
    continued, because it leads to the same grid. Grids may differ by a shift of one square."""
    min_seen_share: float = 0.2
    """Minimum share of corners in their expected positions for an accepted grid."""
    full_seen_share: float = 0.7
    """Share of corners in their expected positions that counts as complete; tiles and hands cover the others."""
    clear_seen_share: float = 0.9
    """Minimum share of corners in their expected positions for accepting a grid whose colours do not agree with the
    layout. The board reader later checks the classification of the grid's squares (`measure_board_confidence`)."""
    max_cut_squares: float = 0.05
    """Maximum distance, in squares, by which a grid may extend beyond the picture if its colours do not agree with the
    layout. Detected corners often have an error of this size."""
    max_side_ratio: float = 1.65
    """Maximum ratio of the longer to the shorter sides of a grid whose colours do not agree with the layout. A camera
    tilted by 50 degrees sees this ratio."""
    covered_corner_weight: float = 0.003
    """Weight of the corners of covered squares in the last fit: small, because tiles hide these corners."""


_CONFIG: Final = LocatorConfig()


@dataclass(frozen=True, slots=True, eq=False)
class _ScoredGrid:
    """Corners `(4, 2)` of a grid in px, and its score: the layout agreement, reduced if corners are missing.

    `is_larger` is True if the squares continue beyond the grid, as on a board of 21 x 21 squares. `is_chequered` is
    True for a grid on a chequered tablecloth, whose score is 0.
    """

    score: float
    corners: Floats
    is_larger: bool
    is_chequered: bool

    @property
    def is_good(self) -> bool:
        """True if the score ends the search."""
        return self.score >= _CONFIG.good_layout_agreement


@dataclass(frozen=True, slots=True, eq=False)
class _GridFit:
    """Result of one fit of a grid to the output of the lattice network.

    `corners` `(4, 2)` are the corners of the grid in px. `seen_share` (0..1) is the share of its cells that agree with
    the fit. `shift_squares` is the largest movement of a corner by the fit. `cells` is the output of the network, and
    `cells_to_picture` `(3, 3)` the homography from its cells to px.
    """

    corners: Floats
    seen_share: float
    shift_squares: float
    cells: NDArray[np.float32]
    cells_to_picture: Floats

    def refit_without_tiles(self, corners: Floats, uncovered: NDArray[np.bool_]) -> Floats:
        """Repeat the fit with low weights for corners under tiles; return the corners of the grid, `(4, 2)` px.

        `uncovered` `(15, 15)` is True for squares without a tile. Tile tops are higher than the board, so they appear
        displaced if the camera looks at an angle. A corner between four tiles has the weight `covered_corner_weight`.
        """
        # Weigh each corner by the uncovered share of its four squares; squares outside the board count as uncovered.
        padded = np.pad(uncovered, 1, constant_values=True).astype(np.float64)
        trust = (padded[:-1, :-1] + padded[1:, :-1] + padded[:-1, 1:] + padded[1:, 1:]) / 4
        to_cells = np.linalg.inv(self.cells_to_picture) @ homography(corners)
        refit = refit_lattice(self.cells, to_cells, trust**4 + _CONFIG.covered_corner_weight)
        return corners if refit is None else project(self.cells_to_picture @ refit, grid_corners())


class BoardLocator:
    """Board detector that uses the networks `finder.onnx` and `lattice.onnx`."""

    def __init__(self) -> None:
        self._finder = Finder()
        self._lattice = Net(MODELS_DIR / "lattice.onnx")

    def locate(self, image: Image) -> BoardLocation:
        """Search the whole picture `(H, W, 3) uint8 BGR` for a board. Raises `BoardNotFoundError`."""
        search = _GridSearch(self._finder, self._lattice, ImagePyramid(image))
        grid = search.find(_Proposal(None, is_equalised=False))
        if grid is None or grid.score < _CONFIG.min_layout_agreement:
            is_cloth = grid is not None and grid.is_chequered
            raise BoardNotFoundError(OTHER_GRID_MESSAGE if is_cloth else search.failure_message)
        overhangs = measure_overhangs(grid.corners, image.shape[1], image.shape[0])
        if overhangs.max() > _MAX_OVERHANG_SQUARES:
            raise BoardNotFoundError(CUT_OFF_MESSAGES[int(overhangs.argmax())])
        if grid.is_larger:
            raise BoardNotFoundError(OTHER_GRID_MESSAGE)
        return BoardLocation(order_corners(grid.corners), grade_agreement(grid.score))

    def follow(self, image: Image, corners: Floats) -> BoardLocation:
        """Detect the board near its `(4, 2)` corners in an earlier picture, and preserve the order of the corners.

        Much cheaper than `locate`. Raises `BoardNotFoundError` if the board has moved by more than a square or is gone.
        """
        search = _GridSearch(self._finder, self._lattice, ImagePyramid(image))
        grid = search.find(_Candidate(corners, is_equalised=False))
        if grid is None or grid.score < _CONFIG.min_layout_agreement:
            raise BoardNotFoundError(make_message("board-moved", "The board is no longer where it was. Move it back."))
        return BoardLocation(grid.corners, grade_agreement(grid.score), LocationSource.FOLLOWED)


@dataclass(frozen=True, slots=True, eq=False)
class _Proposal:
    """Step of a search: propose candidates with the finder network.

    `closeup` is a part of the picture; None for the whole picture. `is_equalised` is True for equalised lighting.
    """

    closeup: Box | None
    is_equalised: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """Step of a search: fit a grid near `corners` `(4, 2)` px with the lattice network.

    `is_equalised` is True for equalised lighting. `passes` is the number of fits that led to the corners.
    """

    corners: Floats
    is_equalised: bool
    passes: int = 0


class _GridSearch:
    """Search for a grid in one picture, the most promising step first, with a limited number of network runs.

    The promise of a step is the share of corners in their expected positions (seen share) that its fit will probably
    have. `failure_message` says why there may be no board in the picture.
    """

    def __init__(self, finder: Finder, lattice: Net, pyramid: ImagePyramid) -> None:
        self._finder = finder
        self._lattice = lattice
        self._pyramid = pyramid
        self._queue: list[tuple[float, int, _Proposal | _Candidate]] = []
        self._numbers = count()
        self._fits: list[_GridFit] = []
        self._best: _ScoredGrid | None = None
        self.failure_message = ""

    def find(self, first: _Proposal | _Candidate) -> _ScoredGrid | None:
        """Search from the step `first` until a grid has a good score; otherwise return the best grid."""
        self._add_step(1.0, first)
        runs = 0
        while self._queue and runs < _CONFIG.max_runs and (self._best is None or not self._best.is_good):
            *_, step = heapq.heappop(self._queue)
            if isinstance(step, _Proposal):
                self._propose(step)
            elif step.passes or not self._is_known(step.corners, _CONFIG.same_grid_squares):
                self._fit(step)
            else:
                continue
            runs += 1
        return self._best

    def _add_step(self, promise: float, step: _Proposal | _Candidate) -> None:
        heapq.heappush(self._queue, (-promise, next(self._numbers), step))

    def _propose(self, step: _Proposal) -> None:
        """Add the finder's candidates, a close-up, and the picture with equalised lighting as further steps."""
        is_equalised = step.is_equalised
        box = step.closeup or (0, 0, self._pyramid.width, self._pyramid.height)
        proposals = self._finder.propose(self._pyramid, box, is_equalised=is_equalised)
        first_promise = _CONFIG.quad_promise * (_CONFIG.equalised_promise if is_equalised else 1)
        for rank, quad in enumerate(proposals.quads):
            self._add_step(first_promise * _CONFIG.rank_promise**rank, _Candidate(quad, is_equalised))
        if step.closeup is not None:
            return
        if proposals.closeup is not None:
            self._add_step(_CONFIG.proposal_promise, _Proposal(proposals.closeup, is_equalised))
        if not is_equalised:
            self.failure_message = proposals.failure_message
            self._add_step(_CONFIG.proposal_promise, _Proposal(None, is_equalised=True))
        elif self._best is not None:
            self._add_step(1.0, _Candidate(self._best.corners, is_equalised=True, passes=1))

    def _is_known(self, corners: Floats, max_squares: float, seen_share: float = 0.0) -> bool:
        """Return True if an earlier fit has corners at most `max_squares` away, and at least `seen_share`."""
        near = (fit for fit in self._fits if _is_same_grid(corners, fit.corners, max_squares))
        return any(fit.seen_share >= seen_share for fit in near)

    def _fit(self, step: _Candidate) -> None:
        """Fit a grid near a candidate, score a grid that is complete or converged, and add another fit of others.

        A fit that comes close to an earlier one is not continued, because it leads to the same grid.
        """
        fit = self._fit_once(step.corners, is_equalised=step.is_equalised)
        if fit is None:
            return
        is_moved = fit.shift_squares > _CONFIG.same_fit_squares
        if is_moved and self._is_known(fit.corners, _CONFIG.same_fit_squares, fit.seen_share):
            return
        self._fits.append(fit)
        corners, promise = fit.corners, fit.seen_share
        is_last = fit.shift_squares < _CONFIG.converged_shift_squares or step.passes + 1 >= _CONFIG.max_fit_passes
        if is_last or fit.seen_share > _CONFIG.full_seen_share:
            grid = self._score_fit(fit, is_equalised=step.is_equalised)
            if is_last or (grid.is_good and fit.shift_squares < _CONFIG.good_shift_squares):
                self._best = grid if self._best is None or grid.score > self._best.score else self._best
                return
            if grid.is_good:
                corners, promise = grid.corners, 1.0
        self._add_step(promise, _Candidate(corners, step.is_equalised, step.passes + 1))

    def _fit_once(self, corners: Floats, *, is_equalised: bool) -> _GridFit | None:
        """Rectify the picture by `corners`, run the lattice network and fit a grid; return None if the fit fails."""
        flat = self._rectify(corners, LATTICE_PX_PER_SQUARE, LATTICE_MARGIN_SQUARES, is_equalised=is_equalised)
        cells = self._lattice(standardise_colours(flat)[None])[0][0]
        fit = fit_lattice(cells, LATTICE_MARGIN_SQUARES)
        if fit is None or fit.seen_share < _CONFIG.min_seen_share:
            return None
        from_cells = homography(corners) @ _cells_to_board()
        corners_after = project(from_cells @ fit.to_cells, grid_corners())
        if not np.isfinite(corners_after).all() or not is_convex(corners_after):
            return None
        shift = float(np.abs(corners_after - corners).max()) / square_side(corners_after)
        if shift > _CONFIG.max_shift_squares:
            return None
        return _GridFit(corners_after, fit.seen_share, shift, cells, from_cells)

    def _score_fit(self, fit: _GridFit, *, is_equalised: bool) -> _ScoredGrid:
        """Compare a fitted grid with the layout, and return its corners and score.

        A complete lattice may be off by whole squares, so shifts are compared as well. If the grid agrees with the
        layout, its corners are moved to the best shift, and fitted again without the squares that tiles cover.
        """
        corners = fit.corners
        max_shift = _CONFIG.max_layout_shift_squares if fit.seen_share > _CONFIG.full_seen_share else 0
        flat = self._rectify(corners, LAYOUT_PX_PER_SQUARE, max_shift, is_equalised=is_equalised)
        layout = compare_with_layout(flat, LAYOUT_PX_PER_SQUARE, max_shift)
        if layout.explained_share > _CONFIG.min_layout_agreement:
            corners = project(homography(corners), grid_corners() + layout.shift)
            corners = fit.refit_without_tiles(corners, layout.uncovered)
        is_larger = is_larger_than_board(fit.cells) and has_squares_outside(
            self._rectify(corners, LAYOUT_PX_PER_SQUARE, 1, is_equalised=is_equalised), LAYOUT_PX_PER_SQUARE
        )
        overhang = float(measure_overhangs(corners, self._pyramid.width, self._pyramid.height).max())
        # By chance, the alternating colours of a tablecloth may agree with the layout.
        is_cloth = layout.is_chequered
        score = 0.0 if is_cloth else _score_grid(corners, layout.explained_share, fit.seen_share, overhang)
        return _ScoredGrid(score, corners, is_larger, is_cloth)

    def _rectify(self, corners: Floats, scale: int, margin: float, *, is_equalised: bool) -> Image:
        """Rectify the board with `corners` and a margin of `margin` squares to `scale` pixels per square."""
        picture, to_level = self._pyramid.find_level(square_side(corners) / scale)
        flat = rectify(picture, to_level @ homography(corners), scale, margin)
        return equalise_lighting(flat) if is_equalised else flat


def _is_same_grid(quad: Floats, corners: Floats, max_squares: float) -> bool:
    """Return True if the corners of two quads `(4, 2)` px are at most `max_squares` squares apart."""
    distances = np.linalg.norm(order_corners(quad) - order_corners(corners), axis=1)
    return bool(distances.max() < max_squares * square_side(corners))


def _compute_side_ratio(corners: Floats) -> float:
    """Return the ratio (>= 1) of the longer to the shorter pair of opposite sides of a quad."""
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
    one, other = float(sides[0] + sides[2]), float(sides[1] + sides[3])
    return max(one, other) / min(one, other)


def _score_grid(corners: Floats, agreement: float, seen_share: float, overhang: float) -> float:
    """Return the score of a grid: its layout agreement, reduced if corners are missing.

    A clear lattice has at least the minimum score. `overhang` is the distance, in squares, by which the grid extends
    beyond the picture.
    """
    # A lattice that skips a row still fits most premium squares, but has fewer corners in their expected positions.
    score = agreement * min(1.0, seen_share / _CONFIG.full_seen_share)
    is_clear = seen_share > _CONFIG.clear_seen_share and overhang < _CONFIG.max_cut_squares
    if is_clear and _compute_side_ratio(corners) < _CONFIG.max_side_ratio:
        # Accept a clear lattice with inconclusive colours: many tiles, unusual light, pale print.
        score = max(score, _CONFIG.min_layout_agreement)
    return score


def _cells_to_board() -> Floats:
    """Return the `(3, 3)` homography from cells of the lattice network's output to board coordinates (squares)."""
    offset = 0.5 - LATTICE_MARGIN_SQUARES
    return np.array([[1.0, 0, offset], [0, 1.0, offset], [0, 0, 1.0]])
