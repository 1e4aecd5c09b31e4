"""Can the confidences be trusted? Of the squares called 0.99, 99 % should be right.

`python -m calibration.evaluation.reliability DIR` reads the photographs below DIR (with `manifest.json`);
`--rendered N` reads N drawn pictures that no training saw. Each square counts by the probability of what it was called;
squares called hidden do not count. Squares called empty are counted apart, for they are many and easy.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from calibration.evaluation.labelled_photos import load_photo_shots
from calibration.evaluation.rendered_tables import Shot, scene_rows
from engine.reading import EMPTY, HIDDEN, BoardReading
from engine.tiles import load_tile_set
from vision.recognition.reader import BoardReader

BIN_EDGES: Final = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0)
VALIDATION_SEED: Final = 424242
"""The seed of drawn pictures; trainings draw with small ones."""
_TEMPERATURES: Final = np.exp(np.linspace(np.log(0.5), np.log(3), 61))
_MIN_PROBABILITY: Final = 1e-6
_CHART_SIDE_PX: Final = 420
_CHART_COLOURS: Final = ((190, 120, 40), (40, 110, 210))
"""BGR, of photographs and of drawn pictures."""


@dataclass(frozen=True, slots=True)
class SquarePrediction:
    """What one square was called."""

    confidence: float
    is_right: bool
    is_empty: bool
    """It was called empty."""
    truth_probability: float
    """The probability that was given to what truly lies there."""
    other_probability: float
    """That of everything else."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The squares called with a confidence in a range."""

    low: float
    high: float
    count: int
    confidence: float
    """The mean."""
    accuracy: float
    """Share that is right."""

    @property
    def standard_error(self) -> float:
        """Standard error of `accuracy` if the confidence is true."""
        return float(np.sqrt(self.confidence * (1 - self.confidence) / self.count))


def list_predictions(board: BoardReading, faces: Sequence[str]) -> Iterator[SquarePrediction]:
    """What the squares of a reading were called, against the 225 faces that lay there."""
    for square, face in zip(board.squares, faces, strict=True):
        if square.symbol != HIDDEN:
            seen = 1 - square.probability(HIDDEN)
            truth = min(max(square.probability(face) / seen, _MIN_PROBABILITY), 1 - _MIN_PROBABILITY)
            yield SquarePrediction(square.confidence, square.symbol == face, square.symbol == EMPTY, truth, 1 - truth)


def bin_predictions(squares: Iterable[SquarePrediction]) -> tuple[Bin, ...]:
    """The squares by confidence; empty ranges are left out."""
    several = list(squares)
    confidence, right = np.array([s.confidence for s in several]), np.array([s.is_right for s in several])
    found = []
    for low, high in pairwise(BIN_EDGES):
        here = (confidence >= low) & ((confidence < high) | (high == 1.0))
        if here.any():
            mean, share = float(confidence[here].mean()), float(right[here].mean())
            found.append(Bin(low, high, int(here.sum()), mean, share))
    return tuple(found)


def calibration_error(table: Sequence[Bin]) -> float:
    """The mean distance between confidence and share right, squares counting alike (Guo et al., 2017: ECE)."""
    total = sum(b.count for b in table)
    return sum(b.count * abs(b.confidence - b.accuracy) for b in table) / max(total, 1)


def fit_temperature(squares: Iterable[SquarePrediction]) -> float:
    """What the logarithms of the odds should be divided by to be most likely: above 1, the reader is too sure."""
    odds = np.array([np.log(s.truth_probability / s.other_probability) for s in squares])
    losses = [float(np.logaddexp(0, -odds / t).mean()) for t in _TEMPERATURES]
    return float(_TEMPERATURES[int(np.argmin(losses))])


