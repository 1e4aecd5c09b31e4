"""Detect mirrored pictures, which some webcams deliver: mirrored letters are read with low confidence.

If many tiles are doubtful, the board is read a second time in the flipped picture, and the reading with the higher mean
tile confidence is taken. On the labelled photographs at least 9 % of the tiles of a mirrored board are doubtful (the
median is 37 %) unless there are fewer than five tiles, and at most 15 % upright (the 95th percentile is 1 %).

A board in a mirrored picture has its corners in anticlockwise order: top left, top right, bottom right and bottom left
of the upright board, as for other pictures.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats
from vision.recognition.letters import NO_TILE_CLASS

_CLEAR_TILE_P: Final = 0.9
"""Probability below which a tile counts as doubtful."""
_MIN_DOUBTFUL_SHARE: Final = 0.08
"""Share of doubtful tiles from which the flipped picture is read as well."""
_MIN_MEAN_GAIN: Final = 0.02
"""Minimum increase of the mean tile confidence for which the flipped reading is taken. On the labelled photographs with
five tiles or more, reading the right way round has a mean confidence that is higher by 0.035 or more."""
_MIN_TOTAL_GAIN: Final = 0.25
"""Minimum increase of the mean tile confidence times the number of tiles: one or two tiles prove little."""


def measure_tile_confidence(squares_p: Floats) -> NDArray[np.float64]:
    """Return the probability of the best symbol of each square that is read as a tile: `(n,)`.

    `squares_p` `(15, 15, classes + 1)` are the probabilities of `ClassifiedBoard`.
    """
    best = squares_p.argmax(axis=2)
    is_tile = (best != NO_TILE_CLASS) & (best != squares_p.shape[2] - 1)
    return np.asarray(squares_p.max(axis=2)[is_tile], np.float64)


def may_be_mirrored(tiles_p: NDArray[np.float64]) -> bool:
    """Return True if so many of the tile confidences `(n,)` are low that the picture may be mirrored."""
    return bool(len(tiles_p) and (tiles_p < _CLEAR_TILE_P).mean() >= _MIN_DOUBTFUL_SHARE)


def is_clearly_better(flipped_p: NDArray[np.float64], tiles_p: NDArray[np.float64]) -> bool:
    """Return True if the tile confidences of the flipped picture, `(m,)`, are clearly higher than `tiles_p` `(n,)`."""
    if not len(flipped_p):
        return False
    gain = float(flipped_p.mean() - tiles_p.mean())
    return gain >= max(_MIN_MEAN_GAIN, _MIN_TOTAL_GAIN / len(flipped_p))
