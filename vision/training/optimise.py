"""Training loop of all networks: batches in, averaged weights and a temperature out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.optim import Optimizer
from torch.optim.lr_scheduler import OneCycleLR

from vision.training.augmentation import IGNORED
from vision.training.networks import WeightAverage

WEIGHT_DECAY: Final = 0.02
"""Weight decay per step at a learning rate of 1."""
Net = TypeVar("Net", bound=nn.Module)
Batch = TypeVar("Batch")


def make_adamw(weights: Iterable[nn.Parameter], rate: float) -> Optimizer:
    """Return AdamW with this maximum learning rate."""
    return torch.optim.AdamW(weights, lr=rate, weight_decay=WEIGHT_DECAY)


def fit_network(
    name: str,
    net: Net,
    draw: Callable[[], Batch],
    loss_of: Callable[[Net, Batch], torch.Tensor],
    steps: int,
    optimisers: Sequence[Optimizer],
    report_every: int,
) -> None:
    """Train `net` on `steps` batches of `draw` and leave it with its averaged weights, in evaluation mode.

    Each of the `optimisers` has some of the weights; its learning rate warms up and then decays once. Prints the loss
    after every `report_every` steps.
    """
    average = WeightAverage(net)
    learning = [(optimiser, _make_rate_schedule(optimiser, steps)) for optimiser in optimisers]

    def batches() -> Iterator[Batch]:
        for _ in range(steps):
            yield draw()

    begun, losses = time.monotonic(), 0.0
    for step, batch in enumerate(_prefetch(batches()), start=1):
        loss = loss_of(net, batch)
        net.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        for optimiser, rate in learning:
            optimiser.step()
            rate.step()
        average.update(net)
        losses += loss.item()
        if step % report_every == 0:
            seconds = time.monotonic() - begun
            print(f"{name}: step {step}/{steps} loss {losses / report_every:.4f} after {seconds:.0f} s", flush=True)
            losses = 0.0
    average.copy_to(net)
    net.eval()


def _make_rate_schedule(optimiser: Optimizer, steps: int) -> OneCycleLR:
    """Return a one-cycle schedule up to the optimiser's rate; AdamW's momentum is lower where the rate is high."""
    forgets = "betas" in optimiser.defaults
    return OneCycleLR(optimiser, optimiser.defaults["lr"], total_steps=steps, pct_start=0.1, cycle_momentum=forgets)


def mixed_precision() -> torch.autocast:
    """Return the context for computing a loss: in half precision where that is faster.

    Processors with AVX-512 gain from it; others take ten times as long as in single precision (measured with AVX2).
    """
    able = torch.backends.cpu.get_cpu_capability() == "AVX512"
    return torch.autocast("cpu", torch.bfloat16, enabled=able)


def _prefetch(make: Iterator[Batch]) -> Iterator[Batch]:
    """Yield the batches of `make`, each made in a thread while the previous one is in use."""
    with ThreadPoolExecutor(1, thread_name_prefix="batches") as worker:
        waiting = worker.submit(next, make, None)
        while (batch := waiting.result()) is not None:
            waiting = worker.submit(next, make, None)
            yield batch


def fit_temperature(logits: torch.Tensor, truth: torch.Tensor) -> float:
    """Return the temperature by which to divide `logits` for calibrated probabilities (Guo et al., 2017)."""
    temperatures = np.geomspace(0.5, 3.0, 40)
    losses = [functional.cross_entropy(logits / t, truth, ignore_index=IGNORED).item() for t in temperatures]
    return float(temperatures[int(np.argmin(losses))])
