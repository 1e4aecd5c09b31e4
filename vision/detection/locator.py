"""Find the board in a picture: detect candidates, fit the grid, compare colours with the standard layout.

1. The finder network takes the whole picture, scaled to 256 x 256 pixels, and predicts a heat map of grid corners and a
   mask of cells on the grid. Candidate quads are made from both. If none of them leads to a good grid, the network also
   takes a close-up of the largest region of the mask.
2. The lattice network takes the picture rectified by a candidate and predicts the corners of squares. A homography is
   fitted to these corners. Rectification and fit are repeated until the corners converge.
3. The colours of the 225 squares are compared with the standard layout; the candidate that agrees best is the result.
4. If no board is found or the agreement is low, steps 1 to 3 are repeated on the picture with equalised lighting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.messages import make_message
from vision.detection.finder import Finder
from vision.detection.image_pyramid import ImagePyramid
from vision.detection.lattice import fit_lattice, is_larger_than_board, refit_lattice
from vision.detection.layout_check import LayoutFit, compare_with_layout, grade_agreement, has_squares_outside
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
    start_offsets_squares: tuple[tuple[float, float], ...] = ((0.0, 0.0), (0.5, 0.5), (0.5, 0.0), (0.0, 0.5))
    """Shifts (right, down) of a candidate, in squares, that are tried in this order until a fit succeeds. A candidate
    may be off by half a square."""
    max_fit_passes: int = 6
    """Maximum number of fits of one candidate; one or two are usual."""
    max_passes: int = 30
    """Maximum number of runs of the lattice network on one picture, after which the best grid so far is the result. One
    is usual; of 250 photographs, one needs 14, and a board on a chequered tablecloth up to 26."""
    converged_shift_squares: float = 0.2
    """Maximum movement of a corner by the last fit, in squares; after a larger movement, another fit is made."""
    clear_shift_squares: float = 1.2
    """Maximum movement of a corner, in squares, by a last fit with which nearly all corners agree (`clear_seen_share`).
    On 102 photographs, another fit after it reduced the mean error of the corners by only 0.006 of a square."""
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

    `fitted` `(4, 2)` are the corners before they were aligned with the layout. `is_larger` is True if the squares
    continue beyond the grid, as on a board of 21 x 21 squares. `is_chequered` is True for a grid on a chequered
    tablecloth, whose score is 0.
    """

    score: float
    corners: Floats
    fitted: Floats
    is_larger: bool
    is_chequered: bool


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

    @property
    def is_stable(self) -> bool:
        """True if another fit would hardly move the corners."""
        is_clear = self.seen_share > _CONFIG.clear_seen_share
        return self.shift_squares < (_CONFIG.clear_shift_squares if is_clear else _CONFIG.converged_shift_squares)

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
        search = _GridSearch(self._lattice, _CONFIG.max_passes)
        grid, failure_message = self._find_best_grid(image, search, [])
        if not _is_good(grid) and search.passes_left > 0:
            likely = [] if grid is None else [grid.corners]
            equalised_grid, _ = self._find_best_grid(equalise_lighting(image), search, likely)
            grid = _choose_better_grid(grid, equalised_grid)
        if grid is None:
            raise BoardNotFoundError(failure_message)
        if grid.is_larger:
            raise BoardNotFoundError(OTHER_GRID_MESSAGE)
        return BoardLocation(order_corners(grid.corners), grade_agreement(grid.score))

    def _find_best_grid(
        self, image: Image, search: _GridSearch, likely: list[Floats]
    ) -> tuple[_ScoredGrid | None, str]:
        """Return the grid with the highest score, or None, and the error message to use if no board is found.

        The corners `likely` are tried before the candidates of the finder.
        """
        height, width = image.shape[:2]
        pyramid = ImagePyramid(image)
        proposals = self._finder.propose(pyramid, (0, 0, width, height))
        best = search.find(pyramid, [*likely, *proposals.quads])
        if not _is_good(best) and proposals.closeup is not None and search.passes_left > 0:
            closeup_quads = self._finder.propose(pyramid, proposals.closeup).quads
            best = _choose_better_grid(best, search.find(pyramid, closeup_quads))
        if best is None or best.score < _CONFIG.min_layout_agreement:
            is_cloth = best is not None and best.is_chequered
            return None, OTHER_GRID_MESSAGE if is_cloth else proposals.failure_message
        overhangs = measure_overhangs(best.corners, width, height)
        if overhangs.max() > _MAX_OVERHANG_SQUARES:
            return None, CUT_OFF_MESSAGES[int(overhangs.argmax())]
        return best, proposals.failure_message

    def follow(self, image: Image, corners: Floats) -> BoardLocation:
        """Detect the board near its `(4, 2)` corners in an earlier picture, and preserve the order of the corners.

        Much cheaper than `locate`. Raises `BoardNotFoundError` if the board has moved by more than a square or is gone.
        """
        grid = _GridSearch(self._lattice, _CONFIG.max_passes).find(ImagePyramid(image), [corners])
        if grid is None or grid.score < _CONFIG.min_layout_agreement:
            raise BoardNotFoundError(make_message("board-moved", "The board is no longer where it was. Move it back."))
        return BoardLocation(grid.corners, grade_agreement(grid.score), LocationSource.FOLLOWED)


