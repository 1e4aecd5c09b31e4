"""Which letter a tile shows, and which way up it lies.

A small convolutional network reads one grey crop a tile, taken where the tile's top is. Each crop is evened out by
itself, so that the tile's and the letter's colours do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import BLANK, EMPTY
from vision.geometry import Image
from vision.net import MODELS, Net
from vision.recognition.alphabets import bare, shape, spoken
from vision.recognition.tile_crops import SIDE, Spots

FEATURES: Final = 128
"""Numbers that the network makes of a crop before it names it."""
_CLEAR: Final = 0.95
"""Probability of the best letter below which a tile is looked at again."""
_BESIDE: Final = np.array([(2, 0), (-2, 0), (0, 2), (0, -2)])
"""From where: the mean of five looks, 7 % of a square apart, errs less than one look does."""
_WORTH_CUTTING: Final = 0.07
"""Squares right or down, or radians, by which a tile lies otherwise than its crop, from which on it is cut anew."""
_CUTS: Final = 2
"""So often: how far a tile slants that is well turned is told nearly at first, and well once it is nearly straight."""
_LETTERED: Final = 0.5
"""Probability of a letter from which on the network is believed where the tile is: a bare square has no middle."""
NO_TILE: Final = 0
BLANK_TILE: Final = 1
LETTERED: Final = slice(2, None)
"""Where no tile, a blank and the letters are among the classes of the network."""
_LEARNT_TURNS: Final = np.array([0.8875, 0.0375, 0.0375, 0.0375])
"""How often each turn of a tile was seen in training."""
_LAID_TURNED: Final = 0.001
"""How often players lay a tile turned by one, two or three quarters."""
_FAINTEST: Final = 6.0
"""Contrast (grey levels) that is not stretched further: a blank's grain must not be made to look like print."""


