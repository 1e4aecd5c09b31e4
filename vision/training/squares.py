"""Train the network that tells empty squares, tiles and hidden squares apart, and write the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from vision.net import MODELS
from vision.recognition.squares import MARGIN, SquareNet
from vision.training.augmentation import IGNORED, SquareBatch, SquareLooks
from vision.training.dataset import Views
from vision.training.networks import HeadedNet, square_net, write_onnx
from vision.training.optimise import adamw, fit, quick, temperature
from vision.training.quantise import quantise

BATCH = 12
STEPS = 8000
TOP_RATE = 3e-3


def train(
    views: Sequence[Views], held_out: Sequence[Views], steps: int, path: Path = MODELS / "squares.onnx", seed: int = 0
) -> str:
    """Learn from `views` in so many steps, write the model to `path`, and report on `held_out`."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the other core makes the batches
    rng = np.random.default_rng((seed, 3))
    looks = SquareLooks(views)
    net = square_net().to(memory_format=torch.channels_last)
    fit("squares", net, lambda: looks.batch(rng, BATCH), _loss, steps, [adamw(net.parameters(), TOP_RATE)], every=200)
    proof = [SquareLooks(held_out).batch(np.random.default_rng((seed, 4, i)), 8) for i in range(16)]
    write_onnx(
        net,
        path,
        ["n", 3, "h", "w"],
        ["n", 3, "rows", "columns"],
        {"temperature": {"squares": _temperature(net, proof)}},
    )
    quantise(path, [looks.batch(rng, BATCH).boards for _ in range(4)])
    return report(SquareNet(path), proof)


def _grid(logits: torch.Tensor) -> torch.Tensor:
    return logits[:, :, MARGIN:-MARGIN, MARGIN:-MARGIN].float()


def _loss(net: HeadedNet, batch: SquareBatch) -> torch.Tensor:
    with quick():
        (logits,) = net(torch.from_numpy(batch.boards).to(memory_format=torch.channels_last))
    return functional.cross_entropy(_grid(logits), torch.from_numpy(batch.kinds), ignore_index=IGNORED)


@torch.no_grad()  # type: ignore[untyped-decorator]
def _temperature(net: HeadedNet, proof: Sequence[SquareBatch]) -> float:
    logits = torch.cat([_grid(net(torch.from_numpy(b.boards))[0]) for b in proof])
    truth = torch.from_numpy(np.concatenate([b.kinds for b in proof]))
    return temperature(logits, truth)


def report(net: SquareNet, proof: Sequence[SquareBatch]) -> str:
    """How often each kind is taken for which, on batches of held-out looks."""
    table = np.zeros((3, 3), np.int64)
    for batch in proof:
        for board, kinds in zip(batch.boards, batch.kinds, strict=True):
            guess = net.judge(board).argmax(axis=2)
            known = kinds != IGNORED
            np.add.at(table, (kinds[known], guess[known]), 1)
    names = ("empty", "tile", "hidden")
    rows = (f"  {name:7}" + "".join(f"{n:8}" for n in table[i]) for i, name in enumerate(names))
    share = 100 * np.trace(table) / table.sum()
    return "\n".join([f"squares: {share:.3f} % of {table.sum()} right; rows truth, columns {' '.join(names)}", *rows])
