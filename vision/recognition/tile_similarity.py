"""Refine letter probabilities by similarity between the tiles of one image (label propagation).

The letter network judges each tile by itself, and for any tile set. The tiles of one picture are of one set, in the
same light and equally blurred. So an S-or-B is compared, in the network's features, with the tiles that are read as S
and as B (after Zhu and Ghahramani, Learning from labeled and unlabeled data with label propagation, 2002). And if the
other tiles of the picture are read with unusual doubt, this one is less certain than the network predicts.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats
from vision.recognition.letters import BLANK_CLASS, LETTER_CLASSES

SIMILARITY_WEIGHTS: Final = np.array([8.42, -0.132])
"""Weights (nats) of the two columns of `compute_letter_evidence`: similarity and doubt.

`python -m vision.training.fit_similarity` fits them to rendered scenes."""
_USUAL_DOUBT: Final = 0.02
"""Usual doubt of a tile: 1 minus the probability of its best letter among letters. One tile of this doubt is added to
the others, for pictures with few tiles. Less doubt than usual changes nothing: a tile may be worn among clear ones."""
_EPSILON: Final = 1e-9


def normalise_features(features: NDArray[np.float32]) -> Floats:
    """Return the features `(n, 128)` scaled to length 1, so that their dot products are cosines."""
    wide = features.astype(np.float64)
    return np.asarray(wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), _EPSILON), np.float64)


def compute_letter_similarity(chances: Floats, tile: Floats, features: NDArray[np.float32]) -> Floats:
    """Return the mean similarity of each tile to the tiles of each letter: `(n, letters)`, at most 1.

    The similarity is the cosine of `features` `(n, 128)` from `TilePredictions`. `chances` `(n, letters)` are the
    probabilities of the letters for each tile by itself, `tile` `(n,)` the probability that there is a tile; their
    product is the weight of a tile in the mean. The tile itself is included with similarity 1, so a letter without
    other tiles is not penalised.
    """
    directions = normalise_features(features)
    like = directions @ directions.T
    np.fill_diagonal(like, 0)
    counts = chances * tile[:, None]
    others = counts.sum(axis=0) - counts
    return np.asarray((like @ counts + 1) / (others + 1), np.float64)


def compute_relative_doubt(chances: Floats, tile: Floats) -> Floats:
    """Return the log of the mean doubt of the other tiles relative to the usual doubt: `(n,)`, at least 0.

    `chances` and `tile` are those of `compute_letter_similarity`.
    """
    letters = chances.sum(axis=1)
    lettered, doubt = tile * letters, 1 - chances.max(axis=1, initial=0) / np.maximum(letters, _EPSILON)
    others, count = (lettered * doubt).sum() - lettered * doubt, lettered.sum() - lettered
    usual = (others / _USUAL_DOUBT + 1) / (count + 1)
    return np.asarray(np.log(np.maximum(usual, 1)), np.float64)


def compute_letter_evidence(chances: Floats, tile: Floats, features: NDArray[np.float32]) -> Floats:
    """Return the evidence for each letter of each tile `(n, letters, 2)`, to be weighted by `SIMILARITY_WEIGHTS`.

    First the similarity to the tiles of that letter, second the log-probability of the letter times the relative doubt.
    The arguments are those of `compute_letter_similarity`.
    """
    doubted = np.log(np.maximum(chances, _EPSILON)) * compute_relative_doubt(chances, tile)[:, None]
    return np.stack([compute_letter_similarity(chances, tile, features), doubted], axis=2)


def refine_by_similarity(chances: Floats, tile: Floats, features: NDArray[np.float32]) -> Floats:
    """Return the class probabilities `(n, classes)` after each of n tiles was compared with the others.

    `chances` `(n, classes)` are those of the letter network, restricted to the alphabet; `tile` and `features` are
    those of `compute_letter_similarity`. Only the distribution among the letters changes, and only in proportion to the
    probability that the tile has a letter; no tile and blank keep their probabilities.
    """
    letters, lettered = chances[:, LETTER_CLASSES], (tile * (1 - chances[:, BLANK_CLASS]))[:, None]
    worth = compute_letter_evidence(letters, tile, features) @ SIMILARITY_WEIGHTS
    raised = letters * np.exp(worth - worth.max(axis=1, keepdims=True, initial=-np.inf))
    raised *= letters.sum(axis=1, keepdims=True) / np.maximum(raised.sum(axis=1, keepdims=True), _EPSILON)
    answer = chances.copy()
    answer[:, LETTER_CLASSES] = lettered * raised + (1 - lettered) * letters
    return answer
