"""The context of the square network becomes an input without a change of its predictions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")
pytest.importorskip("onnx", reason="training needs the extra [train]")

import torch

from vision.net import Net
from vision.recognition.squares import CONTEXT_FEATURES, GIVEN_CONTEXT, OWN_CONTEXT_SHARE
from vision.training.networks import build_square_net, write_onnx
from vision.training.quantise import quantise_model
from vision.training.squares import add_context_input


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A quantised square network with random weights, before the change."""
    path = tmp_path_factory.mktemp("nets") / "squares.onnx"
    torch.manual_seed(0)
    write_onnx(build_square_net(), path, ["n", 3, "h", "w"], ["n", 3, "rows", "columns"], {})
    quantise_model(path, [draw_board(1)])
    return path


def draw_board(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(1, 3, 96, 96)).astype(np.float32)


@pytest.fixture
def net(untrained: Path, tmp_path: Path) -> Net:
    """The network after the change."""
    path = tmp_path / "squares.onnx"
    path.write_bytes(untrained.read_bytes())
    add_context_input(path)
    return Net(path)


@pytest.fixture
def none(net: Net) -> np.ndarray:
    """A context without information."""
    return np.zeros((1, int(str(net.metadata[CONTEXT_FEATURES])), 1, 1), np.float32)


def test_own_context_leaves_the_predictions_as_they_were(untrained: Path, net: Net, none: np.ndarray) -> None:
    (before,) = Net(untrained)(draw_board(2))
    after, context = net(draw_board(2), **{GIVEN_CONTEXT: none, OWN_CONTEXT_SHARE: np.ones(1, np.float32)})
    assert np.array_equal(after, before)
    assert context.shape == none.shape and context.any()


def test_context_of_another_board_replaces_the_own(net: Net, none: np.ndarray) -> None:
    _, context = net(draw_board(3), **{GIVEN_CONTEXT: none, OWN_CONTEXT_SHARE: np.ones(1, np.float32)})
    _, used = net(draw_board(2), **{GIVEN_CONTEXT: context, OWN_CONTEXT_SHARE: np.zeros(1, np.float32)})
    assert np.array_equal(used, context)
