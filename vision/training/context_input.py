"""Make the context an input of the square network, so that the network can classify a part of a board.

The context consists of averages over the whole board (`networks.GlobalContext`), so the network normally needs the
whole board. The averages change little from turn to turn. If those of an earlier picture are an input, it is enough to
compute windows around the squares that have changed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from vision.recognition.squares import CONTEXT_FEATURES, GIVEN_CONTEXT, OWN_CONTEXT_SHARE
from vision.training.metadata import add_facts

_WIDTHS = "context_widths"
_OUTPUT = "context"


def add_context_input(path: Path) -> None:
    """Add inputs and an output for the context to the quantised square network `path`, in place.

    Each average over the board becomes `share * average + given`. The share is the input `OWN_CONTEXT_SHARE`, the given
    values are the input `GIVEN_CONTEXT` `(1, features, 1, 1)`. With share 1 and given values 0, the predictions are
    exactly those of the unchanged network. The new output `context` has the averages that were used; their number is
    added to the metadata.
    """
    model = onnx.load(path)
    graph = model.graph
    user = {name: node for node in graph.node for name in node.input}
    # Each average is quantised and dequantised before the layer that uses it.
    averages = [user[user[node.output[0]].output[0]] for node in graph.node if node.op_type == "GlobalAveragePool"]
    given = [f"given{i}" for i in range(len(averages))]
    mixed = [f"mixed{i}" for i in range(len(averages))]
    nodes = [helper.make_node("Split", [GIVEN_CONTEXT, _WIDTHS], given, "split", axis=1)]
    for node in graph.node:
        nodes.append(node)
        if node in averages:
            i = averages.index(node)
            nodes += _mix_context(node, given[i], mixed[i])
            user[node.output[0]].input[0] = nodes[-1].output[0]
    nodes.append(helper.make_node("Concat", mixed, [_OUTPUT], "concat", axis=1))
    widths = [_count_weights(graph, user[node.output[0]]) for node in averages]
    del graph.node[:]
    graph.node.extend(nodes)
    shape = [1, sum(widths), 1, 1]
    graph.input.append(helper.make_tensor_value_info(OWN_CONTEXT_SHARE, TensorProto.FLOAT, [1]))
    graph.input.append(helper.make_tensor_value_info(GIVEN_CONTEXT, TensorProto.FLOAT, shape))
    graph.initializer.append(numpy_helper.from_array(np.array(widths, np.int64), _WIDTHS))
    graph.output.append(helper.make_tensor_value_info(_OUTPUT, TensorProto.FLOAT, ["n", *shape[1:]]))
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
    add_facts(path, {CONTEXT_FEATURES: sum(widths)})


def _mix_context(average: onnx.NodeProto, given: str, mixed: str) -> list[onnx.NodeProto]:
    """Return the nodes that mix a dequantised average with the input `given`, and round the result."""
    steps = list(average.input[1:])
    return [
        helper.make_node("Mul", [average.output[0], OWN_CONTEXT_SHARE], [f"{mixed}_own"], f"{mixed}_own"),
        helper.make_node("Add", [f"{mixed}_own", given], [mixed], mixed),
        helper.make_node("QuantizeLinear", [mixed, *steps], [f"{mixed}_steps"], f"{mixed}_steps"),
        helper.make_node("DequantizeLinear", [f"{mixed}_steps", *steps], [f"{mixed}_rounded"], f"{mixed}_rounded"),
    ]


def _count_weights(graph: onnx.GraphProto, layer: onnx.NodeProto) -> int:
    """Return the number of input features of a convolution with quantised weights."""
    weights = next(node.input[0] for node in graph.node if layer.input[1] in node.output)
    return int(next(array.dims[1] for array in graph.initializer if array.name == weights))
