"""Train the two networks that find a board and write them as ONNX files.

Rendered scenes only. Steps are counted, not timed, so that the same seed gives the same weights.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from calibration.locate import FINDER_SIDE, LATTICE_SIDE
from calibration.train.locate_data import Array, Kept, Rng, finder_sample, lattice_sample
from calibration.train.locate_nets import Finder, Lattice
from vision.train.quantise import quantise

BATCH = 24
FINDER_STEPS = 1400
LATTICE_STEPS = 2000
"""Batches that the networks in `calibration/models` learned from: about six and eleven minutes on two free cores."""
Sample = Callable[[Kept, Rng], tuple[Array, Array]]


class _Samples(Dataset[tuple[Array, Array]]):  # type: ignore[misc]  # torch is not typed here
    """Sample `i` is made of a scene drawn by `i`, so that the order of work does not matter."""

    def __init__(self, scenes: Sequence[Kept], make: Sample, count: int, seed: int) -> None:
        self.scenes, self.make, self.count, self.seed = scenes, make, count, seed

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Array, Array]:
        rng = np.random.default_rng((self.seed, index))
        return self.make(self.scenes[int(rng.integers(len(self.scenes)))], rng)


def finder_loss(answer: Tensor, target: Tensor) -> Tensor:
    """Penalty-reduced focal loss for the corners (Zhou, Objects as points, 2019), overlap for the grid."""
    heat, corner = answer[:, 0], target[:, 0]
    p = torch.sigmoid(heat).clamp(1e-4, 1 - 1e-4)
    at = corner > 0.75  # the cell that holds the corner
    found = -torch.log(p) * (1 - p) ** 2 * at
    calm = -torch.log(1 - p) * p**2 * (1 - corner) ** 4 * ~at
    focal = (found.sum() + calm.sum()) / max(float(at.sum()), 1.0)
    near = target[:, 4]
    place = ((answer[:, 1:3] - target[:, 1:3]).abs().sum(1) * near).sum() / near.sum().clamp(min=1)
    on = nn.functional.binary_cross_entropy_with_logits(answer[:, 3], target[:, 3])
    return focal + place + 2 * on


def lattice_loss(answer: Tensor, target: Tensor) -> Tensor:
    """Laplace likelihood of the corners of squares, and which cells have one."""
    scale = answer[:, 2].clamp(-5, 2)
    miss = (answer[:, :2] - target[:, :2]).abs().sum(1)
    counts = target[:, 2]
    place = ((miss * torch.exp(-scale) + 2 * scale) * counts).sum() / counts.sum().clamp(min=1)
    on = nn.functional.binary_cross_entropy_with_logits(answer[:, 3], counts)
    return place + 2 * on


def train(
    net: nn.Module,
    scenes: Sequence[Kept],
    make: Sample,
    loss_of: Callable[[Tensor, Tensor], Tensor],
    steps: int,
    seed: int,
) -> nn.Module:
    """Train `net` on `steps` batches with AdamW under one warm-up and decay of the learning rate."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the other core makes the samples
    loader = DataLoader(_Samples(scenes, make, steps * BATCH, seed), BATCH, num_workers=1, prefetch_factor=6)
    net = net.to(memory_format=torch.channels_last).train()
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=steps, pct_start=0.15)
    begun, running = time.monotonic(), 0.0
    for step, (pictures, targets) in enumerate(loader):
        with torch.autocast("cpu", torch.bfloat16):
            answer = net(pictures.contiguous(memory_format=torch.channels_last))
        loss = loss_of(answer.float(), targets)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        schedule.step()
        running = 0.98 * running + 0.02 * loss.item() if step else loss.item()
        if step % 100 == 99:
            rate = (step + 1) * BATCH / (time.monotonic() - begun)
            print(f"  {step + 1}/{steps} loss {running:.3f} {rate:.0f} samples/s", file=sys.stderr, flush=True)
    return net.eval()


def export(net: nn.Module, side: int, path: Path) -> None:
    """Write `net` for pictures of `side` pixels, batch normalisation folded in, as ONNX."""
    path.parent.mkdir(parents=True, exist_ok=True)
    example: Any = torch.zeros(1, 3, side, side)
    net = net.to(memory_format=torch.contiguous_format)
    torch.onnx.export(
        net,
        (example,),
        str(path),
        input_names=["picture"],
        output_names=["cells"],
        dynamic_axes={"picture": {0: "n"}, "cells": {0: "n"}},
        opset_version=17,
        dynamo=False,
    )
    model = onnx.load(path)
    onnx.helper.set_model_props(model, {"tilekeeper": json.dumps({"side": side})})
    onnx.save(model, path)


def train_finder(scenes: Sequence[Kept], steps: int, path: Path, seed: int = 1) -> None:
    """Train the network that finds a board in a picture and write it to `path`."""
    export(train(Finder(), scenes, finder_sample, finder_loss, steps, seed), FINDER_SIDE, path)
    quantise(path, _examples(scenes, finder_sample, seed))


def train_lattice(scenes: Sequence[Kept], steps: int, path: Path, seed: int = 2) -> None:
    """Train the network that finds the corners of squares on a rectified board and write it to `path`."""
    export(train(Lattice(), scenes, lattice_sample, lattice_loss, steps, seed), LATTICE_SIDE, path)
    quantise(path, _examples(scenes, lattice_sample, seed))


def _examples(scenes: Sequence[Kept], make: Sample, seed: int) -> list[Array]:
    """Pictures to take the ranges of a network's numbers from."""
    samples = _Samples(scenes, make, 4 * BATCH, seed)
    return [np.stack([samples[first + i][0] for i in range(BATCH)]) for first in range(0, 4 * BATCH, BATCH)]
