"""The reading networks in torch, and their export to ONNX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from vision.recognition.letters import FEATURE_COUNT
from vision.training.metadata import add_facts


def conv_block(inside: int, outside: int, stride: int = 1, side: int = 3) -> list[nn.Module]:
    """Return a convolution, batch normalisation and ReLU."""
    return [
        nn.Conv2d(inside, outside, side, stride, side // 2, bias=False),
        nn.BatchNorm2d(outside),
        nn.ReLU(inplace=True),
    ]


class GlobalContext(nn.Module):  # type: ignore[misc]  # torch is not typed here
    """Layer that adds a projection of the global average to every position: `(n, c, h, w)` keeps its shape.

    So each square is classified in the context of the tiles and the ground of its own board, even far away.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.context_conv = nn.Conv2d(channels, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the feature map plus the projection of its mean over the board."""
        return x + self.context_conv(x.mean(dim=(2, 3), keepdim=True))


class HeadedNet(nn.Module):  # type: ignore[misc]  # torch is not typed here
    """A trunk with one or more heads, each a plain sequence of layers."""

    def __init__(self, trunk: Sequence[nn.Module], heads: Mapping[str, Sequence[nn.Module]]) -> None:
        super().__init__()
        self.trunk = nn.Sequential(*trunk)
        self.heads = nn.ModuleDict({name: nn.Sequential(*layers) for name, layers in heads.items()})

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Return the output of each head for a batch."""
        shared = self.trunk(x)
        return [head(shared) for head in self.heads.values()]


def build_square_net() -> HeadedNet:
    """Return the square network, (n, 3, 16 s, 16 s) -> (n, 3, s, s).

    It classifies each square from the five squares around it and from the average of the board.
    """
    trunk = [
        *conv_block(3, 24, 2, 5),
        *conv_block(24, 32, 2),
        *conv_block(32, 48),
        *conv_block(48, 64, 2),
        *conv_block(64, 64),
        GlobalContext(64),
        *conv_block(64, 96, 2),
        GlobalContext(96),
        *conv_block(96, 96),
    ]
    return HeadedNet(trunk, {"squares": [nn.Conv2d(96, 3, 1)]})


def build_letter_net(classes: int) -> HeadedNet:
    """Return the letter network, (n, 1, 36, 36) -> letters (n, classes), quarter turns (n, 4), poses (n, 3).

    The last layer of the letters has `FEATURE_COUNT` inputs, which are also an output of the ONNX model.
    """
    trunk = [
        *conv_block(1, 24, 2, 5),
        *conv_block(24, 48),
        *conv_block(48, 64, 2),
        *conv_block(64, 96),
        *conv_block(96, 128, 2),
        *conv_block(128, 72, 1, 1),
        nn.Flatten(),
    ]
    flat = 72 * 5 * 5
    letters = [
        nn.Dropout(0.3),
        nn.Linear(flat, FEATURE_COUNT),
        nn.ReLU(inplace=True),
        nn.Linear(FEATURE_COUNT, classes),
    ]
    turns = [nn.Dropout(0.3), nn.Linear(flat, 64), nn.ReLU(inplace=True), nn.Linear(64, 4)]
    places = [nn.Linear(flat, 64), nn.ReLU(inplace=True), nn.Linear(64, 3)]
    return HeadedNet(trunk, {"letters": letters, "turns": turns, "places": places})


class WeightAverage:
    """Exponential moving average of a network's weights, which generalises better than the last weights."""

    def __init__(self, net: nn.Module, decay: float = 0.998) -> None:
        self._decay = decay
        self._steps = 0
        self._averages = {k: v.detach().clone() for k, v in net.state_dict().items()}

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def update(self, net: nn.Module) -> None:
        """Add the weights after one more step."""
        self._steps += 1
        share = 1 - min(self._decay, self._steps / (self._steps + 10))
        for name, value in net.state_dict().items():
            kept = self._averages[name]
            if kept.dtype.is_floating_point:
                kept.lerp_(value, share)
            else:
                kept.copy_(value)

    def copy_to(self, net: nn.Module) -> None:
        """Load the averaged weights into `net`."""
        net.load_state_dict(self._averages)


def write_onnx(
    net: HeadedNet,
    path: Path,
    shape: Sequence[int | str],
    output_shape: Sequence[int | str],
    facts: Mapping[str, object],
    features: Mapping[str, str] | None = None,
    offsets: Mapping[str, np.ndarray] | None = None,
) -> None:
    """Write a network as ONNX, with batch normalisation folded in and `facts` in the file's metadata.

    Written layer by layer, not traced, so that the file depends only on the weights and not on the version of an
    exporter. Outputs are divided by `facts["temperature"]` (one number for each head) if given. A first layer with a 5
    x 5 kernel and stride 2 is written over blocks of pixels, so pictures must have even sides. `features` names an
    additional output for a head: the input of its last layer. `offsets` are added to the scaled outputs of a head, one
    number for each class.
    """
    temperature = dict(facts.get("temperature", {}))  # type: ignore[call-overload]
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []

    def add(kind: str, inside: str, arrays: Sequence[np.ndarray], **attributes: object) -> str:
        name = f"{kind.lower()}{len(nodes)}"
        inputs = [inside]
        for i, array in enumerate(arrays):
            weights.append(numpy_helper.from_array(np.ascontiguousarray(array, np.float32), f"{name}.{i}"))
            inputs.append(f"{name}.{i}")
        nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def joined(kind: str, one: str, other: str) -> str:
        name = f"{kind.lower()}{len(nodes)}"
        nodes.append(helper.make_node(kind, [one, other], [name], name))
        return name

    def chain(layers: nn.Sequential, value: str, scale: float = 1.0) -> str:
        modules = [m for m in layers if not isinstance(m, nn.Dropout)]
        for i, layer in enumerate(modules):
            after = modules[i + 1] if i + 1 < len(modules) else None
            gain = scale if after is None else 1.0
            if isinstance(layer, nn.Conv2d):
                kernel, bias = _fold_batch_norm(layer, after if isinstance(after, nn.BatchNorm2d) else None)
                pad, stride = int(layer.padding[0]), int(layer.stride[0])
                if value == "input" and (*kernel.shape[2:], stride, pad) == (5, 5, 2, 2):
                    value, kernel, pad, stride = (
                        add("SpaceToDepth", value, [], blocksize=2),
                        _to_block_kernel(kernel),
                        1,
                        1,
                    )
                value = add("Conv", value, [kernel * gain, bias * gain], pads=[pad] * 4, strides=[stride] * 2)
            elif isinstance(layer, nn.ReLU):
                value = add("Relu", value, [])
            elif isinstance(layer, nn.Flatten):
                value = add("Flatten", value, [])
            elif isinstance(layer, GlobalContext):
                mean = add("GlobalAveragePool", value, [])
                kernel, bias = _fold_batch_norm(layer.context_conv, None)
                told = add("Conv", mean, [kernel, bias])
                value = joined("Add", value, told)
            elif isinstance(layer, nn.Linear):
                kernel = layer.weight.detach().numpy() * gain
                bias = layer.bias.detach().numpy() * gain
                value = add("Gemm", value, [kernel, bias], transB=1)
            elif not isinstance(layer, nn.BatchNorm2d):
                raise TypeError(f"no ONNX form for {type(layer).__name__}")
        return value

    net = net.eval().float().to(memory_format=torch.contiguous_format)
    shared = chain(net.trunk, "input")
    named: dict[str, tuple[str, list[int | str]]] = {}
    for name, head in net.heads.items():
        assert isinstance(head, nn.Sequential)
        last = chain(head, shared, 1 / float(temperature.get(name, 1.0)))
        if offsets and name in offsets:
            bias = next(w for w in weights if w.name == f"{last}.1")
            bias.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(bias) + offsets[name], bias.name))
        named[name] = (last, list(output_shape))
        if features and name in features:
            named[features[name]] = (str(nodes[-1].input[0]), ["n", "features"])
    # The heads first, in their order, then the features.
    names = [*net.heads, *(name for name in named if name not in net.heads)]
    nodes += [helper.make_node("Identity", [named[name][0]], [name]) for name in names]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, named[name][1]) for name in names]
    graph = helper.make_graph(
        nodes, "tilekeeper", [helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)], outputs, weights
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))
    add_facts(path, facts)


