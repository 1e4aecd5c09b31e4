"""The samples for the board detectors have the right targets, and training with them works."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vision.detection.candidates import propose_quads
from vision.detection.lattice import fit_lattice
from vision.geometry import project
from vision.rendering.simulated_table import SimulatedTable
from vision.training import detector_data
from vision.training.detector_data import (
    DetectorScene,
    augment_photo,
    extract_detector_scene,
    make_finder_sample,
    make_lattice_sample,
)


@pytest.fixture(scope="module")
def kept() -> DetectorScene:
    table = SimulatedTable(4, "green", (640, 480), 15, 20)
    table.lay_tiles({(7, 5 + i): letter for i, letter in enumerate("HOUSE")})
    return extract_detector_scene(table.photograph())


def as_logits(share: np.ndarray) -> np.ndarray:
    return np.where(share > 0.5, 6.0, -6.0)


def test_a_scene_is_kept_small(kept: DetectorScene) -> None:
    assert max(kept.overview.shape) == detector_data.OVERVIEW_SIDE_PX
    assert kept.flat.shape == (480, 480, 3)


def test_the_targets_of_the_finder_are_the_corners_of_the_grid(kept: DetectorScene) -> None:
    found = 0
    for seed in range(20):
        picture, targets = make_finder_sample(kept, np.random.default_rng(seed))
        assert picture.shape == (3, 256, 256)
        if (targets[0] > 0.7).sum() < 4:  # no board, or a corner out of the picture
            continue
        heat = np.clip(targets[0], 1e-4, 1 - 1e-4)
        answer = np.stack([np.log(heat / (1 - heat)), targets[1], targets[2], as_logits(targets[3])])
        quad = propose_quads(answer.astype(np.float32))[0]
        ys, xs = np.nonzero(targets[3])
        assert np.abs(quad.min(axis=0) - [xs.min(), ys.min()]).max() < 2
        assert np.abs(quad.max(axis=0) - [xs.max(), ys.max()]).max() < 2
        found += 1
    assert found > 8


def test_a_table_without_a_board_has_nothing_to_be_found(kept: DetectorScene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detector_data, "NO_BOARD_SHARE", 1.0)
    _, targets = make_finder_sample(kept, np.random.default_rng(0))
    assert not targets.any()


@pytest.mark.parametrize("seed", range(6))
def test_the_targets_of_the_lattice_are_the_grid(kept: DetectorScene, seed: int) -> None:
    picture, targets = make_lattice_sample(kept, np.random.default_rng(seed))
    assert picture.shape == (3, 320, 320)
    answer = np.stack([targets[0], targets[1], np.full((20, 20), -3.0), as_logits(targets[2])]).astype(np.float32)
    fit = fit_lattice(answer, 2.5)
    assert fit is not None
    seen = project(fit.to_cells, np.array([[3.0, 4.0]]))[0]
    x, y = np.round(seen).astype(int)
    assert np.abs(targets[:2, y, x] + [x, y] - seen).max() < 0.05


def test_fading_keeps_size_and_kind(kept: DetectorScene) -> None:
    for seed in range(10):
        other = augment_photo(kept.flat, np.random.default_rng(seed))
        assert other.shape == kept.flat.shape and other.dtype == np.uint8


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the exporter, whose files stay as they are
def test_a_short_training_learns_and_its_model_runs(kept: DetectorScene, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from vision.net import Net
    from vision.training import detectors

    detectors.train(detectors.LATTICE, [kept], 40, tmp_path / "lattice.onnx")
    picture, targets = make_lattice_sample(kept, np.random.default_rng(99))
    on_grid = Net(tmp_path / "lattice.onnx")(picture[None])[0][0, 3] > 0
    assert (on_grid == (targets[2] > 0)).mean() > 0.8
