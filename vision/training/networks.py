"""Architecture of the square and letter networks in torch, and their export to ONNX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from vision.recognition.letters import FEATURE_COUNT
from vision.training.quantise import add_facts

AVERAGE_DECAY = 0.998
"""Share of the average of weights that a training step keeps (`WeightAverage`); the first steps keep less."""


def conv_block(inside: int, outside: int, stride: int = 1, side: int = 3) -> list[nn.Module]:
    """Return a block of convolution, batch normalisation and ReLU, from `inside` to `outside` channels."""
    return [
        nn.Conv2d(inside, outside, side, stride, side // 2, bias=False),
        nn.BatchNorm2d(outside),
        nn.ReLU(inplace=True),
    ]


class GlobalContext(nn.Module):  # type: ignore[misc]  # torch is not typed here
    """Layer that adds a projection of the global average of a feature map `(n, c, h, w)` to every position.

    So the classification of a square can depend on the colours of tiles and ground on the whole board.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.context_conv = nn.Conv2d(channels, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the feature map `x` plus the projection of its spatial mean."""
        return x + self.context_conv(x.mean(dim=(2, 3), keepdim=True))


class Residual(nn.Module):  # type: ignore[misc]  # torch is not typed here
    """Layers whose output is added to their input, with a ReLU after the sum (He et al., 2015)."""

    def __init__(self, layers: Sequence[nn.Module]) -> None:
        super().__init__()
        self.body = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the rectified sum of `x` and the output of the layers."""
        return torch.relu(x + self.body(x))


class HeadedNet(nn.Module):  # type: ignore[misc]  # torch is not typed here
    """Network with a shared trunk and one or more heads; trunk and heads are sequences of layers."""

    def __init__(self, trunk: Sequence[nn.Module], heads: Mapping[str, Sequence[nn.Module]]) -> None:
        super().__init__()
        self.trunk = nn.Sequential(*trunk)
        self.heads = nn.ModuleDict({name: nn.Sequential(*layers) for name, layers in heads.items()})

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Return the outputs of all heads for a batch, in the order of `heads`."""
        shared = self.trunk(x)
        return [head(shared) for head in self.heads.values()]


def build_square_net() -> HeadedNet:
    """Return an untrained square network, from input (n, 3, 16 s, 16 s) to class logits (n, 3, s, s).

    The receptive field of an output is about five squares wide; `GlobalContext` adds averages over the board.
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


def build_large_square_net() -> HeadedNet:
    """Return an untrained large square network, the teacher of the network from `build_square_net`."""
    trunk = [
        *conv_block(3, 48, 2, 5),
        *conv_block(48, 64, 2),
        *conv_block(64, 96),
        *conv_block(96, 128, 2),
        _pair_block(128),
        GlobalContext(128),
        *conv_block(128, 192, 2),
        GlobalContext(192),
        _pair_block(192),
    ]
    return HeadedNet(trunk, {"squares": [nn.Conv2d(192, 3, 1)]})


def build_letter_net(classes: int) -> HeadedNet:
    """Return an untrained letter network, from crops (n, 1, 36, 36) to letters, quarter turns and tile offsets.

    The outputs are logits of the letters (n, classes), logits of the quarter turns (n, 4), and offset and rotation
    (n, 3). The last layer for the letters has `FEATURE_COUNT` inputs, which are also an output of the ONNX model.
    """
    trunk = [
        *conv_block(1, 24, 2, 5),
        *conv_block(24, 64, 2),
        _bottleneck(64, 32),
        *conv_block(64, 128, 2),
        _bottleneck(128, 48),
        _bottleneck(128, 48),
        *conv_block(128, 64, 1, 1),
        nn.Flatten(),
    ]
    return HeadedNet(trunk, _letter_heads(64 * 5 * 5, FEATURE_COUNT, classes, dropout=0.1))


def build_large_letter_net(classes: int) -> HeadedNet:
    """Return an untrained large letter network, with the outputs of `build_letter_net`.

    It reads the letters of unclear tiles, and its answers teach the letter network.
    """
    trunk = [
        *conv_block(1, 64, 2, 5),
        *conv_block(64, 128, 2),
        _pair_block(128),
        _pair_block(128),
        *conv_block(128, 288, 2),
        _pair_block(288),
        _pair_block(288),
        _pair_block(288),
        *conv_block(288, 128, 1, 1),
        nn.Flatten(),
    ]
    return HeadedNet(trunk, _letter_heads(128 * 5 * 5, 256, classes, dropout=0.4))


def _pair_block(channels: int) -> Residual:
    """Return a residual block of two 3 x 3 convolutions."""
    layers = [*conv_block(channels, channels), *conv_block(channels, channels)]
    return Residual(layers[:-1])  # Residual applies the last ReLU after the sum


def _bottleneck(channels: int, narrow: int) -> Residual:
    """Return a residual block with a 3 x 3 convolution on `narrow` channels between two 1 x 1 convolutions."""
    layers = [*conv_block(channels, narrow, 1, 1), *conv_block(narrow, narrow), *conv_block(narrow, channels, 1, 1)]
    return Residual(layers[:-1])


def _letter_heads(flat: int, features: int, classes: int, dropout: float) -> dict[str, list[nn.Module]]:
    """Return the heads of a letter network whose trunk has `flat` outputs."""
    return {
        "letters": [
            nn.Dropout(dropout),
            nn.Linear(flat, features),
            nn.ReLU(inplace=True),
            nn.Linear(features, classes),
        ],
        "turns": [nn.Dropout(dropout), nn.Linear(flat, 64), nn.ReLU(inplace=True), nn.Linear(64, 4)],
        "places": [nn.Linear(flat, 64), nn.ReLU(inplace=True), nn.Linear(64, 3)],
    }


class WeightAverage:
    """Exponential moving average of a network's weights.

    A network with the averaged weights generalises better than one with the last weights.
    """

    def __init__(self, net: nn.Module) -> None:
        self._steps = 0
        self._averages = {k: v.detach().clone() for k, v in net.state_dict().items()}

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def update(self, net: nn.Module) -> None:
        """Update the average with the weights of `net` after one more training step."""
        self._steps += 1
        share = 1 - min(AVERAGE_DECAY, self._steps / (self._steps + 10))
        for name, value in net.state_dict().items():
            kept = self._averages[name]
            if kept.dtype.is_floating_point:
                kept.lerp_(value, share)
            else:
                kept.copy_(value)

    def copy_to(self, net: nn.Module) -> None:
        """Load the averaged weights into `net`."""
        net.load_state_dict(self._averages)

    def state_dict(self) -> dict[str, Any]:
        """Return the averages and the number of steps, for a checkpoint."""
        return {"averages": self._averages, "steps": self._steps}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the averages and the number of steps from a checkpoint."""
        self._averages, self._steps = dict(state["averages"]), int(state["steps"])


def write_onnx(
    net: HeadedNet,
    path: Path,
    shape: Sequence[int | str],
    output_shape: Sequence[int | str],
    facts: Mapping[str, object],
    features: Mapping[str, str] | None = None,
    offsets: Mapping[str, np.ndarray] | None = None,
) -> None:
    """Export a network as an ONNX file, with batch normalisation folded in and `facts` as metadata.

    The graph is built layer by layer instead of by tracing, so that the file depends only on the weights and not on the
    version of an exporter.

    - `shape` and `output_shape`: shapes of the input and of every head's output.
    - `facts["temperature"][head]`: divisor of the head's output, if given.
    - `offsets[head]`: one number per class, added to the output after the division.
    - `features[head]`: name of an additional output, the input of the head's last layer.

    A first layer with a 5 x 5 kernel and stride 2 is rewritten to blocks of 2 x 2 pixels, so the sides of the input
    must be even.
    """
    temperature = dict(facts.get("temperature", {}))  # type: ignore[call-overload]
    graph = _OnnxGraph()
    net = net.eval().float().to(memory_format=torch.contiguous_format)
    shared = graph.add_layers(net.trunk, "input")
    named: dict[str, tuple[str, list[int | str]]] = {}
    for name, head in net.heads.items():
        assert isinstance(head, nn.Sequential)
        last = graph.add_layers(head, shared, 1 / float(temperature.get(name, 1.0)))
        if offsets and name in offsets:
            graph.add_to_weights(f"{last}.1", offsets[name])
        named[name] = (last, list(output_shape))
        if features and name in features:
            named[features[name]] = (graph.last_input, ["n", "features"])
    # Order the outputs: the heads in their order, then the features.
    names = [*net.heads, *(name for name in named if name not in net.heads)]
    model = graph.build_model(shape, {name: named[name] for name in names})
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))
    add_facts(path, facts)


class _OnnxGraph:
    """Builder of an ONNX graph, layer by layer; a value is identified by the name of the node that computes it."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []

    @property
    def last_input(self) -> str:
        """Name of the value that is the input of the last node."""
        return str(self._nodes[-1].input[0])

    def add_layers(self, layers: nn.Sequential, value: str, scale: float = 1.0) -> str:
        """Add a sequence of layers with the input `value`; return the name of the last layer's output.

        The output of the last layer is multiplied by `scale`. Dropout is left out. Raises TypeError for a layer that
        cannot be converted to ONNX.
        """
        modules = [m for m in layers if not isinstance(m, nn.Dropout)]
        for layer, after in zip(modules, [*modules[1:], None], strict=True):
            value = self._add_layer(layer, after, value, scale if after is None else 1.0)
        return value

    def add_to_weights(self, name: str, offset: np.ndarray) -> None:
        """Add `offset` to the weights called `name`."""
        array = next(w for w in self._weights if w.name == name)
        array.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(array) + offset, name))

    def build_model(
        self, shape: Sequence[int | str], outputs: Mapping[str, tuple[str, Sequence[int | str]]]
    ) -> onnx.ModelProto:
        """Build the ONNX model for an input of `shape`; `outputs` maps output names to values and their shapes."""
        nodes = [*self._nodes, *(helper.make_node("Identity", [value], [name]) for name, (value, _) in outputs.items())]
        graph = helper.make_graph(
            nodes,
            "tilekeeper",
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, (_, dims) in outputs.items()],
            self._weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        onnx.checker.check_model(model)
        return model

    def _add_layer(self, layer: nn.Module, after: nn.Module | None, value: str, gain: float) -> str:
        """Add one layer to the graph; return the name of its output, which is multiplied by `gain`."""
        if isinstance(layer, nn.Conv2d):
            return self._add_convolution(layer, after if isinstance(after, nn.BatchNorm2d) else None, value, gain)
        if isinstance(layer, nn.BatchNorm2d):  # folded into the convolution before this layer
            return value
        if isinstance(layer, nn.ReLU):
            return self._add_node("Relu", [value])
        if isinstance(layer, nn.Flatten):
            return self._add_node("Flatten", [value])
        if isinstance(layer, GlobalContext):
            mean = self._add_node("GlobalAveragePool", [value])
            context = self._add_node("Conv", [mean], fold_batch_norm(layer.context_conv, None))
            return self._add_node("Add", [value, context])
        if isinstance(layer, Residual):
            return self._add_node("Relu", [self._add_node("Add", [value, self.add_layers(layer.body, value)])])
        if isinstance(layer, nn.Linear):
            arrays = [layer.weight.detach().numpy() * gain, layer.bias.detach().numpy() * gain]
            return self._add_node("Gemm", [value], arrays, transB=1)
        raise TypeError(f"no ONNX form for {type(layer).__name__}")

    def _add_convolution(self, layer: nn.Conv2d, norm: nn.BatchNorm2d | None, value: str, gain: float) -> str:
        kernel, bias = fold_batch_norm(layer, norm)
        pad, stride = int(layer.padding[0]), int(layer.stride[0])
        if value == "input" and (*kernel.shape[2:], stride, pad) == (5, 5, 2, 2):
            value = self._add_node("SpaceToDepth", [value], blocksize=2)
            kernel, pad, stride = _to_block_kernel(kernel), 1, 1
        return self._add_node("Conv", [value], [kernel * gain, bias * gain], pads=[pad] * 4, strides=[stride] * 2)

    def _add_node(
        self, kind: str, values: Sequence[str], arrays: Sequence[np.ndarray] = (), **attributes: object
    ) -> str:
        """Add a node of type `kind` with the inputs `values` and the weights `arrays`; return its output's name."""
        name = f"{kind.lower()}{len(self._nodes)}"
        for i, array in enumerate(arrays):
            self._weights.append(numpy_helper.from_array(np.ascontiguousarray(array, np.float32), f"{name}.{i}"))
        inputs = [*values, *(f"{name}.{i}" for i in range(len(arrays)))]
        self._nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name


