"""A small network from an ONNX file, run by onnxruntime on one core."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import TilekeeperError

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read on import: else it keeps a database at home to report from
import onnxruntime

from engine.messages import said

MODELS_DIR: Final = Path(__file__).parent / "models"
METADATA_KEY: Final = "tilekeeper"
"""The key of a model file's metadata under which its facts lie."""
_MAX_OUTPUT: Final = 1e6
"""Logits and features are a few hundred at most."""


class ModelError(TilekeeperError):
    """A model file is missing or not one of ours; the message says which and how to make it."""


class InvalidOutputError(ModelError):
    """A network answers with what no network of ours can answer: the machine calculates wrongly."""


class Net:
    """One network: float32 in, float32 out, with the facts that its training wrote into the file.

    The facts (class names, sizes) travel as JSON under the metadata key `METADATA_KEY`, so that weights and what they
    mean cannot part. One thread: a Pi has other things to do, and small nets gain nothing from more.
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
        except Exception as error:  # onnxruntime's own errors share no other base
            raise ModelError(f"{path.name}: not a model of ours; train it with python -m vision.training") from error
        self._input = self._session.get_inputs()[0].name

    def __call__(self, batch: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """All outputs for a batch. Raises `InvalidOutputError`."""
        outputs = [np.asarray(out, np.float32) for out in self._session.run(None, {self._input: batch})]
        if not all((np.abs(out) < _MAX_OUTPUT).all() for out in outputs):  # false for NaN, too
            text = (
                "the networks give no usable numbers on this machine: its processor, or what emulates one, does not "
                "fit the installed onnxruntime; install another version of it"
            )
            raise InvalidOutputError(said("no-numbers", text))
        return outputs
