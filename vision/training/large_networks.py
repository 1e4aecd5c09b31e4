"""Train the two large networks (python -m vision.training.large_networks).

The large letter network reads the tiles that the letter network finds unclear. Both large networks are the teachers of
the small ones: a small network learns more from the answers of a large one than from the true classes alone.

This needs a GPU to end in a quarter of an hour; two cores would need days. It renders the same scenes as `python -m
vision.training`, and writes `vision/models/letters_large.onnx.gz`, whose rounded weights compress well, and
`vision/training/squares_large.onnx`.

Weights are rounded to eleven values per output channel, one input after the other. The error of each is compensated by
the weights of inputs that are not rounded yet, as far as the inputs are correlated on calibration data (Frantar et al.,
GPTQ: accurate post-training quantization for generative pre-trained transformers, 2023).
"""

from __future__ import annotations

import argparse
import copy
import os
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import torch
from torch import nn
from torch.nn import functional

from vision.training.networks import HeadedNet, Residual, fold_batch_norm

try:
    import numpy as np
    import torch

    from vision.net import MODELS_DIR
    from vision.recognition.letters import LARGE_LETTERS_FILE
    from vision.recognition.views import CROP_SIDE_PX
    from vision.rendering.fonts import packaged_fonts
    from vision.training import letters, squares
    from vision.training.__main__ import log_progress, render_training_data
    from vision.training.augmentation import (
        LetterBatch,
        LetterSampler,
        SquareBatch,
        SquareSampler,
        prior_correction,
    )
    from vision.training.dataset import TrainingViews, classes
    from vision.training.font_list import training_fonts
    from vision.training.networks import HeadedNet, build_large_letter_net, build_large_square_net, write_onnx
    from vision.training.optimise import fit_network, make_muon
    from vision.training.quantise import quantise_model
    from vision.training.scenes import FIRST_UNSEEN_SCENE
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}; training needs more than playing: pip install '.[train]'") from error
STEPS: Final = 14000
"""Number of steps of the letter network; the square network has half as many."""
CROPS_PER_STEP: Final = 1024
BOARDS_PER_STEP: Final = 16
MAX_LEARNING_RATE: Final = 2e-3


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    description = str(__doc__).split("\n\n", maxsplit=1)[0]
    parser = argparse.ArgumentParser(prog="python -m vision.training.large_networks", description=description)
    parser.add_argument("--out", type=Path, help="folder for both files, for a trial")
    parser.add_argument(
        "--scenes", type=int, default=FIRST_UNSEEN_SCENE, help=f"scenes to draw (default {FIRST_UNSEEN_SCENE})"
    )
    parser.add_argument("--steps", type=int, default=STEPS, help=f"training steps (default {STEPS})")
    parser.add_argument("--crops", type=int, default=CROPS_PER_STEP, help=f"in a step (default {CROPS_PER_STEP})")
    parser.add_argument("--fonts", choices=["all", "packaged"], default="all", help="as for python -m vision.training")
    return parser.parse_args(argv)


def train_letters(
    views: Sequence[TrainingViews],
    held_out: Sequence[TrainingViews],
    steps: int,
    crops_per_step: int,
    path: Path,
    device: str,
) -> None:
    """Train the large letter network on `device` for `steps` batches of `views`, and write it to `path`.

    `held_out` are the views for the calibration of its confidences.
    """
    torch.manual_seed(0)
    looks = LetterSampler(views)
    net = build_large_letter_net(len(classes())).to(device, memory_format=torch.channels_last)

    def draw(step: int) -> LetterBatch:
        return looks.draw_batch(np.random.default_rng((0, 5, step)), crops_per_step)

    def compute_loss(net: HeadedNet, batch: LetterBatch) -> torch.Tensor:
        return letters.compute_loss(net, batch, device=device)[0]

    optimisers = make_muon(net, [head[-1] for head in net.heads.values()], MAX_LEARNING_RATE)
    fit_network("large letters", net, draw, compute_loss, steps, optimisers, 500, drawing_processes=_count_workers())
    batches = [draw(steps + 1 + i) for i in range(4)]
    write_large_letter_net(net.cpu(), batches, letters.draw_proof(held_out, count=min(16, steps)), path)


