"""The weights of the similarity between tiles are fitted to scenes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vision.recognition.letters import SIMILARITY_WEIGHTS, LetterNet
from vision.rendering.fonts import packaged_fonts, select_supporting_fonts
from vision.rendering.simulated_table import SimulatedTable
from vision.training import dataset
from vision.training.fit_tile_similarity import (
    Choices,
    SceneTiles,
    collect_tiles,
    describe_errors,
    draw_scene_in_one_face,
    fit_weights,
)


def test_weights_that_made_the_data_are_found_again() -> None:
    rng = np.random.default_rng(3)
    said, known = rng.normal(0, 1, (4000, 5, 2)), rng.normal(0, 1, (4000, 5))
    logs = known + said @ [2.0, -0.7]
    truth = (logs + rng.gumbel(size=logs.shape)).argmax(axis=1)
    halves = [Choices(said[half], known[half], truth[half]) for half in (slice(0, 1500), slice(1500, None))]
    weights = fit_weights(halves)
    assert np.allclose(weights, [2.0, -0.7], atol=0.12)
    assert sum(half.count_errors(weights) for half in halves) < sum(half.count_errors(np.zeros(2)) for half in halves)


def test_the_tiles_of_a_scene_are_compared_with_each_other() -> None:
    table = SimulatedTable(seed=5, tilt=20)
    table.lay_tiles({(7, 5 + i): letter for i, letter in enumerate("SEEDS")})
    tiles = collect_tiles(dataset.extract_views(table.photograph(), 0), LetterNet())
    assert tiles is not None
    choices = tiles.choices
    assert len(choices.truth) == 5
    assert choices.features.shape[2] == len(SIMILARITY_WEIGHTS)
    alike = choices.features[np.arange(5), choices.truth, 0]
    assert alike.min() > 0.8  # D by itself counts as like itself
    assert choices.count_errors(np.array(SIMILARITY_WEIGHTS)) == 0


def test_a_scene_of_one_letter_has_nothing_to_compare() -> None:
    table = SimulatedTable(seed=5)
    table.lay_tiles({(7, 7): "A", (7, 8): "?"})
    assert collect_tiles(dataset.extract_views(table.photograph(), 0), LetterNet()) is None


def test_a_scene_with_a_letter_that_the_network_does_not_know_is_left_out() -> None:
    table = SimulatedTable(seed=5)
    table.lay_tiles({(7, 7): "A", (7, 8): "B"})
    view = dataset.extract_views(table.photograph(), 0)
    labels = tuple(tuple("א" if symbol == "B" else symbol for symbol in row) for row in view.labels)
    assert collect_tiles(replace(view, labels=labels), LetterNet()) is None


def test_letters_of_a_scene_are_all_in_its_face() -> None:
    latin = tuple(font for font in packaged_fonts() if not select_supporting_fonts((font,), "Ω"))[:1]
    for seed in range(3):
        labels = "".join(map("".join, draw_scene_in_one_face(np.random.default_rng(seed), latin).labels))
        assert select_supporting_fonts(latin, labels.replace("?", "")) == latin


def test_errors_that_are_called_certain_are_counted() -> None:
    choices = Choices(np.zeros((3, 2, 1)), np.log([[0.995, 0.005], [0.995, 0.005], [0.6, 0.4]]), np.array([0, 1, 1]))
    tiles = SceneTiles(choices, np.zeros(3))
    assert describe_errors("now", [tiles], np.zeros(1)) == "now: 2 of 3 tiles wrong; 1 of 2 called at 0.99"


def test_a_tile_whose_letter_may_look_like_another_is_not_called_certain() -> None:
    choices = Choices(np.zeros((2, 2, 1)), np.log([[0.995, 0.005], [0.995, 0.005]]), np.array([0, 1]))
    tiles = SceneTiles(choices, np.array([0.0, 0.02]))
    assert tiles.predict(np.zeros(1))[:, 0].tolist() == pytest.approx([0.995, 0.9851])
