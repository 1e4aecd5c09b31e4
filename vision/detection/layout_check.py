"""Compare the colours of a detected grid with the standard layout of premium squares.

The colours of premium squares differ between editions, but their positions do not, and all uncovered squares of one
kind have the same colour. So the check works for any edition: it computes the share of the colour variation that the
premiums explain. The share is low for a grid that is off by a square or was fitted to the frame.

The hard shadows of leaves or blinds change the brightness of the squares, so the share is low for a board, too. Then it
is computed again from colours without their brightness: it was at most 0.38 on nine labelled photographs with such
shadows drawn on them, and is at least 0.54.

A regular grid whose colours do not agree with the layout may be a board with many tiles, or a chess board, a puzzle or
a floor. To distinguish these, `measure_board_confidence` also uses the classification of the squares. It returned:

- 0.70 or more for rendered boards whose colours do not agree with the layout (11 of 150),
- at most 0.50 for 65 rendered grids of other kinds (`tests.support.other_grids`),
- at most 0.56 for pictures of chess, go, sudoku and crosswords among the photographs (a crossword).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.board import Premium, load_layout
from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image, square_side

_PREMIUMS: Final = tuple(Premium)
_FULL_BOARD_TILES: Final = 100
"""Number of tiles on a full board, as at the end of a game; they cover most premium squares."""
_FULL_BOARD_AGREEMENT: Final = 0.3
"""Amount added to the layout agreement of a board with `_FULL_BOARD_TILES` tiles, which cover premium squares; with
fewer tiles, proportionally less is added."""
_CHANCE_AGREEMENT: Final = 0.1
"""Layout agreement that other grids than boards reach by chance; it counts as no agreement."""
_USUAL_AGREEMENT: Final = 0.45
"""Layout agreement that most boards exceed; it counts as full agreement."""
_CLEARNESS_WEIGHT: Final = 10.0
"""Exponent of the factor by which unclear squares reduce the confidence of a grid. The factor is the geometric mean,
over the squares, of the probability of the best class. The exponent is high, so that unclear squares matter."""
_BOARD_DOUBT_NATS: Final = 0.003
"""Mean doubt, in nats, of the squares of a board with many tiles. If all squares are as clear, it is a board whatever
its colours: the doubt of a clear board of unusual colours is 0.0004 to 0.001, that of the clearest other grid (a screen
of another word game) 0.015."""
_ENOUGH_TILES: Final = 30
"""Number of tiles with which a grid of clear squares is a board: lines alone may be any grid."""
_MAX_SCREEN_OFFSET_SQUARES: Final = 0.06
"""Maximum distance, in squares, of a board's corners from an outline that is exactly parallel to the picture's sides.

A board within this distance counts as aligned, as in a screenshot. The value is twice the usual error of detected
corners.
"""
_MAX_SCREEN_RATIO: Final = 1.05
"""Maximum ratio of the sides of a board in a screenshot or a drawing."""
_PREMIUM_SPREAD_LAB: Final = 8.0
"""Standard deviation of the colours of squares with the same premium, in CIE Lab units."""
_MAX_SQUARED_ERROR: Final = 4.0
"""Maximum squared colour error of an uncovered square, in units of `_PREMIUM_SPREAD_LAB` squared; a square with a
larger error counts as covered."""
_MIN_CONTINUED_SHARE: Final = 0.5
"""Minimum share of plain squares in the row outside a grid for the grid to continue there. On rendered boards of 21 x
21 squares it is about 0.7."""
_MIN_CHEQUER_CONTRAST_LAB: Final = 12.0
"""Minimum difference between the two colours of a chequered block of squares, in CIE Lab units."""
_MIN_CHEQUERED_SHARE: Final = 0.25
"""Minimum share of chequered blocks among the blocks of plain squares for a grid to be chequered. It is at most 0.06 on
the labelled photographs, and 0.53 on a grid that extends over a board and a chequered cloth."""
_RIDGE_WEIGHT: Final = 1e-3
"""Weight of the earlier coefficients in each fit of the colours, relative to one plain square."""
_EM_ROUNDS: Final = 4
"""Number of iterations in which the colours of a grid are fitted."""
_INNER_SHARE: Final = 0.6
"""Side of the central part of a square in which its colour is measured, as a share of the square's side."""
_DARK_LEVEL, _EQUAL_BRIGHTNESS = 8.0, 60.0
"""Grey levels that are added to all colours before their brightness is equalised, so that the noise of dark colours is
not amplified; and the brightness that all colours then have."""
_MIN_WHITE_LEVEL: Final = 30.0
"""Minimum brightness (0..255) that is scaled to white; if a picture's brightest parts are darker, they stay grey."""
_CHANCE_RESIDUAL: Final = 4.0
"""Constant in the denominator of the explained share, in units of `_PREMIUM_SPREAD_LAB` squared. It keeps the share low
for a picture of one or two plain colours, whose small residual is random."""


