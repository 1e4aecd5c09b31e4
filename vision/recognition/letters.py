"""Predict the letter, rotation and position of tiles.

The input of a small convolutional network is a grey crop of the top of each tile. Each crop is normalised separately,
so that the colours of tile and letter have no effect.

The letters А (Cyrillic), Α (Greek) and A (Latin) share one class of the network, called a letter shape. The alphabet of
the tile set determines which letter a shape stands for.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import BLANK, EMPTY
from vision.geometry import Image
from vision.net import MODELS_DIR, Net
from vision.recognition.views import CROP_SIDE_PX, TilePoses

_CYRILLIC: Final = zip("АВЕКМНОРСТХІ", "ABEKMHOPCTXI", strict=True)
_GREEK: Final = zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧΓΠΦ", "ABEZHIKMNOPTYXГПФ", strict=True)
_SHAPES: Final = dict([*_CYRILLIC, *_GREEK])
_STROKED_TO_BASE: Final = {"Ł": "L", "Đ": "D", "Ø": "O", "Ґ": "Г"}
"""Base letters of letters with a stroke: Unicode does not decompose these (normal form NFD)."""


def letter_shape(tile: str) -> str:
    """Return the shape of a tile: usually the tile itself, but `A` for the Cyrillic and Greek A, which look like it."""
    return _SHAPES.get(tile, tile)


def strip_accent(name: str) -> str:
    """Return the letter shape of `name` without accent or stroke; a name of several characters is unchanged."""
    return letter_shape(_STROKED_TO_BASE.get(name) or unicodedata.normalize("NFD", name)[0]) if len(name) == 1 else name


@lru_cache(maxsize=8)
def map_classes_to_tiles(classes: tuple[str, ...], tiles: tuple[str, ...]) -> tuple[str, ...]:
    """Return, for each of `classes` (letter shapes), the tile of this shape among `tiles`, or the class itself."""
    own = {letter_shape(tile): tile for tile in tiles}
    return tuple(own.get(name, name) for name in classes)


FEATURE_COUNT: Final = 128
"""Number of features per crop: the input of the last layer for the letter classes."""
_MIN_CLEAR_PROBABILITY: Final = 0.95
"""Minimum probability of a clear letter. For less clear tiles, predictions are averaged over shifted crops."""
_AUGMENTATION_OFFSETS_PX: Final = np.array([(2, 2), (-2, -2)])
"""Shifts (down, right) of the additional crops of an unclear tile, in pixels: 2 pixels are 7 % of a square. The mean of
three predictions has fewer errors than one prediction. More shifts do not reduce them further."""
_MIN_RECUT_OFFSET: Final = 0.07
"""Minimum offset of a tile (in squares) or rotation (in radians) for which its crop is corrected."""
_MAX_RECUTS: Final = 2
"""Maximum number of corrections of a crop. A second one helps, because large rotations are predicted less
accurately."""
_MIN_LETTER_PROBABILITY: Final = 0.5
"""Minimum probability that a crop shows a letter, for its predicted offset to be used: an empty square has no
offset."""
_MIN_FOREIGN_PROBABILITY: Final = 0.9
"""Minimum total probability of the accented letters outside the tile set; a tile above it counts as one of these
letters."""
SIMILARITY_KEY: Final = "similarity_weights"
"""Key of the network's metadata for the weights with which tiles are compared (`similarity_weights`)."""
SIMILARITY_WEIGHTS: Final = (10.8, -0.2, -0.5)
"""Weights (nats) of the features from `vision.recognition.similarity.compute_letter_evidence`: similarity, doubt and
length.

They are used for a network without weights of its own. `vision.training.fit_tile_similarity` fits these weights for a
network, and training stores them in its metadata.
"""
NO_TILE_CLASS: Final = 0
BLANK_CLASS: Final = 1
_PLAIN_CLASSES: Final = slice(2)
"""Slice of the network's classes that have no letter: `NO_TILE_CLASS` and `BLANK_CLASS`."""
LETTER_CLASSES: Final = slice(2, None)
"""Slice of the network's classes that are letters."""
TILE_CLASSES: Final = slice(1, None)
"""Slice of the network's classes that are symbols of tiles: `BLANK_CLASS` and the letters."""
_TRAINING_TURN_SHARES: Final = np.array([0.8875, 0.0375, 0.0375, 0.0375])
"""Shares of tiles rotated by 0 to 3 quarter turns in the training data."""
_TURNED_TILE_RATE: Final = 0.001
"""Assumed probability that a player placed a tile rotated, separately for 1, 2 and 3 quarter turns."""
_MIN_CONTRAST: Final = 6.0
"""Grey levels added to the contrast of a crop. The crop is divided by the sum, so that the grain of a blank is not
amplified."""


