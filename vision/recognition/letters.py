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
from vision.net import MODELS_DIR, Net
from vision.recognition.alphabets import letter_shape, map_classes_to_tiles, strip_accent
from vision.recognition.tile_crops import CROP_SIDE_PX, TilePoses

FEATURE_COUNT: Final = 128
"""Numbers that the network makes of a crop before it names it."""
_MIN_CLEAR_PROBABILITY: Final = 0.95
"""Probability of the best letter below which a tile is looked at again."""
_AUGMENTATION_OFFSETS_PX: Final = np.array([(2, 0), (-2, 0), (0, 2), (0, -2)])
"""From where: the mean of five looks, 7 % of a square apart, errs less than one look does."""
_MIN_RECUT_OFFSET: Final = 0.07
"""Squares right or down, or radians, by which a tile lies otherwise than its crop, from which on it is cut anew."""
_MAX_RECUTS: Final = 2
"""So often: how far a tile slants that is well turned is told nearly at first, and well once it is nearly straight."""
_MIN_LETTER_PROBABILITY: Final = 0.5
"""Probability of a letter from which on the network is believed where the tile is: a bare square has no middle."""
NO_TILE_CLASS: Final = 0
BLANK_CLASS: Final = 1
LETTER_CLASSES: Final = slice(2, None)
"""Where no tile, a blank and the letters are among the classes of the network."""
_TRAINING_TURN_SHARES: Final = np.array([0.8875, 0.0375, 0.0375, 0.0375])
"""How often each turn of a tile was seen in training."""
_TURNED_TILE_RATE: Final = 0.001
"""How often players lay a tile turned by one, two or three quarters."""
_MIN_CONTRAST: Final = 6.0
"""Contrast (grey levels) that is not stretched further: a blank's grain must not be made to look like print."""


