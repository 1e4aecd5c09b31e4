"""Decide whether a board is read again, in the flipped picture or the other way up, and which reading is taken.

The readings are compared by the confidences of their tiles: mirrored or turned letters are doubtful.

Upside down: in unfamiliar typefaces, the predicted rotations of the tiles sometimes agree on a wrong one, nearly always
upside down. So if some letters are doubtful and a sample of the letters is clearer upside down, the board is read both
ways up, and the second reading is taken if its mean tile confidence is higher (`is_better_reversed`).

Mirrored: some webcams deliver mirrored pictures. If some tiles are doubtful and a sample of the letters is clearer in
mirrored crops, the board is read again in the flipped picture; this reading is taken if it is much less doubtful
(`is_clearly_better`). A small difference is no evidence: letters in an unfamiliar typeface are doubtful in both
pictures. On 90 labelled photographs with five tiles or more, at least 6 % of the tiles are doubtful if the board is
mirrored (median 40 %), and at most 12 % if it is not (95th percentile 4 %). The corners of a mirrored board are in the
order of the upright board, which is anticlockwise in the picture.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats
from vision.recognition.letters import NO_TILE_CLASS

_CLEAR_TILE_P: Final = 0.9
"""Minimum probability of a tile's letter; a tile below it is doubtful."""
_MIN_DOUBTFUL_SHARE: Final = 0.05
"""Minimum share of doubtful tiles for reading a sample of them in the flipped picture and the other way up. It is low
because mirrored letters may look like others: on mirrored German tiles, L, N and Z were clearly J, M and S."""
_MIN_MEAN_GAIN: Final = 0.02
"""Minimum increase of the mean tile confidence for a flipped or turned reading to replace the first reading. On the
labelled photographs with five tiles or more, the confidence of the correct reading is higher by 0.035 or more."""
_MAX_DOUBT_SHARE: Final = 2 / 3
"""Maximum doubt of a flipped reading that is taken, as a share of the doubt of the original reading. The doubt of a
reading is 1 minus its mean tile confidence. In mirrored labelled photographs with five tiles or more, the share is 0.14
or less. In rendered boards with typefaces that no training uses, it is below the maximum for 291 of 320 mirrored boards
and 1 of 636 others."""
_MIN_TOTAL_GAIN: Final = 0.25
"""Minimum total increase of the tile confidences (mean increase times number of tiles) for the flipped reading to be
taken: one or two tiles are not enough evidence."""


def measure_tile_confidence(squares_p: Floats, foreign_p: Floats) -> NDArray[np.float64]:
    """Return how clearly each square that is read as a tile shows its symbol: `(n,)`, 0 to 1.

    The result is the probability of the best symbol in `squares_p` `(15, 15, classes + 1)`, or the probability in
    `foreign_p` `(15, 15)` that the letter is not in the tile set, if that is higher. Both arrays are from
    `ClassifiedBoard`. A letter outside the set is no doubt about the position of the board, so it counts as clear.
    """
    best = squares_p.argmax(axis=2)
    is_tile = (best != NO_TILE_CLASS) & (best != squares_p.shape[2] - 1)
    return np.asarray(np.maximum(squares_p.max(axis=2), foreign_p)[is_tile], np.float64)


def are_doubtful(tiles_p: NDArray[np.float64]) -> bool:
    """Return True if a large share of the tile confidences `(n,)` is low: the board may be turned or mirrored."""
    return bool(len(tiles_p) and (tiles_p < _CLEAR_TILE_P).mean() >= _MIN_DOUBTFUL_SHARE)


def is_clearly_better(flipped_p: NDArray[np.float64], tiles_p: NDArray[np.float64]) -> bool:
    """Return True if the tile confidences of the flipped picture, `(m,)`, are clearly higher than `tiles_p` `(n,)`."""
    if not len(flipped_p):
        return False
    flipped_doubt, doubt = 1 - float(flipped_p.mean()), 1 - float(tiles_p.mean())
    is_gain_large = doubt - flipped_doubt >= max(_MIN_MEAN_GAIN, _MIN_TOTAL_GAIN / len(flipped_p))
    return is_gain_large and flipped_doubt <= _MAX_DOUBT_SHARE * doubt


def is_better_reversed(reversed_p: NDArray[np.float64], tiles_p: NDArray[np.float64]) -> bool:
    """Return True if the tile confidences of the board read the other way up, `(m,)`, are higher than `tiles_p` `(n,)`.

    A smaller gain suffices than for mirrored pictures, which are rare.
    """
    return bool(len(reversed_p) and reversed_p.mean() - tiles_p.mean() >= _MIN_MEAN_GAIN)
