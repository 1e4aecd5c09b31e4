"""The training data of the reader's networks, and their export to files."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from engine.reading import BLANK, BOARD_SIZE, EMPTY
from engine.tiles import load_tile_set, tile_set_names
from vision.net import ModelError, Net
from vision.recognition import letters, views
from vision.recognition.alphabet import letter_shape
from vision.rendering.scene import Scene, compose_scene
from vision.rendering.simulated_table import SimulatedTable
from vision.rendering.tile_art import PlacedTile

torch = pytest.importorskip("torch", reason="training needs the extra [train]")
onnx = pytest.importorskip("onnx", reason="training needs the extra [train]")

from onnx import numpy_helper  # noqa: E402

from vision.training import dataset  # noqa: E402
from vision.training.augmentation import IGNORED, LetterSampler, SquareSampler, class_shares, prior_correction  # noqa: E402
from vision.training.networks import build_letter_net, build_square_net, write_onnx  # noqa: E402
from vision.training.optimise import mixed_precision  # noqa: E402
from vision.training.quantise import quantise_model  # noqa: E402


@pytest.fixture(scope="module")
def kept() -> dataset.TrainingViews:
    table = SimulatedTable(seed=5, tilt=20)
    table.lay_tiles({(7, 7): "A", (7, 8): "?", (0, 0): "Z", (14, 14): "Ä"})
    scene: Scene = table.photograph()
    return dataset.extract_views(scene, 0)


def test_the_classes_begin_with_no_tile_and_a_blank_and_hold_the_letters_of_every_tile_set_from_the_left() -> None:
    names = dataset.classes()
    assert names[:2] == (EMPTY, BLANK)
    assert len(set(names)) == len(names)
    for tiles in map(load_tile_set, tile_set_names()):
        assert tiles.right_to_left or set(map(letter_shape, tiles.letters)) <= set(names), tiles.name


def test_letters_that_look_the_same_share_a_class() -> None:
    names = dataset.classes()
    for same in ("AАΑ", "HНΗ", "PРΡ", "ГΓ", "ФΦ"):
        assert sum(letter in names for letter in same) == 1
    assert {"У", "Y", "Л", "Λ"} <= set(names)


def test_upsilon_in_its_hooked_form_is_the_letter_upsilon() -> None:
    table = SimulatedTable(seed=5, tilt=20)
    table.lay_tiles({(7, 7): "ϒ"})
    assert dataset.extract_views(table.photograph(), 0).labels[7][7] == "Υ"


def test_some_greek_scenes_have_the_hooked_form_of_upsilon() -> None:
    rng = np.random.default_rng(0)
    greek = [letters for letters, _ in (dataset.draw_letters(rng) for _ in range(2000)) if "Ω" in letters]
    hooked = ["ϒ" in letters for letters in greek]
    assert 0 < sum(hooked) < len(greek)
    assert all(("ϒ" in letters) != ("Υ" in letters) for letters in greek)


def test_a_crop_is_learnt_among_the_letters_of_a_tile_set_that_has_it(kept: dataset.TrainingViews) -> None:
    batch = LetterSampler([kept]).draw_batch(np.random.default_rng(4), 100, turned_share=0)
    names = np.array(dataset.classes())
    assert batch.allowed[np.arange(100), batch.letters].all()
    for possible in batch.allowed:
        assert set(names[possible]) - {EMPTY, BLANK} in [set(map(letter_shape, a)) for a in dataset.alphabets()]


def test_crops_carry_the_class_of_their_square(kept: dataset.TrainingViews) -> None:
    batch = LetterSampler([kept]).draw_batch(np.random.default_rng(1), 200, turned_share=0)
    assert batch.crops.shape == (200, 1, views.CROP_SIDE_PX, views.CROP_SIDE_PX)
    names = dataset.classes()
    assert {names[k] for k in batch.letters} == {EMPTY, BLANK, "A", "Z", "Ä"}
    # A blank has no print in its middle, an A has: labels and crops belong together.
    middle = batch.crops[:, 0, 10:26, 10:26].std(axis=(1, 2))
    blank, printed = (middle[batch.letters == names.index(s)].mean() for s in (BLANK, "A"))
    assert printed > 2 * blank


def test_turned_crops_teach_turns_and_not_letters(kept: dataset.TrainingViews) -> None:
    batch = LetterSampler([kept]).draw_batch(np.random.default_rng(2), 200, turned_share=1)
    assert (batch.letters[batch.turns > 0] == IGNORED).all()
    assert set(batch.turns[batch.turns != IGNORED].tolist()) == {0, 1, 2, 3}


def test_augmented_crop_has_the_offset_of_its_tile(kept: dataset.TrainingViews) -> None:
    dot = np.zeros_like(kept.tops)
    x, y = ((kept.centres[7, 7] + dataset.TOPS_MARGIN) * dataset.TOPS_SQUARE_PX - 0.5).round().astype(int).tolist()
    dot[y - 1 : y + 2, x - 1 : x + 2] = 255
    looks, missed = LetterSampler([kept]), []
    for seed in range(60):
        crop, place = looks._draw_crop(np.random.default_rng(seed), replace(kept, tops=dot), 7, 7)
        if np.abs(place).max() < 0.4:
            seen = np.argwhere(crop > crop.max() / 2).mean(axis=0)[::-1]
            missed.append(np.abs((seen - (views.CROP_SIDE_PX - 1) / 2) / views.TOPS_PX_PER_SQUARE - place[:2]).max())
    assert np.median(missed) < 0.03
    assert max(missed) < 0.1  # a bent crop moves its tile a little


def test_augmented_crop_has_the_rotation_of_its_tile(kept: dataset.TrainingViews) -> None:
    line = np.zeros_like(kept.tops)
    middle, angle = (kept.centres[7, 7] + dataset.TOPS_MARGIN) * dataset.TOPS_SQUARE_PX - 0.5, np.float32(0.2)
    ends = [(middle + k * np.array([np.cos(angle), np.sin(angle)]) * 12).round().astype(int).tolist() for k in (-1, 1)]
    cv2.line(line, ends[0], ends[1], 255, 2, cv2.LINE_AA)
    looks, missed = LetterSampler([kept]), []
    for seed in range(60):
        seen = replace(kept, tops=line, tile_angles=np.full_like(kept.tile_angles, angle))
        crop, place = looks._draw_crop(np.random.default_rng(seed), seen, 7, 7)
        y, x = np.argwhere(crop > crop.max() / 2).T
        slope = np.polyfit(x, y, 1)[0]
        missed.append(abs(place[2] - np.arctan(slope)))
    assert np.median(missed) < 0.03


def test_a_tile_as_it_is_drawn_is_turned_as_its_view_tells() -> None:
    setting = SimulatedTable(seed=5, tilt=30)._setting
    laid = [PlacedTile("A", 7.5, 7.5, np.deg2rad(12))]
    seen = dataset.extract_views(compose_scene(np.random.default_rng(0), setting, {(7, 7): "A"}, placed_tiles=laid), 0)
    assert np.rad2deg(seen.tile_angles[7, 7]) == pytest.approx(12, abs=3)
    assert np.isnan(np.delete(seen.tile_angles.ravel(), 7 * BOARD_SIZE + 7)).all()


def test_crops_tell_where_their_tiles_are(kept: dataset.TrainingViews) -> None:
    beside = replace(kept, centres=kept.centres + np.float32([0.2, 0]), tile_angles=kept.tile_angles + np.float32(0.3))
    batch = LetterSampler([beside]).draw_batch(np.random.default_rng(5), 2000, turned_share=1)
    bare = batch.letters == dataset.classes().index(EMPTY)
    assert np.isnan(batch.pose_offsets[bare]).all()
    for turn, way in enumerate(((1, 0), (0, 1), (-1, 0), (0, -1))):  # right, and turned clockwise from there
        seen = np.nanmean(batch.pose_offsets[batch.turns == turn], axis=0)
        assert np.allclose(seen, [0.2 * way[0], 0.2 * way[1], 0.3], atol=0.05), (turn, seen)


def test_boards_carry_the_kind_of_each_square(kept: dataset.TrainingViews) -> None:
    batch = SquareSampler([kept]).draw_batch(np.random.default_rng(3), 8)
    assert batch.boards.shape == (8, 3, 272, 272)
    assert batch.kinds.shape == (8, BOARD_SIZE, BOARD_SIZE)
    assert ((batch.kinds == views.TILE_KIND).sum(axis=(1, 2)) == 4).all()


def test_boards_with_bare_holes_between_tiles_are_looked_at_more_often(kept: dataset.TrainingViews) -> None:
    around = tuple(
        tuple("A" if abs(r - 7) + abs(c - 7) == 1 else "" for c in range(BOARD_SIZE)) for r in range(BOARD_SIZE)
    )
    looks = SquareSampler([kept, replace(kept, labels=around)])
    seen = np.concatenate([looks.draw_batch(np.random.default_rng(seed), 10).kinds for seed in range(4)])
    with_hole = ((seen == views.TILE_KIND).sum(axis=(1, 2)) == 4) & (seen[:, 7, 7] == views.EMPTY_KIND)
    assert with_hole.sum() > 0.55 * len(seen)


def test_a_written_network_answers_as_the_trained_one(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = build_letter_net(7)
    for _ in range(3):  # so that batch normalisation has something to fold
        net(torch.randn(8, 1, views.CROP_SIDE_PX, views.CROP_SIDE_PX) * 2 + 1)
    facts = {"temperature": {"letters": 2.0}, "classes": ["."]}
    write_onnx(
        net,
        tmp_path / "n.onnx",
        ["n", 1, views.CROP_SIDE_PX, views.CROP_SIDE_PX],
        ["n", "k"],
        facts,
        {"letters": "features"},
    )
    x = torch.randn(5, 1, views.CROP_SIDE_PX, views.CROP_SIDE_PX)
    with torch.no_grad():
        told, turned, placed = net.eval()(x)
    read = Net(tmp_path / "n.onnx")
    got = read(x.numpy())
    assert np.allclose(got[0] * 2, told.numpy(), atol=1e-4)
    assert np.allclose(got[1], turned.numpy(), atol=1e-4)
    features = net.heads["letters"][:-1](net.trunk(x)).detach().numpy()
    assert np.allclose(got[2], placed.numpy(), atol=1e-4)
    assert got[3].shape == (5, letters.FEATURE_COUNT)
    assert np.allclose(got[3], features, atol=1e-4)
    assert read.metadata["classes"] == ["."]


def test_the_square_network_answers_for_each_square_of_any_board(tmp_path: Path) -> None:
    net = build_square_net()
    for _ in range(3):
        net(torch.randn(2, 3, 272, 272) + 1)
    write_onnx(net, tmp_path / "s.onnx", ["n", 3, "h", "w"], ["n", 3, "r", "c"], {})
    board = torch.randn(1, 3, 272, 272)
    (answer,) = Net(tmp_path / "s.onnx")(board.numpy())
    assert answer.shape == (1, 3, 17, 17)
    with torch.no_grad():
        (told,) = net.eval()(board)
    assert np.allclose(answer, told.numpy(), atol=1e-4)


@pytest.fixture(scope="module")
def eight_bits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A network as it was written, and the same in eight bits."""
    torch.manual_seed(1)
    net = build_letter_net(7)
    for _ in range(3):
        net(torch.randn(8, 1, views.CROP_SIDE_PX, views.CROP_SIDE_PX))
    folder = tmp_path_factory.mktemp("nets")
    for name in ("float.onnx", "eight.onnx"):
        shape = ["n", 1, views.CROP_SIDE_PX, views.CROP_SIDE_PX]
        write_onnx(net, folder / name, shape, ["n", "k"], {"classes": ["."]}, {"letters": "features"})
    quantise_model(folder / "eight.onnx", [torch.randn(64, 1, views.CROP_SIDE_PX, views.CROP_SIDE_PX).numpy()])
    return folder / "float.onnx", folder / "eight.onnx"


