"""Training of the finder and lattice networks for board detection, on rendered scenes only.

The finder's input is the whole picture at low resolution; the lattice network's input is the rectified board. The
number of steps is fixed rather than the training time, so that the same seed gives the same weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from vision.detection.finder import FINDER_SIDE_PX
from vision.detection.locator import LATTICE_SIDE_PX
from vision.training.checkpoints import Checkpoint
from vision.training.detector_data import Array, DetectorScene, Rng, make_finder_sample, make_lattice_sample
from vision.training.optimise import fit_network, make_muon, mixed_precision
from vision.training.quantise import add_facts, quantise_model


def _halve(inputs: int, outputs: int) -> nn.Sequential:
    """Return a 3 x 3 convolution that halves width and height, with batch normalisation and ReLU."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


class _Residual(nn.Module):  # type: ignore[misc]  # torch is not typed here
    def __init__(self, channels: int, dilation: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, 1, dilation, dilation, bias=False), nn.BatchNorm2d(channels)
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.body(x))


class FinderNet(nn.Module):  # type: ignore[misc]  # torch is not typed here
    """Finder network: coarse detection of the four corners of the grid in a whole picture.

    Input (N, 3, 256, 256), output (N, 4, 64, 64). The channels for each cell are the logit of a grid corner in the
    cell, the offset (x, y) of that corner from the cell's centre in cells, and the logit of the cell being on the grid.
    """

    def __init__(self) -> None:
        super().__init__()
        self.to_4 = nn.Sequential(_halve(3, 12), _halve(12, 24), _Residual(24))
        self.to_8 = nn.Sequential(_halve(24, 40), _Residual(40), _Residual(40))
        self.to_16 = nn.Sequential(_halve(40, 64), _Residual(64), _Residual(64))
        self.to_32 = nn.Sequential(_halve(64, 64), _Residual(64), _Residual(64, 2))
        self.from_32, self.at_16 = nn.Conv2d(64, 64, 1), _Residual(64)
        self.from_16, self.at_8 = nn.Conv2d(64, 40, 1), _Residual(40)
        self.from_8, self.at_4 = nn.Conv2d(40, 24, 1), _Residual(24)
        self.head = nn.Conv2d(24, 4, 1)
        nn.init.constant_(self.head.bias, 0.0)
        with torch.no_grad():
            self.head.bias[0] = -4.0  # a low initial probability, because corners are rare

    def forward(self, x: Tensor) -> Tensor:
        """Compute the output `(n, 4, h / 4, w / 4)` for a batch of pictures `(n, 3, h, w)`."""
        x4 = self.to_4(x)
        x8 = self.to_8(x4)
        x16 = self.to_16(x8)
        x32 = self.to_32(x16)
        x16 = self.at_16(x16 + _upsample_twice(self.from_32(x32)))
        x8 = self.at_8(x8 + _upsample_twice(self.from_16(x16)))
        x4 = self.at_4(x4 + _upsample_twice(self.from_8(x8)))
        return self.head(x4)


def _upsample_twice(x: Tensor) -> Tensor:
    return nn.functional.interpolate(x, scale_factor=2.0, mode="nearest")


