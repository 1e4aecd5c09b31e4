"""Does a plain square show the board's lines at its edges, or does a tile cover them?

A blank may have the very colour of the board that it lies on. What gives it away is that the lines, ridges or gaps
between squares are gone at its edges. How those look differs from board to board, with the light from side to side, and
beside a tile: each side of a square is compared with the same side of this board's own tiles and bare squares.
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
"""Pixels of a `rectify_board` across each edge."""
_CORNER_PX: Final = 3
"""Pixels at either end of an edge that belong to other squares as well."""
_MIN_SIDES: Final = 8
"""Sides of a sort that it takes to know how they look."""
_MIN_COLOUR_SPREAD: Final = 0.05
"""Sides of one sort differ by so much at least (logarithms of colours)."""
_MAX_SIDE_LOG_RATIO_NATS: Final = 4.0
"""Nats that one side may count. Half as much more, or a quarter less, of this and of the two above is as good on drawn
scenes."""
_IS_PREMIUM: Final = np.array([premium is not Premium.NONE for premium in load_layout().premiums])


def compute_edge_log_ratio(
    view: Image, colours: Floats, empty: NDArray[np.bool_], tiles: NDArray[np.bool_], asked: NDArray[np.bool_]
) -> Floats:
    """How much rather each `asked` square has the edges of a tile than of a bare square of its kind.

    `view` is the `rectify_board`, `colours` are its `square_colours`. `empty` and `tiles` say which squares are known
    to be one or the other, all `(225,)`. Returns the logarithms of the ratio of likelihoods of the four sides added up,
    0 where nothing was asked or too little is known. A side counts where it is known what lies beyond it: a hand there,
    or the frame, is no line between squares.
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
    """Whether one of these squares lies beside each side of each square, clockwise from the upper: `(..., 15, 15, 4)`.

    `squares` are some of the squares of boards, `(..., 15, 15)`; beyond a board there is none.
    """
    around = np.pad(squares, [(0, 0)] * (squares.ndim - 2) + [(1, 1), (1, 1)])
    above, below = around[..., :-2, 1:-1], around[..., 2:, 1:-1]
    left, right = around[..., 1:-1, :-2], around[..., 1:-1, 2:]
    return np.stack([above, right, below, left], axis=-1)


def _measure_edges(view: Image) -> Floats:
    """The logarithms of the colours of the pixels across each square's sides: `(225, 4, 3, 3)`.

    Sides run clockwise from the upper, the pixels of each from the last one outside the square to the second inside.
    """
    lying, standing = _measure_row_edges(view), _measure_row_edges(view.transpose(1, 0, 2)).transpose(1, 0, 2, 3)
    # What lies beyond one square's lower side is the upper edge of the next.
    sides = [lying[:-1], standing[:, 1:, ::-1], lying[1:, :, ::-1], standing[:, :-1]]
    return np.stack(sides, axis=2).reshape(BOARD_SIZE * BOARD_SIZE, 4, len(_EDGE_OFFSETS_PX), 3)[:, :, 1:]


def _measure_row_edges(view: Image) -> Floats:
    """The same of the pixels across the 16 edges above, between and below the rows of squares: `(16, 15, 4, 3)`."""
    border = VIEW_MARGIN_SQUARES * VIEW_PX_PER_SQUARE
    rows = border + VIEW_PX_PER_SQUARE * np.arange(BOARD_SIZE + 1)[:, None] + _EDGE_OFFSETS_PX
    strips = view[rows, border:-border].reshape(
        BOARD_SIZE + 1, len(_EDGE_OFFSETS_PX), BOARD_SIZE, VIEW_PX_PER_SQUARE, 3
    )
    colours = strips[:, :, :, _CORNER_PX:-_CORNER_PX].mean(axis=3)
    return np.asarray(np.log(colours + 8.0).transpose(0, 2, 1, 3), np.float64)


def _select_edges(edges: Floats, which: NDArray[np.bool_], sides: NDArray[np.bool_], side: int) -> Floats:
    """The edges on this side, or on any where those are too few, of `which` squares `(225,)`: `(n, 9)`.

    `sides` `(225, 4)` says which sides of all squares count.
    """
    here = edges[which & sides[:, side], side]
    return here if len(here) >= _MIN_SIDES else edges[which[:, None] & sides]


def _compute_edge_likelihood(seen: Floats, known: Floats) -> Floats:
    usual = np.median(known, axis=0)
    return log_likelihood(seen - usual, covariance(known - usual, _MIN_COLOUR_SPREAD))
