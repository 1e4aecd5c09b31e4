"""Muon: a layer steps along its momentum made orthogonal, as far in each direction: the few that outweigh all others
in the gradient do not in the step.

Jordan et al., Muon: an optimizer for hidden layers in neural networks (2024), with steps of the size that AdamW's have
(Liu et al., Muon is scalable for LLM training, 2025). The one in torch takes no convolutions, and calculates in half
precision, which processors without instructions for it do ten times as slowly.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import torch
from torch import nn

from vision.training.optimise import WEIGHT_DECAY, make_adamw

_RATE_FACTOR: Final = 3.0
"""Of Muon's steps, for one of AdamW's."""
_MOMENTUM: Final = 0.95
_NEWTON_SCHULZ_COEFFICIENTS: Final = (3.4445, -4.7750, 2.0315)
"""Coefficients by which five rounds bring all singular values near 1 (Jordan)."""
_NEWTON_SCHULZ_STEPS: Final = 5


def make_muon(net: nn.Module, last: Iterable[nn.Module], rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the weights of `net`, AdamW of this `rate` for those of its `last` layers and for all that adds."""
    ends = {id(layer.weight) for layer in last}
    between = [p for p in net.parameters() if p.ndim > 1 and id(p) not in ends]
    others = [p for p in net.parameters() if p.ndim == 1 or id(p) in ends]
    return [Muon(between, _RATE_FACTOR * rate), make_adamw(others, rate)]


class Muon(torch.optim.Optimizer):  # type: ignore[misc]  # torch is not typed here
    """For weights of linear layers and of convolutions, `(outputs, inputs[, height, width])`."""

    def __init__(self, weights: Iterable[nn.Parameter], lr: float) -> None:
        super().__init__(weights, {"lr": lr})

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, closure: None = None) -> None:  # noqa: ARG002 (torch's own call)
        """Take one step along the gradients."""
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
    """A gradient made orthogonal, in its shape, with elements of 0.2 in the root mean square."""
    flat = orthogonalise(gradient.flatten(1))
    return (0.2 * max(flat.shape) ** 0.5 * flat).view_as(gradient)


def orthogonalise(matrix: torch.Tensor) -> torch.Tensor:
    """The nearest matrix `(m, n)` whose rows, or else columns, are orthogonal and of length 1; about so."""
    a, b, c = _NEWTON_SCHULZ_COEFFICIENTS
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    wide = wide / (wide.norm() + 1e-7)
    for _ in range(_NEWTON_SCHULZ_STEPS):
        square = wide @ wide.T
        wide = a * wide + (b * square + c * square @ square) @ wide
    return wide if matrix.shape[0] <= matrix.shape[1] else wide.T
