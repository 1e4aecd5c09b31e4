"""Measure the cost of reading boards on one core of this machine: time, memory and size of the model files.

The pictures are rendered, with two megapixels and different boards. Processor time is measured, so that other programs
have little influence. The memory is the peak of a separate process that runs `tilekeeper read`.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from device.cli.options import make_board_reader

if TYPE_CHECKING:
    from calibration.evaluation.samples import Sample
    from vision.geometry import Image

PICTURE_SIZE_PX = (1632, 1224)
"""Size (width, height) of the rendered pictures: two megapixels."""
PREVIEW_SIZE_PX = (640, 480)
_READ_SCRIPT = """
import sys
from pathlib import Path
from device.cli import main
status = main(["read", *sys.argv[1:]])
print(next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")))
sys.exit(status)
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("--pictures", type=int, default=12, help="number of boards to render and read (default 12)")


def run(args: argparse.Namespace) -> int:
    """Render pictures, measure each operation on all pictures with one core, and print the results."""
    import cv2

    from calibration.evaluation.samples import render_samples
    from device.demo.demo_table import load_demo_games
    from engine.gcg import build_game
    from vision.detection.locator import BoardLocator
    from vision.net import MODELS_DIR

    cv2.setNumThreads(1)
    games = [build_game(record) for record in load_demo_games().values()]
    samples = list(render_samples(games, args.pictures, size=PICTURE_SIZE_PX))
    locator, reader = BoardLocator(), make_board_reader()
    found_ms = _measure_median_ms(lambda s: reader.read(s.image, s.letters), samples)
    print(f"a picture of {PICTURE_SIZE_PX[0]} x {PICTURE_SIZE_PX[1]} found and read: {found_ms:.1f} ms (aim 60)")
    known_ms = _measure_median_ms(lambda s: reader.read(s.image, s.letters, corners=s.corners), samples)
    print(f"a turn read with the grid known: {known_ms:.1f} ms (aim 20)")
    followed_ms = _measure_median_ms(lambda s: locator.follow(s.image, s.corners), samples)
    print(f"the board followed from one picture to the next: {followed_ms:.1f} ms")
    print(f"a frame of the watch between turns: {_measure_watch(samples):.2f} ms (aim 3)")
    empty_ms = _measure_median_ms(lambda s: reader.read(_remove_board(s.image), s.letters), samples)
    print(f"a picture without a board searched: {empty_ms:.0f} ms")
    print(f"peak memory of a program that reads: {_measure_memory(samples):.0f} MB (aim 200)")
    models_mb = sum(path.stat().st_size for path in MODELS_DIR.glob("*.onnx*")) / 1e6
    print(f"model files: {models_mb:.2f} MB (aim 6)")
    return 0


def _measure_median_ms(work: Callable[[Sample], object], samples: Sequence[Sample]) -> float:
    """Return the median processor time of `work` for one sample, in milliseconds."""
    work(samples[0])  # the first call is not measured, because it includes initialisation
    took = []
    for sample in samples:
        start = time.process_time()
        work(sample)
        took.append(time.process_time() - start)
    return 1e3 * statistics.median(took)


def _measure_watch(samples: Sequence[Sample]) -> float:
    import cv2

    from device.capture.motion import has_moved, make_thumbnail

    frames = [np.asarray(cv2.resize(s.image, PREVIEW_SIZE_PX, interpolation=cv2.INTER_AREA), np.uint8) for s in samples]
    before = make_thumbnail(frames[0])
    took = []
    for frame in frames * 8:
        start = time.process_time()
        has_moved(before, make_thumbnail(frame))
        took.append(1e3 * (time.process_time() - start))
    return statistics.mean(took)


def _remove_board(image: Image) -> Image:
    """Return a picture without a board: the left eighth of `image`, stretched to the full size."""
    import cv2

    height, width = image.shape[:2]
    return np.asarray(cv2.resize(image[:, : width // 8], (width, height)), np.uint8)


def _measure_memory(samples: Sequence[Sample]) -> float:
    """Return the peak memory, in megabytes, of a separate process that reads the pictures one after the other."""
    import cv2

    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.jpg" for number in range(len(samples))]
        for path, sample in zip(paths, samples, strict=True):
            cv2.imwrite(str(path), sample.image)
        done = subprocess.run(
            [sys.executable, "-c", _READ_SCRIPT, *map(str, paths)], stdout=subprocess.PIPE, text=True, check=True
        )
    return int(done.stdout.split()[-2]) / 1024  # "VmHWM: 12345 kB": proc_pid_status(5)
