"""Quantisation of networks to eight bits: a quarter of the file size, and a half to a third of the run time.

Weights and activations become eight-bit integers; the scale of each tensor is its range on calibration batches (Wu et
al., Integer quantization for deep learning inference: principles and empirical evaluation, 2020). The last layer of
each head is not quantised, because its outputs become probabilities, which need finer steps. `add_facts` writes
the metadata (class names, sizes) that `vision.net.Net` reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static

from vision.net import METADATA_KEY

_WEIGHTED_OPS = ("Conv", "Gemm")


class _CalibrationBatches(CalibrationDataReader):  # type: ignore[misc]  # not typed
    def __init__(self, name: str, batches: Sequence[NDArray[np.float32]]) -> None:
        self._feeds: Iterator[dict[str, NDArray[np.float32]]] = iter([{name: batch} for batch in batches])

    def get_next(self) -> dict[str, NDArray[np.float32]] | None:
        return next(self._feeds, None)


def quantise_model(path: Path, batches: Sequence[NDArray[np.float32]], range_percent: float = 100.0) -> None:
    """Quantise the ONNX file `path` to eight bits in place, with activation ranges measured on input `batches`.

    `range_percent` is the percentage of a tensor's values within its range; other values are clipped. The best value
    depends on the network. A range that includes outliers has coarse steps, which increases the error of the lattice
    network. Clipping outliers increases the error of the letter network. The square network is not affected.

    Weights use seven of the eight bits. Processors without VNNI instructions add pairs of products in sixteen bits,
    which eight-bit weights would overflow, and the outputs must be the same on all machines.
    """
    model = onnx.load(path)
    quantize_static(
        str(path),
        str(path),
        _CalibrationBatches(model.graph.input[0].name, batches),
        quant_format=QuantFormat.QDQ,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        per_channel=True,
        reduce_range=True,
        calibrate_method=CalibrationMethod.Percentile if range_percent < 100 else CalibrationMethod.MinMax,
        extra_options={"CalibPercentile": range_percent},
        nodes_to_exclude=_find_last_layers(model.graph),
    )


def _find_last_layers(graph: onnx.GraphProto) -> list[str]:
    """Return the names of the last layers: nodes with weights whose output reaches no other node with weights."""
    makes = {output: node for node in graph.node for output in node.output}

    def before(node: onnx.NodeProto) -> Iterator[str]:
        for name in node.input:
            maker = makes.get(name)
            if maker is not None and maker.op_type in _WEIGHTED_OPS:
                yield maker.name
            elif maker is not None:
                yield from before(maker)

    weighted = [node for node in graph.node if node.op_type in _WEIGHTED_OPS]
    followed = {name for node in weighted for name in before(node)}
    return [node.name for node in weighted if node.name not in followed]


def add_facts(path: Path, facts: Mapping[str, object]) -> None:
    """Add the entries of `facts` to the metadata of the ONNX file `path`."""
    model = onnx.load(path)
    properties = {prop.key: prop.value for prop in model.metadata_props}
    all_facts = json.loads(properties.get(METADATA_KEY, "{}")) | dict(facts)
    onnx.helper.set_model_props(model, properties | {METADATA_KEY: json.dumps(all_facts, ensure_ascii=False)})
    onnx.save(model, path)
