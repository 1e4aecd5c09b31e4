"""Tiles of one set that bear the same letter look alike: what a tile is, the others in its picture say as well.

The letter network judges each tile by itself, of any set there is. The tiles of one picture are of one set, in one
light and blurred alike. Whether one is an S or a B is weighed by how like it is, in the network's features, to those
that are read as S and as B (after Zhu and Ghahramani, Learning from labeled and unlabeled data with label propagation,
2002). And where the others are more in doubt than is usual, this one is more so than the network says.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats
from vision.recognition.letters import BLANK_CLASS, LETTER_CLASSES

SIMILARITY_WEIGHTS: Final = np.array([8.42, -0.132])
"""What counts for a letter beside what the network says, in the order of `said`, in nats.

`python -m vision.training.fit_similarity` fits it to drawn scenes."""
_USUAL_DOUBT: Final = 0.02
"""Of one more tile that is counted among the others: it is what is known where there are none. Where they are less in
doubt, a tile is not surer for it: one may be worn among clear ones."""
_EPSILON: Final = 1e-9


def normalise_features(features: NDArray[np.float32]) -> Floats:
    """Features `(n, 128)` of length 1, whose products are cosines."""
    wide = features.astype(np.float64)
    return np.asarray(wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), _EPSILON), np.float64)


def compute_letter_similarity(chances: Floats, tile: Floats, features: NDArray[np.float32]) -> Floats:
    """How alike the tiles of each letter would be to each of n tiles if it were one of them: `(n, letters)`, up to 1.

    The mean cosine of the features `(n, 128)` of `TilePredictions`, the tile itself among them: nothing speaks
    against a letter that has no other tile. `chances` `(n, letters)` are the probabilities of the letters by
    themselves: a tile counts for each as probably as it is that letter, and `tile` `(n,)` as probably as there is one
    at all.
    """
    directions = normalise_features(features)
    like = directions @ directions.T
    np.fill_diagonal(like, 0)
    counts = chances * tile[:, None]
    others = counts.sum(axis=0) - counts
    return np.asarray((like @ counts + 1) / (others + 1), np.float64)


def compute_relative_doubt(chances: Floats, tile: Floats) -> Floats:
    """How many times as much as usual the other tiles of the picture are in doubt, as logarithms `(n,)`, at least 0.

    `chances` and `tile` as in `compute_letter_similarity`.
    """
    letters = chances.sum(axis=1)
    lettered, doubt = tile * letters, 1 - chances.max(axis=1, initial=0) / np.maximum(letters, _EPSILON)
    others, count = (lettered * doubt).sum() - lettered * doubt, lettered.sum() - lettered
    usual = (others / _USUAL_DOUBT + 1) / (count + 1)
    return np.asarray(np.log(np.maximum(usual, 1)), np.float64)


def compute_letter_evidence(chances: Floats, tile: Floats, features: NDArray[np.float32]) -> Floats:
    """What is said for each letter of each tile, `(n, letters, 2)`; the arguments are those of
    `compute_letter_similarity`.

    Its likeness to the tiles of that letter; what the network says, as a logarithm, times the others' further doubt.
    """
    doubted = np.log(np.maximum(chances, _EPSILON)) * compute_relative_doubt(chances, tile)[:, None]
    return np.stack([compute_letter_similarity(chances, tile, features), doubted], axis=2)


def refine_by_similarity(chances: Floats, tile: Floats, features: NDArray[np.float32]) -> Floats:
    """Probabilities of the classes, `(n, classes)`, after each of n tiles was compared with the others.

    `chances` are those that the letter network gives, among the tiles of a set; `tile` and `features` as in
    `compute_letter_similarity`. No tile and a blank keep their probabilities: it is only among letters that others
    are asked, and as far as there is a letter at all; what is hidden or a blank is like none.
    """
    letters, lettered = chances[:, LETTER_CLASSES], (tile * (1 - chances[:, BLANK_CLASS]))[:, None]
    worth = compute_letter_evidence(letters, tile, features) @ SIMILARITY_WEIGHTS
    raised = letters * np.exp(worth - worth.max(axis=1, keepdims=True, initial=-np.inf))
    raised *= letters.sum(axis=1, keepdims=True) / np.maximum(raised.sum(axis=1, keepdims=True), _EPSILON)
    answer = chances.copy()
    answer[:, LETTER_CLASSES] = lettered * raised + (1 - lettered) * letters
    return answer
