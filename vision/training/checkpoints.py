"""Save the state of unfinished trainings, so that an interrupted training continues and gives the same weights.

The trainings of the small letter and square networks begin with weights of a training from scratch with many more crops
than two cores can process in two hours. Refining them with the teachers' answers takes two cores less than an hour, and
gives a better network than two hours from scratch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import nn

from engine.errors import TilekeeperError
from vision.net import MODELS_DIR, ModelError


class CheckpointError(TilekeeperError):
    """Error for a checkpoint that is damaged or belongs to another run; the message names the file."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """File that keeps the state of one network's training.

    `run` is everything that determines the resulting weights, for example the seed and the number of scenes. A file
    that was written for another `run` is refused.
    """

    path: Path
    run: Mapping[str, object]

    def load(self) -> dict[str, Any] | None:
        """Return the saved state, or None if there is none.

        Raises CheckpointError if the file is damaged or belongs to another run.
        """
        if not self.path.exists():
            return None
        advice = f"Remove {self.path} to train this network from the beginning."
        try:
            saved = torch.load(self.path, weights_only=True)
        except Exception as error:  # torch does not document the exceptions for a damaged file
            raise CheckpointError(f"{self.path} is damaged: {error}. {advice}") from error
        if saved["run"] != dict(self.run):
            raise CheckpointError(f"{self.path} is of a training with other settings or other code. {advice}")
        state: dict[str, Any] = saved["state"]
        return state

    def save(self, state: Mapping[str, Any]) -> None:
        """Write `state` to the file; an interruption leaves the previous file in place."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".unfinished")
        torch.save({"run": dict(self.run), "state": dict(state)}, unfinished)
        unfinished.replace(self.path)


def hash_training_code() -> str:
    """Return the SHA-256 of everything in `vision` that can change the weights.

    These are all modules, the start weights and the teachers.
    """
    package = MODELS_DIR.parent
    inputs = (path for pattern in ("*.npz", "*_large.onnx*") for path in package.rglob(pattern))
    digest = hashlib.sha256()
    for path in sorted([*package.rglob("*.py"), *inputs]):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


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
