"""Run small neural networks: load an ONNX file, and run it with onnxruntime on one core."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import TilekeeperError

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # must precede the import, which would create a telemetry database
import onnxruntime

from engine.messages import make_message

MODELS_DIR: Final = Path(__file__).parent / "models"
"""Folder of the ONNX files that are part of the package."""
METADATA_KEY: Final = "tilekeeper"
"""Key of the ONNX metadata property that holds `Net.metadata` as JSON."""
_MAX_OUTPUT: Final = 1e6
"""Upper bound for the absolute values in a network's output; valid ones are a few hundred at most."""


class ModelError(TilekeeperError):
    """Error for a model file that is missing or was not written by `vision.training`; the message names the file."""


class InvalidOutputError(ModelError):
    """Error for a network output that is NaN or implausibly large: onnxruntime does not work on this processor."""


class Net:
    """A neural network with float32 input and outputs, loaded from an ONNX file together with its metadata.

    A file whose name ends in `.gz` is decompressed first.

    Training writes the metadata (class names, sizes) as JSON under `METADATA_KEY`, so that the weights and the meaning
    of the outputs stay in one file. Inference uses one thread: small networks are not faster with more, and the other
    cores of a Raspberry Pi stay free. Raises `ModelError` if the file cannot be loaded.
    """

    def __init__(self, path: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        try:
            content = path.read_bytes()
            self._session = onnxruntime.InferenceSession(
                gzip.decompress(content) if path.suffix == ".gz" else content,
                sess_options=options,
                providers=["CPUExecutionProvider"],
            )
            self.metadata: dict[str, object] = json.loads(
                self._session.get_modelmeta().custom_metadata_map[METADATA_KEY]
            )
        except Exception as error:  # the exception classes of onnxruntime have no other common base class
            raise ModelError(f"{path.name}: not a model of ours; train it with python -m vision.training") from error
        self._input = self._session.get_inputs()[0].name

    def __call__(self, batch: NDArray[np.float32], **more: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """Run the network on a batch; return its outputs as arrays. Raises `InvalidOutputError`.

        `more` has the value of each further input, under the name of the input.
        """
        outputs = [np.asarray(out, np.float32) for out in self._session.run(None, {self._input: batch, **more})]
        if not all((np.abs(out) < _MAX_OUTPUT).all() for out in outputs):  # also True for NaN
            text = (
                "Letters cannot be read, because the processor of this machine (or its emulation) does not work "
                "with the installed onnxruntime. Install another version of onnxruntime."
            )
            raise InvalidOutputError(make_message("no-numbers", text))
        return outputs
