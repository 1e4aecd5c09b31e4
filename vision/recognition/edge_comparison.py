"""Compare the edges of squares without a letter with those of the empty squares and the tiles of the same board.

A blank may have exactly the colour of the board, but a tile covers the lines, ridges or gaps between squares. The look
of an edge depends on the board, on the lighting of each side of a square, and on tiles nearby. So each side of a square
is compared with the same side of tiles and of empty squares on the same board.
"""

from __future__ import annotations

from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.board import Premium, load_layout
from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image
from vision.recognition.colour_comparison import SQUARE_PREMIUMS, average_nearby_colours, covariance, log_likelihood
from vision.recognition.views import VIEW_MARGIN_SQUARES, VIEW_PX_PER_SQUARE

_EDGE_OFFSETS_PX: Final = np.arange(-2, 2)
"""Rows of pixels that are sampled across the edge between two squares, relative to that edge."""
_CORNER_PX: Final = 3
"""Number of pixels left out at both ends of an edge, because other squares also touch the edge there."""
_MIN_SIDES: Final = 8
"""Minimum number of edges of tiles, or of empty squares, to estimate the distribution of their log-colours."""
_MIN_EDGE_SPREAD: Final = 0.05
"""Minimum standard deviation of the log-colours across edges of tiles or of empty squares."""
_MAX_SIDE_LOG_RATIO_NATS: Final = 4.0
"""Maximum absolute log-likelihood ratio of one edge, in nats; larger ratios are clipped. The value is not critical:
this constant, `_MIN_SIDES` and `_MIN_EDGE_SPREAD` can be 50 % larger or 25 % smaller without more errors on rendered
scenes."""
_IS_PREMIUM: Final = np.array([premium is not Premium.NONE for premium in load_layout().premiums])


def compute_edge_log_ratio(
    view: Image, colours: Floats, empty: NDArray[np.bool_], tiles: NDArray[np.bool_], mask: NDArray[np.bool_]
) -> Floats:
    """Return the log-likelihood ratio tile : empty (nats) of the edges of the squares in `mask`, as `(225,)`.

    `view` is the rectified board, `colours` the result of `measure_log_colours(view)`. The masks `empty` and `tiles`
    `(225,)` mark squares that are certainly empty or certainly tiles; their edges are the reference.

    The result is the sum over the four edges of a square. An edge counts only if the square on its other side is
    certain, because next to a hand or the frame there is no line. The result is 0 for squares outside `mask`, and for
    all squares if too few are certain.
    """
    answer = np.zeros(BOARD_SIZE * BOARD_SIZE)
    plain = np.flatnonzero(empty & ~_IS_PREMIUM)
    if len(plain) < _MIN_SIDES or not mask.any():
        return answer
    light = average_nearby_colours(colours, plain, np.arange(BOARD_SIZE * BOARD_SIZE))
    edges = (_measure_edges(view) - light[:, None, None]).reshape(BOARD_SIZE * BOARD_SIZE, 4, -1)
    next_to = [
        find_neighbours(squares.reshape(BOARD_SIZE, BOARD_SIZE)).reshape(BOARD_SIZE * BOARD_SIZE, 4)
        for squares in (tiles, empty)
    ]
    for sides, side in product(next_to, range(4)):
        for kind in np.unique(SQUARE_PREMIUMS[mask & sides[:, side]]):
            own = kind == SQUARE_PREMIUMS
            # Compare the edges with those of tiles and of empty squares of this kind. If there are too few empty ones,
            # take those of all premium squares, or of all plain squares.
            here = mask & own & sides[:, side]
            of_tiles, of_bare = (_select_edges(edges, which, sides, side) for which in (tiles, empty & own))
            if len(of_bare) < _MIN_SIDES:
                of_bare = _select_edges(edges, empty & np.equal(_IS_PREMIUM, _IS_PREMIUM[here][0]), sides, side)
            if min(len(of_tiles), len(of_bare)) >= _MIN_SIDES:
                odds = _compute_edge_likelihood(edges[here, side], of_tiles) - _compute_edge_likelihood(
                    edges[here, side], of_bare
                )
                answer[here] += np.clip(odds, -_MAX_SIDE_LOG_RATIO_NATS, _MAX_SIDE_LOG_RATIO_NATS)
    return answer


def find_neighbours(squares: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return, for each square, the values of its top, right, bottom and left neighbours: `(..., 15, 15, 4)`.

    `squares` is a mask `(..., 15, 15)`. A neighbour outside the board is False.
    """
    around = np.pad(squares, [(0, 0)] * (squares.ndim - 2) + [(1, 1), (1, 1)])
    above, below = around[..., :-2, 1:-1], around[..., 2:, 1:-1]
    left, right = around[..., 1:-1, :-2], around[..., 1:-1, 2:]
    return np.stack([above, right, below, left], axis=-1)


def _measure_edges(view: Image) -> Floats:
    """Return the mean log-colours across the four edges of each square: `(225, 4, 3 pixels, 3 channels)`.

    Edges are in clockwise order from the top; pixels run from the last pixel outside the square to the second inside.
    """
    lying, standing = _measure_row_edges(view), _measure_row_edges(view.transpose(1, 0, 2)).transpose(1, 0, 2, 3)
    # The lower edge of a square is the upper edge of the next one, with its pixels in reverse order.
    sides = [lying[:-1], standing[:, 1:, ::-1], lying[1:, :, ::-1], standing[:, :-1]]
    return np.stack(sides, axis=2).reshape(BOARD_SIZE * BOARD_SIZE, 4, len(_EDGE_OFFSETS_PX), 3)[:, :, 1:]


def _measure_row_edges(view: Image) -> Floats:
    """Return mean log-colours across horizontal edges of squares: `(16 edges, 15 columns, 4 pixels, 3 channels)`."""
    border = VIEW_MARGIN_SQUARES * VIEW_PX_PER_SQUARE
    rows = border + VIEW_PX_PER_SQUARE * np.arange(BOARD_SIZE + 1)[:, None] + _EDGE_OFFSETS_PX
    strips = view[rows, border:-border].reshape(
        BOARD_SIZE + 1, len(_EDGE_OFFSETS_PX), BOARD_SIZE, VIEW_PX_PER_SQUARE, 3
    )
    colours = strips[:, :, :, _CORNER_PX:-_CORNER_PX].mean(axis=3)
    return np.asarray(np.log(colours + 8.0).transpose(0, 2, 1, 3), np.float64)


def _select_edges(edges: Floats, which: NDArray[np.bool_], sides: NDArray[np.bool_], side: int) -> Floats:
    """Return the edge measurements `(n, 9)` on side `side` (0..3) of the squares in `which` `(225,)`.

    A row has the logarithms of three colour channels at three places across the edge. `sides` `(225, 4)` marks the
    usable edges. If too few are usable on that side, those of all four sides are returned.
    """
    here = edges[which & sides[:, side], side]
    return here if len(here) >= _MIN_SIDES else edges[which[:, None] & sides]


def _compute_edge_likelihood(seen: Floats, known: Floats) -> Floats:
    usual = np.median(known, axis=0)
    return log_likelihood(seen - usual, covariance(known - usual, _MIN_EDGE_SPREAD))
