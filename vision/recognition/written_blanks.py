"""Notice blanks on which a player has written the letter.

A written letter has another size, place or darkness than the print of the other tiles, or another shape than their
letters, and no value beside it. The picture itself shows how alike the print of its tiles is, and whether the set has
values: on a set without values, a letter without a value says nothing.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats, Image
from vision.recognition.letters import BLANK_CLASS, LETTER_CLASSES
from vision.recognition.memory import TileTable
from vision.recognition.similarity import normalise_features
from vision.recognition.views import CROP_SIDE_PX

_EVIDENCE_WEIGHTS: Final = np.array([0.38, 0.43, -1.67, 0.8, 0.55, -4.13])
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
_MIN_PRINTS: Final = 6
"""Minimum number of letters in a picture for comparing their print."""
_UNKNOWN_DEVIATION: Final = 6.1
"""Deviation of the print where there are fewer letters: evidence for neither a letter nor a blank."""
_MIN_DEVIATION, _MIN_BLANK_P = 4.0, 3e-5
"""Minimum deviation of the print, and minimum probability of a blank, for reading the value. On photographs, one tile a
board has both; reading more values finds no more written blanks on rendered boards."""
_MIN_PRINT_SPREADS: Final = (0.1, 0.7, 0.7)
"""Minimum standard deviations of the columns of `measure_prints`."""
_MAX_PRINT_DEVIATIONS: Final = 4.0
"""Limit of the deviations of each column that count."""
_INNER_PART, _MIDDLE_COLUMNS = slice(9, CROP_SIDE_PX - 9), slice(3, CROP_SIDE_PX - 21)
"""Rows and columns of a crop that are inside the frame of a tile, and the middle ones of these columns."""
_MIN_LETTER_P, _MIN_TILE_P = 0.05, 0.5
"""Minimum probabilities of a letter and of a tile; other squares are not examined."""
_MIN_P: Final = 1e-5
_MAD_TO_SIGMA: Final = 1.5
"""Standard deviation of a normal distribution with a median absolute deviation of 1, rounded."""


def find_unlike_tiles(letters_p: Floats, table: TileTable) -> NDArray[np.bool_]:
    """Return the mask `(n,)` of the tiles that may be written blanks.

    No other tile of their letter resembles them, and their print differs from the usual one. `letters_p` `(n, classes)`
    are the probabilities of the letters.
    """
    may_be_written = _may_have_letter(letters_p, table.tile_p) & (letters_p[:, BLANK_CLASS] >= _MIN_BLANK_P)
    has_other_print = _compare_prints(table.prints, _is_letter(letters_p, table.tile_p)) >= _MIN_DEVIATION
    return may_be_written & has_other_print & (_compare_with_same_letter(letters_p, table) < _ALIKE)


def weigh_written_blanks(letters_p: Floats, table: TileTable) -> Floats:
    """Return the class probabilities of n tiles, `(n, classes)`, with the evidence of a letter that somebody wrote.

    A tile whose value was not read stays as it is. The probability of a letter is never increased: in an unknown
    typeface, tiles with the same letter look alike, too.

    `letters_p` `(n, classes)` are the probabilities without this evidence.
    """
    evidence = measure_written_evidence(letters_p, table)
    log_odds = evidence @ _EVIDENCE_WEIGHTS + _PRIOR_SHIFT
    letter_p, blank_p = letters_p[:, LETTER_CLASSES].sum(axis=1), letters_p[:, BLANK_CLASS]
    written_p = (letter_p + blank_p) / (1 + np.exp(-log_odds))
    is_read = ~np.isnan(table.value_nats)
    rows = np.flatnonzero(is_read & _may_have_letter(letters_p, table.tile_p) & (written_p > blank_p))
    weighed = letters_p.copy()
    weighed[rows, BLANK_CLASS] = written_p[rows]
    weighed[rows, LETTER_CLASSES] *= ((letter_p + blank_p - written_p)[rows] / letter_p[rows])[:, None]
    return weighed


def measure_written_evidence(letters_p: Floats, table: TileTable) -> Floats:
    """Return the evidence that each of n tiles is a blank, `(n, 6)`.

    `letters_p` `(n, classes)` are the probabilities of the letters. The columns are:

    - the log-odds blank : letter of the letter networks;
    - how much the tile differs from the other tiles of its letter;
    - 1 if there is another tile of its letter, otherwise 0;
    - how much the log-likelihood ratio of a missing value exceeds the usual one of the tiles in the picture;
    - how much its print differs from that of the other tiles (`measure_prints`);
    - the constant 1.
    """
    letter_p = letters_p[:, LETTER_CLASSES].max(axis=1)
    is_letter = _is_letter(letters_p, table.tile_p)
    similarity = _compare_with_same_letter(letters_p, table)
    is_compared = similarity >= 0
    known = similarity[is_compared & is_letter]
    typical = np.median(np.append(known, _USUAL_SIMILARITY))
    spread = max(_MIN_SIMILARITY_SPREAD, _MAD_TO_SIGMA * float(np.median(np.abs(np.append(known, typical) - typical))))
    is_read = ~np.isnan(table.value_nats)
    no_value = np.clip(np.where(is_read, table.value_nats, 0), _MIN_NATS, _MAX_NATS)
    usual = np.median(np.append(no_value[is_read & is_letter], _USUAL_NATS))
    return np.column_stack(
        [
            np.log((letters_p[:, BLANK_CLASS] + _MIN_P) / (letter_p + _MIN_P)),
            np.where(is_compared, np.clip((typical - similarity) / spread, -1, _MAX_DEVIATIONS), 0),
            is_compared,
            no_value - usual,
            _compare_prints(table.prints, is_letter),
            np.ones(len(letters_p)),
        ]
    )


def measure_prints(crops: Image) -> Floats:
    """Measure the print in crops of tiles, `(n, 36, 36) uint8`; return `(n, 3)`.

    The columns are the logarithm of its contrast, and its first and its last row.
    """
    grey = crops[:, _INNER_PART, _INNER_PART].astype(np.float32)
    pixels = grey.reshape(len(grey), grey.shape[1] * grey.shape[2])
    middle, high = pixels.shape[1] // 2, round(0.97 * pixels.shape[1])
    ink = np.abs(pixels - np.partition(pixels, middle, axis=1)[:, middle : middle + 1])
    contrast = np.partition(ink, high, axis=1)[:, high]
    # The mean of the three darkest pixels of each row.
    darkness = np.partition(ink.reshape(grey.shape)[:, :, _MIDDLE_COLUMNS], -3, axis=2)[:, :, -3:].mean(axis=2)
    is_printed = darkness > darkness.max(axis=1, keepdims=True) / 2
    first, last = is_printed.argmax(axis=1), is_printed.shape[1] - is_printed[:, ::-1].argmax(axis=1)
    return np.column_stack([np.log(contrast + 3), first, last]).astype(np.float64)


def _compare_prints(prints: Floats, is_letter: NDArray[np.bool_]) -> Floats:
    """Return how much the print of each tile differs from the usual print of the letters, `(n,)`, in deviations.

    `prints` `(n, 3)` are from `measure_prints`, `is_letter` `(n,)` marks the tiles that are read as a letter.
    """
    if is_letter.sum() < _MIN_PRINTS:
        return np.full(len(prints), _UNKNOWN_DEVIATION)
    usual = np.median(prints[is_letter], axis=0)
    spread = np.maximum(_MAD_TO_SIGMA * np.median(np.abs(prints[is_letter] - usual), axis=0), _MIN_PRINT_SPREADS)
    return np.asarray(np.minimum(np.abs(prints - usual) / spread, _MAX_PRINT_DEVIATIONS).sum(axis=1), np.float64)


def _compare_with_same_letter(letters_p: Floats, table: TileTable) -> Floats:
    """Return the similarity `(n,)` of each tile to the most similar other tile of its letter; -1 without one."""
    directions = normalise_features(table.features)
    best = letters_p[:, LETTER_CLASSES].argmax(axis=1)
    is_same = (best[:, None] == best) & _is_letter(letters_p, table.tile_p)
    np.fill_diagonal(is_same, val=False)
    return np.asarray(np.where(is_same, directions @ directions.T, -1.0).max(axis=1, initial=-1.0), np.float64)


def _is_letter(letters_p: Floats, tile_p: Floats) -> NDArray[np.bool_]:
    """Return the mask `(n,)` of the tiles that are read as a letter."""
    letter_p = letters_p[:, LETTER_CLASSES].max(axis=1)
    return np.asarray((tile_p >= _MIN_TILE_P) & (letter_p > letters_p[:, BLANK_CLASS]), np.bool_)


def _may_have_letter(letters_p: Floats, tile_p: Floats) -> NDArray[np.bool_]:
    return np.asarray((tile_p >= _MIN_TILE_P) & (letters_p[:, LETTER_CLASSES].sum(axis=1) >= _MIN_LETTER_P), np.bool_)