def train_squares(
    views: Sequence[TrainingViews], held_out: Sequence[TrainingViews], steps: int, path: Path, device: str
) -> None:
    """Train the large square network on `device` for `steps` batches of `views`, and write it to `path`.

    `held_out` are the views for the calibration of its confidences.
    """
    torch.manual_seed(0)
    looks = SquareSampler(views)
    net = build_large_square_net().to(device, memory_format=torch.channels_last)

    def draw(step: int) -> SquareBatch:
        return looks.draw_batch(np.random.default_rng((0, 6, step)), BOARDS_PER_STEP)

    def compute_loss(net: HeadedNet, batch: SquareBatch) -> torch.Tensor:
        return squares.compute_loss(net, batch, device=device)[0]

    optimisers = make_muon(net, [net.heads["squares"][-1]], MAX_LEARNING_RATE)
    fit_network("large squares", net, draw, compute_loss, steps, optimisers, 500, drawing_processes=_count_workers())
    batches = [draw(steps + 1 + i) for i in range(4)]
    squares.write_square_net(net.cpu(), batches, squares.draw_proof(held_out), path)


def write_large_letter_net(
    net: HeadedNet, batches: Sequence[LetterBatch], proof: Sequence[LetterBatch], path: Path
) -> None:
    """Write the letters' part of the network `net` to the compressed file `path`, with rounded weights.

    The rounding is calibrated on the first of the training `batches`, the confidences on the batches `proof`.
    """
    only_letters = HeadedNet(list(net.trunk), {"letters": list(net.heads["letters"])})
    rounded = round_weights(only_letters, torch.from_numpy(batches[0].crops))
    uncompressed = path.with_suffix("")
    write_onnx(
        rounded,
        uncompressed,
        ["n", 1, CROP_SIDE_PX, CROP_SIDE_PX],
        ["n", "classes"],
        {"classes": list(classes()), "temperature": letters.fit_temperatures(rounded, proof)},
        offsets={"letters": prior_correction()},
    )
    quantise_model(uncompressed, [batch.crops for batch in batches])
    path.write_bytes(compress_weights(uncompressed.read_bytes()))
    uncompressed.unlink()


def compress_weights(content: bytes) -> bytes:
    """Return `content` as a gzip file, compressed only with Huffman codes: weights have no repetitions to be found."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS, 9, zlib.Z_HUFFMAN_ONLY)
    return compressor.compress(content) + compressor.flush()


def _count_workers() -> int:
    """Return the number of processes that draw batches: one for each core but the one that trains."""
    return max(1, (os.cpu_count() or 1) - 1)


def main(argv: Sequence[str] | None = None) -> int:
    """Render the scenes, train both networks and write their files; return the exit code."""
    args = parse_arguments(argv)
    begun = time.monotonic()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    fonts = packaged_fonts() if args.fonts == "packaged" else training_fonts()
    log_progress(begun, f"{device}, torch {torch.__version__}; drawing {args.scenes} scenes")
    views, held_out, _ = render_training_data(args.scenes, 0, fonts, with_detectors=False)
    log_progress(begun, "training")
    letters_path: Path = (args.out or MODELS_DIR) / LARGE_LETTERS_FILE
    squares_path = args.out / squares.LARGE_SQUARES_PATH.name if args.out else squares.LARGE_SQUARES_PATH
    train_letters(views, held_out, args.steps, args.crops, letters_path, device)
    log_progress(begun, "letters done")
    train_squares(views, held_out, max(1, args.steps // 2), squares_path, device)
    log_progress(begun, "squares done")
    return 0


MAX_LEVEL: Final = 5
"""Weights become multiples from -5 to 5 of the step of their output channel."""
_STEP_SIGMA: Final = 0.7
"""Maximum step, as a multiple of the standard deviation of a channel's weights: larger weights are clipped."""
_DAMPING: Final = 0.01
"""Share of the mean diagonal that is added to the correlation matrix, so that it can be inverted."""
_BLOCK: Final = 128
"""Number of inputs after which the errors are passed on to all following inputs; only for speed."""
_CROPS_AT_ONCE: Final = 128


