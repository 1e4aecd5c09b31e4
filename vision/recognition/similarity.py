"""Refine the letters of tiles by comparing the tiles of one picture.

The tiles in one picture belong to one set and have the same lighting and blur. So a tile that may be an S or a B is
compared, by the network's features, with the other tiles that were classified as S and as B (label propagation, after
Zhu and Ghahramani, Learning from labeled and unlabeled data with label propagation, 2002).

The network may not know the typeface: it is then unusually uncertain about the other tiles. In that case the confidence
in all tiles is reduced:

- Log-probabilities are flattened, most of all those of tiles with long feature vectors: the network's logits grow with
  the length of the vector, even if the letters of the training data have other directions.
- In such a typeface, one letter may look like another of the training data, and the network takes all its tiles for
  that other letter, with certainty. So a small share of the probability is spread evenly over all symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats
from vision.recognition.letters import BLANK_CLASS, SIMILARITY_WEIGHTS, TILE_CLASSES

_USUAL_DOUBT: Final = 0.02
"""Usual mean doubt of the tiles in a picture. The doubt of a tile is 1 minus the probability of its best letter, given
that it has a letter.

The mean includes one imaginary tile of this doubt, so that a single doubtful tile does not make the typeface count as
unknown. A mean below `_USUAL_DOUBT` does not raise the confidence in a tile: the tile may be worn although all others
are clear.
"""
_USUAL_LENGTH: Final = 30.0
_MIN_LENGTH: Final = 1.0
"""`_USUAL_LENGTH` and `_MIN_LENGTH`: the usual length of a tile's feature vector, and the minimum for the logarithm."""
_MAX_FLATTENING: Final = 0.9
"""Maximum reduction of log-probabilities, as a share, if the typeface is unknown. The order of the letters never
changes."""
_MAX_LOOKALIKE_SHARE: Final = 0.02
"""Maximum share of the probability that is spread over all symbols if the typeface is unknown: with 0.02, the
probability of a tile is below 0.99 if more than half of the doubt of the other tiles is unusual."""
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


def measure_unfamiliarity(chances: Floats, tile: Floats) -> Floats:
    """Measure for each tile how badly the network reads the other tiles of the picture; return `(n,)`, >= 0.

    The result is log(mean doubt of the other tiles / usual doubt), which is large for an unfamiliar typeface. `chances`
    `(n, letters)` are the probabilities of the letters, `tile` `(n,)` those that there is a tile.
    """
    letters = chances.sum(axis=1)
    lettered, doubt = tile * letters, 1 - chances.max(axis=1, initial=0) / np.maximum(letters, _EPSILON)
    doubt_of_others = (lettered * doubt).sum() - lettered * doubt + _USUAL_DOUBT
    mean_doubt = doubt_of_others / (lettered.sum() - lettered + 1)
    return np.asarray(np.log(np.maximum(mean_doubt / _USUAL_DOUBT, 1)), np.float64)


def estimate_novelty(unfamiliarity: Floats) -> Floats:
    """Return to what degree the typeface is unknown to the network, for each of n tiles: `(n,)`, 0 to 1.

    The degree is the share of the doubt of the other tiles that exceeds the usual doubt. `unfamiliarity` `(n,)` is from
    `measure_unfamiliarity`.
    """
    return np.asarray(1 - np.exp(-unfamiliarity), np.float64)


def measure_flattening(chances: Floats, tile: Floats, features: NDArray[np.float32]) -> Floats:
    """Return two measures of why the log-probabilities of each of n tiles should be flattened: `(n, 2)`.

    The first is the result of `measure_unfamiliarity`. The second is the logarithm of the length of the tile's feature
    vector, relative to the usual length, times the result of `estimate_novelty`. The arguments are the probabilities of
    the letters `(n, letters)` and of a tile `(n,)`, and the feature vectors `(n, 128)`.
    """
    unfamiliarity = measure_unfamiliarity(chances, tile)
    length = np.log(np.maximum(np.linalg.norm(features, axis=1), _MIN_LENGTH) / _USUAL_LENGTH)
    return np.column_stack([unfamiliarity, estimate_novelty(unfamiliarity) * length])