def test_a_network_in_eight_bits_answers_nearly_as_before(eight_bits: tuple[Path, Path]) -> None:
    x = torch.randn(32, 1, views.CROP_SIDE_PX, views.CROP_SIDE_PX).numpy()
    before, after = (Net(path)(x) for path in eight_bits)
    for one, other in zip(before, after, strict=True):
        assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.99


def test_one_far_number_does_not_make_the_others_coarse(eight_bits: tuple[Path, Path], tmp_path: Path) -> None:
    whole, eight = eight_bits[0], tmp_path / "eight.onnx"
    shutil.copy(whole, eight)
    examples = torch.randn(64, 1, views.CROP_SIDE_PX, views.CROP_SIDE_PX).numpy()
    examples[0, 0, 18, 18] = 1000
    quantise_model(eight, [examples], range_percent=99.9)
    x = torch.randn(32, 1, views.CROP_SIDE_PX, views.CROP_SIDE_PX).numpy()
    for one, other in zip(Net(whole)(x), Net(eight)(x), strict=True):
        assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.98


def test_unless_asked_to_no_number_of_the_examples_is_cut_off(eight_bits: tuple[Path, Path], tmp_path: Path) -> None:
    whole = eight_bits[0]
    far = torch.randn(64, 1, views.CROP_SIDE_PX, views.CROP_SIDE_PX).numpy()
    far[0] *= 50

    def miss(**how: float) -> float:
        eight = tmp_path / f"eight{len(how)}.onnx"
        shutil.copy(whole, eight)
        quantise_model(eight, [far], **how)
        one, other = (Net(path)(far[:1])[0] for path in (whole, eight))
        return float(np.abs(one - other).max() / np.abs(one).max())

    assert miss() < 0.1 < miss(range_percent=99.0)