def normalise_contrast(cut: Image) -> NDArray[np.float32]:
    """Normalise brightness and contrast of each crop: `(n, 36, 36) uint8` to `(n, 1, 36, 36) float32` in -3..3.

    The median and the standard deviation are measured on the inner part of the crop, which shows only the tile.
    """
    edge = CROP_SIDE_PX // 6
    inner = cut[:, edge:-edge, edge:-edge]
    grey = cut.astype(np.float32)
    contrast = grey[:, edge:-edge, edge:-edge].std(axis=(1, 2)) + np.float32(_MIN_CONTRAST)
    ranked = np.sort(
        inner.reshape(len(cut), (CROP_SIDE_PX - 2 * edge) ** 2), axis=1, kind="stable"
    )  # for uint8, numpy's stable sort is a fast radix sort
    middle = ranked[:, [(ranked.shape[1] - 1) // 2, ranked.shape[1] // 2]].mean(axis=1, dtype=np.float32)
    even = np.clip((grey - middle[:, None, None]) / (2 * contrast[:, None, None]), -3, 3)[:, None]
    return np.asarray(even, np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class TilePredictions:
    """Outputs of the letter network for n crops, as parallel arrays."""

    letters: NDArray[np.float32]
    """`(n, classes)`: log-probabilities of the classes `LetterNet.classes`, under the assumption of an upright tile."""
    turns: NDArray[np.float32]
    """`(n, 4)`: log-probabilities that the tile becomes upright if the crop is rotated by 0..3 quarter turns
    anticlockwise."""
    pose_offsets: NDArray[np.float32]
    """`(n, 3)`: offset (right, down) of the tile from the centre of its crop, in squares, and clockwise rotation of the
    tile in radians. Undefined for crops without a tile."""
    features: NDArray[np.float32]
    """`(n, 128)`: feature vectors. Tiles that look similar have similar vectors."""

    def replace_at(self, which: NDArray[np.intp], others: TilePredictions) -> TilePredictions:
        """Return a copy with other predictions at the indices `which`: the rows of `others`."""
        mine = TilePredictions(*(getattr(self, f.name).copy() for f in fields(self)))
        for f in fields(self):
            getattr(mine, f.name)[which] = getattr(others, f.name)
        return mine

    def select(self, rows: Sequence[int]) -> TilePredictions:
        """Return the predictions of the rows with the given indices."""
        which = np.array(rows, np.intp)
        return TilePredictions(*(getattr(self, f.name)[which] for f in fields(self)))

    def __add__(self, other: TilePredictions) -> TilePredictions:
        return TilePredictions(*(np.concatenate([getattr(x, f.name) for x in (self, other)]) for f in fields(self)))


class LetterNet:
    """Neural network that classifies the letter and the rotation of tile crops, and predicts the tile's offset."""

    def __init__(self, path: Path = MODELS_DIR / "letters.onnx", load_net: Callable[[Path], Net] = Net) -> None:
        self._net = load_net(path)
        classes = self._net.metadata["classes"]
        assert isinstance(classes, list)
        self.classes: Final[tuple[str, ...]] = tuple(str(c) for c in classes)
        """Classes in the order of the network's outputs: `.` (no tile), `?` (a blank), then one letter per shape."""
        weights = self._net.metadata.get(SIMILARITY_KEY, SIMILARITY_WEIGHTS)
        assert isinstance(weights, Sequence)
        self.similarity_weights: Final[tuple[float, ...]] = tuple(float(w) for w in weights)
        """Weights for `refine_by_similarity`, from the metadata of the network."""

    def predict(self, cut: Image) -> TilePredictions:
        """Run the network on grey crops `(n, 36, 36) uint8`."""
        if not len(cut):
            none = (np.zeros((0, width), np.float32) for width in (len(self.classes), 4, 3, FEATURE_COUNT))
            return TilePredictions(*none)
        return self.predict_normalised(normalise_contrast(cut))

    def recentre_tiles(self, spots: TilePoses, looks: TilePredictions) -> tuple[TilePoses, TilePredictions]:
        """Correct the crops of tiles that are off-centre or rotated, and run the network on the new crops.

        `looks` are the predictions for the crops of `spots`. Returns the corrected poses and predictions.
        """
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
        """Average the letter predictions of unclear tiles over shifted crops; return log-probabilities `(n, classes)`.

        `letters` `(n, classes)` are the log-probabilities for the tiles `spots`. `within` is a matrix from
        `alphabet_matrix`.

        A tile is clear if its best letter in this alphabet has a high probability, or if the two classes without a
        letter (no tile and blank) together have a high probability. `fusion` later distinguishes no tile from blank.
        """
        letters_p = restrict_to_alphabet(letters, within)
        best_p = np.maximum(letters_p[:, LETTER_CLASSES].max(axis=1), letters_p[:, _PLAIN_CLASSES].sum(axis=1))
        unclear = np.flatnonzero(best_p < _MIN_CLEAR_PROBABILITY)
        if not len(unclear):
            return letters
        shifts = _AUGMENTATION_OFFSETS_PX
        cut = spots.cut_crops(np.tile(unclear, len(shifts)), np.repeat(shifts, len(unclear), axis=0))
        beside = self.predict(cut).letters.reshape(len(shifts), len(unclear), -1)
        better = letters.copy()
        better[unclear] = _log_softmax(np.concatenate([letters[None, unclear], beside]).mean(axis=0))
        return better

    def marginalise_turns(
        self, spots: TilePoses, letters: NDArray[np.float32], turns: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Correct the letter predictions of rotated tiles; return log-probabilities `(n, classes)`.

        `letters` and `turns` are arrays of `TilePredictions` for the tiles `spots` in an upright view. The result is
        the mean over the possible rotations, weighted by their probabilities. Players rarely place a tile rotated, so
        only a clearly predicted rotation has an effect. For example, what may be an upside-down W is more probably an
        M.
        """
        # Replace the prior of the rotations in training by the prior on real boards.
        likely = (
            np.exp(turns.astype(np.float64))
            * ([1 - 3 * _TURNED_TILE_RATE] + [_TURNED_TILE_RATE] * 3)
            / _TRAINING_TURN_SHARES
        )
        likely /= likely.sum(axis=1, keepdims=True)
        has_print = np.exp(letters[:, _PLAIN_CLASSES]).sum(axis=1) < _MIN_CLEAR_PROBABILITY
        mixed = letters.copy()
        for turn in range(1, 4):
            here = np.flatnonzero((likely[:, turn] > 0.1) & has_print)
            if not len(here):
                continue
            cut, share = np.rot90(spots.cut_crops(here), turn, axes=(1, 2)), likely[here, turn, None]
            seen = np.exp(self.predict(np.ascontiguousarray(cut)).letters)
            mixed[here] = np.log((1 - share) * np.exp(mixed[here]) + share * seen + 1e-12)
        return mixed

    def predict_normalised(self, even: NDArray[np.float32]) -> TilePredictions:
        """Run the network on an array `(n, 1, 36, 36)` from `normalise_contrast`."""
        letters, turns, places, features = self._net(even)
        return TilePredictions(_log_softmax(letters), _log_softmax(turns), places, features)

    def alphabet_matrix(self, tiles: Collection[str]) -> NDArray[np.float32]:
        """Return the 0/1 matrix `(classes, classes)` that maps class probabilities to the alphabet of a tile set.

        - No tile, blank and the letters in `tiles` keep their probabilities.
        - An accented letter counts as its base letter if `tiles` has no accented letter of that base: the accent is
          then a dimple or dirt.
        - Other letters are dropped.
        """
        return _build_alphabet_matrix(self.classes, frozenset(tiles))

    def count_foreign_accents(self, letters: NDArray[np.float32], tiles: Collection[str]) -> int:
        """Return how many tiles clearly show a Latin letter with an accent that no tile in `tiles` has.

        `letters` `(n, classes)` are the log-probabilities of n tiles.
        """
        possible = set(map(letter_shape, tiles))
        is_foreign = [
            name not in possible and strip_accent(name) != name and strip_accent(name).isascii()
            for name in self.classes
        ]
        return int((np.exp(letters[:, is_foreign]).sum(axis=1) > _MIN_FOREIGN_PROBABILITY).sum())

    def class_symbols(self, tiles: Collection[str]) -> tuple[str, ...]:
        """Return the symbol of each class: the tile of this letter shape in `tiles`, otherwise the class itself."""
        return map_classes_to_tiles(self.classes, tuple(tiles))

    def unsupported_tiles(self, tiles: Collection[str]) -> tuple[str, ...]:
        """Return the tiles among `tiles` for which the network has no class."""
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
    counted.flags.writeable = False  # cached: all callers share it
    return counted


def restrict_to_alphabet(letters: NDArray[np.float32], within: NDArray[np.float32]) -> NDArray[np.float64]:
    """Convert log-probabilities `(n, classes)` to probabilities; letters outside an alphabet get 0.

    `within` `(classes, classes)` is the alphabet, a matrix from `LetterNet.alphabet_matrix`.
    """
    counted = np.exp(letters.astype(np.float64)) @ within + 1e-9 * within.any(axis=0)
    return np.asarray(counted / counted.sum(axis=1, keepdims=True), np.float64)


def _log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)), np.float32)
