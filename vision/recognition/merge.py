"""Several readings of one board made one: what a hand hid in one picture, another saw.

Pictures of one camera moments apart err alike: the same letter is hard in all of them. So opinions are averaged, never
multiplied: ten pictures that are 60 % sure make 60 %. The average is linear, because what differs between such
pictures is glare, a hand or a moving tile, which makes one picture sure and wrong; one such voice must not veto the
others (Genest and Zidek, Combining probability distributions, 1986).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import compress
from typing import Final

from engine.reading import HIDDEN, BoardReading, SquareReading

_MIN_CANDIDATE_PROBABILITY: Final = 1e-4
"""Candidates less probable than this are left out, and no more than `_MOST` kept, as the reader does."""
_MAX_CANDIDATES: Final = 8


def merge_readings(readings: Sequence[BoardReading]) -> BoardReading:
    """One reading from several of the same board, all upright. Raises ValueError for none.

    A square takes what those pictures say that see it, each as much as it sees of it. It is as hidden as in the
    picture that sees it best; where all are blind, it stays hidden.
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