def format_report(name: str, squares: Sequence[SquarePrediction]) -> str:
    """The table of some squares as lines of text."""
    table = bin_predictions(squares)
    wrong = sum(not s.is_right for s in squares)
    lines = [
        f"{name}: {len(squares)} squares, {wrong} wrong, mean distance {100 * calibration_error(table):.3f} %, "
        f"best temperature {fit_temperature(squares):.2f}",
        "    called          squares   confidence      right   expected error",
    ]
    lines += [
        f"    {b.low:5.3f} - {b.high:5.3f}  {b.count:8}   {100 * b.confidence:8.2f} %"
        f" {100 * b.accuracy:8.2f} %   +- {100 * b.standard_error:.2f} %"
        for b in table
    ]
    return "\n".join(lines)


def draw_chart(tables: Mapping[str, Sequence[Bin]], path: Path) -> None:
    """Draw confidence against share right, with two standard errors, of each kind of pictures, as a PNG."""
    side, edge = _CHART_SIDE_PX, 40
    chart = np.full((side + 2 * edge, side + 2 * edge, 3), 255, np.uint8)

    def at(x: float, y: float) -> tuple[int, int]:
        return edge + round(x * side), edge + round((1 - y) * side)

    def write(text: str, place: tuple[int, int], colour: tuple[int, int, int] = (60, 60, 60)) -> None:
        cv2.putText(chart, text, place, 0, 0.45, colour, 1, cv2.LINE_AA)

    cv2.rectangle(chart, at(0, 1), at(1, 0), (60, 60, 60), 1)
    cv2.line(chart, at(0, 0), at(1, 1), (170, 170, 170), 1, cv2.LINE_AA)
    for tick in (0.0, 0.5, 1.0):
        write(f"{tick:g}", (at(tick, 0)[0] - 10, side + edge + 20))
        write(f"{tick:g}", (6, at(0, tick)[1] + 5))
    for row, ((name, table), colour) in enumerate(zip(tables.items(), _CHART_COLOURS, strict=False)):
        for b in table:
            low, high = max(b.accuracy - 2 * b.standard_error, 0.0), min(b.accuracy + 2 * b.standard_error, 1.0)
            cv2.line(chart, at(b.confidence, low), at(b.confidence, high), colour, 1, cv2.LINE_AA)
            cv2.circle(chart, at(b.confidence, b.accuracy), 4, colour, -1, cv2.LINE_AA)
        write(name, (at(0.7, 0)[0], at(0, 0.08 + 0.06 * row)[1]), colour)
    write("called with this confidence: right", (edge, 25))
    cv2.imwrite(str(path), chart)


def render_shots(count: int) -> Iterator[Shot]:
    """Drawn pictures of any boards with any tiles, none of which took part in a training."""
    from vision.training.scenes import draw_numbered_scene

    for number in range(count):
        one = draw_numbered_scene(number, VALIDATION_SEED)
        yield Shot(str(number), "drawn", str(number), one.image, one.corners, scene_rows(one), "en")


def read_shots(shots: Iterable[Shot]) -> Iterator[SquarePrediction]:
    """Read each picture and tell what its squares were called."""
    reader = BoardReader()
    for shot in shots:
        board = reader.read(shot.image, load_tile_set(shot.language).letters, corners=shot.corners).board
        if board is not None:
            yield from list_predictions(board, [face for row in shot.rows for face in row])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m calibration.evaluation.reliability", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="photographs with manifest.json")
    parser.add_argument("--rendered", type=int, default=0, metavar="N", help="drawn pictures")
    parser.add_argument("--png", type=Path, help="draw the squares called a tile there")
    asked = parser.parse_args()
    if not asked.folder and not asked.rendered:
        parser.error("name a folder of photographs, or --rendered N")
    groups = {"photographs": load_photo_shots(asked.folder)} if asked.folder else {}
    if asked.rendered:
        groups["drawn"] = render_shots(asked.rendered)
    tables = {}
    for name, shots in groups.items():
        squares = list(read_shots(shots))
        tiles = [square for square in squares if not square.is_empty]
        print(format_report(f"{name}, called a tile", tiles))
        print(format_report(f"{name}, called empty", [square for square in squares if square.is_empty]))
        tables[name] = bin_predictions(tiles)
    if asked.png:
        draw_chart(tables, asked.png)


if __name__ == "__main__":
    main()
