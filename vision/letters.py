"""Which letter a tile shows, and which way up it lies.

A small convolutional network reads one grey crop a tile, taken where the tile's top is. Each crop is evened out by
itself, so that the tile's and the letter's colours do not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import BLANK, EMPTY
from vision.alphabets import shape, spoken
from vision.geometry import TILE_HEIGHT, BoardPose, Image, rectify
from vision.net import MODELS, Net

SCALE: Final = 28
"""Pixels a square."""
SIDE: Final = 36
"""Pixels of a crop: the square and a little more, for tiles beside their squares."""
FEATURES: Final = 128
"""Numbers that the network makes of a crop before it names it."""
MARGIN: Final = 0.25
_FIRST: Final = round(SCALE * MARGIN) - (SIDE - SCALE) // 2
_CLEAR: Final = 0.95
"""Probability of the best letter below which a tile is looked at again."""
_BESIDE: Final = ((2, 0), (-2, 0), (0, 2), (0, -2))
"""From where: the mean of five looks, 7 % of a square apart, is right where a corner of the grid was a little off."""
_FAINTEST: Final = 6.0
"""Contrast (grey levels) that is not stretched further: a blank's grain must not be made to look like print."""


def tops_view(image: Image, pose: BoardPose) -> Image:
    """The plane of the tile tops in grey, `(434, 434) uint8`."""
    return rectify(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).astype(np.uint8), pose.plane(TILE_HEIGHT), SCALE, MARGIN)


def crops(view: Image, cells: Sequence[tuple[int, int]], shift: tuple[int, int] = (0, 0)) -> Image:
    """Cut `(row, column)` squares from a `tops_view`, `shift` pixels further down and right: `(n, 36, 36) uint8`."""
    down, right = _FIRST + shift[0], _FIRST + shift[1]
    starts = [(down + SCALE * row, right + SCALE * column) for row, column in cells]
    cut = [view[y : y + SIDE, x : x + SIDE] for y, x in starts]
    return np.stack(cut) if cut else np.zeros((0, SIDE, SIDE), np.uint8)


def evened(cut: Image) -> NDArray[np.float32]:
    """Even out light and contrast crop by crop: `(n, 36, 36)` to `(n, 1, 36, 36) float32`.

    Middle grey and contrast are those of the crop's inner part, which is tile; the surroundings take what comes.
    """
    grey = cut.astype(np.float32)
    edge = SIDE // 6
    inner = grey[:, edge:-edge, edge:-edge]
    middle = np.median(inner, axis=(1, 2), keepdims=True)
    contrast = inner.std(axis=(1, 2), keepdims=True) + np.float32(_FAINTEST)
    even = np.clip((grey - middle) / (2 * contrast), -3, 3)[:, None]
    return np.asarray(even, np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class TileLooks:
    """What the network says of n crops, as natural logarithms of probabilities."""

    letters: NDArray[np.float32]
    """`(n, classes)`: the classes of `LetterNet.classes`, for the crop as it is."""
    turns: NDArray[np.float32]
    """`(n, 4)`: that the tile stands upright once the crop is turned 0..3 quarters anticlockwise."""
    features: NDArray[np.float32]
    """`(n, 128)`: what the network makes of a crop before it names it; alike where tiles look alike."""


class LetterNet:
    """The network that reads tiles."""

    def __init__(self, path: Path = MODELS / "letters.onnx") -> None:
        self._net = Net(path)
        classes = self._net.facts["classes"]
        assert isinstance(classes, list)
        self.classes: Final[tuple[str, ...]] = tuple(str(c) for c in classes)
        """`.` (no tile), `?` (a blank), then the letters by their shape."""

    def look(self, cut: Image) -> TileLooks:
        """Read crops `(n, 36, 36) uint8`."""
        if not len(cut):
            none = (np.zeros((0, width), np.float32) for width in (len(self.classes), 4, FEATURES))
            return TileLooks(*none)
        return self.judge(evened(cut))

    def look_again(
        self, view: Image, cells: Sequence[tuple[int, int]], letters: NDArray[np.float32], mask: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """`letters` of the `cells` of a `tops_view`, after more looks at those that none of `mask` is clear for."""
        unclear = np.flatnonzero(np.exp(letters[:, mask].max(axis=1)) < _CLEAR) if cells else np.zeros(0, int)
        if not len(unclear):
            return letters
        again = [cells[int(i)] for i in unclear]
        looks = self.look(np.concatenate([crops(view, again, shift) for shift in _BESIDE])).letters
        beside = looks.reshape(len(_BESIDE), len(again), -1)
        better = letters.copy()
        better[unclear] = _log_softmax(np.concatenate([letters[None, unclear], beside]).mean(axis=0))
        return better

    def judge(self, even: NDArray[np.float32]) -> TileLooks:
        """The same from `evened` crops."""
        letters, turns, *more = self._net(even)
        features = more[0] if more else np.zeros((len(even), FEATURES), np.float32)
        return TileLooks(_log_softmax(letters), _log_softmax(turns), features)

    def mask(self, tiles: Collection[str]) -> NDArray[np.bool_]:
        """Which classes can be: no tile, a blank, and the letters of a tile set."""
        possible = {EMPTY, BLANK, *map(shape, tiles)}
        return np.array([c in possible for c in self.classes])

    def names(self, tiles: Collection[str]) -> tuple[str, ...]:
        """The classes, each called as the tile set calls it."""
        return spoken(self.classes, tiles)

    def unknown(self, tiles: Collection[str]) -> tuple[str, ...]:
        """Tiles of a set that the network has not learnt."""
        return tuple(sorted(t for t in tiles if shape(t) not in self.classes))


def _log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)), np.float32)
