"""Trainings that continue from a checkpoint."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from torch import nn  # noqa: E402

from vision.training.checkpoints import Checkpoint, CheckpointError, hash_training_code  # noqa: E402
from vision.training.optimise import fit_network, make_muon  # noqa: E402

RUN = {"seed": 3, "code": "abc"}


def draw_batch(step: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng((5, step)).normal(size=(8, 4)).astype(np.float32))


def compute_loss(net: nn.Module, batch: torch.Tensor) -> torch.Tensor:
    return (net(batch) - batch.sum(1, keepdim=True)).square().mean()


def train(steps: int, checkpoint: Checkpoint | None = None, stop_after: int | None = None) -> list[torch.Tensor]:
    """Train a small network with dropout and two optimisers; raise KeyboardInterrupt after the step `stop_after`."""
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.3), nn.Linear(8, 1))

    def loss(net: nn.Module, batch: torch.Tensor) -> torch.Tensor:
        nonlocal count
        count += 1
        if stop_after is not None and count > stop_after:
            raise KeyboardInterrupt
        return compute_loss(net, batch)

    count = 0
    fit_network("small", net, draw_batch, loss, steps, make_muon(net, [net[2]], 0.01), 5, checkpoint)
    return list(net.state_dict().values())


def test_interrupted_training_ends_with_the_weights_of_an_uninterrupted_one(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "small.pt", RUN)
    with pytest.raises(KeyboardInterrupt):
        train(20, checkpoint, stop_after=13)
    resumed = train(20, checkpoint)
    assert all(torch.equal(a, b) for a, b in zip(resumed, train(20), strict=True))


def test_interrupted_training_continues_after_the_last_report(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "small.pt", RUN)
    with pytest.raises(KeyboardInterrupt):
        train(20, checkpoint, stop_after=13)
    state = checkpoint.load()
    assert state is not None
    assert state["step"] == 10


def test_finished_training_does_no_step_again(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "small.pt", RUN)
    weights = train(20, checkpoint)
    again = train(20, checkpoint, stop_after=0)
    assert all(torch.equal(a, b) for a, b in zip(weights, again, strict=True))


def test_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    Checkpoint(tmp_path / "small.pt", RUN).save({"step": 1})
    with pytest.raises(CheckpointError, match=r"other settings or other code\. Remove .*small\.pt"):
        Checkpoint(tmp_path / "small.pt", RUN | {"seed": 4}).load()


def test_checkpoint_with_damage_is_refused(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "small.pt", RUN)
    checkpoint.save({"step": 1})
    checkpoint.path.write_bytes(checkpoint.path.read_bytes()[:50])
    with pytest.raises(CheckpointError, match=r"is damaged: .* Remove .*small\.pt"):
        checkpoint.load()


def test_checkpoint_that_does_not_exist_is_no_state(tmp_path: Path) -> None:
    assert Checkpoint(tmp_path / "small.pt", RUN).load() is None


def test_hash_of_the_training_code_changes_with_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.training.checkpoints.MODELS_DIR", tmp_path / "models")
    module = tmp_path / "networks.py"
    module.write_text("WIDTH = 8\n", encoding="utf-8")
    before = hash_training_code()
    module.write_text("WIDTH = 9\n", encoding="utf-8")
    assert hash_training_code() != before