class _GridSearch:
    """Search for a grid near candidates in one picture, with a limited number of runs of the lattice network.

    `passes_left` is the number of runs that are left.
    """

    def __init__(self, lattice: Net, passes: int) -> None:
        self._lattice = lattice
        self.passes_left = passes

    def find(self, pyramid: ImagePyramid, quads: list[Floats]) -> _ScoredGrid | None:
        """Fit the candidates `quads` in order; return the first grid with a good score, otherwise the best grid."""
        grids: list[_ScoredGrid] = []
        for quad in quads:
            if any(_is_same_grid(quad, grid.corners) for grid in grids):
                continue
            grid = self._fit_grid(pyramid, quad, grids)
            if grid is not None:
                grids.append(grid)
            if _is_good(grid):
                return grid
        return max(grids, key=lambda grid: grid.score, default=None)

    def _fit_grid(self, pyramid: ImagePyramid, quad: Floats, known: list[_ScoredGrid]) -> _ScoredGrid | None:
        """Fit a grid near the candidate `quad`; return the grid's score and corners.

        Returns None if the fit fails, or leads to one of the grids `known`.
        """
        picture, scale = pyramid.find_level(square_side(quad) / LATTICE_PX_PER_SQUARE)
        known_fits = [(grid.fitted + 0.5) * scale - 0.5 for grid in known]
        fit = self._fit_until_stable(picture, (quad + 0.5) * scale - 0.5, known_fits)
        if fit is None:
            return None
        fitted = (fit.corners + 0.5) / scale - 0.5
        corners, agreement, is_chequered = _align_with_layout(picture, fit)
        is_larger = is_larger_than_board(fit.cells) and has_squares_outside(
            rectify(picture, homography(corners), LAYOUT_PX_PER_SQUARE, 1), LAYOUT_PX_PER_SQUARE
        )
        corners = (corners + 0.5) / scale - 0.5
        overhang = float(measure_overhangs(corners, pyramid.width, pyramid.height).max())
        # By chance, the alternating colours of a tablecloth may agree with the layout.
        score = 0.0 if is_chequered else _score_grid(corners, agreement, fit.seen_share, overhang)
        return _ScoredGrid(score, corners, fitted, is_larger, is_chequered)

    def _fit_until_stable(self, picture: Image, corners: Floats, known: list[Floats]) -> _GridFit | None:
        """Repeat rectification and fit until the corners converge.

        Returns None if no grid can be fitted, or if the corners come close to one of the grids `known`.
        """
        for offset in _CONFIG.start_offsets_squares:
            fit = self._fit_once(picture, project(homography(corners), grid_corners() + offset))
            if fit is not None:
                break
        for _ in range(_CONFIG.max_fit_passes):
            if fit is None or any(_is_same_grid(fit.corners, corners, _CONFIG.same_fit_squares) for corners in known):
                return None
            if fit.is_stable:
                break
            fit = self._fit_once(picture, fit.corners)
        return fit

    def _fit_once(self, picture: Image, corners: Floats) -> _GridFit | None:
        """Rectify the picture by `corners`, run the lattice network and fit a grid; return None if the fit fails."""
        if self.passes_left <= 0:
            return None
        self.passes_left -= 1
        flat = rectify(picture, homography(corners), LATTICE_PX_PER_SQUARE, LATTICE_MARGIN_SQUARES)
        cells = self._lattice(standardise_colours(flat)[None])[0][0]
        fit = fit_lattice(cells, LATTICE_MARGIN_SQUARES)
        if fit is None or fit.seen_share < _CONFIG.min_seen_share:
            return None
        from_cells = homography(corners) @ _cells_to_board()
        corners_after = project(from_cells @ fit.to_cells, grid_corners())
        if not np.isfinite(corners_after).all() or not is_convex(corners_after):
            return None
        shift = float(np.abs(corners_after - corners).max()) / square_side(corners_after)
        return _GridFit(corners_after, fit.seen_share, shift, cells, from_cells)


