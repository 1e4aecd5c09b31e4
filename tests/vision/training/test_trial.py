"""A short training of all networks: from rendered scenes to files that the program loads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sized
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.net import MODELS_DIR, Net
from vision.recognition.letters import SIMILARITY_KEY
from vision.recognition.squares import CONTEXT_FEATURES, GIVEN_CONTEXT, OWN_CONTEXT_SHARE

pytest.importorskip("torch", reason="training needs the extra [train]")
pytest.importorskip("onnx", reason="training needs the extra [train]")

ROOT = Path(__file__).parents[3]
INPUTS = {
    "finder": (1, 3, 256, 256),
    "lattice": (1, 3, 320, 320),
    "letters": (2, 1, 36, 36),
    "squares": (1, 3, 272, 272),
}
"""Shape of the pictures that each network reads."""


@pytest.mark.slow
def test_trial_makes_networks_with_the_outputs_of_the_shipped_ones(tmp_path: Path) -> None:
    trial = ["--scenes", "100", "--share", "0.004", "--fonts", "packaged", "--out", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "vision.training", *trial], cwd=ROOT, check=True, timeout=900)
    for name, shape in INPUTS.items():
        made, shipped = Net(tmp_path / f"{name}.onnx"), Net(MODELS_DIR / f"{name}.onnx")
        batch = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        assert _name_shapes(made, batch) == _name_shapes(shipped, batch), name
        # Earlier trainings noted the multiplications of a network, and not the weights of the similarity.
        differ = {"multiplications", SIMILARITY_KEY}
        assert made.metadata.keys() - differ == shipped.metadata.keys() - differ, name


def _name_shapes(net: Net, batch: NDArray[np.float32]) -> list[list[int | str]]:
    """Return the shapes of the outputs; a new training may know more letters, so their number is named `classes`."""
    classes = net.metadata.get("classes")
    count = len(classes) if isinstance(classes, Sized) else None
    more: dict[str, NDArray[np.float32]] = {}
    if features := net.metadata.get(CONTEXT_FEATURES):
        more = {
            GIVEN_CONTEXT: np.zeros((1, int(str(features)), 1, 1), np.float32),
            OWN_CONTEXT_SHARE: np.ones(1, np.float32),
        }
    return [["classes" if size == count else size for size in output.shape] for output in net(batch, **more)]
