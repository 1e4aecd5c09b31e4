"""Training of the square network (empty, tile, hidden), evaluation on held-out scenes, and export of the model.

A large network is the teacher (`vision.training.optimise`). The context, averages over the whole board
(`networks.GlobalContext`), becomes an input of the exported network. The averages change little from turn to turn: if
those of an earlier picture are an input, it is enough to compute windows around the squares that have changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch.nn import functional

from vision.net import MODELS_DIR, Net
from vision.recognition.squares import CONTEXT_FEATURES, GIVEN_CONTEXT, OWN_CONTEXT_SHARE, SquareNet
from vision.recognition.views import VIEW_MARGIN_SQUARES
from vision.training.augmentation import IGNORED, SquareBatch, SquareSampler
from vision.training.checkpoints import RATE_SHARE, START_FOLDER, Checkpoint, load_start_weights, write_start_weights
from vision.training.dataset import TrainingViews
from vision.training.networks import HeadedNet, build_square_net, write_onnx
from vision.training.optimise import (
    TEACHER_SHARE,
    TaughtBatch,
    compute_divergence,
    fit_network,
    fit_temperature,
    make_adamw,
    mixed_precision,
    read_temperature,
)
from vision.training.quantise import add_facts, quantise_model

_WIDTHS = "context_widths"
_OUTPUT = "context"


def add_context_input(path: Path) -> None:
    """Add inputs and an output for the context to the quantised square network `path`, in place.

    The network computes averages of features over the whole board, the context. With the inputs, a part of the board
    can be classified with the context of the whole board: each average becomes `share * average + given`. The share is
    the input `OWN_CONTEXT_SHARE`, the given values are the input `GIVEN_CONTEXT` `(1, features, 1, 1)`. With share 1
    and given values 0, the predictions are exactly those of the unchanged network. The new output `context` has the
    averages that were used; their number is added to the metadata.
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


BATCH_SIZE = 12
STEPS_FROM_SCRATCH = 8000
REFINING_STEPS = 3000
"""Number of steps that begin with the start weights (`vision.training.checkpoints`)."""
REPORT_EVERY = 200
"""Number of steps between two reports, and between two checkpoints."""
MAX_LEARNING_RATE = 3e-3
LARGE_SQUARES_PATH: Final = Path(__file__).with_name("squares_large.onnx")
"""File of the large square network, which is used only for training."""


def train(
    views: Sequence[TrainingViews],
    held_out: Sequence[TrainingViews],
    steps: int,
    path: Path = MODELS_DIR / "squares.onnx",
    seed: int = 0,
    checkpoint: Checkpoint | None = None,
    *,
    from_scratch: bool = False,
) -> str:
    """Train the square network for `steps` batches of `views`, write it to `path`, and report its accuracy.

    The training begins with the start weights. With `from_scratch`, it begins with random weights, and writes new start
    weights beside `path` at the end. Returns the text of `report` for the views `held_out`, which are also used to fit
    the calibration temperature. An interrupted training continues from `checkpoint`.
    """
    torch.manual_seed(seed)
    looks = SquareSampler(views)
    teacher = Teacher()
    net = build_square_net().to(memory_format=torch.channels_last)
    if not from_scratch:
        load_start_weights(net, START_FOLDER / "squares.npz")
    rate = MAX_LEARNING_RATE if from_scratch else RATE_SHARE * MAX_LEARNING_RATE

    def draw(step: int) -> TaughtBatch[SquareBatch]:
        batch = looks.draw_batch(np.random.default_rng((seed, 3, step)), BATCH_SIZE)
        return TaughtBatch(batch, teacher.answer(batch))

    fit_network(
        "squares",
        net,
        draw,
        compute_taught_loss,
        steps,
        [make_adamw(net.parameters(), rate)],
        report_every=REPORT_EVERY,
        checkpoint=checkpoint,
    )
    if from_scratch:
        write_start_weights(net, path.with_suffix(".npz"))
    proof = draw_proof(held_out, seed)
    write_square_net(net, [draw(steps + 1 + i).batch for i in range(4)], proof, path)
    add_context_input(path)
    return report(SquareNet(path), proof)


