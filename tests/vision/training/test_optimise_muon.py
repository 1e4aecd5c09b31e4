"""Steps that the networks learn by: orthogonal, of one size, and every weight takes one."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from vision.training.networks import build_square_net  # noqa: E402
from vision.training.optimise import Muon, make_muon, orthogonalise  # noqa: E402


@pytest.mark.parametrize("shape", [(24, 75), (64, 576), (128, 30)])
def test_a_matrix_made_orthogonal_turns_and_hardly_stretches(shape: tuple[int, int]) -> None:
    given = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    values = torch.linalg.svdvals(orthogonalise(given))
    assert 0.6 < values.min() < values.max() < 1.3
    left, _, right = torch.linalg.svd(given, full_matrices=False)
    aligned = left.T @ orthogonalise(given) @ right.T  # it turns as the given one does
    assert (aligned.diagonal() > 0.6).all()


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_a_step_is_as_large_whatever_the_gradient(size: float) -> None:
    weight = torch.nn.Parameter(torch.zeros(48, 32, 3, 3).to(memory_format=torch.channels_last))
    weight.grad = size * torch.randn(weight.shape, generator=torch.Generator().manual_seed(2))
    Muon([weight], lr=0.01).step()
    assert weight.detach().square().mean().sqrt().item() == pytest.approx(0.002, rel=0.2)


def test_a_step_goes_down_the_gradient() -> None:
    weight = torch.nn.Parameter(torch.zeros(8, 16))
    target = torch.randn(8, 16, generator=torch.Generator().manual_seed(3))
    optimiser = Muon([weight], lr=0.05)
    losses = []
    for _ in range(200):
        loss = (weight - target).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.05 * losses[0]


def test_every_weight_of_a_network_is_learnt_once_and_the_last_layer_by_adamw() -> None:
    net = build_square_net()
    steps, others = (
        optimiser.param_groups[0]["params"] for optimiser in make_muon(net, [net.heads["squares"][-1]], 1e-3)
    )
    assert sorted(map(id, [*steps, *others])) == sorted(map(id, net.parameters()))
    last = net.heads["squares"][-1].weight
    assert any(p is last for p in others)
    assert all(p.ndim == 4 for p in steps)
