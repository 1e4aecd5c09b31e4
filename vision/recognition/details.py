"""Read the accents and values of tiles, whose details are lost in the crops of the letter network.

The detail network takes a crop with 48 pixels a square, cut from the picture itself. It says which kind of accent the
letter has, and which value is printed on the tile. The values tell letters of the tile set apart (Ź 9, Ż 5, Z 1), if
the tiles of the picture show that they have the values of the set.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import TILE_HEIGHT_SQUARES, BoardPose, Floats, Image, reduce_image
from vision.net import MODELS_DIR, Net
from vision.recognition.alphabet import letter_shape, strip_accent

DETAIL_PX_PER_SQUARE: Final = 48
"""Resolution of the detail network's input, in pixels per square."""
DETAIL_SIDE_PX: Final = 56
"""Side of the detail network's input in pixels."""
NO_ACCENT: Final = "none"
NO_VALUE: Final = "none"
OTHER_VALUE: Final = "other"
"""`NO_VALUE` and `OTHER_VALUE`: kinds of a tile without a value, and of one with something else, as a Roman numeral."""
VALUE_KINDS: Final = (NO_VALUE, *map(str, range(11)), OTHER_VALUE)
"""Kinds of printed values, in the order of the network's output."""
ACCENT_KINDS: Final = (
    NO_ACCENT,
    "acute",
    "breve",
    "caron",
    "cedilla",
    "circumflex",
    "diaeresis",
    "dot",
    "double acute",
    "macron",
    "ogonek",
    "ring",
    "stroke",
    "tilde",
)
"""Kinds of accents, in the order of the network's output. Both commas and cedillas below are `cedilla`."""
_ACCENT_NAMES: Final = {
    "ACUTE ACCENT": "acute",
    "CIRCUMFLEX ACCENT": "circumflex",
    "DOT ABOVE": "dot",
    "DOUBLE ACUTE ACCENT": "double acute",
    "RING ABOVE": "ring",
}
"""Kinds of accents by their Unicode names, for the names that differ from the kind."""
_LETTER_WEIGHT, _ACCENT_WEIGHT = 0.6, 0.6
"""Weights of the log-probabilities of the letter networks and of the detail network for letters that differ only by
their accent. They are below 1, because both have seen the same print; fitted on rendered boards in typefaces that no
training used."""
_OWN_VALUES_NATS: Final = 2.0
"""Prior log-odds that the tiles have the values of a set with their letters."""
_MIN_RATIO: Final = 0.05
"""Minimum likelihood ratio of a value: a value may be worn, or covered by glare."""
_MIN_CONTRAST: Final = 6.0
"""Grey levels added to the contrast of a crop, so that the grain of a blank is not amplified."""
_INNER_PART: Final = slice(DETAIL_SIDE_PX // 6, -DETAIL_SIDE_PX // 6)
"""Rows, and columns, of a crop from which its contrast is measured."""


@lru_cache(maxsize=512)
def find_accent_kind(name: str) -> str | None:
    """Return the kind of accent of a letter shape, one of `ACCENT_KINDS`; None for a shape of several characters.

    >>> find_accent_kind("Ź"), find_accent_kind("Z"), find_accent_kind("Ł")
    ('acute', 'none', 'stroke')
    """
    if len(name) != 1:
        return None
    marks = unicodedata.normalize("NFD", name)[1:]
    if not marks:
        return NO_ACCENT if strip_accent(name) == name else "stroke"
    kind = unicodedata.name(marks[0]).removeprefix("COMBINING ")
    return _ACCENT_NAMES.get(kind, kind.lower())


@lru_cache(maxsize=8)
def group_accents(classes: tuple[str, ...], tiles: frozenset[str]) -> tuple[tuple[int, ...], ...]:
    """Return the indices of the classes in `tiles` that differ only by their accent, one tuple for each base letter."""
    possible = set(map(letter_shape, tiles))
    groups: dict[str, list[int]] = {}
    for k, name in enumerate(classes):
        if name in possible and find_accent_kind(name) is not None:
            groups.setdefault(strip_accent(name), []).append(k)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def refine_accents(
    letters_logp: NDArray[np.float32],
    accents_logp: NDArray[np.float32],
    classes: Sequence[str],
    groups: Sequence[Sequence[int]],
) -> NDArray[np.float32]:
    """Return the log-probabilities of the letters of n tiles, `(n, classes)`, with the evidence of their accents.

    `accents_logp` `(n, 14)` are the log-likelihoods of the accents, `groups` the result of `group_accents`. Only the
    shares of letters that differ by their accent change.
    """
    refined = letters_logp.copy()
    for group in map(list, groups):
        kinds = [ACCENT_KINDS.index(find_accent_kind(classes[k]) or NO_ACCENT) for k in group]
        total = np.logaddexp.reduce(letters_logp[:, group], axis=1, keepdims=True)
        accents = accents_logp[:, kinds] - np.logaddexp.reduce(accents_logp[:, kinds], axis=1, keepdims=True)
        mixed = _LETTER_WEIGHT * (letters_logp[:, group] - total) + _ACCENT_WEIGHT * accents
        refined[:, group] = total + mixed - np.logaddexp.reduce(mixed, axis=1, keepdims=True)
    return refined


def weigh_values(letters_p: Floats, values_logp: NDArray[np.float32], set_values: NDArray[np.int64]) -> Floats:
    """Return the factors `(n, classes)` by which the values printed on n tiles change the odds of their letters.

    `letters_p` `(n, classes)` are the probabilities of the letters without the values, `values_logp` `(n, 13)` the
    log-likelihoods of the values, and `set_values` `(sets, classes)` the indices in `VALUE_KINDS` of the values in each
    tile set with these letters, -1 if unknown. The n tiles together show how probable each set is, and how probable it
    is that their values say nothing, because they are those of another game or cannot be read.
    """
    likelihoods = np.exp(values_logp - values_logp.max(axis=1, keepdims=True)).astype(np.float64)
    likelihoods /= likelihoods.mean(axis=1, keepdims=True)
    # Likelihood ratios (sets, n, classes) of the value of each letter and of any value.
    ratios = np.where(set_values[:, None] >= 0, np.maximum(likelihoods[:, set_values].swapaxes(0, 1), _MIN_RATIO), 1.0)
    evidence = np.log((letters_p * ratios).sum(axis=2) / letters_p.sum(axis=1)).sum(axis=1)
    odds = np.exp(np.append(evidence - np.log(max(len(set_values), 1)), -_OWN_VALUES_NATS))
    shares = odds / odds.sum()
    return np.asarray(np.tensordot(shares[:-1], ratios, axes=1) + shares[-1], np.float64)


def measure_missing_values(values_logp: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the log-likelihood ratios `(n,)` of no value and of any value, from `values_logp` `(n, 13)`."""
    any_value = np.logaddexp.reduce(values_logp[:, 1:], axis=1) - np.float32(np.log(len(VALUE_KINDS) - 1))
    return np.asarray(values_logp[:, 0] - any_value, np.float32)


def normalise_details(crops: Image) -> NDArray[np.float32]:
    """Normalise brightness and contrast of each crop `(n, 56, 56) uint8`; return network input `(n, 1, 56, 56)`."""
    grey = crops.astype(np.float32)
    inner = grey[:, _INNER_PART, _INNER_PART]
    middle, contrast = inner.mean(axis=(1, 2)), inner.std(axis=(1, 2)) + np.float32(_MIN_CONTRAST)
    normalised = np.clip((grey - middle[:, None, None]) / (2 * contrast[:, None, None]), -3, 3)
    return np.asarray(normalised[:, None], np.float32)


def cut_detail_crops(
    image: Image, pose: BoardPose, cells: Sequence[tuple[int, int]], poses: Floats, side: int = DETAIL_SIDE_PX
) -> Image:
    """Return grey crops `(n, side, side) uint8` of the tops of n tiles, with `DETAIL_PX_PER_SQUARE`.

    `cells` are the squares (row, column) of the upright board at `pose` in `image`, and `poses` `(n, 3)` the shifts and
    rotations of the tiles (`TilePoses.poses`).
    """
    picture, to_picture = reduce_image(image, pose.plane_homography(TILE_HEIGHT_SQUARES), DETAIL_PX_PER_SQUARE)
    crops = np.empty((len(cells), side, side), np.uint8)
    for k, ((row, column), (right, down, turn)) in enumerate(zip(cells, poses.tolist(), strict=True)):
        to_board = _place_crop(column + 0.5 + right, row + 0.5 + down, turn, side)
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        cut = cv2.warpPerspective(
            picture, to_picture @ to_board, (side, side), flags=flags, borderMode=cv2.BORDER_REPLICATE
        )
        crops[k] = cv2.cvtColor(cut, cv2.COLOR_BGR2GRAY)
    return crops


def _place_crop(x: float, y: float, turn: float, side: int) -> Floats:
    """Return the homography `(3, 3)` from the pixels of a crop to squares; (x, y) is its centre, `turn` in radians."""
    half, scale = (side - 1) / 2, 1 / DETAIL_PX_PER_SQUARE
    cos, sin = scale * np.cos(turn), scale * np.sin(turn)
    return np.array([[cos, -sin, x - half * (cos - sin)], [sin, cos, y - half * (sin + cos)], [0.0, 0.0, 1.0]])


class DetailNet:
    """Neural network that classifies the accent and the printed value of tiles."""

    def __init__(self, path: Path = MODELS_DIR / "details.onnx") -> None:
        self._net = Net(path)

    def predict(self, crops: Image) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Read n crops `(n, 56, 56)`: return log-likelihoods of the accents `(n, 14)`, and of the values `(n, 13)`.

        Those of accents are only comparable among letters of the same base.
        """
        return self.predict_normalised(normalise_details(crops))

    def predict_normalised(self, crops: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the log-likelihoods of accents `(n, 14)` and of values `(n, 13)` on `(n, 1, 56, 56)` crops.

        The crops are from `normalise_details`.
        """
        accents, values = self._net(crops)
        return accents, values
