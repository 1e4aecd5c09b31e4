"""Train the network that reads tiles, measure it on scenes that it has not seen, and write the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from vision.net import MODELS
from vision.recognition.letters import LetterNet
from vision.recognition.tile_crops import SIDE
from vision.training.augmentation import IGNORED, LetterBatch, LetterLooks, evening
from vision.training.dataset import Views, classes
from vision.training.networks import HeadedNet, letter_net, write_onnx
from vision.training.optimise import adamw, fit, quick, temperature
from vision.training.quantise import quantise

BATCH = 256
STEPS = 11500
TOP_RATE = 2e-3


def train(
    views: Sequence[Views], held_out: Sequence[Views], steps: int, path: Path = MODELS / "letters.onnx", seed: int = 0
) -> str:
    """Learn from `views` in so many steps, write the model to `path`, and report on `held_out`."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the other core makes the batches
    rng = np.random.default_rng((seed, 1))
    looks = LetterLooks(views)
    net = letter_net(len(classes())).to(memory_format=torch.channels_last)
    fit("letters", net, lambda: looks.batch(rng, BATCH), _loss, steps, [adamw(net.parameters(), TOP_RATE)], every=500)
    proof = [LetterLooks(held_out).batch(np.random.default_rng((seed, 2, i)), 512) for i in range(16)]
    facts = {"classes": list(classes()), "temperature": _temperatures(net, proof)}
    write_onnx(
        net, path, ["n", 1, SIDE, SIDE], ["n", "classes"], facts, {"letters": "features"}, {"letters": evening()}
    )
    quantise(path, [looks.batch(rng, BATCH).crops for _ in range(4)])
    return report(LetterNet(path), proof)


def _loss(net: HeadedNet, batch: LetterBatch) -> torch.Tensor:
    with quick():
        letters, turns, places = net(torch.from_numpy(batch.crops).to(memory_format=torch.channels_last))
    told = functional.cross_entropy(
        _within(letters.float(), batch), torch.from_numpy(batch.letters), ignore_index=IGNORED
    )
    turned = functional.cross_entropy(turns.float(), torch.from_numpy(batch.turns), ignore_index=IGNORED)
    truth = torch.from_numpy(batch.places)
    known = ~truth.isnan().any(dim=1)
    missed = (places.float() - truth)[known].abs().sum() / known.sum().clamp(min=1)
    return told + 0.3 * turned + 1.5 * missed


def _within(letters: torch.Tensor, batch: LetterBatch) -> torch.Tensor:
    """The logits of the letters that can be; the others are as good as out of the question."""
    return letters.masked_fill(~torch.from_numpy(batch.possible), -1e4)


@torch.no_grad()  # type: ignore[untyped-decorator]
def _temperatures(net: HeadedNet, proof: Sequence[LetterBatch]) -> dict[str, float]:
    """The temperature of the heads that tell kinds apart."""
    outputs = [net(torch.from_numpy(b.crops)) for b in proof]
    found = {}
    for k, name in enumerate(("letters", "turns")):
        if name == "letters":
            logits = torch.cat([_within(o[k], b) for o, b in zip(outputs, proof, strict=True)])
        else:
            logits = torch.cat([o[k] for o in outputs])
        truth = torch.from_numpy(np.concatenate([b.letters if name == "letters" else b.turns for b in proof]))
        found[name] = temperature(logits, truth)
    return found


def report(net: LetterNet, proof: Sequence[LetterBatch]) -> str:
    """Accuracy, calibration and the commonest confusions on batches of held-out looks."""
    right: list[NDArray[np.bool_]] = []
    sure: list[NDArray[np.float32]] = []
    turns_right: list[NDArray[np.bool_]] = []
    missed: list[NDArray[np.float32]] = []
    slanted: list[NDArray[np.float32]] = []
    confused: Counter[tuple[str, str]] = Counter()
    for batch in proof:
        looks = net.judge(batch.crops)
        turns = looks.turns
        letters = np.where(batch.possible, looks.letters, -np.inf)
        letters -= np.log(np.exp(letters).sum(axis=1, keepdims=True))
        upright = batch.letters != IGNORED
        guess = letters.argmax(axis=1)
        right.append((guess == batch.letters)[upright])
        sure.append(np.exp(letters.max(axis=1))[upright])
        missed.append(np.linalg.norm((looks.places - batch.places)[:, :2], axis=1))
        slanted.append(np.abs(looks.places - batch.places)[:, 2])
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