def draw_proof(held_out: Sequence[TrainingViews], seed: int = 0) -> list[SquareBatch]:
    """Return batches of the views `held_out`, for calibration and evaluation."""
    looks = SquareSampler(held_out)
    return [looks.draw_batch(np.random.default_rng((seed, 4, i)), 8) for i in range(16)]


def write_square_net(net: HeadedNet, batches: Sequence[SquareBatch], proof: Sequence[SquareBatch], path: Path) -> None:
    """Write `net` to `path`, calibrated on the batches `proof` and quantised with the ranges of `batches`."""
    facts = {"temperature": {"squares": _fit_temperature(net, proof)}}
    write_onnx(net, path, ["n", 3, "h", "w"], ["n", 3, "rows", "columns"], facts)
    quantise_model(path, [batch.boards for batch in batches])


def crop_to_grid(logits: torch.Tensor) -> torch.Tensor:
    """Return the part of logits `(n, 3, rows, columns)` that belongs to the squares of the board."""
    return logits[:, :, VIEW_MARGIN_SQUARES:-VIEW_MARGIN_SQUARES, VIEW_MARGIN_SQUARES:-VIEW_MARGIN_SQUARES].float()


class Teacher:
    """The large square network as a teacher."""

    def __init__(self, path: Path = LARGE_SQUARES_PATH) -> None:
        self._net = Net(path)
        self._temperature = read_temperature(self._net, "squares")

    def answer(self, batch: SquareBatch) -> NDArray[np.float32]:
        """Return the logits `(n, 3, 15, 15)` of the teacher for a batch, without the calibration of the ONNX file."""
        (calibrated,) = self._net(batch.boards)
        return np.asarray(crop_to_grid(torch.from_numpy(calibrated)) * self._temperature, np.float32)


def compute_taught_loss(net: HeadedNet, taught: TaughtBatch[SquareBatch]) -> torch.Tensor:
    """Return the loss of a batch: cross entropy with the true classes and with the teacher's answers."""
    loss, logits = compute_loss(net, taught.batch)
    judged = torch.from_numpy(taught.batch.kinds != IGNORED)
    answers = torch.from_numpy(taught.answers)
    divergence = compute_divergence(logits.movedim(1, -1)[judged], answers.movedim(1, -1)[judged])
    return (1 - TEACHER_SHARE) * loss + TEACHER_SHARE * divergence


def compute_loss(net: HeadedNet, batch: SquareBatch, device: str = "cpu") -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss of a batch and the logits `(n, 3, 15, 15)`; `net` must be on `device`."""
    with mixed_precision(device):
        (logits,) = net(torch.from_numpy(batch.boards).to(device, memory_format=torch.channels_last))
    grid = crop_to_grid(logits)
    return functional.cross_entropy(grid, torch.from_numpy(batch.kinds).to(device), ignore_index=IGNORED), grid


@torch.no_grad()  # type: ignore[untyped-decorator]
def _fit_temperature(net: HeadedNet, proof: Sequence[SquareBatch]) -> float:
    logits = torch.cat([crop_to_grid(net(torch.from_numpy(b.boards))[0]) for b in proof])
    truth = torch.from_numpy(np.concatenate([b.kinds for b in proof]))
    return fit_temperature(logits, truth)


def report(net: SquareNet, proof: Sequence[SquareBatch]) -> str:
    """Evaluate the square network on held-out batches; return a text with accuracy and confusion matrix."""
    table = np.zeros((3, 3), np.int64)
    for batch in proof:
        for board, kinds in zip(batch.boards, batch.kinds, strict=True):
            guess = net.predict_normalised(board).argmax(axis=2)
            known = kinds != IGNORED
            np.add.at(table, (kinds[known], guess[known]), 1)
    names = ("empty", "tile", "hidden")
    rows = (f"  {name:7}" + "".join(f"{n:8}" for n in table[i]) for i, name in enumerate(names))
    share = 100 * np.trace(table) / table.sum()
    return "\n".join([f"squares: {share:.3f} % of {table.sum()} right; rows truth, columns {' '.join(names)}", *rows])