def _is_good(grid: _ScoredGrid | None) -> bool:
    """Return True if a grid has a score that ends the search."""
    return grid is not None and grid.score >= _CONFIG.good_layout_agreement


def _is_same_grid(quad: Floats, corners: Floats, max_squares: float = _CONFIG.same_grid_squares) -> bool:
    """Return True if the corners of two quads `(4, 2)` px are at most `max_squares` squares apart.

    The fit of a candidate that is so close to a fitted grid would be the same.
    """
    distances = np.linalg.norm(order_corners(quad) - order_corners(corners), axis=1)
    return bool(distances.max() < max_squares * square_side(corners))


def _choose_better_grid(one: _ScoredGrid | None, other: _ScoredGrid | None) -> _ScoredGrid | None:
    """Return the grid with the higher score. None is worse than any grid; equal scores give `one`."""
    return max((grid for grid in (one, other) if grid is not None), key=lambda grid: grid.score, default=None)


def _compute_side_ratio(corners: Floats) -> float:
    """Return the ratio (>= 1) of the longer to the shorter pair of opposite sides of a quad."""
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
    one, other = float(sides[0] + sides[2]), float(sides[1] + sides[3])
    return max(one, other) / min(one, other)


def _align_with_layout(picture: Image, fit: _GridFit) -> tuple[Floats, float, bool]:
    """Compare a fitted grid with the layout; return its corners `(4, 2)` px, its agreement, and if it is chequered.

    A complete lattice may be off by whole squares. If the layout agrees better at another shift, the corners are moved
    there. If the grid agrees with the layout, its corners are fitted again without the squares that tiles cover.
    """
    corners = fit.corners
    layout = _compare_layout(picture, corners, 0)
    agreement = layout.explained_share
    if agreement < _CONFIG.good_layout_agreement and fit.seen_share > _CONFIG.full_seen_share:
        best = _compare_layout(picture, corners, _CONFIG.max_layout_shift_squares)
        if best.explained_share > _CONFIG.min_layout_agreement:
            agreement = best.explained_share
            corners = project(homography(corners), grid_corners() + best.shift)
            layout = _compare_layout(picture, corners, 0)
    if agreement > _CONFIG.min_layout_agreement:
        corners = fit.refit_without_tiles(corners, layout.uncovered)
    return corners, agreement, layout.is_chequered


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


def _compare_layout(picture: Image, corners: Floats, around: int) -> LayoutFit:
    """Return the best agreement of a grid with the standard layout, with shifts of up to `around` squares."""
    flat = rectify(picture, homography(corners), LAYOUT_PX_PER_SQUARE, around)
    return compare_with_layout(flat, LAYOUT_PX_PER_SQUARE, around)


def _cells_to_board() -> Floats:
    """Return the `(3, 3)` homography from cells of the lattice network's output to board coordinates (squares)."""
    offset = 0.5 - LATTICE_MARGIN_SQUARES
    return np.array([[1.0, 0, offset], [0, 1.0, offset], [0, 0, 1.0]])
