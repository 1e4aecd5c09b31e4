"""What things said are worth, by choices that were right: conditional logit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats

_ROUNDS: Final = 30
_CALM: Final = 1e-3
"""A little that keeps weights finite which the choices do not decide."""


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """n choices among so many alternatives each."""

    said: Floats
    """`(n, alternatives, things)`: what is said for each alternative."""
    known: Floats
    """`(n, alternatives)`: logarithms of the odds that count in any case."""
    truth: NDArray[np.intp]
    """`(n,)`: the alternative that was right."""

    def chances(self, weights: Floats) -> Floats:
        """The probability of each alternative, `(n, alternatives)`, where the things said count so much."""
        logs = self.known + self.said @ weights
        raised = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True), np.float64)

    def mistaken(self, weights: Floats) -> int:
        """How many are chosen wrongly."""
        return int((self.chances(weights).argmax(axis=1) != self.truth).sum())


def worth(several: Sequence[Choices]) -> Floats:
    """The weights of the things said under which the right choices are likeliest (Newton's method).

    McFadden, Conditional logit analysis of qualitative choice behavior, 1974; of two alternatives, logistic regression.
    """
    things = several[0].said.shape[2]
    weights = np.zeros(things)
    for _ in range(_ROUNDS):
        slope, bend = -_CALM * weights, _CALM * np.eye(things)
        for one in several:
            p = one.chances(weights)[:, :, None]
            usual = (p * one.said).sum(axis=1)
            slope += (one.said[np.arange(len(usual)), one.truth] - usual).sum(axis=0)
            bend += np.einsum("nai,naj->ij", p * one.said, one.said) - usual.T @ usual
        weights += np.linalg.solve(bend, slope)
    return np.asarray(weights, np.float64)
