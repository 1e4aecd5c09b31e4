"""Training loop shared by all networks, with weight averaging, learning rate schedule and temperature calibration."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.optim import Optimizer
from torch.optim.lr_scheduler import OneCycleLR

from vision.training.augmentation import IGNORED
from vision.training.checkpoints import Checkpoint
from vision.training.networks import WeightAverage

WEIGHT_DECAY: Final = 0.02
"""Weight decay coefficient: a step reduces weights by the learning rate times this share."""
_MAX_DRAWING_S: Final = 600.0
"""Maximum time for a batch, after which a drawing process is taken to have failed."""
Net = TypeVar("Net", bound=nn.Module)
Batch = TypeVar("Batch")


def make_adamw(weights: Iterable[nn.Parameter], rate: float) -> Optimizer:
    """Return an AdamW optimiser for `weights` with the maximum learning rate `rate`."""
    return torch.optim.AdamW(weights, lr=rate, weight_decay=WEIGHT_DECAY)


def fit_network(
    name: str,
    net: Net,
    draw: Callable[[int], Batch],
    loss_of: Callable[[Net, Batch], torch.Tensor],
    steps: int,
    optimisers: Sequence[Optimizer],
    report_every: int,
    checkpoint: Checkpoint | None = None,
    drawing_processes: int = 0,
) -> None:
    """Train `net` in place for `steps` batches; afterwards it has averaged weights and is in eval mode.

    - `draw(step)` makes the batch of a step (1 to `steps`); it must always return the same batch for a step.
    - `loss_of` computes the loss of a batch.
    - Each of the `optimisers` updates its own part of the weights, with a one-cycle learning rate schedule.
    - After every `report_every` steps, the mean loss is printed and the state is saved in `checkpoint`.
    - A thread makes each batch while the previous one is used; or as many processes as `drawing_processes`, which are
      forked and so have a copy of everything that `draw` uses.

    If `checkpoint` has a saved state, training continues from it, and ends with the same weights as without
    interruption.
    """
    state = _TrainingState(net, optimisers, steps)
    first = state.restore(checkpoint) + 1

    numbers = range(first, steps + 1)
    batches = (
        draw_in_processes(draw, numbers, drawing_processes) if drawing_processes else _prefetch(map(draw, numbers))
    )
    begun, losses = time.monotonic(), 0.0
    for step, batch in zip(numbers, batches, strict=True):
        loss = loss_of(net, batch)
        net.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        state.update()
        losses += loss.item()
        if step % report_every == 0:
            seconds = time.monotonic() - begun
            print(f"{name}: step {step}/{steps} loss {losses / report_every:.4f} after {seconds:.0f} s", flush=True)
            losses = 0.0
            state.save(checkpoint, step)
    state.average.copy_to(net)
    net.eval()


class _TrainingState:
    """Everything that changes from step to step: weights and their average, optimisers, schedules, random numbers."""

    def __init__(self, net: nn.Module, optimisers: Sequence[Optimizer], steps: int) -> None:
        self._net = net
        self._optimisers = optimisers
        self._schedules = [_make_rate_schedule(optimiser, steps) for optimiser in optimisers]
        self.average = WeightAverage(net)

    def update(self) -> None:
        """Apply the gradients of one step."""
        for optimiser, schedule in zip(self._optimisers, self._schedules, strict=True):
            optimiser.step()
            schedule.step()
        self.average.update(self._net)

    def save(self, checkpoint: Checkpoint | None, step: int) -> None:
        """Save the state after `step`; dropout uses torch's random numbers, so their state is included."""
        if checkpoint:
            parts = [part.state_dict() for part in self._parts()]
            checkpoint.save({"step": step, "parts": parts, "random": torch.get_rng_state()})

    def restore(self, checkpoint: Checkpoint | None) -> int:
        """Restore the saved state, if there is one; return its step, otherwise 0."""
        saved = checkpoint.load() if checkpoint else None
        if saved is None:
            return 0
        for part, state in zip(self._parts(), saved["parts"], strict=True):
            part.load_state_dict(state)
        torch.set_rng_state(saved["random"])
        return int(saved["step"])

    def _parts(self) -> list[Any]:
        return [self._net, self.average, *self._optimisers, *self._schedules]


def _make_rate_schedule(optimiser: Optimizer, steps: int) -> OneCycleLR:
    """Return a one-cycle schedule with the optimiser's learning rate as maximum.

    For AdamW, the momentum falls while the learning rate rises, and rises while it falls.
    """
    forgets = "betas" in optimiser.defaults
    return OneCycleLR(optimiser, optimiser.defaults["lr"], total_steps=steps, pct_start=0.1, cycle_momentum=forgets)


def mixed_precision(device: str = "cpu") -> torch.autocast:
    """Return a context manager that computes a loss in half precision (bfloat16) if the processor has it.

    Otherwise it has no effect: half precision would take three times as long as single precision with AVX-512, and ten
    times with AVX2 (measured).
    """
    is_fast = device != "cpu" or bool(torch.cpu.get_capabilities().get("avx512_bf16"))
    return torch.autocast(device, torch.bfloat16, enabled=is_fast)


def _prefetch(make: Iterator[Batch]) -> Iterator[Batch]:
    """Yield the batches of the iterator `make`; a thread makes each batch while the caller uses the previous one."""
    with ThreadPoolExecutor(1, thread_name_prefix="batches") as worker:
        waiting = worker.submit(next, make, None)
        while (batch := waiting.result()) is not None:
            waiting = worker.submit(next, make, None)
            yield batch


def draw_in_processes(draw: Callable[[int], Batch], numbers: Sequence[int], count: int) -> Iterator[Batch]:
    """Yield `draw(number)` for all `numbers`, in order; `count` forked processes make the batches in advance.

    Raises `queue.Empty` if a process has made no batch for ten minutes.
    """
    context = multiprocessing.get_context("fork")  # forked processes share the data of `draw` without a copy
    queues: list[multiprocessing.Queue[Batch]] = [context.Queue(maxsize=2) for _ in range(count)]

    def put_batches(k: int) -> None:
        for number in numbers[k::count]:
            queues[k].put(draw(number))

    workers = [context.Process(target=put_batches, args=(k,), daemon=True) for k in range(count)]
    for worker in workers:
        worker.start()
    for i in range(len(numbers)):
        yield queues[i % count].get(timeout=_MAX_DRAWING_S)
    for worker in workers:
        worker.join()


def fit_temperature(logits: torch.Tensor, truth: torch.Tensor) -> float:
    """Return the divisor of `logits` that minimises their cross entropy with `truth` (Guo et al., 2017)."""
    temperatures = np.geomspace(0.5, 3.0, 40)
    losses = [functional.cross_entropy(logits / t, truth, ignore_index=IGNORED).item() for t in temperatures]
    return float(temperatures[int(np.argmin(losses))])
