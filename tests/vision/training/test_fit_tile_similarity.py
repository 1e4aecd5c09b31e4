"""What likeness is worth is fitted to scenes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.system.unseen_faces import load_held_out_fonts
from vision.recognition.letters import SIMILARITY_WEIGHTS, LetterNet
from vision.rendering.fonts import packaged_fonts, select_supporting_fonts
from vision.rendering.simulated_table import SimulatedTable
from vision.training import dataset
from vision.training.conditional_logit import Choices, fit_weights
from vision.training.fit_tile_similarity import (
    UNFAMILIAR_FONTS,
    collect_choices,
    describe_errors,
    draw_scene_in_one_face,
)
from vision.training.font_list import load_training_fonts


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
    assert choices.count_errors(np.array(SIMILARITY_WEIGHTS)) == 0


def test_a_scene_of_one_letter_has_nothing_to_compare() -> None:
    table = SimulatedTable(seed=5)
    table.lay_tiles({(7, 7): "A", (7, 8): "?"})
    assert collect_choices(dataset.extract_views(table.photograph(), 0), LetterNet()) is None


def test_a_scene_with_a_letter_that_the_network_does_not_know_is_left_out() -> None:
    table = SimulatedTable(seed=5)
    table.lay_tiles({(7, 7): "A", (7, 8): "B"})
    view = dataset.extract_views(table.photograph(), 0)
    labels = tuple(tuple("א" if symbol == "B" else symbol for symbol in row) for row in view.labels)
    assert collect_choices(replace(view, labels=labels), LetterNet()) is None


def test_unfamiliar_fonts_are_in_no_training_and_in_no_evaluation() -> None:
    files = {file for some in UNFAMILIAR_FONTS.values() for file in some}
    assert set(UNFAMILIAR_FONTS) <= {font.package for font in load_training_fonts()} and len(files) >= 30
    assert not {f"fonts/{file}" for file in files} & {font.file for font in load_training_fonts()}
    assert not files & {font.file for font in load_held_out_fonts()}


def test_letters_of_a_scene_are_all_in_its_face() -> None:
    latin = tuple(font for font in packaged_fonts() if not select_supporting_fonts((font,), "Ω"))
    labels = draw_scene_in_one_face(np.random.default_rng(4), latin[:1]).labels
    assert select_supporting_fonts(latin[:1], "".join(map("".join, labels)).replace("?", ""))


def test_errors_that_are_called_certain_are_counted() -> None:
    choices = Choices(np.zeros((3, 2, 1)), np.log([[0.995, 0.005], [0.995, 0.005], [0.6, 0.4]]), np.array([0, 1, 1]))
    assert describe_errors("now", [choices], np.zeros(1)) == "now: 2 of 3 tiles wrong; 1 of 2 called at 0.99"