def layout_premiums() -> NDArray[np.int64]:
    """Return the premium of each square of the standard layout as an array `(15, 15)`.

    The values are 0 plain, 1 double letter, 2 triple letter, 3 double word, 4 triple word.
    """
    return np.array([_PREMIUMS.index(premium) for premium in load_layout().premiums]).reshape(BOARD_SIZE, BOARD_SIZE)


@dataclass(frozen=True, slots=True, eq=False)
class LayoutFit:
    """Agreement between the colours of a grid and the standard layout, for one shift of the grid.

    `explained_share` (0..1) is the share of the colour variation that the premiums explain; tiles and hands are
    treated as outliers. It is about 0 for a wrong grid. `shift` is the shift (right, down) in squares. `uncovered`
    `(15, 15)` is True for squares without a tile or a hand; it is only meaningful if the grid agrees with the layout.
    `colours` `(15, 15, 3)` are the Lab colours of the squares.
    """

    explained_share: float
    shift: tuple[int, int]
    uncovered: NDArray[np.bool_]
    colours: Floats

    @property
    def is_chequered(self) -> bool:
        """True if the squares of the grid alternate between two colours, as on a tablecloth or a chess board.

        Only blocks of 2 x 2 plain squares are examined. In a chequered block, diagonally opposite squares have similar
        colours, and adjacent squares have different ones. A quarter of the blocks is sufficient, because the grid may
        extend over the board and the cloth.
        """
        top, bottom, plain = self.colours[:-1], self.colours[1:], layout_premiums() == 0
        is_plain = plain[:-1, :-1] & plain[:-1, 1:] & plain[1:, :-1] & plain[1:, 1:]
        # Compare the squares along the two diagonals of each block, and then the two diagonals.
        main, other = top[:, :-1] - bottom[:, 1:], top[:, 1:] - bottom[:, :-1]
        across = (top[:, :-1] + bottom[:, 1:] - top[:, 1:] - bottom[:, :-1]) / 2
        unlike = np.maximum(np.linalg.norm(main, axis=2), np.linalg.norm(other, axis=2))
        contrast = np.linalg.norm(across, axis=2)
        is_alternating = (contrast > _MIN_CHEQUER_CONTRAST_LAB) & (unlike < contrast / 2)
        return bool(is_alternating[is_plain].mean() > _MIN_CHEQUERED_SHARE)


def measure_lab_colours(flat: Image, pixels_per_square: int) -> Floats:
    """Return the mean CIE Lab colour of each square of a rectified picture, `(rows, columns, 3)`.

    `flat` is `(rows * pixels_per_square, columns * pixels_per_square, 3) uint8 BGR`. Only the central part of each
    square is used.
    """
    rows, columns = flat.shape[0] // pixels_per_square, flat.shape[1] // pixels_per_square
    # Scale the brightness of a dark picture to the usual range.
    white_level = max(float(np.percentile(flat[::4, ::4], 98)), _MIN_WHITE_LEVEL)
    lab = cv2.cvtColor(np.minimum(flat.astype(np.float32) / white_level, 1), cv2.COLOR_BGR2Lab)
    squares = lab[: rows * pixels_per_square, : columns * pixels_per_square].reshape(
        rows, pixels_per_square, columns, pixels_per_square, 3
    )
    rim = round(pixels_per_square * (1 - _INNER_SHARE) / 2)
    return np.asarray(squares[:, rim:-rim, :, rim:-rim].mean(axis=(1, 3)), np.float64)