def _to_block_kernel(kernel: np.ndarray) -> np.ndarray:
    """Convert a kernel `(n, c, 5, 5)` of stride 2 to an equivalent kernel `(n, 4 c, 3, 3)` over 2 x 2 pixel blocks.

    The original padding is 2; the new kernel has stride 1 and padding 1, after a space-to-depth step. In eight bits
    this is faster: with one or three input channels, a convolution spends most of its time on memory access.
    """
    outside, inside = kernel.shape[:2]
    even = np.pad(kernel, ((0, 0), (0, 0), (0, 1), (0, 1))).reshape(outside, inside, 3, 2, 3, 2)
    return even.transpose(0, 3, 5, 1, 2, 4).reshape(outside, 4 * inside, 3, 3)


def fold_batch_norm(layer: nn.Conv2d, norm: nn.BatchNorm2d | None) -> tuple[np.ndarray, np.ndarray]:
    """Return kernel and bias of one convolution with the same result as `layer` followed by `norm`."""
    kernel = layer.weight.detach().numpy()
    bias = np.zeros(kernel.shape[0], np.float32) if layer.bias is None else layer.bias.detach().numpy()
    if norm is None:
        return kernel, bias
    assert norm.running_mean is not None and norm.running_var is not None
    gain = norm.weight.detach().numpy() / np.sqrt(norm.running_var.numpy() + norm.eps)
    return kernel * gain[:, None, None, None], (bias - norm.running_mean.numpy()) * gain + norm.bias.detach().numpy()
