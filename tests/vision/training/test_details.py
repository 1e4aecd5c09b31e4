"""The training data of the detail network, and one step of its training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vision.recognition.details import ACCENT_KINDS, DETAIL_SIDE_PX, VALUE_KINDS
from vision.rendering.fonts import packaged_fonts

torch = pytest.importorskip("torch", reason="training needs the extra [train]")
pytest.importorskip("onnx", reason="training needs the extra [train]")

from vision.training.augmentation import IGNORED  # noqa: E402
from vision.training.detail_data import DetailExamples, draw_batch, draw_examples  # noqa: E402
from vision.training.details import build_detail_net, compute_loss  # noqa: E402


@pytest.fixture(scope="module")
def examples() -> DetailExamples:
    return draw_examples(3, 0, packaged_fonts())


def test_examples_of_a_scene_have_an_accent_that_their_base_letter_allows(examples: DetailExamples) -> None:
    assert len(examples.crops) > 20
    lettered = examples.accents != IGNORED
    assert examples.allowed[lettered, examples.accents[lettered]].all()
    assert set(examples.values.tolist()) <= set(range(len(VALUE_KINDS)))


def test_examples_are_the_same_after_saving(examples: DetailExamples, tmp_path: Path) -> None:
    examples.save(tmp_path / "scene.npz")
    loaded = DetailExamples.load(tmp_path / "scene.npz")
    assert (loaded.crops == examples.crops).all() and (loaded.allowed == examples.allowed).all()


def test_network_learns_from_a_batch(examples: DetailExamples) -> None:
    batch = draw_batch(np.random.default_rng(1), examples, 16)
    assert batch.crops.shape == (16, 1, DETAIL_SIDE_PX, DETAIL_SIDE_PX)
    net = build_detail_net()
    accents, values = net(torch.from_numpy(batch.crops))
    assert accents.shape == (16, len(ACCENT_KINDS)) and values.shape == (16, len(VALUE_KINDS))
    compute_loss(net, batch).backward()
    assert all(weights.grad is not None for weights in net.parameters())