def compare_with_layout(flat: Image, pixels_per_square: int, max_shift: int) -> LayoutFit:
    """Return the best agreement of a grid with the layout, at shifts of up to `max_shift` squares.

    `flat` is the rectified grid with a margin of `max_shift` squares, as for `measure_lab_colours`. If the colours do
    not agree with the layout, they are compared at other shifts, and without their brightness, which shadows change.
    """
    inner = slice(max_shift * pixels_per_square, len(flat) - max_shift * pixels_per_square)
    fit = fit_layout(measure_lab_colours(flat[inner, inner], pixels_per_square), 0)
    if fit.explained_share >= _USUAL_AGREEMENT:
        return fit
    colours = measure_lab_colours(flat, pixels_per_square)
    shifted = fit_layout(colours, max_shift) if max_shift else fit
    unshaded = fit_layout(measure_lab_colours(_equalise_brightness(flat), pixels_per_square), max_shift)
    unshaded = replace(unshaded, colours=_select_squares(colours, unshaded.shift, max_shift))
    return max(fit, shifted, unshaded, key=lambda each: each.explained_share)


def fit_layout(colours: Floats, max_shift: int) -> LayoutFit:
    """Compare the colours with the layout at the best shift of up to `max_shift` squares.

    `colours` `(15 + 2 * max_shift, 15 + 2 * max_shift, 3)` are the Lab colours of the grid's squares and of
    `max_shift` further squares on each side. At the best shift, the colours of each premium vary least: of 144 grids on
    photographs that were moved by one or two squares, it was always the right one.
    """
    windows = np.lib.stride_tricks.sliding_window_view(colours, (BOARD_SIZE, BOARD_SIZE), axis=(0, 1))
    grids = windows.reshape(-1, 3, BOARD_SIZE * BOARD_SIZE).transpose(0, 2, 1)
    down, right = divmod(int(np.argmin(_compare_variances(grids))), 2 * max_shift + 1)
    shift = (right - max_shift, down - max_shift)
    squares = _select_squares(colours, shift, max_shift)
    explained_share, uncovered = _fit_models(squares.reshape(-1, 3))
    return LayoutFit(explained_share, shift, uncovered.reshape(BOARD_SIZE, BOARD_SIZE), squares)


def has_squares_outside(flat: Image, pixels_per_square: int) -> bool:
    """Return True if the plain squares of a grid continue beyond two opposite sides, as on a board of 21 x 21 squares.

    `flat` is the rectified grid with a margin of one square, as for `measure_lab_colours`. A tablecloth with a pattern
    of squares has other colours than the board that lies on it.
    """
    colours, premiums = measure_lab_colours(flat, pixels_per_square), layout_premiums()
    is_continued = []
    for turn in range(4):  # the layout is the same on all sides
        # With this side on top: the row of squares beyond the grid, then the first two rows of the grid.
        outside, *grid_rows = np.rot90(colours, turn)[:3, 1:-1]
        plain = np.median(np.stack(grid_rows)[premiums[:2] == 0], axis=0)
        is_plain = ((outside - plain) ** 2).sum(axis=1) < _MAX_SQUARED_ERROR * _PREMIUM_SPREAD_LAB**2
        is_continued.append(bool(is_plain.mean() > _MIN_CONTINUED_SHARE))
    return (is_continued[0] and is_continued[2]) or (is_continued[1] and is_continued[3])


def measure_board_confidence(flat: Image, pixels_per_square: int, kinds_p: NDArray[np.float32]) -> float:
    """Return the confidence (0..1) that a grid is a board, from the colours and the classification of its squares.

    `flat` is the rectified grid without a margin, as for `measure_lab_colours`. `kinds_p` `(15, 15, 3)` are the square
    network's probabilities of empty, tile and hidden.
    """
    # Compare the colours with the layout. Tiles cover premium squares, so a full board need not agree.
    agreement = compare_with_layout(flat, pixels_per_square, 0).explained_share
    tile_count = float((kinds_p.argmax(axis=2) == 1).sum())
    support = agreement + _FULL_BOARD_AGREEMENT * min(tile_count / _FULL_BOARD_TILES, 1.0)
    # The square network was trained on boards only: squares of other things are doubtful.
    doubt = -float(np.log(kinds_p.max(axis=2)).mean())
    by_squares = np.exp(-doubt / _BOARD_DOUBT_NATS) * min(tile_count / _ENOUGH_TILES, 1.0)
    by_colours = grade_agreement(support)
    return float((by_colours + (1 - by_colours) * by_squares) * np.exp(-doubt * _CLEARNESS_WEIGHT))


def grade_agreement(agreement: float) -> float:
    """Convert layout agreement linearly to a confidence: agreement by chance to 0, usual agreement to 1."""
    return float(np.clip((agreement - _CHANCE_AGREEMENT) / (_USUAL_AGREEMENT - _CHANCE_AGREEMENT), 0, 1))


