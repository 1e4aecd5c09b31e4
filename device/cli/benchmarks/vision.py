"""What reading costs on one core of this machine: time, memory and model files.

Rendered two-megapixel pictures, each of another board, are found and read. Time is that of the processor, so other
programs that run at the same time hardly matter; memory is the peak of a `tilekeeper read` of its own.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from device.cli.options import make_board_reader

if TYPE_CHECKING:
    from calibration.evaluation.samples import Sample
    from vision.geometry import Image

HELP = "time and memory that finding, reading and watching a board take"

PICTURE_SIZE_PX = (1632, 1224)
"""Pixels of the pictures: two millions."""
PREVIEW_SIZE_PX = (640, 480)
_READ_SCRIPT = """
import sys
from pathlib import Path
from device.cli import main
status = main(["read", *sys.argv[1:]])
print(next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")))
sys.exit(status)
"""


@dataclass(frozen=True, slots=True)
class VisionCost:
    """Medians in milliseconds of one core, and megabytes.

    `read` finds the board and reads it, `known` reads it where its corners are given, `follow` asks whether it is
    still there, `watch` is one look of the camera monitor at a preview frame; `nothing` searches a picture without a
    board.
    """

    read_ms: float
    known_corners_ms: float
    follow_ms: float
    watch_ms: float
    empty_search_ms: float
    memory_mb: float
    models_mb: float


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--pictures", type=int, default=12, help="how many boards are rendered and read (default 12)")


def run(args: argparse.Namespace) -> int:
    """Print the figures."""
    cost = measure_vision(args.pictures)
    print(f"a picture of {PICTURE_SIZE_PX[0]} x {PICTURE_SIZE_PX[1]} found and read: {cost.read_ms:.1f} ms (aim 60)")
    print(f"a turn read with the grid known: {cost.known_corners_ms:.1f} ms (aim 20)")
    print(f"the board followed from one picture to the next: {cost.follow_ms:.1f} ms")
    print(f"a frame of the watch between turns: {cost.watch_ms:.2f} ms (aim 3)")
    print(f"a picture without a board searched: {cost.empty_search_ms:.0f} ms")
    print(f"peak memory of a program that reads: {cost.memory_mb:.0f} MB (aim 200)")
    print(f"model files: {cost.models_mb:.2f} MB (aim 6)")
    return 0


def measure_vision(pictures: int) -> VisionCost:
    """Render so many boards, and measure each thing on all of them, on one core."""
    import cv2

    from calibration.evaluation.samples import render_samples
    from device.demo.demo_table import load_demo_games
    from engine.gcg import build_game
    from vision.detection.locator import BoardLocator

    cv2.setNumThreads(1)
    games = [build_game(record) for record in load_demo_games().values()]
    samples = list(render_samples(games, pictures, size=PICTURE_SIZE_PX))
    locator, reader = BoardLocator(), make_board_reader()
    return VisionCost(
        read_ms=_measure_median_ms(lambda s: reader.read(s.image, s.letters), samples),
        known_corners_ms=_measure_median_ms(lambda s: reader.read(s.image, s.letters, corners=s.corners), samples),
        follow_ms=_measure_median_ms(lambda s: locator.follow(s.image, s.corners), samples),
        watch_ms=_measure_watch(samples),
        empty_search_ms=_measure_median_ms(lambda s: reader.read(_without_board(s.image), s.letters), samples),
        memory_mb=_measure_memory(samples),
        models_mb=sum(path.stat().st_size for path in _list_models()) / 1e6,
    )


def _measure_median_ms(work: Callable[[Sample], object], samples: Sequence[Sample]) -> float:
    """Return the median processor time of `work` on one sample, in ms."""
    work(samples[0])  # what is made once, at the first call
    took = []
    for sample in samples:
        begun = time.process_time()
        work(sample)
        took.append(time.process_time() - begun)
    return 1e3 * statistics.median(took)


def _measure_watch(samples: Sequence[Sample]) -> float:
    import cv2

    from device.capture.board_camera import has_moved, make_thumbnail

    frames = [np.asarray(cv2.resize(s.image, PREVIEW_SIZE_PX, interpolation=cv2.INTER_AREA), np.uint8) for s in samples]
    before = make_thumbnail(frames[0])
    took = []
    for frame in frames * 8:
        begun = time.process_time()
        has_moved(before, make_thumbnail(frame))
        took.append(1e3 * (time.process_time() - begun))
    return statistics.mean(took)


def _without_board(image: Image) -> Image:
    """Return the left eighth of a picture, stretched to the whole: a table, an edge, nothing to find."""
    import cv2

    height, width = image.shape[:2]
    return np.asarray(cv2.resize(image[:, : width // 8], (width, height)), np.uint8)


def _measure_memory(samples: Sequence[Sample]) -> float:
    """Megabytes at the peak of a process of its own that reads the pictures one after the other."""
    import cv2

    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.jpg" for number in range(len(samples))]
        for path, sample in zip(paths, samples, strict=True):
            cv2.imwrite(str(path), sample.image)
        done = subprocess.run(
            [sys.executable, "-c", _READ_SCRIPT, *map(str, paths)], stdout=subprocess.PIPE, text=True, check=True
        )
    return int(done.stdout.split()[-2]) / 1024  # "VmHWM: 12345 kB": proc_pid_status(5)


def _list_models() -> list[Path]:
    import vision.net

    return list(vision.net.MODELS_DIR.glob("*.onnx"))
