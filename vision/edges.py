"""Does a plain square show the board's lines at its edges, or does a tile cover them?

A blank may have the very colour of the board that it lies on. What gives it away is that the lines, ridges or gaps
between squares are gone at its edges. How those look differs from board to board, with the light from side to side, and
beside a tile: each side of a square is compared with the same side of this board's own bare squares and tiles.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import SIZE
from vision.colours import KIND, covariance, log_likelihood, nearby
from vision.geometry import Floats, Image
from vision.squares import MARGIN, SCALE

_ACROSS: Final = np.arange(-2, 2)
"""Pixels of a `board_view` across each edge, from outside the square in."""
_CORNER: Final = 3
"""Pixels at either end of an edge that belong to other squares as well."""
_ENOUGH: Final = 8
"""Sides of a sort that it takes to know how they look."""
_LEAST_SPREAD: Final = 0.05
"""Sides of one sort differ by so much at least (logarithms of colours)."""
_MOST: Final = 4.0
"""Nats that one side may count."""
_PLAIN: Final = np.equal(KIND, KIND[1])
"""Which squares are no premium squares: bare ones have one colour, and tell how the light falls."""


def like_tiles(
    view: Image,
    colours: Floats,
    empty: NDArray[np.bool_],
    tiles: NDArray[np.bool_],
    laid: NDArray[np.bool_],
    asked: NDArray[np.intp],
) -> Floats:
    """How much rather squares have the edges of tiles than of bare squares, and of how many sides that is known.

    `view` is the `board_view`, `colours` are its `square_colours`. `empty` and `tiles` say which squares are known to
    be one or the other, `laid` on which something lies, all `(225,)`; `asked` `(n,)` are the numbers of those in doubt.
    Returns `(n, 2)`: the logarithms of the ratio of likelihoods of the sides added up, and their number.
    """
    answer = np.zeros((len(asked), 2))
    bare = np.flatnonzero(empty & _PLAIN)
    if len(bare) < _ENOUGH:
        return answer
    light = nearby(colours, bare, np.arange(SIZE * SIZE))
    edges = (_edges(view) - light[:, None, None]).reshape(SIZE * SIZE, 4, -1)
    covered = tile_beside(laid.reshape(SIZE, SIZE)).reshape(SIZE * SIZE, 4)
    for side, by_tile in np.ndindex(4, 2):
        here = covered[asked, side] == by_tile
        if here.any():
            alike = covered == by_tile
            of_tiles, of_bare = (_known(edges, alike & known[:, None], side) for known in (tiles, empty))
            if min(len(of_tiles), len(of_bare)) >= _ENOUGH:
                seen = edges[asked[here], side]
                odds = _likelihood(seen, of_tiles) - _likelihood(seen, of_bare)
                answer[here] += np.column_stack([np.clip(odds, -_MOST, _MOST), np.ones_like(odds)])
    return answer


def tile_beside(tiles: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a tile lies beside each side of each square, clockwise from the upper: `(..., 15, 15, 4)`.

    `tiles` says on which squares of boards one lies, `(..., 15, 15)`.
    """
    around = np.pad(tiles, [(0, 0)] * (tiles.ndim - 2) + [(1, 1), (1, 1)])
    above, below = around[..., :-2, 1:-1], around[..., 2:, 1:-1]
    left, right = around[..., 1:-1, :-2], around[..., 1:-1, 2:]
    return np.stack([above, right, below, left], axis=-1)


def _edges(view: Image) -> Floats:
    """The logarithm of the colours across each square's sides, clockwise from the upper: `(225, 4, 4, 3)`."""
    upright, aside = _lines(view), _lines(view.transpose(1, 0, 2)).transpose(1, 0, 2, 3)
    # What lies beyond one square's lower side is the upper edge of the next.
    sides = [upright[:-1], aside[:, 1:, ::-1], upright[1:, :, ::-1], aside[:, :-1]]
    return np.stack(sides, axis=2).reshape(SIZE * SIZE, 4, len(_ACROSS), 3)


def _lines(view: Image) -> Floats:
    """The colours across the 16 edges between, above and below the rows of squares: `(16, 15, 4, 3)`."""
    border = MARGIN * SCALE
    rows = border + SCALE * np.arange(SIZE + 1)[:, None] + _ACROSS
    strips = view[rows, border:-border].reshape(SIZE + 1, len(_ACROSS), SIZE, SCALE, 3)
    colours = strips[:, :, :, _CORNER:-_CORNER].mean(axis=3)
    return np.asarray(np.log(colours + 8.0).transpose(0, 2, 1, 3), np.float64)


def _known(edges: Floats, which: NDArray[np.bool_], side: int) -> Floats:
    """The edges on this side, or on any where too few are known, of those `(225, 4)` that count: `(n, 12)`."""
    here = edges[which[:, side], side]
    return here if len(here) >= _ENOUGH else edges[which]


def _likelihood(seen: Floats, known: Floats) -> Floats:
    usual = np.median(known, axis=0)
    return log_likelihood(seen - usual, covariance(known - usual, _LEAST_SPREAD))
