"""Learning, the same for all networks: batches in, averaged weights and a temperature out."""

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
"""How much weights shrink in a step, for a rate of 1."""
Net = TypeVar("Net", bound=nn.Module)
Batch = TypeVar("Batch")


def make_adamw(weights: Iterable[nn.Parameter], rate: float) -> Optimizer:
    """AdamW, of this rate at most."""
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
    """Let `net` learn from `steps` batches of `draw`; it ends with its averaged weights, ready to judge.

    The `optimisers`, each of some of its weights, warm up to their rates and decay once. Says how it goes after `every`
    so many steps.
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
    """From little to the optimiser's rate and back; where the rate is high, AdamW remembers less (Muon does not)."""
    forgets = "betas" in optimiser.defaults
    return OneCycleLR(optimiser, optimiser.defaults["lr"], total_steps=steps, pct_start=0.1, cycle_momentum=forgets)


def mixed_precision() -> torch.autocast:
    """The context to calculate a loss in: of half precision where that is quicker.

    Processors with AVX-512 gain by it; those without take ten times as long as in whole precision (seen with AVX2).
    """
    able = torch.backends.cpu.get_cpu_capability() == "AVX512"
    return torch.autocast("cpu", torch.bfloat16, enabled=able)


def _prefetch(make: Iterator[Batch]) -> Iterator[Batch]:
    """The batches of `make`, each made while the one before is learnt from."""
    with ThreadPoolExecutor(1, thread_name_prefix="batches") as worker:
        waiting = worker.submit(next, make, None)
        while (batch := waiting.result()) is not None:
            waiting = worker.submit(next, make, None)
            yield batch


def fit_temperature(logits: torch.Tensor, truth: torch.Tensor) -> float:
    """What `logits` are to be divided by so that their probabilities come true (Guo et al., 2017)."""
    tried = np.geomspace(0.5, 3.0, 40)
    losses = [functional.cross_entropy(logits / t, truth, ignore_index=IGNORED).item() for t in tried]
    return float(tried[int(np.argmin(losses))])
