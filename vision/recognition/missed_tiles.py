"""Find tiles that the square network takes for empty squares, by their colour.

The network knows the layout, so it may take a tile on a premium square for the print: a dark tile with light letters
looks like a dark premium square with light print. On one board, however, such a tile has the colour of the other tiles
and not that of the other empty squares of its kind.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import Floats
from vision.recognition.colour_comparison import compute_colour_log_ratio
from vision.recognition.views import EMPTY_KIND, HIDDEN_KIND, TILE_KIND

_MIN_EMPTY_P: Final = 0.97
_MIN_TILE_P: Final = 0.9
"""`_MIN_EMPTY_P` and `_MIN_TILE_P`: minimum probability of the squares that are certainly empty or certainly tiles,
with whose colours the others are compared."""
_MIN_TILES: Final = 4
"""Minimum number of tiles with whose colour the squares are compared."""
_MIN_COLOUR_NATS: Final = 5.0
"""Minimum log-likelihood ratio tile : empty (nats) of the colour of a square that the network may have missed."""
_DOUBTED_TILE_P: Final = 0.3
"""Probability of a tile on a square that the network may have missed. It is high enough for its letter to be read, and
for a clear letter to outweigh the network; it is too low for the square to take part in other decisions."""


def doubt_tile_coloured_squares(kinds_p: NDArray[np.float32], colours: Floats) -> NDArray[np.float32]:
    """Return the probabilities of the square network with doubt about empty squares that have the colour of a tile.

    `kinds_p` `(15, 15, 3)` are the probabilities of empty, tile and hidden. `colours` `(225, 3)` are from
    `measure_log_colours`.
    """
    flat_p = kinds_p.reshape(BOARD_SIZE * BOARD_SIZE, -1)
    empty, tiles = flat_p[:, EMPTY_KIND] > _MIN_EMPTY_P, flat_p[:, TILE_KIND] > _MIN_TILE_P
    if np.count_nonzero(tiles) < _MIN_TILES:
        return kinds_p
    rather_empty = flat_p[:, EMPTY_KIND] > 1 - _DOUBTED_TILE_P
    log_ratio = compute_colour_log_ratio(colours, empty, tiles, rather_empty)
    missed = log_ratio >= _MIN_COLOUR_NATS
    if not missed.any():
        return kinds_p
    doubted = flat_p.copy()
    doubted[missed, TILE_KIND] = _DOUBTED_TILE_P
    doubted[missed, EMPTY_KIND] = 1 - _DOUBTED_TILE_P - doubted[missed, HIDDEN_KIND]
    return doubted.reshape(kinds_p.shape)
