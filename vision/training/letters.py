"""Training of the letter network, evaluation on held-out scenes, and export of the model.

The network learns from the true letters, and from the answers of the large letter network to the same crops
(`vision.training.optimise`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from vision.net import MODELS_DIR, ModelError, Net
from vision.recognition.letters import LARGE_LETTERS_FILE, LetterNet
from vision.recognition.views import CROP_SIDE_PX
from vision.training.augmentation import IGNORED, LetterBatch, LetterSampler, prior_correction
from vision.training.checkpoints import RATE_SHARE, START_FOLDER, Checkpoint, load_start_weights, write_start_weights
from vision.training.dataset import TrainingViews, classes
from vision.training.networks import HeadedNet, build_letter_net, write_onnx
from vision.training.optimise import (
    TEACHER_SHARE,
    TaughtBatch,
    compute_divergence,
    fit_network,
    fit_temperature,
    make_muon,
    mixed_precision,
    read_temperature,
)
from vision.training.quantise import quantise_model

BATCH_SIZE = 256
STEPS_FROM_SCRATCH = 14000
REFINING_STEPS = 3000
"""Number of steps that begin with the start weights (`vision.training.checkpoints`)."""
REPORT_EVERY = 500
"""Number of steps between two reports, and between two checkpoints."""
MAX_LEARNING_RATE = 2e-3
TEACHER_TEMPERATURE: Final = 2.0
"""Divisor of the logits before they are compared, so that unlikely letters count, too."""


def train(
    views: Sequence[TrainingViews],
    held_out: Sequence[TrainingViews],
    steps: int,
    path: Path = MODELS_DIR / "letters.onnx",
    seed: int = 0,
    checkpoint: Checkpoint | None = None,
    *,
    from_scratch: bool = False,
) -> str:
    """Train the letter network for `steps` batches of `views`, write it to `path`, and report its accuracy.

    Its teacher is the large letter network. The training begins with the start weights. With `from_scratch`, it begins
    with random weights, and writes new start weights beside `path` at the end. Returns the text of `report` for the
    views `held_out`, which are also used to fit the calibration temperatures. An interrupted training continues from
    `checkpoint`.
    """
    torch.manual_seed(seed)
    looks = LetterSampler(views)
    teacher = Teacher()
    net = build_letter_net(len(classes())).to(memory_format=torch.channels_last)
    if not from_scratch:
        load_start_weights(net, START_FOLDER / "letters.npz")
    rate = MAX_LEARNING_RATE if from_scratch else RATE_SHARE * MAX_LEARNING_RATE

    def draw(step: int) -> TaughtBatch[LetterBatch]:
        batch = looks.draw_batch(np.random.default_rng((seed, 1, step)), BATCH_SIZE)
        return TaughtBatch(batch, teacher.answer(batch))

    fit_network(
        "letters",
        net,
        draw,
        compute_taught_loss,
        steps,
        make_muon(net, [head[-1] for head in net.heads.values()], rate),
        report_every=REPORT_EVERY,
        checkpoint=checkpoint,
    )
    if from_scratch:
        write_start_weights(net, path.with_suffix(".npz"))
    proof = draw_proof(held_out, seed)
    facts = {"classes": list(classes()), "temperature": fit_temperatures(net, proof)}
    write_onnx(
        net,
        path,
        ["n", 1, CROP_SIDE_PX, CROP_SIDE_PX],
        ["n", "classes"],
        facts,
        {"letters": "features"},
        {"letters": prior_correction()},
    )
    quantise_model(path, [draw(steps + 1 + i).batch.crops for i in range(4)])
    return report(LetterNet(path), proof)


class Teacher:
    """The large letter network as a teacher."""

    def __init__(self, path: Path = MODELS_DIR / LARGE_LETTERS_FILE) -> None:
        self._net = Net(path)
        if self._net.metadata["classes"] != list(classes()):
            raise ModelError(f"{path.name} knows other letters; train it with python -m vision.training.large_networks")
        self._temperature = read_temperature(self._net, "letters")

    def answer(self, batch: LetterBatch) -> NDArray[np.float32]:
        """Return the logits `(n, classes)` of the teacher for a batch, without the calibration of the ONNX file."""
        (calibrated,) = self._net(batch.crops)
        return np.asarray((calibrated - prior_correction()) * self._temperature, np.float32)


def draw_proof(held_out: Sequence[TrainingViews], seed: int = 0, count: int = 16) -> list[LetterBatch]:
    """Return `count` batches of the views `held_out`, for calibration and evaluation."""
    looks = LetterSampler(held_out)
    return [looks.draw_batch(np.random.default_rng((seed, 2, i)), 512) for i in range(count)]


def compute_taught_loss(net: HeadedNet, taught: TaughtBatch[LetterBatch]) -> torch.Tensor:
    """Return the loss of a batch, with the divergence from the teacher's answers for upright tiles."""
    loss, letters = compute_loss(net, taught.batch, 1 - TEACHER_SHARE)
    upright = torch.from_numpy(taught.batch.letters != IGNORED)
    answers = _mask_impossible(torch.from_numpy(taught.answers), taught.batch)[upright]
    return loss + TEACHER_SHARE * compute_divergence(letters[upright], answers, TEACHER_TEMPERATURE)


def compute_loss(
    net: HeadedNet, batch: LetterBatch, letter_weight: float = 1.0, device: str = "cpu"
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss of a batch, and the logits of the letters `(n, classes)`, masked by `_mask_impossible`.

    `net` must be on `device`.
    """
    with mixed_precision(device):
        crops = torch.from_numpy(batch.crops).to(device, memory_format=torch.channels_last)
        letters, turns, places = net(crops)
    masked = _mask_impossible(letters.float(), batch)
    letter_loss = functional.cross_entropy(masked, torch.from_numpy(batch.letters).to(device), ignore_index=IGNORED)
    turned = functional.cross_entropy(turns.float(), torch.from_numpy(batch.turns).to(device), ignore_index=IGNORED)
    truth = torch.from_numpy(batch.pose_offsets).to(device)
    known = ~truth.isnan().any(dim=1)
    missed = (places.float() - truth)[known].abs().sum() / known.sum().clamp(min=1)
    return letter_weight * letter_loss + 0.3 * turned + 1.5 * missed, masked


def _mask_impossible(letters: torch.Tensor, batch: LetterBatch) -> torch.Tensor:
    """Return the logits `(n, classes)` with a very low value for each letter that the tile set of a crop lacks.

    The network then has a probability of nearly 0 for these letters, so it does not learn to avoid them.
    """
    return letters.masked_fill(~torch.from_numpy(batch.allowed).to(letters.device), -1e4)


@torch.no_grad()  # type: ignore[untyped-decorator]
def fit_temperatures(net: HeadedNet, proof: Sequence[LetterBatch]) -> dict[str, float]:
    """Fit the calibration temperatures of the heads `letters` and, if `net` has it, `turns` on the batches `proof`."""
    outputs = [dict(zip(net.heads, net(torch.from_numpy(batch.crops)), strict=True)) for batch in proof]
    masked = [_mask_impossible(output["letters"], batch) for output, batch in zip(outputs, proof, strict=True)]
    truth = torch.from_numpy(np.concatenate([batch.letters for batch in proof]))
    found = {"letters": fit_temperature(torch.cat(masked), truth)}
    if "turns" in net.heads:
        turns = torch.from_numpy(np.concatenate([batch.turns for batch in proof]))
        found["turns"] = fit_temperature(torch.cat([output["turns"] for output in outputs]), turns)
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
