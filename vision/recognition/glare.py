"""Mark squares as hidden if glare may have washed out their contents.

A lamp or a flash that is reflected by the board leaves a white spot. Under the spot, a letter may look like another
letter, a tile like a blank, and any tile like an empty square.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats, Image
from vision.recognition.letters import BLANK_CLASS, LETTER_CLASSES, NO_TILE_CLASS
from vision.recognition.views import cut_inner_halves

_MIN_GLARE_LEVEL: Final = 250
"""Minimum level (0..255) of all three channels of a pixel that counts as glare. White tiles are darker than this in a
well exposed picture."""
_BRIGHT_LEVEL: Final = 200
"""Minimum median brightness (0..255) of tiles or of empty squares that cannot be distinguished from glare."""
_MAX_GLARE_SHARE: Final = 0.5
"""Maximum share of glare pixels in a square; with more, a letter on the square would not be visible.

In the 233 labelled photographs, only one square has more; its board has glare.
"""
_MIN_CLASS_PROBABILITY: Final = 0.5
"""Minimum probability of a class (a letter, or no tile) for a square to be used in measuring the brightness of that
class."""


def measure_glare(view: Image) -> Floats:
    """Return the share (0..1) of glare pixels in each square of a rectified board: `(225,)`."""
    is_glare = np.asarray(cv2.inRange(view, (_MIN_GLARE_LEVEL,) * 3, (255,) * 3), np.uint8)  # 0 or 255
    return np.asarray(cut_inner_halves(is_glare[:, :, None]).mean(axis=(1, 2)) / 255, np.float64)


def are_bright(view: Image, squares: NDArray[np.bool_]) -> bool:
    """Return True if the squares in the mask `squares` `(225,)` are so bright that glare on them cannot be recognised.

    Returns False for an empty mask.
    """
    # The 75th percentile is the level of the surface: the darker pixels may be print.
    surface_levels = np.percentile(cut_inner_halves(view)[squares].min(axis=2), 75, axis=1)
    return bool(squares.any() and np.median(surface_levels) >= _BRIGHT_LEVEL)


def hide_under_glare(chances: Floats, plain: NDArray[np.intp], board: Image, square_kinds: NDArray[np.intp]) -> None:
    """Increase the probability of being hidden for squares whose contents glare makes uncertain, in place.

    `chances` `(225, classes + 1)` are the class probabilities; the last one is that the square is hidden. `plain` are
    the indices of squares without a letter. `square_kinds` `(225,)` are the kinds of the squares, by number; kinds
    differ in colour.

    - A blank under glare may be any tile, or an empty square: the bright spot may be all that looks like a blank.
    - A letter that is partly visible may be a different letter: an O without its right side looks like a C.
    - A square that looks empty may have a tile.

    Letters stay unchanged if the tiles are so bright that glare on them cannot be recognised (`are_bright`). The
    same applies to the empty squares of each kind.
    """
    glare = measure_glare(board)
    if not glare.any():
        return
    # Move a part of the probabilities of blanks under glare, and all of it where a letter would not be visible.
    share = np.minimum(glare[plain] / _MAX_GLARE_SHARE, 1)
    chances[plain, -1] += share * chances[plain, BLANK_CLASS]
    chances[plain, BLANK_CLASS] *= 1 - share
    # Move a part of the probabilities of letters: the square of the share of glare, so that a small spot has no effect.
    letters = chances[:, :-1][:, LETTER_CLASSES]
    letter_p = letters.sum(axis=1)
    if not are_bright(board, letter_p > _MIN_CLASS_PROBABILITY):
        hidden_share = glare**2
        chances[:, -1] += hidden_share * letter_p
        letters *= (1 - hidden_share)[:, None]
    # Move the probabilities of empty squares under glare, one kind after the other.
    has_glare, is_empty = glare > _MAX_GLARE_SHARE, chances[:, NO_TILE_CLASS] > _MIN_CLASS_PROBABILITY
    for kind in np.unique(square_kinds[has_glare]):
        is_kind = square_kinds == kind
        if not are_bright(board, is_kind & is_empty):
            chances[is_kind & has_glare, -1] += chances[is_kind & has_glare, NO_TILE_CLASS]
            chances[is_kind & has_glare, NO_TILE_CLASS] = 0
