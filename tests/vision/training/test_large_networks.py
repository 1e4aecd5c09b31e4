"""The large networks: their answers as teachers, the compressed file, and a short training."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vision.net import MODELS_DIR, ModelError, Net
from vision.recognition.letters import LARGE_LETTERS_FILE

torch = pytest.importorskip("torch", reason="training needs the extra [train]")
pytest.importorskip("onnx", reason="training needs the extra [train]")

from vision.rendering.simulated_table import SimulatedTable  # noqa: E402
from vision.training import (  # noqa: E402
    dataset,
    letters,
    squares,
)
from vision.training.augmentation import IGNORED, LetterBatch, LetterSampler, SquareBatch, SquareSampler  # noqa: E402
from vision.training.large_networks import compress_weights  # noqa: E402
from vision.training.networks import HeadedNet, build_letter_net, build_square_net  # noqa: E402
from vision.training.optimise import TEACHER_SHARE, TaughtBatch  # noqa: E402

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def views() -> list[dataset.TrainingViews]:
    """Views of a board with a few letters."""
    table = SimulatedTable(seed=5, tilt=20)
    table.lay_tiles({(7, 7): "A", (7, 8): "R", (0, 0): "Z", (4, 4): "E"})
    return [dataset.extract_views(table.photograph(), 0)]


@pytest.fixture(scope="module")
def crops(views: list[dataset.TrainingViews]) -> LetterBatch:
    return LetterSampler(views).draw_batch(np.random.default_rng(1), 64, turned_share=0.2)


@pytest.fixture(scope="module")
def boards(views: list[dataset.TrainingViews]) -> SquareBatch:
    return SquareSampler(views).draw_batch(np.random.default_rng(1), 2)


@pytest.fixture(scope="module")
def letter_net() -> HeadedNet:
    torch.manual_seed(1)
    return build_letter_net(len(dataset.classes())).eval()


@pytest.fixture(scope="module")
def square_net() -> HeadedNet:
    torch.manual_seed(1)
    return build_square_net().eval()


def test_letter_teacher_knows_most_letters_of_a_rendered_board(crops: LetterBatch) -> None:
    answers = np.where(crops.allowed, letters.Teacher().answer(crops), -np.inf)
    upright = crops.letters != IGNORED
    assert (answers.argmax(axis=1) == crops.letters)[upright].mean() > 0.8


def test_square_teacher_knows_nearly_all_squares_of_a_rendered_board(boards: SquareBatch) -> None:
    answers = squares.Teacher().answer(boards)
    known = boards.kinds != IGNORED
    assert (answers.argmax(axis=1) == boards.kinds)[known].mean() > 0.99


def test_loss_with_own_answers_has_no_divergence(crops: LetterBatch, letter_net: HeadedNet) -> None:
    with torch.no_grad():
        own = letter_net(torch.from_numpy(crops.crops))[0].numpy()
        alone, _ = letters.compute_loss(letter_net, crops, letter_weight=1 - TEACHER_SHARE)
        taught = letters.compute_taught_loss(letter_net, TaughtBatch(crops, own))
    assert taught.item() == pytest.approx(alone.item(), rel=1e-4)


def test_loss_of_letters_is_larger_the_more_the_answers_differ(crops: LetterBatch, letter_net: HeadedNet) -> None:
    with torch.no_grad():
        own = letter_net(torch.from_numpy(crops.crops))[0].numpy()
        noise = np.random.default_rng(2).normal(size=own.shape).astype(np.float32)
        losses = [
            letters.compute_taught_loss(letter_net, TaughtBatch(crops, own + k * noise)).item() for k in (0, 1, 3)
        ]
    assert losses[0] < losses[1] < losses[2]


def test_loss_of_squares_is_larger_the_more_the_answers_differ(boards: SquareBatch, square_net: HeadedNet) -> None:
    with torch.no_grad():
        own = squares.crop_to_grid(square_net(torch.from_numpy(boards.boards))[0]).numpy()
        noise = np.random.default_rng(2).normal(size=own.shape).astype(np.float32)
        losses = [
            squares.compute_taught_loss(square_net, TaughtBatch(boards, own + k * noise)).item() for k in (0, 1, 3)
        ]
    assert losses[0] < losses[1] < losses[2]


def test_compressed_weights_are_a_gzip_file_of_the_same_content() -> None:
    weights = np.random.default_rng(3).integers(-5, 6, 100_000).astype(np.int8).tobytes()
    compressed = compress_weights(weights)
    assert gzip.decompress(compressed) == weights
    assert len(compressed) < 0.5 * len(weights)


def test_teacher_with_other_letters_says_how_to_train_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letters, "classes", lambda: (".", "?", "A"))
    with pytest.raises(ModelError, match=r"vision\.training\.large_networks"):
        letters.Teacher()


@pytest.mark.slow
def test_trial_makes_files_with_the_outputs_of_the_shipped_ones(tmp_path: Path) -> None:
    trial = ["--scenes", "20", "--steps", "2", "--crops", "16", "--fonts", "packaged", "--out", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "vision.training.large_networks", *trial], cwd=ROOT, check=True, timeout=600)
    random = np.random.default_rng(0)
    for shipped, shape in (
        (MODELS_DIR / LARGE_LETTERS_FILE, (2, 1, 36, 36)),
        (squares.LARGE_SQUARES_PATH, (1, 3, 272, 272)),
    ):
        batch = random.normal(size=shape).astype(np.float32)
        made, reference = Net(tmp_path / shipped.name), Net(shipped)
        assert [output.shape for output in made(batch)] == [output.shape for output in reference(batch)]
        assert made.metadata.keys() == reference.metadata.keys()