def evened(cut: Image) -> NDArray[np.float32]:
    """Even out light and contrast crop by crop: `(n, 36, 36)` to `(n, 1, 36, 36) float32`.

    Middle grey and contrast are those of the crop's inner part, which is tile; the surroundings take what comes.
    """
    edge = SIDE // 6
    inner = cut[:, edge:-edge, edge:-edge]
    grey = cut.astype(np.float32)
    contrast = grey[:, edge:-edge, edge:-edge].std(axis=(1, 2)) + np.float32(_FAINTEST)
    ranked = np.sort(
        inner.reshape(len(cut), (SIDE - 2 * edge) ** 2), axis=1, kind="stable"
    )  # bytes are sorted by counting them
    middle = ranked[:, [(ranked.shape[1] - 1) // 2, ranked.shape[1] // 2]].mean(axis=1, dtype=np.float32)
    even = np.clip((grey - middle[:, None, None]) / (2 * contrast[:, None, None]), -3, 3)[:, None]
    return np.asarray(even, np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class TileLooks:
    """What the network says of n crops; probabilities as natural logarithms."""

    letters: NDArray[np.float32]
    """`(n, classes)`: the classes of `LetterNet.classes`, for the crop as it is."""
    turns: NDArray[np.float32]
    """`(n, 4)`: that the tile stands upright once the crop is turned 0..3 quarters anticlockwise."""
    places: NDArray[np.float32]
    """`(n, 3)`: how far right and down of the crop's middle the tile's own is, in squares, and how far it is turned on
    its square, in radians clockwise; of worth where a tile is."""
    features: NDArray[np.float32]
    """`(n, 128)`: what the network makes of a crop before it names it; alike where tiles look alike."""

    def replaced(self, which: NDArray[np.intp], others: TileLooks) -> TileLooks:
        """With `others` in place of the looks of these numbers."""
        mine = TileLooks(*(getattr(self, f.name).copy() for f in fields(self)))
        for f in fields(self):
            getattr(mine, f.name)[which] = getattr(others, f.name)
        return mine

    def __add__(self, other: TileLooks) -> TileLooks:
        return TileLooks(*(np.concatenate([getattr(look, f.name) for look in (self, other)]) for f in fields(self)))


class LetterNet:
    """The network that reads tiles."""

    def __init__(self, path: Path = MODELS / "letters.onnx", net: Callable[[Path], Net] = Net) -> None:
        self._net = net(path)
        classes = self._net.facts["classes"]
        assert isinstance(classes, list)
        self.classes: Final[tuple[str, ...]] = tuple(str(c) for c in classes)
        """`.` (no tile), `?` (a blank), then the letters by their shape."""

    def look(self, cut: Image) -> TileLooks:
        """Read crops `(n, 36, 36) uint8`."""
        if not len(cut):
            none = (np.zeros((0, width), np.float32) for width in (len(self.classes), 4, 3, FEATURES))
            return TileLooks(*none)
        return self.judge(evened(cut))

    def centred(self, spots: Spots, looks: TileLooks) -> tuple[Spots, TileLooks]:
        """Cut out anew, and look again at, the tiles that lie beside the middle of their crops, or slant in them."""
        for _ in range(_CUTS):
            lettered = np.exp(looks.letters[:, LETTERED]).sum(axis=1) > _LETTERED
            here = np.flatnonzero(lettered & (np.abs(looks.places) >= _WORTH_CUTTING).any(axis=1))
            if not len(here):
                break
            spots = spots.moved(here, looks.places[here].astype(np.float64))
            looks = looks.replaced(here, self.look(spots.crops(here)))
        return spots, looks

    def look_again(
        self, spots: Spots, letters: NDArray[np.float32], within: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """`letters` of the `spots`, after more looks at those that are not clear `within` a set."""
        unclear = np.flatnonzero(among(letters, within).max(axis=1) < _CLEAR)
        if not len(unclear):
            return letters
        cut = spots.crops(np.tile(unclear, len(_BESIDE)), np.repeat(_BESIDE, len(unclear), axis=0))
        beside = self.look(cut).letters.reshape(len(_BESIDE), len(unclear), -1)
        better = letters.copy()
        better[unclear] = _log_softmax(np.concatenate([letters[None, unclear], beside]).mean(axis=0))
        return better

    def allow_turned(
        self, spots: Spots, letters: NDArray[np.float32], turns: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """`letters` of the `spots` of an upright view, with those that seem to lie turned read as they lie.

        `turns` are those of `TileLooks`. That a tile was laid upside down is so rare that only plain ones count:
        an upside down W is rather an M.
        """
        # From the shares of turns in training to those on tables.
        likely = np.exp(turns.astype(np.float64)) * ([1 - 3 * _LAID_TURNED] + [_LAID_TURNED] * 3) / _LEARNT_TURNS
        likely /= likely.sum(axis=1, keepdims=True)
        mixed = letters.copy()
        for turn in range(1, 4):
            here = np.flatnonzero(likely[:, turn] > 0.1)
            if not len(here):
                continue
            cut = np.rot90(spots.crops(here), turn, axes=(1, 2))
            share = likely[here, turn, None]
            seen = np.exp(self.look(np.ascontiguousarray(cut)).letters)
            mixed[here] = np.log((1 - share) * np.exp(mixed[here]) + share * seen + 1e-12)
        return mixed

    def judge(self, even: NDArray[np.float32]) -> TileLooks:
        """The same from `evened` crops."""
        letters, turns, places, features = self._net(even)
        return TileLooks(_log_softmax(letters), _log_softmax(turns), places, features)

    def within(self, tiles: Collection[str]) -> NDArray[np.float32]:
        """What each class counts for when these tiles are played with: `(classes, classes)`, rows of one 1 or none.

        No tile, a blank and the letters of the set count for themselves. An accented letter where the set has none
        with such a base is that base and something beside it, a dimple or dirt; other letters count for nothing.
        """
        return _counted(self.classes, frozenset(tiles))

    def names(self, tiles: Collection[str]) -> tuple[str, ...]:
        """The classes, each called as the tile set calls it."""
        return spoken(self.classes, tuple(tiles))

    def unknown(self, tiles: Collection[str]) -> tuple[str, ...]:
        """Tiles of a set that the network has not learnt."""
        return tuple(sorted(t for t in tiles if shape(t) not in self.classes))


@lru_cache(maxsize=8)
def _counted(classes: tuple[str, ...], tiles: frozenset[str]) -> NDArray[np.float32]:
    possible = {EMPTY, BLANK, *map(shape, tiles)}
    accented = {bare(name) for name in possible if bare(name) != name}
    counted = np.zeros((len(classes), len(classes)), np.float32)
    for k, name in enumerate(classes):
        as_name = name if name in possible else bare(name)
        if as_name in possible.intersection(classes) and (as_name == name or as_name not in accented):
            counted[k, classes.index(as_name)] = 1
    counted.flags.writeable = False  # the same for whoever asks
    return counted


def among(letters: NDArray[np.float32], within: NDArray[np.float32]) -> NDArray[np.float64]:
    """Probabilities `(n, classes)` of the letters of a tile set, from logarithms of those of all letters."""
    counted = np.exp(letters.astype(np.float64)) @ within + 1e-9 * within.any(axis=0)
    return np.asarray(counted / counted.sum(axis=1, keepdims=True), np.float64)


def _log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)), np.float32)
