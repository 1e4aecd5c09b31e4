"""Weights are rounded to few values, and the outputs of the network change little."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")
pytest.importorskip("onnx", reason="training needs the extra [train]")

from torch import nn  # noqa: E402

from vision.training.large_networks import MAX_LEVEL, round_weights  # noqa: E402
from vision.training.networks import HeadedNet, build_letter_net  # noqa: E402


def make_correlated(count: int, width: int, rank: int) -> torch.Tensor:
    """Return inputs `(count, width)` that depend on `rank` random numbers each, and on a little noise."""
    random = torch.Generator().manual_seed(1)
    mix = torch.randn(rank, width, generator=random)
    noise = 0.1 * torch.randn(count, width, generator=random)
    return torch.randn(count, rank, generator=random) @ mix + noise


@pytest.fixture(scope="module")
def trained() -> HeadedNet:
    """A letter network with the statistics of some batches."""
    torch.manual_seed(1)
    net = build_letter_net(7)
    for _ in range(3):
        net(torch.randn(32, 1, 36, 36) + 1)
    return net.eval()


def test_rounded_channel_has_at_most_eleven_values(trained: HeadedNet) -> None:
    rounded = round_weights(trained, torch.randn(64, 1, 36, 36) + 1)
    layers = [layer for layer in rounded.trunk.modules() if isinstance(layer, nn.Conv2d)]
    assert len(layers) == 13
    for layer in layers[1:]:
        for channel in layer.weight.flatten(1):
            assert len(channel.unique()) <= 2 * MAX_LEVEL + 1


def test_first_and_last_layers_keep_their_weights(trained: HeadedNet) -> None:
    rounded = round_weights(trained, torch.randn(64, 1, 36, 36) + 1)
    first = next(layer for layer in rounded.trunk.modules() if isinstance(layer, nn.Conv2d))
    assert len(first.weight.unique()) == first.weight.numel()
    for name, head in trained.heads.items():
        assert torch.equal(rounded.heads[name][-1].weight, head[-1].weight)


def test_rounded_network_gives_nearly_the_same_outputs(trained: HeadedNet) -> None:
    inputs = torch.randn(64, 1, 36, 36) + 1
    rounded = round_weights(trained, inputs)
    with torch.no_grad():
        for before, after in zip(trained(inputs), rounded(inputs), strict=True):
            assert torch.corrcoef(torch.stack([before.ravel(), after.ravel()]))[0, 1] > 0.9


def test_errors_are_compensated_by_correlated_inputs() -> None:
    torch.manual_seed(2)
    layers = [nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4)]
    net = HeadedNet(layers[:-1], {"all": layers[-1:]})
    inputs = make_correlated(2000, 64, rank=8)
    with torch.no_grad():
        middle = layers[1](layers[0](inputs))
        before = layers[2](middle)
        after = round_weights(net, inputs).trunk[2](middle)
        weights = layers[2].weight
        step = torch.minimum(0.7 * weights.std(dim=1, keepdim=True), weights.abs().amax(1, keepdim=True) / MAX_LEVEL)
        nearest = (weights / step).round() * step
        naive = nn.functional.linear(middle, nearest, layers[2].bias)
    assert (after - before).square().mean() < 0.5 * (naive - before).square().mean()
