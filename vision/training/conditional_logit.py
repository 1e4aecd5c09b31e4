"""Fit the weights of features to choices with known correct alternatives (conditional logit regression)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats

_NEWTON_STEPS: Final = 30
_RIDGE_PENALTY: Final = 1e-3
"""Coefficient of the L2 penalty, which keeps the weights finite if the data is separable."""


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """Data of n choices, each between the same number of alternatives."""

    features: Floats
    """`(n, alternatives, features)`: features of each alternative; the weights of the features are fitted."""
    base_logits: Floats
    """`(n, alternatives)`: fixed part of the logit of each alternative, to which the weighted features are added."""
    truth: NDArray[np.intp]
    """`(n,)`: index of the correct alternative."""

    def probabilities(self, weights: Floats) -> Floats:
        """Return the probability of each alternative, `(n, alternatives)`, for feature weights `(features,)`."""
        logs = self.base_logits + self.features @ weights
        raised = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True), np.float64)

    def count_errors(self, weights: Floats) -> int:
        """Return the number of choices in which the most probable alternative is not the correct one."""
        return int((self.probabilities(weights).argmax(axis=1) != self.truth).sum())


def fit_weights(several: Sequence[Choices]) -> Floats:
    """Return the feature weights `(features,)` that maximise the likelihood of the correct choices (Newton's method).

    McFadden, Conditional logit analysis of qualitative choice behavior, 1974; with two alternatives, this is logistic
    regression.
    """
    things = several[0].features.shape[2]
    weights = np.zeros(things)
    for _ in range(_NEWTON_STEPS):
        slope, bend = -_RIDGE_PENALTY * weights, _RIDGE_PENALTY * np.eye(things)
        for choices in several:
            p = choices.probabilities(weights)[:, :, None]
            usual = (p * choices.features).sum(axis=1)
            slope += (choices.features[np.arange(len(usual)), choices.truth] - usual).sum(axis=0)
            bend += np.einsum("nai,naj->ij", p * choices.features, choices.features) - usual.T @ usual
        weights += np.linalg.solve(bend, slope)
    return np.asarray(weights, np.float64)
