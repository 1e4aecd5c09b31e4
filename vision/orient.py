"""Which way up a board lies, told by its tiles.

The layout is the same from all four sides; the tiles are not. Every tile votes with what the network says of its
turn; letters that look alike turned (H, I, N, O, S, X, Z) say little and weigh little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

_DOUBT: Final = 0.02
"""Share of tiles whose vote is worth nothing (turned by hand, covered, misread): no single tile decides alone."""


@dataclass(frozen=True, slots=True)
class Upright:
    """How a view must be turned to read upright."""

    quarter_turns: int
    """Anticlockwise quarter turns of the view, 0..3; the board's corners then begin that many further on."""
    confidence: float
    """Probability of that turn."""
    tiles: int
    """How many tiles voted."""


def upright(turns: NDArray[np.float32]) -> Upright:
    """Decide from the `(n, 4)` log-probabilities of the tiles' turns; without tiles the view stays as it is."""
    votes = np.log(_DOUBT / 4 + (1 - _DOUBT) * np.exp(turns.astype(np.float64))).sum(axis=0)
    chances = np.exp(votes - votes.max())
    chances /= chances.sum()
    best = int(np.argmax(chances)) if len(turns) else 0
    return Upright(best, float(chances[best]), len(turns))