@torch.no_grad()  # type: ignore[untyped-decorator]
def round_weights(net: HeadedNet, inputs: torch.Tensor) -> HeadedNet:
    """Return a copy of `net` with rounded weights and folded batch normalisation.

    `inputs` `(n, ...)` are calibration data.
    The first layer and the last layer of each head keep their weights: they are small, and errors in them matter most.
    """
    net = copy.deepcopy(net)
    heads = {name: list(_fold_norms(head)) for name, head in net.heads.items()}
    rounded = HeadedNet(list(_fold_norms(net.trunk)), heads)
    rounded.eval()
    first = next(_find_layers(rounded))
    kept = {id(first), *(id(head[-1]) for head in rounded.heads.values())}
    for layer in _find_layers(rounded):
        if id(layer) not in kept:
            _round_layer(layer, _correlate_inputs(rounded, layer, inputs))
    return rounded


def _find_layers(net: nn.Module) -> Iterator[nn.Module]:
    """Yield the layers with weights, in the order in which they are computed."""
    return (module for module in net.modules() if isinstance(module, (nn.Conv2d, nn.Linear)))


def _fold_norms(layers: Sequence[nn.Module]) -> Iterator[nn.Module]:
    """Yield `layers` with each batch normalisation folded into the convolution before it."""
    modules = list(layers)
    for layer, after in zip(modules, [*modules[1:], None], strict=True):
        if isinstance(layer, nn.Conv2d):
            norm = after if isinstance(after, nn.BatchNorm2d) else None
            kernel, bias = map(torch.from_numpy, fold_batch_norm(layer, norm))
            folded = nn.Conv2d(layer.in_channels, layer.out_channels, layer.kernel_size, layer.stride, layer.padding)
            folded.weight.copy_(kernel)
            folded.bias.copy_(bias)
            yield folded
        elif isinstance(layer, Residual):
            yield Residual(list(_fold_norms(layer.body)))
        elif not isinstance(layer, nn.BatchNorm2d):
            yield layer


def _correlate_inputs(net: HeadedNet, layer: nn.Module, inputs: torch.Tensor) -> torch.Tensor:
    """Return the sum of products `(k, k)` of the k values that each output of `layer` depends on."""
    total = torch.zeros((layer.weight[0].numel(),) * 2)

    def add(_: nn.Module, given: tuple[torch.Tensor]) -> None:
        (x,) = given
        if isinstance(layer, nn.Conv2d):
            patches = functional.unfold(x, layer.kernel_size, padding=layer.padding, stride=layer.stride)
            x = patches.transpose(1, 2).reshape(-1, len(total))
        total.addmm_(x.T, x)

    hook = layer.register_forward_pre_hook(add)
    for part in inputs.split(_CROPS_AT_ONCE):
        net(part)
    hook.remove()
    return total


def _round_layer(layer: nn.Module, correlations: torch.Tensor) -> None:
    """Round the weights of `layer` in place; `correlations` are the sums of products of its inputs."""
    weights = layer.weight.flatten(1).clone()
    largest = weights.abs().amax(dim=1, keepdim=True)
    step = torch.minimum(_STEP_SIGMA * weights.std(dim=1, keepdim=True), largest / MAX_LEVEL).clamp(min=1e-12)
    # Round the inputs with the largest values first: the others can still compensate their errors.
    order = correlations.diagonal().argsort(descending=True)
    weights = weights[:, order]
    inverse = _invert(correlations[order][:, order])
    rounded = torch.empty_like(weights)
    for begin in range(0, weights.shape[1], _BLOCK):
        end = min(begin + _BLOCK, weights.shape[1])
        errors = torch.empty_like(weights[:, begin:end])
        for i in range(begin, end):
            column = weights[:, i : i + 1]
            rounded[:, i : i + 1] = (column / step).round().clamp(-MAX_LEVEL, MAX_LEVEL) * step
            error = (column - rounded[:, i : i + 1]) / inverse[i, i]
            weights[:, i:end] -= error @ inverse[i : i + 1, i:end]
            errors[:, i - begin : i - begin + 1] = error
        weights[:, end:] -= errors @ inverse[begin:end, end:]
    layer.weight.copy_(rounded[:, order.argsort()].view_as(layer.weight))


def _invert(correlations: torch.Tensor) -> torch.Tensor:
    """Return the upper Cholesky factor of the inverse of a correlation matrix `(k, k)`."""
    diagonal = correlations.diagonal()
    damped = correlations + torch.diag(_DAMPING * diagonal.mean() + (diagonal == 0).float())
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(damped))
    return torch.linalg.cholesky(inverse, upper=True)


if __name__ == "__main__":
    sys.exit(main())