def test_weights_have_seven_bits_but_for_the_last_layers_which_stay_as_they_are(eight_bits: tuple[Path, Path]) -> None:
    before, after = (
        {w.name: numpy_helper.to_array(w) for w in onnx.load(path).graph.initializer} for path in eight_bits
    )
    whole = [w for w in after.values() if w.dtype == np.int8 and w.ndim >= 2]
    assert len(whole) == 16  # thirteen convolutions and the first layer of each head
    assert all(np.abs(w.astype(int)).max() <= 64 for w in whole)
    last = {name: w for name, w in after.items() if w.dtype == np.float32 and w.ndim == 2}
    assert sorted(w.shape[0] for w in last.values()) == [3, 4, 7]  # places, quarter turns and classes
    assert all((before[name] == w).all() for name, w in last.items())


def test_a_network_in_eight_bits_is_small_and_keeps_its_facts(eight_bits: tuple[Path, Path]) -> None:
    before, after = eight_bits
    assert after.stat().st_size < before.stat().st_size / 3
    assert Net(after).metadata == Net(before).metadata


@pytest.mark.parametrize("has_half", [True, False])
def test_half_precision_is_for_processors_that_gain_by_it(has_half: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": has_half})
    with mixed_precision():
        assert torch.is_autocast_enabled("cpu") == has_half


def test_a_file_that_is_no_model_says_how_to_make_one(tmp_path: Path) -> None:
    path = tmp_path / "letters.onnx"
    path.write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"python -m vision\.training"):
        Net(path)


def test_evened_odds_make_the_letters_of_a_tile_set_equally_likely() -> None:
    allowed = dataset.alphabet_masks()
    evened = class_shares() / allowed.sum(axis=0) * np.exp(prior_correction())
    for row in allowed:
        letters_of_set = evened[2:][row[2:]]
        assert np.allclose(letters_of_set, letters_of_set[0])
