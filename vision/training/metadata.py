"""What a network's file tells of it beside its weights: facts in its metadata, for `vision.net.Net` to read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path

import onnx
from onnx import shape_inference

from vision.net import FACTS


def add_facts(path: Path, facts: Mapping[str, object]) -> None:
    """Write `facts` into the model at `path`, beside those that are there."""
    model = onnx.load(path)
    known = {prop.key: prop.value for prop in model.metadata_props}
    told = json.loads(known.get(FACTS, "{}")) | dict(facts)
    onnx.helper.set_model_props(model, known | {FACTS: json.dumps(told, ensure_ascii=False)})
    onnx.save(model, path)


def multiplications(model: onnx.ModelProto, shape: Sequence[int]) -> int:
    """How many multiplications a network takes for an input of that shape, in all its convolutions and products.

    Raises ValueError for a network with products of another kind than ours have.
    """
    sized = onnx.ModelProto()
    sized.CopyFrom(model)
    for dimension, size in zip(sized.graph.input[0].type.tensor_type.shape.dim, shape, strict=True):
        dimension.dim_value = size
    for output in sized.graph.output:
        output.type.tensor_type.ClearField("shape")
    graph = shape_inference.infer_shapes(sized, data_prop=True).graph
    known = {
        value.name: tuple(dimension.dim_value for dimension in value.type.tensor_type.shape.dim)
        for value in (*graph.value_info, *graph.output)
    }
    known |= {weight.name: tuple(weight.dims) for weight in graph.initializer}
    total = 0
    for node in graph.node:
        if node.op_type == "Conv":
            total += prod(known[node.output[0]]) * prod(known[node.input[1]][1:])
        elif node.op_type == "Gemm":
            total += prod(known[node.output[0]][:1]) * prod(known[node.input[1]])
        elif "Conv" in node.op_type or "MatMul" in node.op_type:
            raise ValueError(f"how much {node.op_type} multiplies is not known")
    return total