def normalise_contrast(cut: Image) -> NDArray[np.float32]:
    """Even out light and contrast crop by crop: `(n, 36, 36)` to `(n, 1, 36, 36) float32`.

    Middle grey and contrast are those of the crop's inner part, which is tile; the surroundings take what comes.
    """
    edge = CROP_SIDE_PX // 6
    inner = cut[:, edge:-edge, edge:-edge]
    grey = cut.astype(np.float32)
    contrast = grey[:, edge:-edge, edge:-edge].std(axis=(1, 2)) + np.float32(_MIN_CONTRAST)
    ranked = np.sort(
        inner.reshape(len(cut), (CROP_SIDE_PX - 2 * edge) ** 2), axis=1, kind="stable"
    )  # bytes are sorted by counting them
    middle = ranked[:, [(ranked.shape[1] - 1) // 2, ranked.shape[1] // 2]].mean(axis=1, dtype=np.float32)
    even = np.clip((grey - middle[:, None, None]) / (2 * contrast[:, None, None]), -3, 3)[:, None]
    return np.asarray(even, np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class TilePredictions:
    """What the network says of n crops; probabilities as natural logarithms."""

    letters: NDArray[np.float32]
    """`(n, classes)`: the classes of `LetterNet.classes`, for the crop as it is."""
    turns: NDArray[np.float32]
    """`(n, 4)`: that the tile stands upright once the crop is turned 0..3 quarters anticlockwise."""
    pose_offsets: NDArray[np.float32]
    """`(n, 3)`: how far right and down of the crop's middle the tile's own is, in squares, and how far it is turned on
    its square, in radians clockwise; of worth where a tile is."""
    features: NDArray[np.float32]
    """`(n, 128)`: what the network makes of a crop before it names it; alike where tiles look alike."""

    def replace_at(self, which: NDArray[np.intp], others: TilePredictions) -> TilePredictions:
        """With `others` in place of the looks of these numbers."""
        mine = TilePredictions(*(getattr(self, f.name).copy() for f in fields(self)))
        for f in fields(self):
            getattr(mine, f.name)[which] = getattr(others, f.name)
        return mine

    def __add__(self, other: TilePredictions) -> TilePredictions:
        return TilePredictions(
            *(np.concatenate([getattr(look, f.name) for look in (self, other)]) for f in fields(self))
        )


class LetterNet:
    """The network that reads tiles."""

    def __init__(self, path: Path = MODELS_DIR / "letters.onnx", load_net: Callable[[Path], Net] = Net) -> None:
        self._net = load_net(path)
        classes = self._net.metadata["classes"]
        assert isinstance(classes, list)
        self.classes: Final[tuple[str, ...]] = tuple(str(c) for c in classes)
        """`.` (no tile), `?` (a blank), then the letters by their shape."""

    def predict(self, cut: Image) -> TilePredictions:
        """Read crops `(n, 36, 36) uint8`."""
        if not len(cut):
            none = (np.zeros((0, width), np.float32) for width in (len(self.classes), 4, 3, FEATURE_COUNT))
            return TilePredictions(*none)
        return self.predict_normalised(normalise_contrast(cut))

    def recentre_tiles(self, spots: TilePoses, looks: TilePredictions) -> tuple[TilePoses, TilePredictions]:
        """Cut out anew, and look again at, the tiles that lie beside the middle of their crops, or slant in them."""
        for _ in range(_MAX_RECUTS):
            lettered = np.exp(looks.letters[:, LETTER_CLASSES]).sum(axis=1) > _MIN_LETTER_PROBABILITY
            here = np.flatnonzero(lettered & (np.abs(looks.pose_offsets) >= _MIN_RECUT_OFFSET).any(axis=1))
            if not len(here):
                break
            spots = spots.shift_tiles(here, looks.pose_offsets[here].astype(np.float64))
            looks = looks.replace_at(here, self.predict(spots.cut_crops(here)))
        return spots, looks

    def predict_augmented(
        self, spots: TilePoses, letters: NDArray[np.float32], within: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """`letters` of the `spots`, after more looks at those that are not clear `within` a set."""
        unclear = np.flatnonzero(restrict_to_alphabet(letters, within).max(axis=1) < _MIN_CLEAR_PROBABILITY)
        if not len(unclear):
            return letters
        cut = spots.cut_crops(
            np.tile(unclear, len(_AUGMENTATION_OFFSETS_PX)), np.repeat(_AUGMENTATION_OFFSETS_PX, len(unclear), axis=0)
        )
        beside = self.predict(cut).letters.reshape(len(_AUGMENTATION_OFFSETS_PX), len(unclear), -1)
        better = letters.copy()
        better[unclear] = _log_softmax(np.concatenate([letters[None, unclear], beside]).mean(axis=0))
        return better

    def marginalise_turns(
        self, spots: TilePoses, letters: NDArray[np.float32], turns: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """`letters` of the `spots` of an upright view, with those that seem to lie turned read as they lie.

        `turns` are those of `TilePredictions`. That a tile was laid upside down is so rare that only plain ones count:
        an upside down W is rather an M.
        """
        # From the shares of turns in training to those on tables.
        likely = (
            np.exp(turns.astype(np.float64))
            * ([1 - 3 * _TURNED_TILE_RATE] + [_TURNED_TILE_RATE] * 3)
            / _TRAINING_TURN_SHARES
        )
        likely /= likely.sum(axis=1, keepdims=True)
        mixed = letters.copy()
        for turn in range(1, 4):
            here = np.flatnonzero(likely[:, turn] > 0.1)
            if not len(here):
                continue
            cut = np.rot90(spots.cut_crops(here), turn, axes=(1, 2))
            share = likely[here, turn, None]
            seen = np.exp(self.predict(np.ascontiguousarray(cut)).letters)
            mixed[here] = np.log((1 - share) * np.exp(mixed[here]) + share * seen + 1e-12)
        return mixed

    def predict_normalised(self, even: NDArray[np.float32]) -> TilePredictions:
        """The same from `normalise_contrast` crops."""
        letters, turns, places, features = self._net(even)
        return TilePredictions(_log_softmax(letters), _log_softmax(turns), places, features)

    def alphabet_matrix(self, tiles: Collection[str]) -> NDArray[np.float32]:
        """What each class counts for when these tiles are played with: `(classes, classes)`, rows of one 1 or none.

        No tile, a blank and the letters of the set count for themselves. An accented letter where the set has none
        with such a base is that base and something beside it, a dimple or dirt; other letters count for nothing.
        """
        return _build_alphabet_matrix(self.classes, frozenset(tiles))

    def class_symbols(self, tiles: Collection[str]) -> tuple[str, ...]:
        """The classes, each called as the tile set calls it."""
        return map_classes_to_tiles(self.classes, tuple(tiles))

    def unsupported_tiles(self, tiles: Collection[str]) -> tuple[str, ...]:
        """Tiles of a set that the network has not learnt."""
        return tuple(sorted(t for t in tiles if letter_shape(t) not in self.classes))


@lru_cache(maxsize=8)
def _build_alphabet_matrix(classes: tuple[str, ...], tiles: frozenset[str]) -> NDArray[np.float32]:
    possible = {EMPTY, BLANK, *map(letter_shape, tiles)}
    accented = {strip_accent(name) for name in possible if strip_accent(name) != name}
    counted = np.zeros((len(classes), len(classes)), np.float32)
    for k, name in enumerate(classes):
        as_name = name if name in possible else strip_accent(name)
        if as_name in possible.intersection(classes) and (as_name == name or as_name not in accented):
            counted[k, classes.index(as_name)] = 1
    counted.flags.writeable = False  # the same for whoever asks
    return counted


def restrict_to_alphabet(letters: NDArray[np.float32], within: NDArray[np.float32]) -> NDArray[np.float64]:
    """Probabilities `(n, classes)` of the letters of a tile set, from logarithms of those of all letters."""
    counted = np.exp(letters.astype(np.float64)) @ within + 1e-9 * within.any(axis=0)
    return np.asarray(counted / counted.sum(axis=1, keepdims=True), np.float64)


def _log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)), np.float32)
