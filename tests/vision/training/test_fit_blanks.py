"""The weights of the evidence for blanks are fitted to scenes."""

from __future__ import annotations

import numpy as np

from vision.recognition.letters import LetterNet
from vision.recognition.squares import SquareNet
from vision.rendering.simulated_table import SimulatedTable
from vision.training import dataset, fit_blanks
from vision.training.fit_tile_similarity import fit_weights


def test_weights_that_made_the_evidence_are_found_again() -> None:
    rng = np.random.default_rng(3)
    odds, weights = rng.normal(0, 3, (4000, 3)), np.array([0.9, 0.4, 0.0])
    blank = rng.random(4000) < 1 / (1 + np.exp(-(odds @ weights)))
    assert np.allclose(fit_weights([fit_blanks.make_choices(odds, blank)]), weights, atol=0.12)


def test_evidence_is_collected_for_the_blank_of_a_scene() -> None:
    table = SimulatedTable(seed=5, tilt=20)
    table.lay_tiles({(7, 6): "L", (7, 7): "A", (7, 8): "?", (7, 9): "E"})
    odds, blank = fit_blanks.collect_evidence(dataset.extract_views(table.photograph(), 0), SquareNet(), LetterNet())
    assert odds.shape == (len(blank), 4)
    assert blank.sum() == 1  # the one that lies there
    assert odds[blank][0, 0] > 0
