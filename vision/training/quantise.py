"""Networks in eight bits: their files are a quarter as large, and a processor with instructions for it runs them in a
half to a third of the time.

Weights and what passes between layers become integers of eight bits, each tensor in the range that its numbers take on
examples (Wu et al., Integer quantization for deep learning inference: principles and empirical evaluation, 2020). The
last layer of each head stays as it is: its numbers become probabilities, which must be fine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static

_WEIGHTED_OPS = ("Conv", "Gemm")


class _CalibrationBatches(CalibrationDataReader):  # type: ignore[misc]  # not typed
    def __init__(self, name: str, batches: Sequence[NDArray[np.float32]]) -> None:
        self._feeds: Iterator[dict[str, NDArray[np.float32]]] = iter([{name: batch} for batch in batches])

    def get_next(self) -> dict[str, NDArray[np.float32]] | None:
        return next(self._feeds, None)


def quantise_model(path: Path, batches: Sequence[NDArray[np.float32]], range_percent: float = 100.0) -> None:
    """Rewrite the model at `path` in eight bits, its ranges taken from `batches` of input.

    `in_range` percent of a tensor's numbers are in its range; those beyond become the last that is. One far number
    makes the steps of all others coarse, which the lattice does not bear; what names a letter is far numbers, which the
    letter network does not do without. To the network of squares it is all one.

    Weights are given seven of the eight bits: processors without an instruction for it add pairs of products in
    sixteen bits, which eight would overflow, and every machine is to read the same.
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
    """The weighted layers that no other weighted layer follows."""
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
