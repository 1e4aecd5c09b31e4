"""Measure the calibration of probabilities: of the squares read with confidence 0.99, 99 % should be correct.

`python -m calibration.evaluation.reliability DIR` reads the photographs below DIR (with `manifest.json`);
`--rendered N` reads N rendered pictures that are not in the training data. The confidence of a square is the
probability of its most probable symbol. Squares read as hidden are left out; squares read as empty are reported
separately, because most squares are empty and easy.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from calibration.evaluation.rendered_tables import Shot, list_scene_rows, load_photo_shots
from engine.reading import EMPTY, HIDDEN, BoardReading
from engine.tiles import load_tile_set
from vision.recognition.reader import BoardReader

BIN_EDGES: Final = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0)
"""Edges of the bins into which squares are sorted by confidence."""
VALIDATION_SEED: Final = 424242
"""Seed of the rendered pictures for validation; training uses small seeds."""


@dataclass(frozen=True, slots=True)
class SquarePrediction:
    """Confidence and correctness of the reading of one square."""

    confidence: float
    """Probability of the most probable symbol."""
    is_right: bool
    """True if the most probable symbol is the true one."""
    is_empty: bool
    """True if the square was read as empty."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Statistics of the squares whose confidence is at least `low` and less than `high`; the last bin includes 1."""

    low: float
    high: float
    count: int
    confidence: float
    """Mean confidence of the squares in the bin."""
    accuracy: float
    """Share (0..1) of squares in the bin that were read correctly."""

    @property
    def standard_error(self) -> float:
        """Standard error of `accuracy`, on the assumption that the confidences are perfectly calibrated."""
        return float(np.sqrt(self.confidence * (1 - self.confidence) / self.count))


def list_predictions(board: BoardReading, faces: Sequence[str]) -> Iterator[SquarePrediction]:
    """Yield a prediction for each square of a reading, except hidden ones; `faces` are the 225 true faces."""
    for square, face in zip(board.squares, faces, strict=True):
        if square.symbol != HIDDEN:
            yield SquarePrediction(square.confidence, square.symbol == face, square.symbol == EMPTY)


def bin_predictions(squares: Iterable[SquarePrediction]) -> tuple[Bin, ...]:
    """Group the predictions by confidence into the bins of `BIN_EDGES`; empty bins are left out."""
    predictions = list(squares)
    confidence = np.array([square.confidence for square in predictions])
    is_right = np.array([square.is_right for square in predictions])
    bins = []
    for low, high in pairwise(BIN_EDGES):
        is_inside = (confidence >= low) & ((confidence < high) | (high == 1.0))
        if is_inside.any():
            mean, share = float(confidence[is_inside].mean()), float(is_right[is_inside].mean())
            bins.append(Bin(low, high, int(is_inside.sum()), mean, share))
    return tuple(bins)


def compute_calibration_error(table: Sequence[Bin]) -> float:
    """Return the expected calibration error (ECE) of the bins (Guo et al., 2017), in 0..1."""
    total = sum(b.count for b in table)
    return sum(b.count * abs(b.confidence - b.accuracy) for b in table) / max(total, 1)


def format_report(name: str, squares: Sequence[SquarePrediction]) -> str:
    """Format the calibration of the predictions as text: a summary, then one line per confidence bin."""
    table = bin_predictions(squares)
    wrong = sum(not s.is_right for s in squares)
    lines = [
        f"{name}: {len(squares)} squares, {wrong} wrong, mean distance {100 * compute_calibration_error(table):.3f} %",
        "    called          squares   confidence      right   expected error",
    ]
    lines += [
        f"    {b.low:5.3f} - {b.high:5.3f}  {b.count:8}   {100 * b.confidence:8.2f} %"
        f" {100 * b.accuracy:8.2f} %   +- {100 * b.standard_error:.2f} %"
        for b in table
    ]
    return "\n".join(lines)


def draw_chart(tables: Mapping[str, Sequence[Bin]], path: Path) -> None:
    """Draw a reliability diagram (accuracy against confidence, with two standard errors) and write it as a PNG file.

    `tables` maps the name of each group of pictures to its bins.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 5))
    axes = figure.add_subplot(xlabel="confidence", ylabel="share of right readings", xlim=(0, 1), ylim=(0, 1))
    axes.plot((0, 1), (0, 1), color="0.7")
    for name, table in tables.items():
        confidence, accuracy = [b.confidence for b in table], [b.accuracy for b in table]
        axes.errorbar(confidence, accuracy, [2 * b.standard_error for b in table], fmt="o", label=name)
    axes.legend()
    figure.savefig(path)


def render_shots(count: int) -> Iterator[Shot]:
    """Render `count` pictures that are not in the training data, each with a random board and random tiles."""
    from vision.training.scenes import draw_numbered_scene

    for number in range(count):
        scene = draw_numbered_scene(number, VALIDATION_SEED)
        yield Shot(str(number), "drawn", str(number), scene.image, scene.corners, list_scene_rows(scene), "en")


def read_shots(shots: Iterable[Shot]) -> Iterator[SquarePrediction]:
    """Read each picture and yield a prediction for each of its squares that is not hidden."""
    reader = BoardReader()
    for shot in shots:
        board = reader.read(shot.image, load_tile_set(shot.language).letters, corners=shot.corners).board
        if board is not None:
            yield from list_predictions(board, [face for row in shot.rows for face in row])


def main() -> None:
    """Print calibration reports for photographs or rendered pictures, and draw the reliability diagram if requested."""
    parser = argparse.ArgumentParser(prog="python -m calibration.evaluation.reliability", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="photographs with manifest.json")
    parser.add_argument("--rendered", type=int, default=0, metavar="N", help="drawn pictures")
    parser.add_argument("--png", type=Path, help="draw the squares called a tile there")
    args = parser.parse_args()
    if not args.folder and not args.rendered:
        parser.error("name a folder of photographs, or --rendered N")
    groups = {"photographs": load_photo_shots(args.folder)} if args.folder else {}
    if args.rendered:
        groups["drawn"] = render_shots(args.rendered)
    tables = {}
    for name, shots in groups.items():
        squares = list(read_shots(shots))
        tiles = [square for square in squares if not square.is_empty]
        print(format_report(f"{name}, called a tile", tiles))
        print(format_report(f"{name}, called empty", [square for square in squares if square.is_empty]))
        tables[name] = bin_predictions(tiles)
    if args.png:
        draw_chart(tables, args.png)


if __name__ == "__main__":
    main()