def _to_block_kernel(kernel: np.ndarray) -> np.ndarray:
    """Return a kernel `(n, c, 5, 5)` of stride 2 and padding 2 as one of stride 1 over blocks of 2 x 2 pixels.

    The result is `(n, 4 c, 3, 3)`, and the sums are the same. In eight bits it is faster: with one or three channels, a
    first layer spends most of its time on gathering few numbers from many places.
    """
    outside, inside = kernel.shape[:2]
    even = np.pad(kernel, ((0, 0), (0, 0), (0, 1), (0, 1))).reshape(outside, inside, 3, 2, 3, 2)
    return even.transpose(0, 3, 5, 1, 2, 4).reshape(outside, 4 * inside, 3, 3)


def _fold_batch_norm(layer: nn.Conv2d, norm: nn.BatchNorm2d | None) -> tuple[np.ndarray, np.ndarray]:
    kernel = layer.weight.detach().numpy()
    bias = np.zeros(kernel.shape[0], np.float32) if layer.bias is None else layer.bias.detach().numpy()
    if norm is None:
        return kernel, bias
    assert norm.running_mean is not None and norm.running_var is not None
    gain = norm.weight.detach().numpy() / np.sqrt(norm.running_var.numpy() + norm.eps)
    return kernel * gain[:, None, None, None], (bias - norm.running_mean.numpy()) * gain + norm.bias.detach().numpy()
