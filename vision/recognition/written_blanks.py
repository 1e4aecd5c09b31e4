"""Notice blanks on which a player has written the letter.

A written letter differs from the print of the other tiles, and no value is printed beside it. The picture itself shows
how alike its tiles with the same letter are, and whether the set has values: on a set without values, a letter without
a value says nothing.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats
from vision.recognition.letters import BLANK_CLASS, LETTER_CLASSES
from vision.recognition.similarity import normalise_features

_EVIDENCE_WEIGHTS: Final = np.array([0.68, 0.58, -2.54, 0.74, -0.80])
"""Weights of the columns of `measure_written_evidence` in a logistic regression, fitted by `python -m
vision.training.fit_written_blanks`."""
_PRIOR_SHIFT: Final = -1.0
"""Correction of the prior log-odds: in the scenes of the fit, a letter is written on every blank. On real sets it is
assumed to be on one in three."""
_MIN_NATS, _MAX_NATS = -8.0, 4.0
"""Limits of the log-likelihood ratio that the value is missing."""
_USUAL_NATS: Final = (-5.0, -5.0)
"""Ratios of a missing value as on two tiles of the picture: those of tiles with a value that can be read."""
_ALIKE: Final = 0.95
"""Minimum cosine similarity of a tile that looks like another tile of its letter."""
_USUAL_SIMILARITY, _MIN_SIMILARITY_SPREAD, _MAX_DEVIATIONS = 0.97, 0.01, 8.0
"""The similarity of tiles with the same letter, as for one tile of the picture; the minimum of its standard deviation,
and the limit of the deviations that count."""
_MIN_LETTER_P, _MIN_TILE_P = 0.05, 0.5
"""Minimum probabilities of a letter and of a tile; other squares are not examined."""
_MIN_BLANK_P: Final = 3e-5
"""Minimum probability of a blank for reading the value: a third of the tiles on photographs that no other resembles
have a higher one. Without this minimum, 89 instead of 88 of 100 rendered letters on blanks are read as blanks, but more
printed letters are doubted."""
_MIN_P: Final = 1e-5
_MAD_TO_SIGMA: Final = 1.5
"""Standard deviation of a normal distribution with a median absolute deviation of 1, rounded."""


def find_unlike_tiles(letters_p: Floats, tile_p: Floats, features: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return the mask `(n,)` of the tiles that may be blanks with a letter that no other tile of this letter resembles.

    `letters_p` `(n, classes)` and `tile_p` `(n,)` are the probabilities of the letters and of a tile; `features`
    `(n, 128)` are those of the letter network.
    """
    may_be_written = _may_have_letter(letters_p, tile_p) & (letters_p[:, BLANK_CLASS] >= _MIN_BLANK_P)
    return may_be_written & (_compare_with_same_letter(letters_p, tile_p, features) < _ALIKE)


def weigh_written_blanks(
    letters_p: Floats, tile_p: Floats, features: NDArray[np.float32], value_nats: Floats
) -> Floats:
    """Return the class probabilities of n tiles, `(n, classes)`, with the evidence of a letter that somebody wrote.

    A tile whose value was not read stays as it is. The probability of a letter is never increased: in an unknown
    typeface, tiles with the same letter look alike, too.

    `letters_p` `(n, classes)` and `tile_p` `(n,)` are the probabilities of the letters and of a tile. `features`
    `(n, 128)` are those of the letter network. `value_nats` `(n,)` are the log-likelihood ratios that no value is
    printed on a tile, NaN if its value was not read.
    """
    evidence = measure_written_evidence(letters_p, tile_p, features, value_nats)
    log_odds = evidence @ _EVIDENCE_WEIGHTS + _PRIOR_SHIFT
    letter_p, blank_p = letters_p[:, LETTER_CLASSES].sum(axis=1), letters_p[:, BLANK_CLASS]
    written_p = (letter_p + blank_p) / (1 + np.exp(-log_odds))
    is_read = ~np.isnan(value_nats)
    rows = np.flatnonzero(is_read & _may_have_letter(letters_p, tile_p) & (written_p > blank_p))
    weighed = letters_p.copy()
    weighed[rows, BLANK_CLASS] = written_p[rows]
    weighed[rows, LETTER_CLASSES] *= ((letter_p + blank_p - written_p)[rows] / letter_p[rows])[:, None]
    return weighed


def measure_written_evidence(
    letters_p: Floats, tile_p: Floats, features: NDArray[np.float32], value_nats: Floats
) -> Floats:
    """Return the evidence that each of n tiles is a blank, `(n, 5)`, from the arguments of `weigh_written_blanks`.

    The columns are:

    - the log-odds blank : letter of the letter networks;
    - how much the tile differs from the other tiles of its letter;
    - 1 if there is another tile of its letter, otherwise 0;
    - how much the log-likelihood ratio of a missing value exceeds the usual one of the tiles in the picture;
    - the constant 1.
    """
    letter_p = letters_p[:, LETTER_CLASSES].max(axis=1)
    similarity = _compare_with_same_letter(letters_p, tile_p, features)
    is_compared = similarity >= 0
    known = similarity[is_compared & _is_letter(letters_p, tile_p)]
    typical = np.median(np.append(known, _USUAL_SIMILARITY))
    spread = max(_MIN_SIMILARITY_SPREAD, _MAD_TO_SIGMA * float(np.median(np.abs(np.append(known, typical) - typical))))
    is_read = ~np.isnan(value_nats)
    no_value = np.clip(np.where(is_read, value_nats, 0), _MIN_NATS, _MAX_NATS)
    usual = np.median(np.append(no_value[is_read & _is_letter(letters_p, tile_p)], _USUAL_NATS))
    return np.column_stack(
        [
            np.log((letters_p[:, BLANK_CLASS] + _MIN_P) / (letter_p + _MIN_P)),
            np.where(is_compared, np.clip((typical - similarity) / spread, -1, _MAX_DEVIATIONS), 0),
            is_compared,
            no_value - usual,
            np.ones(len(tile_p)),
        ]
    )


def _compare_with_same_letter(letters_p: Floats, tile_p: Floats, features: NDArray[np.float32]) -> Floats:
    """Return the similarity `(n,)` of each tile to the most similar other tile of its letter; -1 without one."""
    directions = normalise_features(features)
    best = letters_p[:, LETTER_CLASSES].argmax(axis=1)
    is_same = (best[:, None] == best) & _is_letter(letters_p, tile_p)
    np.fill_diagonal(is_same, val=False)
    return np.asarray(np.where(is_same, directions @ directions.T, -1.0).max(axis=1, initial=-1.0), np.float64)


def _is_letter(letters_p: Floats, tile_p: Floats) -> NDArray[np.bool_]:
    """Return the mask `(n,)` of the tiles that are read as a letter."""
    letter_p = letters_p[:, LETTER_CLASSES].max(axis=1)
    return np.asarray((tile_p >= _MIN_TILE_P) & (letter_p > letters_p[:, BLANK_CLASS]), np.bool_)


def _may_have_letter(letters_p: Floats, tile_p: Floats) -> NDArray[np.bool_]:
    return np.asarray((tile_p >= _MIN_TILE_P) & (letters_p[:, LETTER_CLASSES].sum(axis=1) >= _MIN_LETTER_P), np.bool_)
