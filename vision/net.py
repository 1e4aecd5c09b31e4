"""A small network from an ONNX file, run by onnxruntime on one core."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import TilekeeperError

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # before the import, which otherwise creates a database for reports
import onnxruntime

from engine.messages import said

MODELS_DIR: Final = Path(__file__).parent / "models"
METADATA_KEY: Final = "tilekeeper"
"""Key of the metadata of a model file under which `Net.metadata` is stored."""
_MAX_OUTPUT: Final = 1e6
"""Bound of plausible outputs: logits and features are a few hundred at most."""


class ModelError(TilekeeperError):
    """A model file is missing or not one of Tilekeeper's; the message names it and the command that makes it."""


class InvalidOutputError(ModelError):
    """A network returned impossible numbers (NaN or huge): onnxruntime does not work on this processor."""


class Net:
    """A network with float32 input and output, and the metadata that training wrote into its file.

    The metadata (class names, sizes) is JSON under `METADATA_KEY`, so that weights and their meaning stay together. It
    runs on one thread: a Raspberry Pi has other work to do, and small networks gain nothing from more.
    """

    def __init__(self, path: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), sess_options=options, providers=["CPUExecutionProvider"]
            )
            self.metadata: dict[str, object] = json.loads(
                self._session.get_modelmeta().custom_metadata_map[METADATA_KEY]
            )
        except Exception as error:  # onnxruntime's errors have no other common base
            raise ModelError(f"{path.name}: not a model of ours; train it with python -m vision.training") from error
        self._input = self._session.get_inputs()[0].name

    def __call__(self, batch: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """Return all outputs for a batch. Raises `InvalidOutputError`."""
        outputs = [np.asarray(out, np.float32) for out in self._session.run(None, {self._input: batch})]
        if not all((np.abs(out) < _MAX_OUTPUT).all() for out in outputs):  # also True for NaN
            text = (
                "the networks give no usable numbers on this machine: its processor, or what emulates one, does not "
                "fit the installed onnxruntime; install another version of it"
            )
            raise InvalidOutputError(said("no-numbers", text))
        return outputs