def compute_letter_evidence(chances: Floats, tile: Floats, features: NDArray[np.float32]) -> Floats:
    """Return three features of each letter for each tile, `(n, letters, 3)`, in the order of `SIMILARITY_WEIGHTS`.

    The first is the similarity of the tile to other tiles with that letter. The second and third are the
    log-probability of the letter, multiplied by the first and the second column of `measure_flattening`. The arguments
    are the probabilities of the letters `(n, letters)` and of a tile `(n,)`, and the feature vectors `(n, 128)`.
    """
    similarity = compute_letter_similarity(chances, tile, features)
    flattening = measure_flattening(chances, tile, features)
    logs = np.log(np.maximum(chances, _EPSILON))
    return np.concatenate([similarity[:, :, None], logs[:, :, None] * flattening[:, None]], axis=2)


def estimate_lookalike_share(unfamiliarity: Floats) -> Floats:
    """Return the share of the probability of each of n tiles that `spread_lookalikes` should spread: `(n,)`.

    `unfamiliarity` `(n,)` is from `measure_unfamiliarity`.
    """
    return _MAX_LOOKALIKE_SHARE * estimate_novelty(unfamiliarity)


def spread_lookalikes(symbols: Floats, share: Floats) -> Floats:
    """Spread a share of the probabilities of n tiles evenly over the possible symbols; return `(n, symbols)`.

    `symbols` `(n, symbols)` are the probabilities of the symbols, 0 for those that are impossible. `share` is `(n,)`.
    """
    possible = symbols > 0
    even = possible * symbols.sum(axis=1, keepdims=True) / np.maximum(possible.sum(axis=1, keepdims=True), 1)
    return np.asarray((1 - share[:, None]) * symbols + share[:, None] * even, np.float64)


def refine_by_similarity(
    chances: Floats,
    tile: Floats,
    features: NDArray[np.float32],
    weights: Sequence[float] = SIMILARITY_WEIGHTS,
) -> Floats:
    """Refine the class probabilities of n tiles by comparing the tiles with each other; return `(n, classes)`.

    `chances` `(n, classes)` are the letter network's probabilities, restricted to the alphabet. `tile` `(n,)` are the
    probabilities that there is a tile, and `features` `(n, 128)` the feature vectors. `weights` are the weights of the
    features from `compute_letter_evidence`. The probability of no tile stays the same. The probability of a blank
    changes only if the typeface is unknown.
    """
    # Leave out the letters that no tile can show: they are most of the classes.
    possible = np.flatnonzero(chances.any(axis=0))
    possible = possible[possible > BLANK_CLASS]
    letters, lettered = chances[:, possible], (tile * (1 - chances[:, BLANK_CLASS]))[:, None]
    flattening = measure_flattening(letters, tile, features)
    change = np.clip(flattening @ weights[1:], -_MAX_FLATTENING, 0)
    worth = weights[0] * compute_letter_similarity(letters, tile, features)
    worth += change[:, None] * np.log(np.maximum(letters, _EPSILON))
    # Without any possible letter, `max` needs `initial`. The largest exponent is 0, so that no power overflows.
    raised = letters * np.exp(worth - worth.max(axis=1, keepdims=True, initial=-np.inf))
    raised *= letters.sum(axis=1, keepdims=True) / np.maximum(raised.sum(axis=1, keepdims=True), _EPSILON)
    answer = chances.copy()
    answer[:, possible] = lettered * raised + (1 - lettered) * letters
    # In an unknown typeface, a letter may also look like the mark on a blank.
    share = tile * estimate_lookalike_share(flattening[:, 0])
    answer[:, TILE_CLASSES] = spread_lookalikes(answer[:, TILE_CLASSES], share)
    return answer
