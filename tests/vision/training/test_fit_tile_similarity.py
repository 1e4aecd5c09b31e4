"""What likeness is worth is fitted to scenes."""

from __future__ import annotations

import numpy as np

from vision.recognition.letters import SIMILARITY_WEIGHTS, LetterNet
from vision.rendering.simulated_table import SimulatedTable
from vision.training import dataset
from vision.training.conditional_logit import Choices, fit_weights
from vision.training.fit_tile_similarity import collect_choices


def test_the_worth_of_what_is_said_is_found_again() -> None:
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
    choices = collect_choices(dataset.extract_views(table.photograph(), 0), LetterNet())
    assert choices is not None
    assert len(choices.truth) == 5
    alike = choices.features[np.arange(5), choices.truth, 0]
    assert alike.min() > 0.8  # D by itself counts as like itself
    assert choices.count_errors(SIMILARITY_WEIGHTS) == 0


def test_a_scene_of_one_letter_has_nothing_to_compare() -> None:
    table = SimulatedTable(seed=5)
    table.lay_tiles({(7, 7): "A", (7, 8): "?"})
    assert collect_choices(dataset.extract_views(table.photograph(), 0), LetterNet()) is None
