"""Start weights of the small networks: their files, and trainings with and without them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vision.net import ModelError

torch = pytest.importorskip("torch", reason="training needs the extra [train]")
pytest.importorskip("onnx", reason="training needs the extra [train]")

from vision.rendering.simulated_table import SimulatedTable  # noqa: E402
from vision.training import dataset, squares  # noqa: E402
from vision.training.augmentation import IGNORED, LetterSampler  # noqa: E402
from vision.training.checkpoints import START_FOLDER, load_start_weights, write_start_weights  # noqa: E402
from vision.training.networks import build_large_square_net, build_letter_net, build_square_net  # noqa: E402


def render_views() -> list[dataset.TrainingViews]:
    table = SimulatedTable(seed=5, tilt=20)
    table.lay_tiles({(7, 7): "A", (7, 8): "R", (0, 0): "Z", (4, 4): "E"})
    return [dataset.extract_views(table.photograph(), 0)]


def test_stored_weights_are_loaded_with_half_precision(tmp_path: Path) -> None:
    net, other = build_square_net(), build_square_net()
    write_start_weights(net, tmp_path / "net.npz")
    load_start_weights(other, tmp_path / "net.npz")
    for name, weight in net.state_dict().items():
        assert torch.allclose(other.state_dict()[name].double(), weight.double(), rtol=1e-3, atol=1e-6), name


def test_weights_of_another_architecture_say_how_to_train_from_scratch(tmp_path: Path) -> None:
    write_start_weights(build_large_square_net(), tmp_path / "net.npz")
    with pytest.raises(ModelError, match="--from-scratch"):
        load_start_weights(build_square_net(), tmp_path / "net.npz")


def test_letter_network_with_the_start_weights_knows_most_letters_of_a_rendered_board() -> None:
    net = build_letter_net(len(dataset.classes())).eval()
    load_start_weights(net, START_FOLDER / "letters.npz")
    batch = LetterSampler(render_views()).draw_batch(np.random.default_rng(1), 64)
    with torch.no_grad():
        answers = np.where(batch.allowed, net(torch.from_numpy(batch.crops))[0].numpy(), -np.inf)
    upright = batch.letters != IGNORED
    assert (answers.argmax(axis=1) == batch.letters)[upright].mean() > 0.75


def test_training_with_start_weights_begins_with_a_smaller_loss_than_one_from_scratch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(squares, "REPORT_EVERY", 1)
    views, losses = render_views(), []
    for from_scratch in (False, True):
        squares.train(views, views, 1, tmp_path / "squares.onnx", from_scratch=from_scratch)
        losses.append(float(capsys.readouterr().out.split("loss ")[1].split()[0]))
    assert losses[0] < 0.1 * losses[1]


def test_training_from_scratch_writes_new_start_weights(tmp_path: Path) -> None:
    views = render_views()
    squares.train(views, views, 1, tmp_path / "squares.onnx", from_scratch=True)
    load_start_weights(build_square_net(), tmp_path / "squares.npz")
