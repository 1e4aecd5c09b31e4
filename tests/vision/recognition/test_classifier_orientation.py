"""The orientation of a board, for which its tiles vote."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.tiles import load_tile_set
from tests.support.counting_letter_net import CountingLetterNet
from vision.recognition.classifier import SquareClassifier, average_rotations, estimate_orientation
from vision.recognition.squares import SquareNet
from vision.rendering.simulated_table import SimulatedTable


def votes(*chances: tuple[float, float, float, float]) -> NDArray[np.float32]:
    return np.log(np.maximum(np.array(chances), 1e-9)).astype(np.float32)


@pytest.mark.parametrize("turn", range(4))
def test_tiles_that_agree_decide(turn: int) -> None:
    sure = np.roll([0.97, 0.01, 0.01, 0.01], turn)
    decided = estimate_orientation(np.log(np.stack([sure] * 5)).astype(np.float32))
    assert decided.quarter_turns == turn
    assert decided.confidence > 0.99
    assert decided.vote_count == 5


def test_symmetric_letters_hardly_change_the_orientation() -> None:
    either = (0.49, 0.01, 0.49, 0.01)
    decided = estimate_orientation(votes(either, either, either, (0.9, 0.04, 0.03, 0.03)))
    assert decided.quarter_turns == 0
    assert decided.confidence > 0.9


def test_one_tile_laid_the_wrong_way_round_does_not_decide() -> None:
    right, wrong = (0.9, 0.03, 0.04, 0.03), (1e-9, 1e-9, 1.0, 1e-9)
    assert estimate_orientation(votes(right, right, right, wrong)).quarter_turns == 0


def test_tiles_that_contradict_each_other_leave_doubt() -> None:
    decided = estimate_orientation(votes((0.98, 0.01, 0.005, 0.005), (0.005, 0.98, 0.01, 0.005)))
    assert decided.confidence < 0.7


@pytest.mark.parametrize("turn", range(4))
def test_looks_from_all_sides_agree_on_the_turn_of_the_tile_itself(turn: int) -> None:
    ways = [votes(tuple(np.roll([0.97, 0.01, 0.01, 0.01], turn - k))) for k in range(4)]
    assert average_rotations(ways)[0] == pytest.approx(ways[0][0])


def test_letters_that_pass_for_others_upside_down_are_known_from_the_other_side() -> None:
    upside_down, right_way_up = (0.9, 0.01, 0.08, 0.01), (0.9997, 0.0001, 0.0001, 0.0001)
    tiles = 6
    ways = [votes(*[way] * tiles) for way in (upside_down, (0.1, 0.4, 0.1, 0.4), right_way_up, (0.1, 0.4, 0.1, 0.4))]
    assert estimate_orientation(ways[0]).quarter_turns == 0
    assert estimate_orientation(average_rotations(ways)).quarter_turns == 2


def test_many_tiles_of_one_mind_are_not_as_many_opinions() -> None:
    a_little = (0.4, 0.1, 0.4 * np.exp(-0.17), 0.1)
    assert estimate_orientation(votes(*[a_little] * 32)).confidence < 0.9
    assert estimate_orientation(votes(*[a_little] * 32)).confidence == pytest.approx(
        estimate_orientation(votes(*[a_little] * 8)).confidence
    )


def test_without_tiles_the_view_stays_as_it_is() -> None:
    decided = estimate_orientation(np.zeros((0, 4), np.float32))
    assert decided.quarter_turns == 0
    assert decided.vote_count == 0
    assert decided.confidence == 0.25


def classify_rendered(word: str, quarter_turns: int) -> tuple[int, list[int]]:
    """Return the estimated quarter turns of a rendered board with one word, and the crops of each prediction."""
    table = SimulatedTable(seed=5, tilt=5.0, turn=0.0, values=load_tile_set("en").values)
    table.lay_tiles({(7, 4 + i): letter for i, letter in enumerate(word)})
    scene, letters = table.photograph(), CountingLetterNet()
    classifier = SquareClassifier(SquareNet(), letters)
    squares = classifier.classify_squares(scene.image, np.roll(scene.corners, quarter_turns, axis=0))
    found = classifier.classify(squares, load_tile_set("en").letters)
    return found.orientation.quarter_turns, letters.crop_counts


def test_upright_tiles_are_not_predicted_in_other_rotations() -> None:
    turns, crop_counts = classify_rendered("QUARTERSHOP", 0)
    assert turns == 0
    assert crop_counts[0] == 6
    assert crop_counts[1] != 6  # the other squares


@pytest.mark.parametrize("turned", [1, 2, 3])
def test_turned_tiles_are_predicted_once_more_upright(turned: int) -> None:
    turns, crop_counts = classify_rendered("QUARTERS", turned)
    assert turns == turned
    assert crop_counts[:2] == [6, 6]
    assert crop_counts[2] != 6  # the other squares


def test_few_tiles_are_predicted_in_all_rotations() -> None:
    _, crop_counts = classify_rendered("NOON", 0)
    assert crop_counts[:4] == [4, 4, 4, 4]