class LatticeNet(nn.Module):  # type: ignore[misc]  # torch is not typed here
    """Lattice network: detection of all corners of squares in a rectified picture.

    Input (N, 3, 320, 320) with 16 pixels per square and a margin of 2.5 squares, output (N, 4, 20, 20). The channels
    for each cell of 16 pixels are the offset (x, y) of the nearest corner of squares from the cell's centre in cells,
    the logarithm of the expected error of that offset (Laplace scale), and the logit of the cell being on the grid.
    """

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            _halve(3, 12),
            _halve(12, 24),
            _Residual(24),
            _halve(24, 40),
            _Residual(40),
            _Residual(40),
            _halve(40, 64),
            _Residual(64),
            _Residual(64, 2),
            _Residual(64, 4),
            _Residual(64),
        )
        self.head = nn.Conv2d(64, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Compute the output `(n, 4, h / 16, w / 16)` for a batch of rectified pictures `(n, 3, h, w)`."""
        return self.head(self.body(x))


BATCH_SIZE = 24
MAX_LEARNING_RATE = 4e-3
_RANGE_PERCENT = 99.9
"""Percentage of a layer's activations in the range of the eight-bit values; others are clipped. Quantisation increases
the error of the lattice network by 2 % with this value, and by 14 % with 100."""
SampleMaker = Callable[[DetectorScene, Rng], tuple[Array, Array]]
"""Function that makes a random sample (input, targets) from a scene."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Batch of input arrays `pictures` `(n, 3, h, w)` and target arrays `targets` `(n, channels, rows, columns)`."""

    pictures: Array
    targets: Array


def draw_batch(scenes: Sequence[DetectorScene], make: SampleMaker, rng: Rng) -> Batch:
    """Return a batch of `BATCH_SIZE` samples, each made by `make` from a random scene."""
    made = [make(scenes[int(rng.integers(len(scenes)))], rng) for _ in range(BATCH_SIZE)]
    return Batch(np.stack([picture for picture, _ in made]), np.stack([target for _, target in made]))


def finder_loss(answer: Tensor, target: Tensor) -> Tensor:
    """Return the finder's training loss for the network output `answer` (N, 4, 64, 64) and targets (N, 5, 64, 64).

    It is the sum of a penalty-reduced focal loss for the corner heat map (Zhou, Objects as points, 2019), an L1 loss
    for the offsets, and a cross entropy for the grid mask.
    """
    heat, corner = answer[:, 0], target[:, 0]
    p = torch.sigmoid(heat).clamp(1e-4, 1 - 1e-4)
    # Each cell with a corner should have the probability 1, and the others 0; cells near a corner count less.
    at = corner > 0.75  # the cell that holds the corner
    found = -torch.log(p) * (1 - p) ** 2 * at
    calm = -torch.log(1 - p) * p**2 * (1 - corner) ** 4 * ~at
    focal = (found.sum() + calm.sum()) / max(float(at.sum()), 1.0)
    near = target[:, 4]
    place = ((answer[:, 1:3] - target[:, 1:3]).abs().sum(1) * near).sum() / near.sum().clamp(min=1)
    on = nn.functional.binary_cross_entropy_with_logits(answer[:, 3], target[:, 3])
    return focal + place + 2 * on


def lattice_loss(answer: Tensor, target: Tensor) -> Tensor:
    """Return the lattice network's training loss for the output `answer` (N, 4, 20, 20) and targets (N, 3, 20, 20).

    It is the sum of the negative log-likelihood of the corner offsets (Laplace distribution with predicted scale) and a
    cross entropy for the grid mask.
    """
    scale = answer[:, 2].clamp(-5, 2)
    miss = (answer[:, :2] - target[:, :2]).abs().sum(1)
    counts = target[:, 2]
    place = ((miss * torch.exp(-scale) + 2 * scale) * counts).sum() / counts.sum().clamp(min=1)
    on = nn.functional.binary_cross_entropy_with_logits(answer[:, 3], counts)
    return place + 2 * on


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Training task of one network: architecture, samples, loss and number of steps."""

    name: str
    net_class: type[nn.Module]
    side_px: int
    """Side of the network's square input, in px."""
    make_sample: SampleMaker
    loss: Callable[[Tensor, Tensor], Tensor]
    """Function that returns the loss, given the network's output and the targets."""
    steps: int
    """Number of training batches."""
    seed: int


FINDER = Task("finder", FinderNet, FINDER_SIDE_PX, make_finder_sample, finder_loss, steps=1400, seed=1)
"""Training task of the finder network."""
LATTICE = Task("lattice", LatticeNet, LATTICE_SIDE_PX, make_lattice_sample, lattice_loss, steps=2000, seed=2)
"""Training task of the lattice network."""


def train(
    task: Task, scenes: Sequence[DetectorScene], steps: int, path: Path, checkpoint: Checkpoint | None = None
) -> None:
    """Train the network of `task` on `scenes` for `steps` batches, quantise it and write the ONNX file `path`.

    An interrupted training continues from `checkpoint`.
    """
    torch.manual_seed(task.seed)

    def draw(step: int) -> Batch:
        return draw_batch(scenes, task.make_sample, np.random.default_rng((task.seed, 5, step)))

    net = task.net_class().to(memory_format=torch.channels_last)

    def loss(net: nn.Module, samples: Batch) -> Tensor:
        pictures = torch.from_numpy(samples.pictures).to(memory_format=torch.channels_last)
        with mixed_precision():
            answer = net(pictures)
        return task.loss(answer.float(), torch.from_numpy(samples.targets))

    fit_network(
        task.name,
        net,
        draw,
        loss,
        steps,
        make_muon(net, [net.head], MAX_LEARNING_RATE),
        report_every=100,
        checkpoint=checkpoint,
    )
    export_onnx(net, task.side_px, path)
    quantise_model(path, [draw(steps + 1 + i).pictures for i in range(4)], _RANGE_PERCENT)


def export_onnx(net: nn.Module, side: int, path: Path) -> None:
    """Export `net` as an ONNX file for input `(n, 3, side, side)`, with batch normalisation folded in."""
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
    add_facts(path, {"side": side})
