"""Train the detail network (python -m vision.training.details).

Renders scenes with accented letters and printed values, in all fonts of the training data, and trains the network with
one thread: about two hours of a core with AVX-512 and BF16. The same command gives the same file on the same machine.
An interrupted training continues when the same command is run again: the crops of rendered scenes and the last
checkpoint are in `checkpoints/` of the output folder.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

try:
    import numpy as np
    import torch
    from torch import nn
    from torch.nn import functional

    from vision.net import MODELS_DIR
    from vision.recognition.details import ACCENT_KINDS, DETAIL_SIDE_PX, VALUE_KINDS, DetailNet
    from vision.training.augmentation import IGNORED
    from vision.training.checkpoints import Checkpoint
    from vision.training.detail_data import DetailBatch, DetailExamples, draw_batch, draw_examples
    from vision.training.font_list import SHARE_ROOT, split_by_family, training_fonts, weight_by_kind
    from vision.training.networks import HeadedNet, conv_block, write_onnx
    from vision.training.optimise import fit_network, fit_temperature, make_muon, mixed_precision
    from vision.training.quantise import quantise_model
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}; training needs more than playing: pip install '.[train]'") from error

SCENES: Final = 3000
HELD_OUT_SCENES: Final = 100
"""Number of scenes for calibration and evaluation; their fonts are not used for training."""
STEPS: Final = 36000
BATCH_SIZE: Final = 128
SCENES_PER_FILE: Final = 50
REPORT_EVERY: Final = 100
MAX_LEARNING_RATE: Final = 2e-3


def build_detail_net() -> HeadedNet:
    """Return an untrained detail network, from crops (n, 1, 56, 56) to logits of accents and of values."""
    trunk = [
        *conv_block(1, 16, 2, 5),
        *conv_block(16, 32),
        *conv_block(32, 64, 2),
        *conv_block(64, 64),
        *conv_block(64, 96, 2),
        *conv_block(96, 48, 1, 1),
        nn.Flatten(),
    ]
    flat = 48 * (DETAIL_SIDE_PX // 8) ** 2
    heads = {"accent": len(ACCENT_KINDS), "value": len(VALUE_KINDS)}
    return HeadedNet(
        trunk,
        {
            name: [nn.Dropout(0.1), nn.Linear(flat, 64), nn.ReLU(inplace=True), nn.Linear(64, count)]
            for name, count in heads.items()
        },
    )


def load_examples(
    folder: Path, name: str, count: int, seed: int, first: int, fonts: tuple[Path, ...]
) -> DetailExamples:
    """Return the examples of `count` scenes from `first` on; the files of an interrupted run are used again."""
    parts = []
    folder.mkdir(parents=True, exist_ok=True)
    for start in range(first, first + count, SCENES_PER_FILE):
        path = folder / f"{name}-{seed}-{start}.npz"
        if not path.exists():
            numbers = range(start, min(start + SCENES_PER_FILE, first + count))
            DetailExamples.join([draw_examples(number, seed, fonts) for number in numbers]).save(path)
            print(f"details: {path.name}", flush=True)
        parts.append(DetailExamples.load(path))
    return DetailExamples.join(parts)


def compute_loss(net: HeadedNet, batch: DetailBatch) -> torch.Tensor:
    """Return the loss of a batch: the cross entropies of values and of accents that the base letter can have."""
    with mixed_precision():
        accents, values = net(torch.from_numpy(batch.crops).to(memory_format=torch.channels_last))
    masked = mask_accents(accents.float(), batch)
    accent_loss = functional.cross_entropy(masked, torch.from_numpy(batch.accents), ignore_index=IGNORED)
    return accent_loss + functional.cross_entropy(values.float(), torch.from_numpy(batch.values))


def mask_accents(accents: torch.Tensor, batch: DetailBatch) -> torch.Tensor:
    """Set the logits of accents that the base letter of a crop cannot have to a very low value."""
    return accents.masked_fill(~torch.from_numpy(batch.allowed), -1e4)


@torch.no_grad()  # type: ignore[untyped-decorator]
def fit_temperatures(net: HeadedNet, proof: Sequence[DetailBatch]) -> dict[str, float]:
    """Return the calibration temperatures of both heads on the batches `proof`."""
    outputs = [net(torch.from_numpy(batch.crops)) for batch in proof]
    accents = torch.cat([mask_accents(out[0], batch) for out, batch in zip(outputs, proof, strict=True)])
    truth = [torch.from_numpy(np.concatenate([getattr(b, name) for b in proof])) for name in ("accents", "values")]
    return {
        "accent": fit_temperature(accents, truth[0]),
        "value": fit_temperature(torch.cat([out[1] for out in outputs]), truth[1]),
    }


def report(net: DetailNet, proof: Sequence[DetailBatch], value_shares: np.ndarray) -> str:
    """Return a text with the accuracy of the network on the batches `proof`."""
    lines = []
    outputs = [net.predict_normalised(batch.crops) for batch in proof]
    accents = np.concatenate([np.where(b.allowed, out[0], -np.inf) for out, b in zip(outputs, proof, strict=True)])
    values = np.concatenate([out[1] for out in outputs]) + np.log(value_shares)
    for name, logits in (("accents", accents), ("values", values)):
        truth = np.concatenate([getattr(batch, name) for batch in proof])
        known = truth != IGNORED
        if name == "accents":
            known &= np.concatenate([batch.allowed.sum(axis=1) > 1 for batch in proof])
        logits, truth = logits[known], truth[known]
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        right = p.argmax(axis=1) == truth
        sure = p.max(axis=1) >= 0.99
        lines.append(
            f"{name}: {100 * right.mean():.2f} % of {len(truth)} right; "
            f"{100 * sure.mean():.1f} % called at 0.99, {(sure & ~right).sum()} of them wrong"
        )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Render the scenes, train the network and write its ONNX file; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m vision.training.details", description=str(__doc__).split("\n\n", maxsplit=1)[0]
    )
    parser.add_argument("--out", type=Path, default=MODELS_DIR, help="folder of details.onnx (default: vision/models)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scenes", type=int, default=SCENES, help=f"scenes to draw (default {SCENES})")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"training steps (default {STEPS})")
    parser.add_argument("--share", type=Path, default=SHARE_ROOT, help="folder with fonts/ (default: /usr/share)")
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    all_fonts = training_fonts(args.share)
    fonts, calibration = map(weight_by_kind, split_by_family(all_fonts))
    held_out = max(1, min(HELD_OUT_SCENES, args.scenes // 5))
    folder, path = args.out / "checkpoints", args.out / "details.onnx"
    proof_examples = load_examples(folder, "held-out", held_out, args.seed, 0, calibration)
    examples = load_examples(folder, "scenes", args.scenes, args.seed, HELD_OUT_SCENES, fonts)
    net = build_detail_net().to(memory_format=torch.channels_last)

    def draw(step: int) -> DetailBatch:
        return draw_batch(np.random.default_rng((args.seed, 8, step)), examples, BATCH_SIZE)

    run = {"seed": args.seed, "scenes": args.scenes, "steps": args.steps, "fonts": [font.name for font in all_fonts]}
    optimisers = make_muon(net, [head[-1] for head in net.heads.values()], MAX_LEARNING_RATE)
    checkpoint = Checkpoint(folder / "details.pt", run)
    fit_network("details", net, draw, compute_loss, args.steps, optimisers, REPORT_EVERY, checkpoint)
    proof = [draw_batch(np.random.default_rng((args.seed, 9, i)), proof_examples, BATCH_SIZE) for i in range(24)]
    shares = np.bincount(examples.values, minlength=len(VALUE_KINDS)) / len(examples.values)
    facts = {"accents": list(ACCENT_KINDS), "values": list(VALUE_KINDS), "temperature": fit_temperatures(net, proof)}
    # Divide by the frequencies in training: the outputs are then likelihoods.
    offsets = {"value": np.asarray(-np.log(np.maximum(shares, 1e-4)), np.float32)}
    write_onnx(net, path, ["n", 1, DETAIL_SIDE_PX, DETAIL_SIDE_PX], ["n", "kinds"], facts, offsets=offsets)
    quantise_model(path, [draw(args.steps + 1 + i).crops for i in range(4)])
    print(report(DetailNet(path), proof, np.maximum(shares, 1e-4)), flush=True)
    if args.out == MODELS_DIR:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