def is_aligned_rectangle(corners: Floats) -> bool:
    """Return True if a quad `(4, 2)` px is nearly a square, and exactly parallel to the picture's sides.

    The board in a screenshot or a drawing usually is. A camera above a table is hardly ever aligned that well.
    """
    distances = np.abs(corners - corners.mean(axis=0))
    halves = distances.mean(axis=0)
    offset = np.abs(distances - halves).max()
    is_square = halves.max() < _MAX_SCREEN_RATIO * halves.min()
    return bool(is_square and offset < _MAX_SCREEN_OFFSET_SQUARES * square_side(corners))


def _select_squares(colours: Floats, shift: tuple[int, int], max_shift: int) -> Floats:
    """Return the 15 x 15 squares of `colours` at a shift (right, down), which is at most `max_shift` squares."""
    x, y = shift[0] + max_shift, shift[1] + max_shift
    return colours[y : y + BOARD_SIZE, x : x + BOARD_SIZE]


def _equalise_brightness(picture: Image) -> Image:
    """Give all pixels of a picture `(H, W, 3) uint8` the same mean of the three channels.

    Hard shadows, of leaves or blinds for example, change the brightness of a colour, but hardly its hue.
    """
    raised = picture.astype(np.float32) + _DARK_LEVEL
    return np.asarray(np.clip(_EQUAL_BRIGHTNESS * raised / raised.mean(axis=2, keepdims=True), 0, 255), np.uint8)


def _compare_variances(grids: Floats) -> Floats:
    """Return the variance of the colours of each premium as a share of the variance of all colours, `(n,)`.

    `grids` `(n, 225, 3)` are the Lab colours of n grids. Tiles are not treated as outliers, so the share only ranks.
    """
    is_member = _PREMIUM_MODEL.board_design[:, : len(_PREMIUM_MODEL.members)]
    means = is_member.T @ grids / is_member.sum(axis=0)[:, None]
    within = ((grids - is_member @ means) ** 2).sum(axis=2) @ _SQUARE_WEIGHTS
    total = ((grids - grids.mean(axis=1, keepdims=True)) ** 2).sum(axis=2) @ _SQUARE_WEIGHTS
    return np.asarray(within / np.maximum(total, 1e-9))


