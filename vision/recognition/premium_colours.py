"""Measure the colours of the printed premium squares in a picture of a board."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image
from vision.recognition.views import VIEW_PX_PER_SQUARE, split_squares

_RING_PX: Final = 2, 4
"""Minimum and maximum distance of sampled pixels from the edge of a square. The lines of the board are nearer to the
edge, and the text of a premium square is further inside."""
_MIN_SQUARES: Final = 2
"""Minimum number of empty squares of a kind to measure its colour; a hand or a reflection may cover one of them."""
_WHITE_PERCENTILE: Final = 97
_WHITE_LEVEL: Final = 235.0
"""Level (0..255) to which the brightest parts of the board are scaled, because pictures are often too dark."""
_MAX_GAIN: Final = 2.5
"""Maximum factor by which the brightness is scaled; a picture that needs a larger factor is too noisy for reliable
colours."""


def sample_premium_colours(
    view: Image, empty: NDArray[np.bool_], premiums: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Return the colour `#rrggbb` of each kind of premium square, as pairs (premium, colour) sorted by premium.

    `view` is the image from `rectify_board`, `empty` `(225,)` marks empty squares, and `premiums` are the premiums of
    the 225 squares (`""` for none). Brightness is normalised, the hue is not. The result is empty if the picture is too
    dark, or if tiles cover nearly all squares of one kind.
    """
    colours = np.median(_cut_rings(view), axis=1)
    white = float(np.percentile(view.max(axis=2), _WHITE_PERCENTILE))
    gain = max(1.0, _WHITE_LEVEL / max(white, 1.0))
    names = np.array(premiums)
    kinds = sorted(set(premiums) - {""})
    if gain > _MAX_GAIN or any((empty & (names == kind)).sum() < _MIN_SQUARES for kind in kinds):
        return ()
    return tuple((kind, _format_colour(gain * np.median(colours[empty & (names == kind)], axis=0))) for kind in kinds)


def _cut_rings(view: Image) -> Image:
    """Return the pixels near the edge of each square: `(225, n, 3) uint8`."""
    start, end = _RING_PX
    ring = np.zeros((VIEW_PX_PER_SQUARE, VIEW_PX_PER_SQUARE), np.bool_)
    ring[start:-start, start:-start] = True
    ring[end:-end, end:-end] = False
    return split_squares(view)[:, :, ring].reshape(BOARD_SIZE**2, -1, 3)


def _format_colour(bgr: Floats) -> str:
    blue, green, red = np.clip(np.round(bgr), 0, 255).astype(int)
    return f"#{red:02x}{green:02x}{blue:02x}"
