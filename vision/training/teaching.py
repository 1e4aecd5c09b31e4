"""Training of a small network with the answers of a large one to the same batches.

The answers say which other classes an input resembles, so a small network learns more from them than from the true
classes alone (Hinton et al., Distilling the knowledge in a neural network, 2015).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from vision.net import Net

TEACHER_SHARE: Final = 0.75
"""Weight of the large network's answers in the loss; the true classes have the rest."""
Batch = TypeVar("Batch")


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
    """Return the mean divergence of the classes in `logits` from those in `answers`, both `(n, classes)`.

    Both are divided by `temperature`. The result is multiplied by its square, with which the gradients shrink.
    """
    divergence = functional.kl_div(
        (logits / temperature).log_softmax(dim=1),
        (answers / temperature).log_softmax(dim=1),
        reduction="batchmean",
        log_target=True,
    )
    return temperature**2 * divergence
