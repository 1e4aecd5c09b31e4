"""How long reading a picture takes on a Raspberry Pi, reckoned: there was none to measure on.

    OPENBLAS_NUM_THREADS=1 PYTHONPATH=. python tests/hardware/pi_estimate.py PICTURE...

It needs onnx (pip install '.[train]').

The multiplications of all networks that a reading runs are counted from their shapes. How many a core of each
Raspberry Pi does in a second is taken from others' measurements of two well-known networks (ncnn's, one thread:
https://github.com/Tencent/ncnn/tree/master/benchmark); the quicker of the two gives the lower bound. onnxruntime took
up to 1.9 times as long as ncnn on such a core (https://gist.github.com/zihaomu/1cf236339099708a0c75aeef5620433e):
with the slower network that gives the upper bound. Those two multiply floating-point numbers, ours numbers of eight
bits: it is assumed only that these take no longer. What is no network (OpenCV, numpy) is measured here, and lengthened
as a network of floating-point numbers would be. The one that is run for that suits this machine well, so that the times
come out rather too long. All times here are the processor's, so that other work on this machine does no harm.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper, shape_inference

import calibration.locate
import vision.letters
import vision.squares
from calibration.locate import BoardLocator
from engine.tiles import tile_set
from vision.net import Net
from vision.photo import load_photo
from vision.reader import BoardReader

RESNET18, MOBILENET = 1.814e9, 0.569e9
"""Multiplications of the two networks for a picture of 224 x 224 (their papers: He 2015, Howard 2017)."""
CORES = {
    "Zero 2 W (1.0 GHz)": (0.65469, 0.39394),
    "3 B+ (1.4 GHz)": (0.37957, 0.20565),
    "4 (1.8 GHz)": (0.19110, 0.12432),
}
"""Seconds for ResNet-18 and MobileNet on one core. A Pi 5 is not in the list; its maker says 2 to 3 times a Pi 4."""
ONNXRUNTIME = 1.9
TIMES = 5


class Counted(Net):
    """A network that remembers what it was asked and how long it took."""

    calls: ClassVar[Counter[tuple[str, tuple[int, ...]]]] = Counter()
    seconds: ClassVar[float] = 0.0

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._input_of = str(path)

    def __call__(self, batch: np.ndarray[Any, np.dtype[np.float32]]) -> list[np.ndarray[Any, np.dtype[np.float32]]]:
        began = time.process_time()
        answer = super().__call__(batch)
        Counted.seconds += time.process_time() - began
        Counted.calls[self._input_of, batch.shape] += 1
        return answer


def multiplications(path: str, shape: tuple[int, ...]) -> int:
    """Multiplications of a network for an input of that shape."""
    model = onnx.load(path)
    for dimension, size in zip(model.graph.input[0].type.tensor_type.shape.dim, shape, strict=True):
        dimension.dim_value = size
    del model.graph.value_info[:]
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    graph = shape_inference.infer_shapes(model, data_prop=True).graph
    known = {
        value.name: tuple(dimension.dim_value for dimension in value.type.tensor_type.shape.dim)
        for value in (*graph.value_info, *graph.output, *graph.input)
    }
    known |= {weight.name: tuple(weight.dims) for weight in graph.initializer}
    total = 0
    for node in graph.node:
        made = known.get(node.output[0], ())
        if node.op_type == "Conv":
            total += prod(made) * prod(known[node.input[1]][1:])
        elif node.op_type == "ConvTranspose":
            total += prod(known[node.input[0]]) * prod(known[node.input[1]][1:])
        elif node.op_type in ("Gemm", "MatMul"):
            inner = known[node.input[1]]
            total += prod(made) * (inner[-1] if _transposed(node) else inner[-2])
    return total


def _transposed(node: Any) -> bool:
    return any(attribute.name == "transB" and attribute.i for attribute in node.attribute)


def float_rate() -> float:
    """Multiplications of floating-point numbers that a core of this machine does in a second, in a network."""
    channels, side, layers = 64, 68, 8
    rng = np.random.default_rng(0)
    kernel = rng.normal(0, 0.05, (channels, channels, 3, 3)).astype(np.float32)
    nodes = [helper.make_node("Conv", [f"x{k}", "kernel"], [f"x{k + 1}"], pads=[1] * 4) for k in range(layers)]
    shape = [1, channels, side, side]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x0", f"x{layers}")]
    graph = helper.make_graph(nodes, "float", ends[:1], ends[1:], [numpy_helper.from_array(kernel, "kernel")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    picture = rng.normal(0, 1, shape).astype(np.float32)
    session.run(None, {"x0": picture})
    began = time.process_time()
    for _ in range(10 * TIMES):
        session.run(None, {"x0": picture})
    return 10 * TIMES * layers * kernel.size * side**2 / (time.process_time() - began)


def main(pictures: list[str]) -> int:
    """Read the pictures, count, reckon, print."""
    for module in (calibration.locate, vision.letters, vision.squares):
        module.Net = Counted  # type: ignore[attr-defined]
    reader = BoardReader(BoardLocator().locate)
    letters = tile_set("en").letters
    photos = [load_photo(Path(name)).image for name in pictures]
    reader.read(photos[0], letters)  # the first one is slower: memory is got
    Counted.calls.clear()
    Counted.seconds = 0.0
    began = time.process_time()
    for _ in range(TIMES):
        for photo in photos:
            reader.read(photo, letters)
    readings = TIMES * len(photos)
    whole, nets = (time.process_time() - began) / readings, Counted.seconds / readings
    by_net = Counter[str]()
    for (path, shape), times in Counted.calls.items():
        by_net[Path(path).stem] += round(multiplications(path, shape) * times / readings)
    count = by_net.total()
    print(f"{len(photos)} pictures; multiplications a reading: {count / 1e9:.3f} billion")
    print(", ".join(f"{name} {number / 1e9:.3f}" for name, number in by_net.most_common()))
    rate = float_rate()
    print(f"here: {1e3 * whole:.0f} ms, {1e3 * nets:.0f} of them networks ({count / nets / 1e9:.0f} billion a second,")
    print(f"{rate / 1e9:.0f} billion of floating-point numbers)")
    as_if = count + (whole - nets) * rate  # all of it, in multiplications
    for name, (resnet, mobilenet) in CORES.items():
        print(f"{name}: {as_if * resnet / RESNET18:.1f} to {ONNXRUNTIME * as_if * mobilenet / MOBILENET:.1f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
