"""What things said are worth, by choices that were right: conditional logit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats

_NEWTON_STEPS: Final = 30
_RIDGE_PENALTY: Final = 1e-3
"""A little that keeps weights finite which the choices do not decide."""


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """n choices among so many alternatives each."""

    features: Floats
    """`(n, alternatives, things)`: what is said for each alternative."""
    base_logits: Floats
    """`(n, alternatives)`: logarithms of the odds that count in any case."""
    truth: NDArray[np.intp]
    """`(n,)`: the alternative that was right."""

    def probabilities(self, weights: Floats) -> Floats:
        """The probability of each alternative, `(n, alternatives)`, where the things said count so much."""
        logs = self.base_logits + self.features @ weights
        raised = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True), np.float64)

    def count_errors(self, weights: Floats) -> int:
        """How many are chosen wrongly."""
        return int((self.probabilities(weights).argmax(axis=1) != self.truth).sum())


def fit_weights(several: Sequence[Choices]) -> Floats:
    """The weights of the things said under which the right choices are likeliest (Newton's method).

    McFadden, Conditional logit analysis of qualitative choice behavior, 1974; of two alternatives, logistic regression.
    """
    things = several[0].features.shape[2]
    weights = np.zeros(things)
    for _ in range(_NEWTON_STEPS):
        slope, bend = -_RIDGE_PENALTY * weights, _RIDGE_PENALTY * np.eye(things)
        for one in several:
            p = one.probabilities(weights)[:, :, None]
            usual = (p * one.features).sum(axis=1)
            slope += (one.features[np.arange(len(usual)), one.truth] - usual).sum(axis=0)
            bend += np.einsum("nai,naj->ij", p * one.features, one.features) - usual.T @ usual
        weights += np.linalg.solve(bend, slope)
    return np.asarray(weights, np.float64)
