"""Merge several readings of one board, so that a square hidden in one picture is read from another.

Pictures of one camera taken moments apart have the same errors, so probabilities are averaged, not multiplied: ten
pictures with 60 % give 60 %. The average is linear (a linear opinion pool; Genest and Zidek, Combining probability
distributions, 1986): glare, a hand or a moving tile can make one picture confident and wrong, and it must not veto the
others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import compress
from typing import Final

from engine.reading import HIDDEN, BoardReading, SquareReading

_MIN_CANDIDATE_PROBABILITY: Final = 1e-4
"""Probability below which a candidate is left out, as in the reader."""
_MAX_CANDIDATES: Final = 8


def merge_readings(readings: Sequence[BoardReading]) -> BoardReading:
    """Merge upright readings of the same board. Raises ValueError if there are none.

    A square is the average over the pictures, weighted by how visible it is in each. It is as hidden as in the picture
    that shows it best.
    """
    if not readings:
        raise ValueError("there is nothing to merge")
    if len(readings) == 1:
        return readings[0]
    return BoardReading(tuple(_merge_square(squares) for squares in zip(*(r.squares for r in readings), strict=True)))


def _merge_square(squares: Sequence[SquareReading]) -> SquareReading:
    hidden = [square.probability(HIDDEN) for square in squares]
    least = min(hidden)
    # A picture that sees little beside one that sees all is left out: what it half sees may be the hand.
    sees = [h <= least + (1 - least) / 2 for h in hidden]
    weights = [1 - h for h in compress(hidden, sees)]
    total = sum(weights)
    chances: dict[str, float] = defaultdict(float)
    if total > 0:
        for square in compress(squares, sees):
            # A square's chances but the hidden one already sum to its weight.
            for symbol, p in square.candidates:
                if symbol != HIDDEN:
                    chances[symbol] += p * (1 - least) / total
    if least > 0:
        chances[HIDDEN] = least
    best = sorted(chances.items(), key=lambda item: -item[1])[:_MAX_CANDIDATES]
    return SquareReading(tuple((s, p) for s, p in best if p >= _MIN_CANDIDATE_PROBABILITY) or tuple(best[:1]))
