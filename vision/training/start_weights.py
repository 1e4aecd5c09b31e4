"""Weights with which the trainings of the small letter and square networks begin.

They come from a training from scratch with many more crops than two cores can process in two hours. Refining them with
the teachers' answers takes two cores less than an hour, and gives a better network than two hours from scratch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import nn

from vision.net import ModelError

START_FOLDER: Final = Path(__file__).with_name("start_weights")
"""Folder of the start weights, one file for each network."""
RATE_SHARE: Final = 0.05
"""Maximum learning rate for refining weights, as a share of the rate from scratch: a higher one would undo them."""


def write_start_weights(net: nn.Module, path: Path) -> None:
    """Write the weights of `net` to the `.npz` file `path`; kernels and matrices with half precision."""
    arrays = {name: value.numpy(force=True) for name, value in net.state_dict().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **{k: v.astype(np.float16) if v.ndim > 1 else v for k, v in arrays.items()})


def load_start_weights(net: nn.Module, path: Path) -> None:
    """Load the weights in `path` into `net`. Raises ModelError if they are those of another architecture."""
    with np.load(path) as arrays:
        weights = {name: torch.from_numpy(arrays[name]) for name in arrays.files}
    try:
        net.load_state_dict(weights)
    except RuntimeError as error:
        advice = "Train from scratch (python -m vision.training --from-scratch), and use the new start weights."
        raise ModelError(f"{path.name} does not fit this architecture. {advice}") from error
