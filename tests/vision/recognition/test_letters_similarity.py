"""A tile is weighed by the other tiles of its picture."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from vision.recognition.letters import FEATURE_COUNT, SIMILARITY_WEIGHTS
from vision.recognition.similarity import (
    compute_letter_similarity,
    refine_by_similarity,
    spread_lookalikes,
)

NONE, BLANK, B, S, Z = range(5)
FACES = np.random.default_rng(1).normal(0, 2.7, (5, FEATURE_COUNT)).astype(np.float32)
"""Feature vectors of usual length, 30."""


def tiles(*read: dict[int, float]) -> np.ndarray:
    """Return the network's probabilities by class for single tiles."""
    chances = np.zeros((len(read), 5))
    for row, said in enumerate(read):
        chances[row, list(said)] = list(said.values())
    return chances


def looking_like(*faces: int) -> np.ndarray:
    rng = np.random.default_rng(2)
    return (FACES[list(faces)] + rng.normal(0, 0.54, (len(faces), FEATURE_COUNT))).astype(np.float32)


def test_a_tile_in_doubt_is_the_letter_that_it_looks_like() -> None:
    read = tiles({B: 1.0}, {S: 1.0}, {B: 0.6, S: 0.4})
    better = refine_by_similarity(read, np.ones(3), looking_like(B, S, S))
    assert better[2, S] > 0.95
    assert better[:2].argmax(axis=1).tolist() == [B, S]


def test_nothing_speaks_against_a_letter_that_has_no_other_tile() -> None:
    read = tiles({B: 1.0}, {B: 1.0}, {B: 0.5, S: 0.5})
    assert refine_by_similarity(read, np.ones(3), looking_like(B, B, S))[2, S] > 0.9
    assert 0.4 < refine_by_similarity(read, np.ones(3), looking_like(B, B, B))[2, B] < 0.5


def test_a_tile_by_itself_is_read_as_before() -> None:
    read = tiles({NONE: 0.1, B: 0.5, S: 0.4})
    assert np.allclose(refine_by_similarity(read, np.ones(1), looking_like(S)), read)


def test_a_tile_among_tiles_in_doubt_is_more_in_doubt_and_among_clear_ones_no_less() -> None:
    this, looks = {B: 0.9, S: 0.1}, looking_like(B, S, B, S, Z)  # unlike all others
    clear, doubtful = ([{B: 1 - p, S: p}, {S: 1 - p, B: p}] * 2 for p in (0.001, 0.4))
    among_clear, in_doubt = (
        refine_by_similarity(tiles(*beside, this), np.ones(5), looks)[4, B] for beside in (clear, doubtful)
    )
    assert among_clear == pytest.approx(0.9, abs=0.03)
    assert in_doubt < 0.85


def test_what_is_rather_a_blank_is_no_letter_that_lacks_tiles() -> None:
    read = tiles({B: 1.0}, {BLANK: 0.9, B: 0.05, S: 0.05})
    assert refine_by_similarity(read, np.ones(2), looking_like(B, BLANK))[1, S] < 0.06


def test_crop_without_a_tile_neither_gives_nor_gets_evidence() -> None:
    read = tiles({B: 1.0}, {S: 1.0}, {B: 0.6, S: 0.4})
    for tile in ([0.0, 0.0, 1.0], [1.0, 1.0, 0.0]):
        assert np.allclose(refine_by_similarity(read, np.array(tile), looking_like(B, S, S))[2], read[2])


def test_a_letter_that_many_tiles_bear_is_no_likelier_for_it() -> None:
    one, many = tiles({B: 1.0}, {S: 1.0}), tiles({B: 1.0}, *[{S: 1.0}] * 6)
    doubt = tiles({B: 0.5, S: 0.5})
    face = (FACES[B] + FACES[S]) / 2
    for sure in (one, many):
        features = np.stack([*FACES[sure.argmax(axis=1)], face])
        better = refine_by_similarity(np.concatenate([sure, doubt]), np.ones(len(features)), features)[-1]
        assert better[B] > 0.3 and better[S] > 0.1