def _compare_colours(colours: Floats) -> Floats:
    """Return the pairwise similarities (0..1) of `colours` `(n, 3)` as a matrix `(n, n)`, with a Gaussian kernel."""
    squared_distances = sum(np.subtract.outer(channel, channel) ** 2 for channel in colours.T)
    return np.asarray(np.exp(-squared_distances / (2 * _PREMIUM_SPREAD_LAB**2)), np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _LayoutModel:
    """Linear model of the colours of 225 squares: a colour for each premium, a tile colour, and smooth lighting."""

    members: tuple[NDArray[np.int64], ...]
    """Indices (0..224) of the squares of each premium."""
    board_design: Floats
    """`(225, premiums + 1 + 3)`: design matrix under the assumption that every square is uncovered."""
    tile_design: Floats
    """`(225, premiums + 1 + 3)`: design matrix under the assumption that every square has a tile."""

    @classmethod
    def from_premiums(cls, premiums: NDArray[np.int64]) -> _LayoutModel:
        premium_count = int(premiums.max()) + 1
        columns, rows = np.meshgrid(np.arange(BOARD_SIZE), np.arange(BOARD_SIZE))
        x, y = (columns.ravel() - 7) / 7, (rows.ravel() - 7) / 7  # -1 to 1 over the board
        light = np.column_stack([x, y, x * y])
        board = np.column_stack([np.eye(premium_count + 1)[premiums], light])
        tiles = np.column_stack([np.eye(premium_count + 1)[np.full(len(premiums), premium_count)], light])
        return cls(tuple(np.flatnonzero(premiums == premium) for premium in range(premium_count)), board, tiles)


def _fit_models(colours: Floats) -> tuple[float, NDArray[np.bool_]]:
    """Fit two colour models, and compare their errors: one colour for all squares, and one colour for each premium.

    `colours` `(225, 3)` are the Lab colours of the squares of a grid. Returns the share of the colour variation that
    the premiums explain, and a mask of uncovered squares, `(225,)`.
    """
    similarity = _compare_colours(colours)
    # The plain squares that differ from the most common colour probably have tiles: take their most common colour.
    plain = _PREMIUM_MODEL.members[0]
    most_common = _find_most_common(similarity, np.ones(len(colours)), plain)
    tile = _find_most_common(similarity, 1 - similarity[most_common], plain)
    as_board, as_tile = _fit_colours(_PREMIUM_MODEL, colours, similarity, tile)
    premium_error = _sum_errors(as_board, as_tile)
    uniform_error = _sum_errors(*_fit_colours(_UNIFORM_MODEL, colours, similarity, tile))
    uncovered = (as_board < as_tile) & (as_board < _MAX_SQUARED_ERROR)
    return (uniform_error - premium_error) / (uniform_error + _CHANCE_RESIDUAL), uncovered


def _find_most_common(similarity: Floats, weights: Floats, among: NDArray[np.int64]) -> int:
    """Return the index of the square with the most common colour among the squares with the indices `among`.

    `similarity` `(225, 225)` are the pairwise similarities of the colours, `weights` `(225,)` the weights of the
    squares.
    """
    compared = np.zeros_like(weights)
    compared[among] = weights[among]
    frequency = (similarity[among] @ compared) * weights[among]
    return int(among[frequency.argmax()])


def _sum_errors(as_board: Floats, as_tile: Floats) -> float:
    """Return the weighted sum of the squares' errors under a colour model; a large sum means a bad fit.

    `as_board` and `as_tile` `(225,)` are the squared colour errors of each square as an uncovered square and as a
    tile; the smaller of the two counts. An error e adds e / (1 + e) times the weight of the square (Geman-McClure), so
    that outliers have little influence.
    """
    errors = np.minimum(as_board, as_tile)
    return float((_SQUARE_WEIGHTS * errors / (1 + errors)).sum())


def _fit_colours(model: _LayoutModel, colours: Floats, similarity: Floats, tile: int) -> tuple[Floats, Floats]:
    """Fit a colour model; return the squared colour error of each square if it is uncovered, and if it has a tile.

    Alternates between two steps: classify each square as uncovered or tile, and fit the colours by regression.
    `colours` `(225, 3)` are the Lab colours of the squares, `similarity` `(225, 225)` their pairwise similarities.
    `tile` is the index of a square that probably has a tile. Both results are `(225,)`.
    """
    # Initialise each premium with the most common colour among its squares that differs from the tile colour.
    uncovered_weight = 1 - 0.9 * similarity[tile]
    typical = [_find_most_common(similarity, uncovered_weight, squares) for squares in model.members]
    beta = np.pad(colours[[*typical, tile]], [(0, 3), (0, 0)])
    # Classify and fit in turn. A small ridge penalty keeps the coefficients of premiums that tiles cover completely.
    ridge = _RIDGE_WEIGHT * np.eye(len(beta))
    for _ in range(_EM_ROUNDS):
        as_board, as_tile = _compute_squared_errors(model, colours, beta)
        design = np.where((as_tile < as_board)[:, None], model.tile_design, model.board_design)
        weighted = design * (_SQUARE_WEIGHTS / (1 + np.minimum(as_board, as_tile)) ** 2)[:, None]
        beta = np.linalg.solve(weighted.T @ design + ridge, weighted.T @ colours + _RIDGE_WEIGHT * beta)
    return _compute_squared_errors(model, colours, beta)


def _compute_squared_errors(model: _LayoutModel, colours: Floats, beta: Floats) -> tuple[Floats, Floats]:
    """Return the squared colour error of each square under two assumptions, `(225,)` each: uncovered, with a tile.

    Squared errors are in units of the square of `_PREMIUM_SPREAD_LAB`, the usual spread of one colour.
    """
    as_board, as_tile = (
        ((colours - design @ beta) ** 2).sum(axis=1) / _PREMIUM_SPREAD_LAB**2
        for design in (model.board_design, model.tile_design)
    )
    return as_board, as_tile


_PREMIUM_MODEL: Final = _LayoutModel.from_premiums(layout_premiums().ravel())
_UNIFORM_MODEL: Final = _LayoutModel.from_premiums(np.zeros(BOARD_SIZE * BOARD_SIZE, np.int64))
_SQUARE_WEIGHTS: Final = np.where(layout_premiums().ravel() > 0, 164 / 61, 1.0)
"""Weight of each square, `(225,)`: all premium squares together weigh as much as all plain squares."""
