"""Training loop shared by all networks, with weight averaging, learning rate schedule and temperature calibration.

The optimiser is Muon. A small network is trained with the answers of a large one to the same batches: they say which
other classes an input resembles, so it learns more from them than from the true classes alone (Hinton et al.,
Distilling the knowledge in a neural network, 2015).
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional
from torch.optim import Optimizer
from torch.optim.lr_scheduler import OneCycleLR

from vision.net import Net
from vision.training.augmentation import IGNORED
from vision.training.checkpoints import Checkpoint
from vision.training.networks import WeightAverage

WEIGHT_DECAY: Final = 0.02
"""Weight decay coefficient: a step reduces weights by the learning rate times this share."""
_MAX_DRAWING_S: Final = 600.0
"""Maximum time for a batch, after which a drawing process is taken to have failed."""
TrainedNet = TypeVar("TrainedNet", bound=nn.Module)
Batch = TypeVar("Batch")


def make_adamw(weights: Iterable[nn.Parameter], rate: float) -> Optimizer:
    """Return an AdamW optimiser for `weights` with the maximum learning rate `rate`."""
    return torch.optim.AdamW(weights, lr=rate, weight_decay=WEIGHT_DECAY)


def fit_network(
    name: str,
    net: TrainedNet,
    draw: Callable[[int], Batch],
    loss_of: Callable[[TrainedNet, Batch], torch.Tensor],
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
    - A thread makes each batch while the previous one is used. If `drawing_processes` is not 0, this number of forked
      processes makes the batches instead; they have copies of everything that `draw` uses.

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


_RATE_FACTOR: Final = 3.0
"""Ratio of the learning rate of Muon to the learning rate of AdamW."""
_MOMENTUM: Final = 0.95
_NEWTON_SCHULZ_COEFFICIENTS: Final = (3.4445, -4.7750, 2.0315)
"""Polynomial coefficients for which five iterations bring all singular values close to 1 (Jordan et al., 2024)."""
_NEWTON_SCHULZ_STEPS: Final = 5


def make_muon(net: nn.Module, last: Iterable[nn.Module], rate: float) -> list[torch.optim.Optimizer]:
    """Return two optimisers: Muon for the weights of `net`, AdamW for its `last` layers, biases and normalisation.

    `rate` is the learning rate of AdamW.
    """
    ends = {id(layer.weight) for layer in last}
    between = [p for p in net.parameters() if p.ndim > 1 and id(p) not in ends]
    others = [p for p in net.parameters() if p.ndim == 1 or id(p) in ends]
    return [Muon(between, _RATE_FACTOR * rate), make_adamw(others, rate)]


class Muon(torch.optim.Optimizer):  # type: ignore[misc]  # torch is not typed here
    """Muon optimiser for the weights of linear layers and convolutions, `(outputs, inputs[, height, width])`.

    It orthogonalises the momentum of each weight matrix before a step, which makes all singular values of the step
    equal: directions that dominate the gradient do not dominate the step. After Jordan et al., Muon: an optimizer for
    hidden layers in neural networks (2024), with step sizes matched to AdamW (Liu et al., Muon is scalable for LLM
    training, 2025). The implementation in torch does not support convolutions and computes in half precision, which
    takes ten times as long on processors without half-precision instructions.
    """

    def __init__(self, weights: Iterable[nn.Parameter], lr: float) -> None:
        super().__init__(weights, {"lr": lr})

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, closure: None = None) -> None:  # noqa: ARG002 (torch's own call)
        """Update all weights by one optimisation step."""
        for group in self.param_groups:
            for weight in group["params"]:
                state = self.state[weight]
                if not state:
                    state["mean"] = torch.zeros_like(weight)
                mean = state["mean"]
                mean.lerp_(weight.grad, 1 - _MOMENTUM)
                ahead = torch.lerp(weight.grad, mean, _MOMENTUM)
                weight.mul_(1 - group["lr"] * WEIGHT_DECAY)
                weight.sub_(_compute_step(ahead), alpha=group["lr"])


def _compute_step(gradient: torch.Tensor) -> torch.Tensor:
    """Orthogonalise a gradient as a matrix, and scale it to a root mean square of 0.2; the shape is unchanged."""
    flat = orthogonalise(gradient.flatten(1))
    return (0.2 * max(flat.shape) ** 0.5 * flat).view_as(gradient)


def orthogonalise(matrix: torch.Tensor) -> torch.Tensor:
    """Approximate the nearest matrix to `matrix` `(m, n)` with orthonormal rows, or orthonormal columns if m > n."""
    a, b, c = _NEWTON_SCHULZ_COEFFICIENTS
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    wide = wide / (wide.norm() + 1e-7)
    for _ in range(_NEWTON_SCHULZ_STEPS):
        square = wide @ wide.T
        wide = a * wide + (b * square + c * square @ square) @ wide
    return wide if matrix.shape[0] <= matrix.shape[1] else wide.T


TEACHER_SHARE: Final = 0.75
"""Weight of the large network's answers in the loss; the true classes have the rest."""


@dataclass(frozen=True, slots=True, eq=False)
class TaughtBatch(Generic[Batch]):
    """Batch of a small network with the answers of its teacher."""

    batch: Batch
    answers: NDArray[np.float32]
    """Logits of the large network, of the shape of the small network's logits."""


def read_temperature(net: Net, head: str) -> float:
    """Return the temperature by which the export of `net` divided the logits of `head`."""
    temperature = net.metadata["temperature"]
    assert isinstance(temperature, dict)
    return float(temperature[head])


def compute_divergence(logits: torch.Tensor, answers: torch.Tensor, temperature: float = 1.0) -> torch.Tensor:
    """Return the mean Kullback-Leibler divergence of the class probabilities in `logits` from those in `answers`.

    Both are logits `(n, classes)`, of the network that learns and of its teacher. They are divided by `temperature`,
    which makes the probabilities more equal. This makes the gradients smaller by the square of the temperature, so the
    result is multiplied by this square.
    """
    divergence = functional.kl_div(
        (logits / temperature).log_softmax(dim=1),
        (answers / temperature).log_softmax(dim=1),
        reduction="batchmean",
        log_target=True,
    )
    return temperature**2 * divergence