@given(
    arrays.arrays(np.float64, (6, 5), elements=st.floats(0.001, 1)),
    arrays.arrays(np.float64, 6, elements=st.floats(0, 1)),
    arrays.arrays(np.float32, (6, FEATURE_COUNT), elements=st.floats(0, 8, width=32)),
)
def test_only_letters_of_the_set_are_weighed(chances: np.ndarray, tile: np.ndarray, features: np.ndarray) -> None:
    chances[:, Z] = 0  # not in the set
    before = chances / chances.sum(axis=1, keepdims=True)
    after = refine_by_similarity(before, tile, features)
    assert np.allclose(after.sum(axis=1), 1)
    assert (after[:, [NONE, Z]] == before[:, [NONE, Z]]).all()
    assert (compute_letter_similarity(before, tile, features) <= 1 + 1e-9).all()


def test_no_tiles_no_words() -> None:
    assert refine_by_similarity(np.zeros((0, 5)), np.zeros(0), np.zeros((0, FEATURE_COUNT), np.float32)).shape == (0, 5)


def among(doubt: float, this: dict[int, float], length: float = 1.0) -> np.ndarray:
    """Refine a tile, without similarity, that has features of another length and lies among four tiles in `doubt`."""
    read = tiles(this, *[{Z: 1 - doubt, S: doubt}] * 4)
    features = looking_like(B, Z, Z, Z, Z) * np.array([[length], [1], [1], [1], [1]])
    weights = (0.0, *SIMILARITY_WEIGHTS[1:])
    return np.asarray(refine_by_similarity(read, np.ones(5), features, weights)[0])


def test_a_long_feature_vector_lowers_the_confidence_only_among_doubtful_tiles() -> None:
    this = {B: 0.99, Z: 0.01}
    assert among(0.001, this, length=10)[B] == pytest.approx(among(0.001, this)[B])
    assert among(0.4, this, length=10)[B] < among(0.4, this)[B] - 0.01


@pytest.mark.parametrize("symbol", [B, BLANK])
def test_a_certain_tile_among_doubtful_ones_may_look_like_another_symbol(symbol: int) -> None:
    certain = {NONE: 0.0, BLANK: 1e-6, B: 1e-6, S: 1e-6, Z: 1e-6} | {symbol: 1 - 3e-6}
    assert among(0.001, certain)[symbol] > 0.999
    in_doubt = among(0.4, certain)
    assert 0.97 < in_doubt[symbol] < 0.99
    assert in_doubt.sum() == pytest.approx(1) and in_doubt[NONE] == 0


def test_symbols_that_are_possible_share_what_is_spread() -> None:
    spread = spread_lookalikes(np.array([[0.6, 0.2, 0.0], [0.6, 0.2, 0.0]]), np.array([0.0, 0.1]))
    assert spread == pytest.approx(np.array([[0.6, 0.2, 0.0], [0.58, 0.22, 0.0]]))


@given(arrays.arrays(np.float64, (6, 5), elements=st.floats(0.001, 1)), st.floats(0.1, 10))
def test_an_unfamiliar_typeface_lowers_confidences_and_keeps_the_best_letter(
    chances: np.ndarray, length: float
) -> None:
    chances[:, [NONE, BLANK]] = 0
    before = chances / chances.sum(axis=1, keepdims=True)
    features = np.full((6, FEATURE_COUNT), length, np.float32)  # all look alike, so that no letter gains by similarity
    after = refine_by_similarity(before, np.ones(6), features, (0.0, *SIMILARITY_WEIGHTS[1:]))
    assert (after.max(axis=1) <= before.max(axis=1) + 1e-9).all()
    assert np.allclose(np.take_along_axis(after, before.argmax(axis=1)[:, None], 1)[:, 0], after.max(axis=1))
