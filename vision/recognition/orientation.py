"""Which way up a board lies, told by its tiles.

The layout is the same from all four sides; the tiles are not. Every tile votes with what the network says of its
turn, looked at from all four sides; letters that look alike turned (H, I, N, O, S, X, Z) say little and weigh little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

_VOTE_ERROR_RATE: Final = 0.02
"""Share of tiles whose vote is worth nothing (turned by hand, covered, misread): no single tile decides alone."""


_MAX_EFFECTIVE_VOTES: Final = 8
"""All tiles together count for so many at most: those of one set err alike, and are not as many opinions."""


@dataclass(frozen=True, slots=True)
class Orientation:
    """How a view must be turned to read upright."""

    quarter_turns: int
    """Anticlockwise quarter turns of the view, 0..3; the board's corners then begin that many further on."""
    confidence: float
    """Probability of that turn."""
    vote_count: int
    """How many tiles voted."""


def combine_views(looks: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The turns of tiles `(n, 4)` from looks at them as they are and turned by 1 to 3 quarters anticlockwise.

    Each look is `(n, 4)` log-probabilities of the further quarters that make a tile upright. Upside down, some letters
    pass for others (an A for a V), and a whole board of them may; the right way up they do not.
    """
    return np.asarray(np.mean([np.roll(look, k, axis=1) for k, look in enumerate(looks)], axis=0), np.float32)


def estimate_orientation(turns: NDArray[np.float32]) -> Orientation:
    """Decide from the `(n, 4)` log-probabilities of the tiles' turns; without tiles the view stays as it is."""
    votes = np.log(_VOTE_ERROR_RATE / 4 + (1 - _VOTE_ERROR_RATE) * np.exp(turns.astype(np.float64))).sum(axis=0)
    votes *= _MAX_EFFECTIVE_VOTES / max(_MAX_EFFECTIVE_VOTES, len(turns))
    chances = np.exp(votes - votes.max())
    chances /= chances.sum()
    best = int(np.argmax(chances)) if len(turns) else 0
    return Orientation(best, float(chances[best]), len(turns))
