"""Accents of tiles, and what they say about the letters."""

from __future__ import annotations

import numpy as np
import pytest

from engine.tiles import load_tile_set
from tests.support.local_data import PHOTOS_DIR, needs_photos
from vision.geometry import estimate_board_pose
from vision.photo import load_photo
from vision.recognition.details import (
    ACCENT_KINDS,
    DETAIL_PX_PER_SQUARE,
    DETAIL_SIDE_PX,
    VALUE_KINDS,
    DetailNet,
    cut_detail_crops,
    find_accent_kind,
    group_accents,
    refine_accents,
    weigh_values,
)
from vision.recognition.letters import LetterNet
from vision.recognition.reader import BoardReader
from vision.recognition.tile_sets import list_values
from vision.rendering.simulated_table import SimulatedTable

CLASSES = (".", "?", "K", "L", "Ł", "Z", "Ź", "Ż")
POLISH = frozenset(load_tile_set("pl").letters)


def likelihoods(kinds: tuple[str, ...], *seen: str, sure: float = 4.0) -> np.ndarray:
    """Log-likelihoods of n crops that show the kinds `seen`; an empty string shows nothing."""
    return np.array([[sure * (kind == shown) for kind in kinds] for shown in seen], np.float32)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("A", "none"), ("Ź", "acute"), ("Ż", "dot"), ("Ł", "stroke"), ("Ő", "double acute"), ("CH", None)],
)
def test_kind_of_an_accent_is_known(name: str, kind: str | None) -> None:
    assert find_accent_kind(name) == kind


def test_every_letter_of_the_network_has_a_known_accent() -> None:
    kinds = {find_accent_kind(name) for name in LetterNet().classes if name.isalpha() and len(name) == 1}
    assert kinds <= set(ACCENT_KINDS)


def test_letters_of_a_base_are_grouped() -> None:
    assert [tuple(CLASSES[k] for k in group) for group in group_accents(CLASSES, POLISH)] == [
        ("L", "Ł"),
        ("Z", "Ź", "Ż"),
    ]


def test_accent_decides_between_letters_of_one_base_and_leaves_their_sum() -> None:
    before = np.log(np.array([[0.01, 0.01, 0.05, 0.03, 0.0001, 0.2, 0.25, 0.4499]], np.float32))
    after = refine_accents(before, likelihoods(ACCENT_KINDS, "acute"), CLASSES, group_accents(CLASSES, POLISH))
    assert CLASSES[int(after.argmax())] == "Ź"
    assert np.exp(after[0, 5:]).sum() == pytest.approx(np.exp(before[0, 5:]).sum(), rel=1e-5)
    assert after[0, :3] == pytest.approx(before[0, :3])


@pytest.mark.parametrize("quarter_turns", range(4))
def test_crops_show_the_tiles_of_the_upright_board(quarter_turns: int) -> None:
    table = SimulatedTable(seed=2, tilt=20.0, turn=10.0, values=load_tile_set("en").values)
    table.lay_tiles({(3, 5): "T"})
    scene = table.photograph()
    size = (scene.image.shape[1], scene.image.shape[0])
    upright = estimate_board_pose(scene.corners, size)
    turned = estimate_board_pose(np.roll(scene.corners, quarter_turns, axis=0), size).rotate(quarter_turns)
    crops = [cut_detail_crops(scene.image, pose, [(3, 5)], np.zeros((1, 3))) for pose in (upright, turned)]
    assert crops[0].shape == (1, DETAIL_SIDE_PX, DETAIL_SIDE_PX)
    assert np.abs(crops[0].astype(int) - crops[1]).mean() < 4
    assert DETAIL_SIDE_PX > DETAIL_PX_PER_SQUARE and crops[0].std() > 15


def test_network_answers_for_every_crop() -> None:
    crops = np.zeros((3, DETAIL_SIDE_PX, DETAIL_SIDE_PX), np.uint8)
    accents, values = DetailNet().predict(crops)
    assert accents.shape == (3, len(ACCENT_KINDS)) and values.shape == (3, len(VALUE_KINDS))


def weigh_polish(letters_p: np.ndarray, *seen: str, sure: float = 4.0) -> np.ndarray:
    """Return the odds-weighted probabilities of Polish tiles with the values `seen`."""
    set_values = list_values(CLASSES, POLISH)
    weighed = letters_p * weigh_values(letters_p, likelihoods(VALUE_KINDS, *seen, sure=sure), set_values)
    return np.asarray(weighed / weighed.sum(axis=1, keepdims=True))


def test_printed_values_decide_between_letters_of_different_value() -> None:
    letters_p = np.tile([0.0, 0.01, 0.01, 0.01, 0.01, 0.2, 0.26, 0.5], (3, 1))
    weighed = weigh_polish(letters_p, "9", "5", "1")
    assert [CLASSES[k] for k in weighed.argmax(axis=1)] == ["Ź", "Ż", "Z"]


def test_values_of_another_game_say_nothing() -> None:
    letters_p = np.full((6, len(CLASSES)), 0.02)
    letters_p[:, CLASSES.index("K")] = 0.86
    assert weigh_polish(letters_p, *["7"] * 6)[0] == pytest.approx(letters_p[0], abs=0.01)


def test_values_of_letters_without_a_tile_set_change_nothing() -> None:
    letters_p = np.full((2, len(CLASSES)), 1 / len(CLASSES))
    no_sets = np.zeros((0, len(CLASSES)), np.int64)
    assert weigh_values(letters_p, likelihoods(VALUE_KINDS, "9", "1"), no_sets) == pytest.approx(
        np.ones_like(letters_p)
    )


def test_illegible_values_change_nothing() -> None:
    letters_p = np.full((2, len(CLASSES)), 1 / len(CLASSES))
    assert weigh_polish(letters_p, "", "") == pytest.approx(letters_p)


@needs_photos
@pytest.mark.parametrize(("name", "square", "letter"), [("b14", (0, 8), "Ź"), ("b16", (5, 13), "Ż")])
def test_accent_on_a_photograph_is_read(name: str, square: tuple[int, int], letter: str) -> None:
    image = load_photo(PHOTOS_DIR / f"rfmajor/photos/{name}.jpg").image
    board = BoardReader().read(image, load_tile_set("pl").letters).board
    assert board is not None and board[square].symbol == letter
