"""Evidence for blanks from edges: an empty square shows the lines of the board, and a tile covers them.

A blank may have exactly the colour of the board, but it covers the lines, ridges or gaps between squares. These look
different on each board, on each side of a square (because of the light) and next to a tile, so each side of a square is
compared with the same side of tiles and empty squares of the same board.
"""

from __future__ import annotations

from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.board import Premium, load_layout
from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image
from vision.recognition.blank_by_colour import SQUARE_KINDS, average_nearby_colours, covariance, log_likelihood
from vision.recognition.squares import VIEW_MARGIN_SQUARES, VIEW_PX_PER_SQUARE

_EDGE_OFFSETS_PX: Final = np.arange(-2, 2)
"""Pixels of a rectified board across each edge, relative to it."""
_CORNER_PX: Final = 3
"""Pixels at both ends of an edge that are left out, because they belong to other squares as well."""
_MIN_SIDES: Final = 8
"""Least number of sides of a sort to estimate its appearance."""
_MIN_COLOUR_SPREAD: Final = 0.05
"""Least standard deviation of the log-colours of sides of one sort."""
_MAX_SIDE_LOG_RATIO_NATS: Final = 4.0
"""Clip of the log-likelihood ratio of one side, in nats. Values 50 % larger or 25 % smaller, of this and of the two
above, are as good on rendered scenes."""
_IS_PREMIUM: Final = np.array([premium is not Premium.NONE for premium in load_layout().premiums])


def compute_edge_log_ratio(
    view: Image, colours: Floats, empty: NDArray[np.bool_], tiles: NDArray[np.bool_], asked: NDArray[np.bool_]
) -> Floats:
    """Return the log-likelihood ratio tile : empty of the edges of each `asked` square, `(225,)` nats.

    `view` is the rectified board, `colours` its `measure_log_colours`. `empty` and `tiles` mark the squares known to be
    one or the other, `(225,)` each. The ratios of the four sides are added; the sum is 0 for squares that are not asked
    and if too little is known. A side counts only if the square next to it is known: there is no line next to a hand or
    the frame.
    """
    answer = np.zeros(BOARD_SIZE * BOARD_SIZE)
    plain = np.flatnonzero(empty & ~_IS_PREMIUM)
    if len(plain) < _MIN_SIDES:
        return answer
    light = average_nearby_colours(colours, plain, np.arange(BOARD_SIZE * BOARD_SIZE))
    edges = (_measure_edges(view) - light[:, None, None]).reshape(BOARD_SIZE * BOARD_SIZE, 4, -1)
    next_to = [
        find_neighbours(squares.reshape(BOARD_SIZE, BOARD_SIZE)).reshape(BOARD_SIZE * BOARD_SIZE, 4)
        for squares in (tiles, empty)
    ]
    for sides, side in product(next_to, range(4)):
        for kind in np.unique(SQUARE_KINDS[asked & sides[:, side]]):
            own = kind == SQUARE_KINDS
            here = asked & own & sides[:, side]
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
    """Return a mask `(..., 15, 15, 4)` of the top, right, bottom and left neighbours of each square.

    A neighbour is True if it is in the mask `squares` `(..., 15, 15)`, and False outside the board.
    """
    around = np.pad(squares, [(0, 0)] * (squares.ndim - 2) + [(1, 1), (1, 1)])
    above, below = around[..., :-2, 1:-1], around[..., 2:, 1:-1]
    left, right = around[..., 1:-1, :-2], around[..., 1:-1, 2:]
    return np.stack([above, right, below, left], axis=-1)


def _measure_edges(view: Image) -> Floats:
    """Return the log-colours of the pixels across the sides of each square: `(225, 4, 3, 3)`.

    Sides are clockwise from the top; the pixels run from the last one outside the square to the second one inside.
    """
    lying, standing = _measure_row_edges(view), _measure_row_edges(view.transpose(1, 0, 2)).transpose(1, 0, 2, 3)
    # The lower edge of a square is the upper edge of the next one, with its pixels in reverse order.
    sides = [lying[:-1], standing[:, 1:, ::-1], lying[1:, :, ::-1], standing[:, :-1]]
    return np.stack(sides, axis=2).reshape(BOARD_SIZE * BOARD_SIZE, 4, len(_EDGE_OFFSETS_PX), 3)[:, :, 1:]


def _measure_row_edges(view: Image) -> Floats:
    """Return the log-colours across the 16 edges above, between and below the rows of squares: `(16, 15, 4, 3)`."""
    border = VIEW_MARGIN_SQUARES * VIEW_PX_PER_SQUARE
    rows = border + VIEW_PX_PER_SQUARE * np.arange(BOARD_SIZE + 1)[:, None] + _EDGE_OFFSETS_PX
    strips = view[rows, border:-border].reshape(
        BOARD_SIZE + 1, len(_EDGE_OFFSETS_PX), BOARD_SIZE, VIEW_PX_PER_SQUARE, 3
    )
    colours = strips[:, :, :, _CORNER_PX:-_CORNER_PX].mean(axis=3)
    return np.asarray(np.log(colours + 8.0).transpose(0, 2, 1, 3), np.float64)


def _select_edges(edges: Floats, which: NDArray[np.bool_], sides: NDArray[np.bool_], side: int) -> Floats:
    """Return the edges of the squares `which` `(225,)` on one side, or on any side if those are too few: `(n, 9)`.

    `sides` `(225, 4)` marks the sides that count.
    """
    here = edges[which & sides[:, side], side]
    return here if len(here) >= _MIN_SIDES else edges[which[:, None] & sides]


def _compute_edge_likelihood(seen: Floats, known: Floats) -> Floats:
    usual = np.median(known, axis=0)
    return log_likelihood(seen - usual, covariance(known - usual, _MIN_COLOUR_SPREAD))
