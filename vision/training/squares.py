"""Training of the square network (empty, tile, hidden), evaluation on held-out scenes, and export of the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from vision.net import MODELS_DIR
from vision.recognition.squares import SquareNet
from vision.recognition.views import VIEW_MARGIN_SQUARES
from vision.training.augmentation import IGNORED, SquareBatch, SquareSampler
from vision.training.checkpoints import Checkpoint
from vision.training.context_input import add_context_input
from vision.training.dataset import TrainingViews
from vision.training.networks import HeadedNet, build_square_net, write_onnx
from vision.training.optimise import fit_network, fit_temperature, make_adamw, mixed_precision
from vision.training.quantise import quantise_model

BATCH_SIZE = 12
STEPS = 8000
MAX_LEARNING_RATE = 3e-3


def train(
    views: Sequence[TrainingViews],
    held_out: Sequence[TrainingViews],
    steps: int,
    path: Path = MODELS_DIR / "squares.onnx",
    seed: int = 0,
    checkpoint: Checkpoint | None = None,
) -> str:
    """Train the square network for `steps` batches of `views`, write it to `path`, and report its accuracy.

    Returns the text of `report` for the views `held_out`, which are also used to fit the calibration temperature.
    An interrupted training continues from `checkpoint`.
    """
    torch.manual_seed(seed)
    looks = SquareSampler(views)
    net = build_square_net().to(memory_format=torch.channels_last)

    def draw(step: int) -> SquareBatch:
        return looks.draw_batch(np.random.default_rng((seed, 3, step)), BATCH_SIZE)

    fit_network(
        "squares",
        net,
        draw,
        _loss,
        steps,
        [make_adamw(net.parameters(), MAX_LEARNING_RATE)],
        report_every=200,
        checkpoint=checkpoint,
    )
    proof = [SquareSampler(held_out).draw_batch(np.random.default_rng((seed, 4, i)), 8) for i in range(16)]
    write_onnx(
        net,
        path,
        ["n", 3, "h", "w"],
        ["n", 3, "rows", "columns"],
        {"temperature": {"squares": _fit_temperature(net, proof)}},
    )
    quantise_model(path, [draw(steps + 1 + i).boards for i in range(4)])
    add_context_input(path)
    return report(SquareNet(path), proof)


def _crop_to_grid(logits: torch.Tensor) -> torch.Tensor:
    return logits[:, :, VIEW_MARGIN_SQUARES:-VIEW_MARGIN_SQUARES, VIEW_MARGIN_SQUARES:-VIEW_MARGIN_SQUARES].float()


def _loss(net: HeadedNet, batch: SquareBatch) -> torch.Tensor:
    with mixed_precision():
        (logits,) = net(torch.from_numpy(batch.boards).to(memory_format=torch.channels_last))
    return functional.cross_entropy(_crop_to_grid(logits), torch.from_numpy(batch.kinds), ignore_index=IGNORED)


@torch.no_grad()  # type: ignore[untyped-decorator]
def _fit_temperature(net: HeadedNet, proof: Sequence[SquareBatch]) -> float:
    logits = torch.cat([_crop_to_grid(net(torch.from_numpy(b.boards))[0]) for b in proof])
    truth = torch.from_numpy(np.concatenate([b.kinds for b in proof]))
    return fit_temperature(logits, truth)


def report(net: SquareNet, proof: Sequence[SquareBatch]) -> str:
    """Evaluate the square network on held-out batches; return a text with accuracy and confusion matrix."""
    table = np.zeros((3, 3), np.int64)
    for batch in proof:
        for board, kinds in zip(batch.boards, batch.kinds, strict=True):
            guess = net.predict_normalised(board).argmax(axis=2)
            known = kinds != IGNORED
            np.add.at(table, (kinds[known], guess[known]), 1)
    names = ("empty", "tile", "hidden")
    rows = (f"  {name:7}" + "".join(f"{n:8}" for n in table[i]) for i, name in enumerate(names))
    share = 100 * np.trace(table) / table.sum()
    return "\n".join([f"squares: {share:.3f} % of {table.sum()} right; rows truth, columns {' '.join(names)}", *rows])
