"""Estimate the orientation of a board from its tiles.

The layout is the same from all four sides; the tiles are not. Every tile votes with the network's log-probabilities of
its rotation, from all four sides. Letters that look the same when rotated (H, I, N, O, S, X, Z) have little weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

_VOTE_ERROR_RATE: Final = 0.02
"""Share of tiles whose vote is random (rotated by hand, covered, misread), so that no single tile decides."""


_MAX_EFFECTIVE_VOTES: Final = 8
"""Upper limit of the number of independent votes: tiles of one set have correlated errors."""


@dataclass(frozen=True, slots=True)
class Orientation:
    """The rotation that makes a view upright."""

    quarter_turns: int
    """Anticlockwise quarter turns of the view, 0..3; the corners of the board are rotated by the same number."""
    confidence: float
    """Probability of that rotation."""
    vote_count: int
    """Number of tiles that voted."""


def combine_views(looks: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Combine predictions of tiles rotated by 0..3 quarter turns anticlockwise into `(n, 4)` log-probabilities.

    Each prediction is `(n, 4)` log-probabilities of the further quarter turns that make a tile upright. All four are
    needed because some letters look like others upside down (an A like a V).
    """
    return np.asarray(np.mean([np.roll(look, k, axis=1) for k, look in enumerate(looks)], axis=0), np.float32)


def estimate_orientation(turns: NDArray[np.float32]) -> Orientation:
    """Estimate the orientation from `(n, 4)` log-probabilities of rotations; without tiles, no rotation."""
    votes = np.log(_VOTE_ERROR_RATE / 4 + (1 - _VOTE_ERROR_RATE) * np.exp(turns.astype(np.float64))).sum(axis=0)
    votes *= _MAX_EFFECTIVE_VOTES / max(_MAX_EFFECTIVE_VOTES, len(turns))
    chances = np.exp(votes - votes.max())
    chances /= chances.sum()
    best = int(np.argmax(chances)) if len(turns) else 0
    return Orientation(best, float(chances[best]), len(turns))
