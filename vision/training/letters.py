"""Training of the letter network, evaluation on held-out scenes, and export of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from vision.net import MODELS_DIR
from vision.recognition.letters import LetterNet
from vision.recognition.views import CROP_SIDE_PX
from vision.training.augmentation import IGNORED, LetterBatch, LetterSampler, prior_correction
from vision.training.checkpoints import Checkpoint
from vision.training.dataset import TrainingViews, classes
from vision.training.muon import make_muon
from vision.training.networks import HeadedNet, build_letter_net, write_onnx
from vision.training.optimise import fit_network, fit_temperature, mixed_precision
from vision.training.quantise import quantise_model

BATCH_SIZE = 256
STEPS = 18000
MAX_LEARNING_RATE = 2e-3


def train(
    views: Sequence[TrainingViews],
    held_out: Sequence[TrainingViews],
    steps: int,
    path: Path = MODELS_DIR / "letters.onnx",
    seed: int = 0,
    checkpoint: Checkpoint | None = None,
) -> str:
    """Train the letter network for `steps` batches of `views`, write it to `path`, and report its accuracy.

    Returns the text of `report` for the views `held_out`, which are also used to fit the calibration temperatures.
    An interrupted training continues from `checkpoint`.
    """
    torch.manual_seed(seed)
    looks = LetterSampler(views)
    net = build_letter_net(len(classes())).to(memory_format=torch.channels_last)

    def draw(step: int) -> LetterBatch:
        return looks.draw_batch(np.random.default_rng((seed, 1, step)), BATCH_SIZE)

    fit_network(
        "letters",
        net,
        draw,
        _loss,
        steps,
        make_muon(net, [head[-1] for head in net.heads.values()], MAX_LEARNING_RATE),
        report_every=500,
        checkpoint=checkpoint,
    )
    proof = [LetterSampler(held_out).draw_batch(np.random.default_rng((seed, 2, i)), 512) for i in range(16)]
    facts = {"classes": list(classes()), "temperature": _fit_temperatures(net, proof)}
    write_onnx(
        net,
        path,
        ["n", 1, CROP_SIDE_PX, CROP_SIDE_PX],
        ["n", "classes"],
        facts,
        {"letters": "features"},
        {"letters": prior_correction()},
    )
    quantise_model(path, [draw(steps + 1 + i).crops for i in range(4)])
    return report(LetterNet(path), proof)


def _loss(net: HeadedNet, batch: LetterBatch) -> torch.Tensor:
    with mixed_precision():
        letters, turns, places = net(torch.from_numpy(batch.crops).to(memory_format=torch.channels_last))
    letter_loss = functional.cross_entropy(
        _mask_impossible(letters.float(), batch), torch.from_numpy(batch.letters), ignore_index=IGNORED
    )
    turned = functional.cross_entropy(turns.float(), torch.from_numpy(batch.turns), ignore_index=IGNORED)
    truth = torch.from_numpy(batch.pose_offsets)
    known = ~truth.isnan().any(dim=1)
    missed = (places.float() - truth)[known].abs().sum() / known.sum().clamp(min=1)
    return letter_loss + 0.3 * turned + 1.5 * missed


def _mask_impossible(letters: torch.Tensor, batch: LetterBatch) -> torch.Tensor:
    """Set the logits `(n, classes)` of letters outside the tile set of each crop to a very low value."""
    return letters.masked_fill(~torch.from_numpy(batch.allowed), -1e4)


@torch.no_grad()  # type: ignore[untyped-decorator]
def _fit_temperatures(net: HeadedNet, proof: Sequence[LetterBatch]) -> dict[str, float]:
    """Fit the calibration temperatures of the heads `letters` and `turns` on the batches `proof`."""
    outputs = [net(torch.from_numpy(b.crops)) for b in proof]
    found = {}
    for k, name in enumerate(("letters", "turns")):
        if name == "letters":
            logits = torch.cat([_mask_impossible(o[k], b) for o, b in zip(outputs, proof, strict=True)])
        else:
            logits = torch.cat([o[k] for o in outputs])
        truth = torch.from_numpy(np.concatenate([b.letters if name == "letters" else b.turns for b in proof]))
        found[name] = fit_temperature(logits, truth)
    return found


def report(net: LetterNet, proof: Sequence[LetterBatch]) -> str:
    """Evaluate the letter network on held-out batches; return a text with accuracy, calibration and confusions."""
    right: list[NDArray[np.bool_]] = []
    sure: list[NDArray[np.float32]] = []
    turns_right: list[NDArray[np.bool_]] = []
    missed: list[NDArray[np.float32]] = []
    slanted: list[NDArray[np.float32]] = []
    confused: Counter[tuple[str, str]] = Counter()
    for batch in proof:
        looks = net.predict_normalised(batch.crops)
        turns = looks.turns
        letters = np.where(batch.allowed, looks.letters, -np.inf)
        letters -= np.log(np.exp(letters).sum(axis=1, keepdims=True))
        upright = batch.letters != IGNORED
        guess = letters.argmax(axis=1)
        right.append((guess == batch.letters)[upright])
        sure.append(np.exp(letters.max(axis=1))[upright])
        missed.append(np.linalg.norm((looks.pose_offsets - batch.pose_offsets)[:, :2], axis=1))
        slanted.append(np.abs(looks.pose_offsets - batch.pose_offsets)[:, 2])
        known = batch.turns != IGNORED
        turns_right.append((turns.argmax(axis=1) == batch.turns)[known])
        wrong = upright & (guess != batch.letters)
        confused.update(
            (net.classes[t], net.classes[g]) for t, g in zip(batch.letters[wrong], guess[wrong], strict=True)
        )
    hit, p = np.concatenate(right), np.concatenate(sure)
    turned = 100 * np.concatenate(turns_right).mean()
    off, slant = (float(np.nanmedian(np.concatenate(errors))) for errors in (missed, slanted))
    lines = [
        f"letters: {100 * hit.mean():.2f} % of {hit.size} looks right, turns {turned:.2f} %, "
        f"middles off by {off:.3f} squares, "
        f"slants by {np.rad2deg(slant):.1f} degrees"
    ]
    edges = [0.0, 0.5, 0.8, 0.9, 0.97, 0.99, 0.999, 1.01]
    for low, high in pairwise(edges):
        inside = (p >= low) & (p < high)
        if inside.any():
            lines.append(
                f"  said {low:.3f}..{min(high, 1):.3f}: {100 * hit[inside].mean():6.2f} % right of {inside.sum()}"
            )
    lines.append("  confused: " + ", ".join(f"{t}>{g} {n}" for (t, g), n in confused.most_common(30)))
    return "\n".join(lines)
