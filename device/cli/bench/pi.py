"""How long reading takes on a Raspberry Pi, reckoned from what it takes here: there was none to measure on.

The multiplications of all networks that a reading runs are counted. How many a core of each Raspberry Pi does in a
second is taken from others' measurements of two well-known networks (ncnn's, one thread:
https://github.com/Tencent/ncnn/tree/master/benchmark); the one with more of them a second gives the lower bound.
onnxruntime took up to 1.9 times as long as ncnn on such a core
(https://gist.github.com/zihaomu/1cf236339099708a0c75aeef5620433e): with the slower network that gives the upper bound.
Those two multiply floating-point numbers, ours numbers of eight bits: it is assumed only that these take no longer.
What is no network (OpenCV, numpy) is measured here, and lengthened as a product of matrices would be, in which a
desktop core is farther ahead than in most else: the times come out rather too long.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.net import ModelError, Net

Range = tuple[float, float]
"""Seconds at least and at most."""

_RESNET18, _MOBILENET = 1.814e9, 0.569e9
"""Multiplications of the two networks for a picture of 224 x 224 (their papers: He 2015, Howard 2017)."""
_CORES: Final = {
    "Zero 2 W (1.0 GHz)": (0.65469, 0.39394),
    "3 B+ (1.4 GHz)": (0.37957, 0.20565),
    "4 (1.8 GHz)": (0.19110, 0.12432),
}
"""Seconds for ResNet-18 and MobileNet on one core."""
_FIVE: Final = 2.0, 3.0
"""A Pi 5 is not in the list: how many times as fast as a 4 it is at least and at most, as its maker says."""
_ONNXRUNTIME: Final = 1.9
_RATE: Final = """
from time import process_time
import numpy as np
one, other = (np.random.default_rng(0).random(shape, np.float32) for shape in ((64, 576), (576, 4624)))
one @ other
begun = process_time()
for _ in range(40):
    one @ other
print(40 * one.size * other.shape[1] / (process_time() - begun))
"""
"""Multiplications a second of matrices as large as a layer of a network takes them, on one core."""


@dataclass(slots=True)
class Tally:
    """What the networks have done so far."""

    multiplications: int = 0
    seconds: float = 0.0
    """Of the processor."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one reading takes here: the `multiplications` of its networks, and the `seconds` that all the rest takes."""

    multiplications: float
    seconds: float


class Tallied(Net):
    """A network that counts what it does, of inputs of the size that it was trained at.

    Raises ModelError where its file does not tell how much that is.
    """

    def __init__(self, path: Path, tally: Tally) -> None:
        super().__init__(path)
        count = self.facts.get("multiplications")
        if not isinstance(count, int):
            raise ModelError(
                f"{path.name} does not tell how much it multiplies: train it with python -m vision.training"
            )
        self._each, self._tally = count, tally

    def __call__(self, batch: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        begun = process_time()
        answer = super().__call__(batch)
        self._tally.seconds += process_time() - begun
        self._tally.multiplications += self._each * len(batch)
        return answer


def rate() -> float:
    """Multiplications of floating-point numbers that a core of this machine does in a second."""
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", _RATE], env=alone, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


def reckoned(work: Work, rate: float) -> dict[str, Range]:
    """How long `work` takes on each Raspberry Pi, where a core here does `rate` multiplications a second."""
    count = work.multiplications + work.seconds * rate  # all of it, in multiplications
    times = {
        name: (count * resnet / _RESNET18, _ONNXRUNTIME * count * mobilenet / _MOBILENET)
        for name, (resnet, mobilenet) in _CORES.items()
    }
    least, most = times["4 (1.8 GHz)"]
    return times | {"5": (least / _FIVE[1], most / _FIVE[0])}
