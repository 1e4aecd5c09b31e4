"""The Muon optimiser, which orthogonalises the momentum of each weight matrix before a step.

It makes all singular values of a step equal: directions that dominate the gradient do not dominate the step. After
Jordan et al., Muon: an optimizer for hidden layers in neural networks (2024), with step sizes matched to AdamW (Liu et
al., Muon is scalable for LLM training, 2025). The implementation in torch does not support convolutions and computes in
half precision, which takes ten times as long on processors without half-precision instructions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import torch
from torch import nn

from vision.training.optimise import WEIGHT_DECAY, make_adamw

_RATE_FACTOR: Final = 3.0
"""Ratio of the learning rate of Muon to the learning rate of AdamW."""
_MOMENTUM: Final = 0.95
_NEWTON_SCHULZ_COEFFICIENTS: Final = (3.4445, -4.7750, 2.0315)
"""Polynomial coefficients for which five iterations bring all singular values close to 1 (Jordan et al., 2024)."""
_NEWTON_SCHULZ_STEPS: Final = 5


def make_muon(net: nn.Module, last: Iterable[nn.Module], rate: float) -> list[torch.optim.Optimizer]:
    """Return two optimisers: Muon for the weights of `net`, AdamW for its `last` layers, biases and normalisation.

    `rate` is the learning rate of AdamW.
    """
    ends = {id(layer.weight) for layer in last}
    between = [p for p in net.parameters() if p.ndim > 1 and id(p) not in ends]
    others = [p for p in net.parameters() if p.ndim == 1 or id(p) in ends]
    return [Muon(between, _RATE_FACTOR * rate), make_adamw(others, rate)]


class Muon(torch.optim.Optimizer):  # type: ignore[misc]  # torch is not typed here
    """Muon optimiser for the weights of linear layers and convolutions, `(outputs, inputs[, height, width])`."""

    def __init__(self, weights: Iterable[nn.Parameter], lr: float) -> None:
        super().__init__(weights, {"lr": lr})

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, closure: None = None) -> None:  # noqa: ARG002 (torch's own call)
        """Update all weights by one optimisation step."""
        for group in self.param_groups:
            for weight in group["params"]:
                state = self.state[weight]
                if not state:
                    state["mean"] = torch.zeros_like(weight)
                mean = state["mean"]
                mean.lerp_(weight.grad, 1 - _MOMENTUM)
                ahead = torch.lerp(weight.grad, mean, _MOMENTUM)
                weight.mul_(1 - group["lr"] * WEIGHT_DECAY)
                weight.sub_(_compute_step(ahead), alpha=group["lr"])


def _compute_step(gradient: torch.Tensor) -> torch.Tensor:
    """Orthogonalise a gradient as a matrix, and scale it to a root mean square of 0.2; the shape is unchanged."""
    flat = orthogonalise(gradient.flatten(1))
    return (0.2 * max(flat.shape) ** 0.5 * flat).view_as(gradient)


def orthogonalise(matrix: torch.Tensor) -> torch.Tensor:
    """Approximate the nearest matrix to `matrix` `(m, n)` with orthonormal rows, or orthonormal columns if m > n."""
    a, b, c = _NEWTON_SCHULZ_COEFFICIENTS
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    wide = wide / (wide.norm() + 1e-7)
    for _ in range(_NEWTON_SCHULZ_STEPS):
        square = wide @ wide.T
        wide = a * wide + (b * square + c * square @ square) @ wide
    return wide if matrix.shape[0] <= matrix.shape[1] else wide.T
