"""Refine the letters of tiles by comparing the tiles of one picture.

The tiles in one picture belong to one set and have the same lighting and blur. So a tile that may be an S or a B is
compared, by the network's features, with the other tiles that were classified as S and as B (label propagation, after
Zhu and Ghahramani, Learning from labeled and unlabeled data with label propagation, 2002).

The network may not know the typeface: it is then unusually uncertain about the other tiles, or takes them for letters
that the tile set does not have. In that case the confidence in all letters is reduced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats
from vision.recognition.letters import BLANK_CLASS, LETTER_CLASSES, SIMILARITY_WEIGHTS

_USUAL_DOUBT: Final = 0.02
"""Usual mean doubt of the tiles in a picture. The doubt of a tile is 1 minus the probability of its best letter, given
that it has a letter.

The mean includes one imaginary tile of this doubt, so that a single doubtful tile does not make the typeface count as
unknown. A mean below `_USUAL_DOUBT` does not raise the confidence in a tile: the tile may be worn although all others
are clear.
"""
_USUAL_FOREIGN_NATS: Final = 0.02
_MAX_FOREIGN_NATS: Final = 5.0
"""`_USUAL_FOREIGN_NATS` and `_MAX_FOREIGN_NATS`: the usual and the maximum result of `measure_foreign_nats` for one
tile. One imaginary tile with the usual value is added to the mean over a picture."""
_MAX_FLATTENING: Final = 0.9
"""Maximum reduction of log-probabilities, as a share, if the typeface is unknown. The order of the letters never
changes."""
_EPSILON: Final = 1e-9


def normalise_features(features: NDArray[np.float32]) -> Floats:
    """Scale each feature vector of `features` `(n, 128)` to length 1, so that dot products are cosine similarities."""
    wide = features.astype(np.float64)
    return np.asarray(wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), _EPSILON), np.float64)


def compute_letter_similarity(chances: Floats, tile: Floats, features: NDArray[np.float32]) -> Floats:
    """Return how similar each of n tiles is to the other tiles of each letter: mean cosine similarity, `(n, letters)`.

    - `features` `(n, 128)`: from `TilePredictions`.
    - `chances` `(n, letters)`: probability of each letter for each tile.
    - `tile` `(n,)`: probability that there is a tile.

    The weight of a tile in the mean for a letter is `chances` times `tile`. Each tile is also compared with itself
    (similarity 1, weight 1), so that a letter without other tiles is not penalised.
    """
    directions = normalise_features(features)
    like = directions @ directions.T
    np.fill_diagonal(like, 0)
    counts = chances * tile[:, None]
    others = counts.sum(axis=0) - counts
    return np.asarray((like @ counts + 1) / (others + 1), np.float64)


def measure_foreign_nats(letters: NDArray[np.float32], within: NDArray[np.float32]) -> Floats:
    """Return the evidence that each of n tiles has a letter outside an alphabet: `(n,)` nats, 0 to 5.

    It is minus the logarithm of the total probability of the alphabet. The arguments are those of
    `restrict_to_alphabet`. If all tiles are known to be of the set, a high value shows that the network does not know
    their typeface.
    """
    inside = (np.exp(letters.astype(np.float64)) @ within).sum(axis=1)
    return np.asarray(np.clip(-np.log(np.maximum(inside, _EPSILON)), 0, _MAX_FOREIGN_NATS), np.float64)


def measure_unfamiliarity(chances: Floats, tile: Floats, foreign: Floats) -> Floats:
    """Measure for each tile how badly the network reads the other tiles of the picture; return `(n, 2)`, >= 0.

    The first column is log(mean doubt of the other tiles / usual doubt). The second is the mean evidence that the other
    tiles have letters outside the tile set, minus the usual evidence. Both are large for an unfamiliar typeface.
    `foreign` `(n,)` is from `measure_foreign_nats`; `chances` and `tile` are as in `compute_letter_similarity`.
    """
    letters = chances.sum(axis=1)
    lettered, doubt = tile * letters, 1 - chances.max(axis=1, initial=0) / np.maximum(letters, _EPSILON)
    count = lettered.sum() - lettered

    def average_others(values: Floats, usual: float) -> Floats:
        return np.asarray(((lettered * values).sum() - lettered * values + usual) / (count + 1), np.float64)

    doubts = np.log(np.maximum(average_others(doubt, _USUAL_DOUBT) / _USUAL_DOUBT, 1))
    return np.column_stack([doubts, np.maximum(average_others(foreign, _USUAL_FOREIGN_NATS) - _USUAL_FOREIGN_NATS, 0)])


def compute_letter_evidence(chances: Floats, tile: Floats, features: NDArray[np.float32], foreign: Floats) -> Floats:
    """Return three features of each letter for each tile, `(n, letters, 3)`, in the order of `SIMILARITY_WEIGHTS`.

    The first is the similarity of the tile to other tiles with that letter. The second and third are the
    log-probability of the letter, multiplied by the first and the second column of `measure_unfamiliarity`. The
    arguments are as in `compute_letter_similarity` and `measure_unfamiliarity`.
    """
    similarity = compute_letter_similarity(chances, tile, features)
    unfamiliarity = measure_unfamiliarity(chances, tile, foreign)
    logs = np.log(np.maximum(chances, _EPSILON))
    return np.concatenate([similarity[:, :, None], logs[:, :, None] * unfamiliarity[:, None]], axis=2)


def refine_by_similarity(
    chances: Floats,
    tile: Floats,
    features: NDArray[np.float32],
    foreign: Floats,
    weights: Sequence[float] = SIMILARITY_WEIGHTS,
) -> Floats:
    """Refine the class probabilities of n tiles by comparing the tiles with each other; return `(n, classes)`.

    `chances` `(n, classes)` are the letter network's probabilities, restricted to the alphabet. `weights` are the
    weights of the features from `compute_letter_evidence`, which explains `tile`, `features` and `foreign`. Only the
    distribution among the letters changes; the probabilities of no tile and blank stay the same.
    """
    letters, lettered = chances[:, LETTER_CLASSES], (tile * (1 - chances[:, BLANK_CLASS]))[:, None]
    flattening = np.maximum(measure_unfamiliarity(letters, tile, foreign) @ weights[1:], -_MAX_FLATTENING)
    worth = weights[0] * compute_letter_similarity(letters, tile, features)
    worth += flattening[:, None] * np.log(np.maximum(letters, _EPSILON))
    raised = letters * np.exp(worth - worth.max(axis=1, keepdims=True, initial=-np.inf))
    raised *= letters.sum(axis=1, keepdims=True) / np.maximum(raised.sum(axis=1, keepdims=True), _EPSILON)
    answer = chances.copy()
    answer[:, LETTER_CLASSES] = lettered * raised + (1 - lettered) * letters
    return answer
