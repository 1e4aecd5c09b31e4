"""Round the weights of a network to eleven values per output channel, so that its file can be compressed.

The weights of a layer are rounded one input after the other. The error of each is compensated by the weights of inputs
that are not rounded yet, as far as the inputs are correlated on calibration data (Frantar et al., GPTQ: accurate
post-training quantization for generative pre-trained transformers, 2023).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Final

import torch
from torch import nn
from torch.nn import functional

from vision.training.networks import HeadedNet, Residual, fold_batch_norm

MAX_LEVEL: Final = 5
"""Weights become multiples from -5 to 5 of the step of their output channel."""
_STEP_SIGMA: Final = 0.7
"""Maximum step, as a multiple of the standard deviation of a channel's weights: larger weights are clipped."""
_DAMPING: Final = 0.01
"""Share of the mean diagonal that is added to the correlation matrix, so that it can be inverted."""
_BLOCK: Final = 128
"""Number of inputs after which the errors are passed on to all following inputs; only for speed."""
_CROPS_AT_ONCE: Final = 128


@torch.no_grad()  # type: ignore[untyped-decorator]
def round_weights(net: HeadedNet, inputs: torch.Tensor) -> HeadedNet:
    """Return a copy of `net` with rounded weights and folded batch normalisation.

    `inputs` `(n, ...)` are calibration data.
    The first layer and the last layer of each head keep their weights: they are small, and errors in them matter most.
    """
    net = copy.deepcopy(net)
    heads = {name: list(_fold_norms(head)) for name, head in net.heads.items()}
    rounded = HeadedNet(list(_fold_norms(net.trunk)), heads)
    rounded.eval()
    first = next(_find_layers(rounded))
    kept = {id(first), *(id(head[-1]) for head in rounded.heads.values())}
    for layer in _find_layers(rounded):
        if id(layer) not in kept:
            _round_layer(layer, _correlate_inputs(rounded, layer, inputs))
    return rounded


def _find_layers(net: nn.Module) -> Iterator[nn.Module]:
    """Yield the layers with weights, in the order in which they are computed."""
    return (module for module in net.modules() if isinstance(module, (nn.Conv2d, nn.Linear)))


def _fold_norms(layers: Sequence[nn.Module]) -> Iterator[nn.Module]:
    """Yield `layers` with each batch normalisation folded into the convolution before it."""
    modules = list(layers)
    for layer, after in zip(modules, [*modules[1:], None], strict=True):
        if isinstance(layer, nn.Conv2d):
            norm = after if isinstance(after, nn.BatchNorm2d) else None
            kernel, bias = map(torch.from_numpy, fold_batch_norm(layer, norm))
            folded = nn.Conv2d(layer.in_channels, layer.out_channels, layer.kernel_size, layer.stride, layer.padding)
            folded.weight.copy_(kernel)
            folded.bias.copy_(bias)
            yield folded
        elif isinstance(layer, Residual):
            yield Residual(list(_fold_norms(layer.body)))
        elif not isinstance(layer, nn.BatchNorm2d):
            yield layer


def _correlate_inputs(net: HeadedNet, layer: nn.Module, inputs: torch.Tensor) -> torch.Tensor:
    """Return the sum of products `(k, k)` of the k values that each output of `layer` depends on."""
    total = torch.zeros((layer.weight[0].numel(),) * 2)

    def add(_: nn.Module, given: tuple[torch.Tensor]) -> None:
        (x,) = given
        if isinstance(layer, nn.Conv2d):
            patches = functional.unfold(x, layer.kernel_size, padding=layer.padding, stride=layer.stride)
            x = patches.transpose(1, 2).reshape(-1, len(total))
        total.addmm_(x.T, x)

    hook = layer.register_forward_pre_hook(add)
    for part in inputs.split(_CROPS_AT_ONCE):
        net(part)
    hook.remove()
    return total


def _round_layer(layer: nn.Module, correlations: torch.Tensor) -> None:
    """Round the weights of `layer` in place; `correlations` are the sums of products of its inputs."""
    weights = layer.weight.flatten(1).clone()
    largest = weights.abs().amax(dim=1, keepdim=True)
    step = torch.minimum(_STEP_SIGMA * weights.std(dim=1, keepdim=True), largest / MAX_LEVEL).clamp(min=1e-12)
    # Round the inputs with the largest values first: the others can still compensate their errors.
    order = correlations.diagonal().argsort(descending=True)
    weights = weights[:, order]
    inverse = _invert(correlations[order][:, order])
    rounded = torch.empty_like(weights)
    for begin in range(0, weights.shape[1], _BLOCK):
        end = min(begin + _BLOCK, weights.shape[1])
        errors = torch.empty_like(weights[:, begin:end])
        for i in range(begin, end):
            column = weights[:, i : i + 1]
            rounded[:, i : i + 1] = (column / step).round().clamp(-MAX_LEVEL, MAX_LEVEL) * step
            error = (column - rounded[:, i : i + 1]) / inverse[i, i]
            weights[:, i:end] -= error @ inverse[i : i + 1, i:end]
            errors[:, i - begin : i - begin + 1] = error
        weights[:, end:] -= errors @ inverse[begin:end, end:]
    layer.weight.copy_(rounded[:, order.argsort()].view_as(layer.weight))


def _invert(correlations: torch.Tensor) -> torch.Tensor:
    """Return the upper Cholesky factor of the inverse of a correlation matrix `(k, k)`."""
    diagonal = correlations.diagonal()
    damped = correlations + torch.diag(_DAMPING * diagonal.mean() + (diagonal == 0).float())
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(damped))
    return torch.linalg.cholesky(inverse, upper=True)
