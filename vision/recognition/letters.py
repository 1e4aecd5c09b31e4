"""Read the letter of a tile, its rotation and its exact position, and compare the tiles of one picture.

A small convolutional network reads one grey crop per tile, cut out at the tile's top. Each crop is normalised by
itself, so that the colours of tile and letter do not matter.

The letters А (Cyrillic), Α (Greek) and A (Latin) share one class of the network, a letter shape. The tile set in use
decides which of them a tile has.

The tiles of one picture are of one set, in the same light and equally blurred. So an S-or-B is compared, in the
network's features, with the tiles that are read as S and as B (label propagation, after Zhu and Ghahramani, Learning
from labeled and unlabeled data with label propagation, 2002). And if the other tiles of the picture are read with
unusual doubt, this one is less certain than the network predicts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import BLANK, EMPTY
from vision.geometry import Floats, Image
from vision.net import MODELS_DIR, Net
from vision.recognition.views import CROP_SIDE_PX, TilePoses

_CYRILLIC: Final = zip("АВЕКМНОРСТХІ", "ABEKMHOPCTXI", strict=True)
_GREEK: Final = zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧΓΠΦ", "ABEZHIKMNOPTYXГПФ", strict=True)
_SHAPES: Final = dict([*_CYRILLIC, *_GREEK])
_STROKED_TO_BASE: Final = {"Ł": "L", "Đ": "D", "Ø": "O", "Ґ": "Г"}
"""Letters with a stroke and their base letters, which Unicode does not decompose."""


def letter_shape(tile: str) -> str:
    """Return the letter that represents all letters of this shape."""
    return _SHAPES.get(tile, tile)


def strip_accent(name: str) -> str:
    """Return the shape of a letter without its accent."""
    return letter_shape(_STROKED_TO_BASE.get(name) or unicodedata.normalize("NFD", name)[0]) if len(name) == 1 else name


@lru_cache(maxsize=8)
def map_classes_to_tiles(classes: tuple[str, ...], tiles: tuple[str, ...]) -> tuple[str, ...]:
    """Return, for each of `classes` (shapes), the tile of the set with this shape, or the class itself."""
    own = {letter_shape(tile): tile for tile in tiles}
    return tuple(own.get(name, name) for name in classes)


FEATURE_COUNT: Final = 128
"""Length of the feature vector from which the network predicts the class of a crop."""
_MIN_CLEAR_PROBABILITY: Final = 0.95
"""Probability of the best letter below which a tile is read again from shifted crops."""
_AUGMENTATION_OFFSETS_PX: Final = np.array([(2, 0), (-2, 0), (0, 2), (0, -2)])
"""Shifts (down, right) of the crops for a tile that is read again, 7 % of a square: the mean of five predictions has
fewer errors than one."""
_MIN_RECUT_OFFSET: Final = 0.07
"""Offset of a tile from its crop, in squares right or down or in radians, from which the crop is cut again."""
_MAX_RECUTS: Final = 2
"""Number of such corrections: a large rotation is only estimated roughly, a small one well."""
_MIN_LETTER_PROBABILITY: Final = 0.5
"""Probability of all letters together above which the predicted offset is used: an empty square has no tile centre."""
NO_TILE_CLASS: Final = 0
BLANK_CLASS: Final = 1
LETTER_CLASSES: Final = slice(2, None)
"""Indices of no tile, blank and letters among the classes of the network."""
_TRAINING_TURN_SHARES: Final = np.array([0.8875, 0.0375, 0.0375, 0.0375])
"""Shares of tiles rotated by 0 to 3 quarter turns in training."""
_TURNED_TILE_RATE: Final = 0.001
"""Share of tiles that players place rotated, for each of one, two and three quarter turns."""
_MIN_CONTRAST: Final = 6.0
"""Contrast (grey levels) added before division, so that the grain of a blank is not amplified to look like print."""


def normalise_contrast(cut: Image) -> NDArray[np.float32]:
    """Normalise brightness and contrast of each crop: `(n, 36, 36) uint8` to `(n, 1, 36, 36) float32` in -3..3.

    Both are measured in the inner part of the crop, which is tile.
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
    """Predictions of the network for n crops; probabilities as natural logarithms."""

    letters: NDArray[np.float32]
    """`(n, classes)`: the classes of `LetterNet.classes`, for the crop without rotation."""
    turns: NDArray[np.float32]
    """`(n, 4)`: that the tile is upright once the crop is rotated by 0..3 quarter turns anticlockwise."""
    pose_offsets: NDArray[np.float32]
    """`(n, 3)`: offset of the tile from the centre of its crop, right and down in squares, and its rotation, in radians
    clockwise. Meaningless without a tile."""
    features: NDArray[np.float32]
    """`(n, 128)`: feature vectors, similar for tiles that look alike."""

    def replace_at(self, which: NDArray[np.intp], others: TilePredictions) -> TilePredictions:
        """Return the predictions with those at the indices `which` replaced by `others`."""
        mine = TilePredictions(*(getattr(self, f.name).copy() for f in fields(self)))
        for f in fields(self):
            getattr(mine, f.name)[which] = getattr(others, f.name)
        return mine

    def __add__(self, other: TilePredictions) -> TilePredictions:
        return TilePredictions(
            *(np.concatenate([getattr(look, f.name) for look in (self, other)]) for f in fields(self))
        )


class LetterNet:
    """The network that reads crops of tiles."""

    def __init__(self, path: Path = MODELS_DIR / "letters.onnx", load_net: Callable[[Path], Net] = Net) -> None:
        self._net = load_net(path)
        classes = self._net.metadata["classes"]
        assert isinstance(classes, list)
        self.classes: Final[tuple[str, ...]] = tuple(str(c) for c in classes)
        """`.` (no tile), `?` (a blank), then letters, one for each shape (`vision.recognition.letters`)."""

    def predict(self, cut: Image) -> TilePredictions:
        """Predict crops `(n, 36, 36) uint8`."""
        if not len(cut):
            none = (np.zeros((0, width), np.float32) for width in (len(self.classes), 4, 3, FEATURE_COUNT))
            return TilePredictions(*none)
        return self.predict_normalised(normalise_contrast(cut))

    def recentre_tiles(self, spots: TilePoses, looks: TilePredictions) -> tuple[TilePoses, TilePredictions]:
        """Cut and predict again the tiles that are off the centre of their crops or rotated in them.

        Return the corrected poses and predictions; `looks` are the predictions for `spots`.
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
        """Return `letters` with those that are unclear `within` an alphabet predicted again from shifted crops.

        `letters` are the log-probabilities `(n, classes)` of the tiles `spots`, `within` is an `alphabet_matrix`.
        """
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
        """Return `letters` averaged over the rotations that each tile may have on its square.

        `letters` and `turns` are those of `TilePredictions`, for `spots` in an upright view. Players rarely place a
        tile rotated, so only clear cases count: an upside-down W is more likely an M.
        """
        # Replace the prior of rotations in training by that on real boards.
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
        """Predict crops from `normalise_contrast`."""
        letters, turns, places, features = self._net(even)
        return TilePredictions(_log_softmax(letters), _log_softmax(turns), places, features)

    def alphabet_matrix(self, tiles: Collection[str]) -> NDArray[np.float32]:
        """Return the matrix `(classes, classes)` from class probabilities to those with these tiles.

        No tile, a blank and the letters of the set are kept. An accented letter counts as its base letter if the set
        has no accented letter of that base: the accent is then a dimple or dirt. Other letters are dropped.
        """
        return _build_alphabet_matrix(self.classes, frozenset(tiles))

    def class_symbols(self, tiles: Collection[str]) -> tuple[str, ...]:
        """Return the symbols of the classes as the tile set writes them."""
        return map_classes_to_tiles(self.classes, tuple(tiles))

    def unsupported_tiles(self, tiles: Collection[str]) -> tuple[str, ...]:
        """Return the tiles of a set that the network was not trained on."""
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
    """Return probabilities `(n, classes)` from log-probabilities of all classes; `within` is an `alphabet_matrix`."""
    counted = np.exp(letters.astype(np.float64)) @ within + 1e-9 * within.any(axis=0)
    return np.asarray(counted / counted.sum(axis=1, keepdims=True), np.float64)


def _log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)), np.float32)


SIMILARITY_WEIGHTS: Final = np.array([8.42, -0.132])
"""Weights (nats) of the two columns of `compute_letter_evidence`: similarity and doubt.

`python -m vision.training.fit_similarity` fits them to rendered scenes."""
_USUAL_DOUBT: Final = 0.02
"""Usual doubt of a tile: 1 minus the probability of its best letter among letters. One tile of this doubt is added to
the others, for pictures with few tiles. Less doubt than usual changes nothing: a tile may be worn among clear ones."""
_EPSILON: Final = 1e-9


def normalise_features(features: NDArray[np.float32]) -> Floats:
    """Return the features `(n, 128)` scaled to length 1, so that their dot products are cosines."""
    wide = features.astype(np.float64)
    return np.asarray(wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), _EPSILON), np.float64)


def compute_letter_similarity(chances: Floats, tile: Floats, features: NDArray[np.float32]) -> Floats:
    """Return the mean similarity of each tile to the tiles of each letter: `(n, letters)`, at most 1.

    The similarity is the cosine of `features` `(n, 128)` from `TilePredictions`. `chances` `(n, letters)` are the
    probabilities of the letters for each tile by itself, `tile` `(n,)` the probability that there is a tile; their
    product is the weight of a tile in the mean. The tile itself is included with similarity 1, so a letter without
    other tiles is not penalised.
    """
    directions = normalise_features(features)
    like = directions @ directions.T
    np.fill_diagonal(like, 0)
    counts = chances * tile[:, None]
    others = counts.sum(axis=0) - counts
    return np.asarray((like @ counts + 1) / (others + 1), np.float64)


def compute_relative_doubt(chances: Floats, tile: Floats) -> Floats:
    """Return the log of the mean doubt of the other tiles relative to the usual doubt: `(n,)`, at least 0.

    `chances` and `tile` are those of `compute_letter_similarity`.
    """
    letters = chances.sum(axis=1)
    lettered, doubt = tile * letters, 1 - chances.max(axis=1, initial=0) / np.maximum(letters, _EPSILON)
    others, count = (lettered * doubt).sum() - lettered * doubt, lettered.sum() - lettered
    usual = (others / _USUAL_DOUBT + 1) / (count + 1)
    return np.asarray(np.log(np.maximum(usual, 1)), np.float64)


def compute_letter_evidence(chances: Floats, tile: Floats, features: NDArray[np.float32]) -> Floats:
    """Return the evidence for each letter of each tile `(n, letters, 2)`, to be weighted by `SIMILARITY_WEIGHTS`.

    First the similarity to the tiles of that letter, second the log-probability of the letter times the relative doubt.
    The arguments are those of `compute_letter_similarity`.
    """
    doubted = np.log(np.maximum(chances, _EPSILON)) * compute_relative_doubt(chances, tile)[:, None]
    return np.stack([compute_letter_similarity(chances, tile, features), doubted], axis=2)


def refine_by_similarity(chances: Floats, tile: Floats, features: NDArray[np.float32]) -> Floats:
    """Return the class probabilities `(n, classes)` after each of n tiles was compared with the others.

    `chances` `(n, classes)` are those of the letter network, restricted to the alphabet; `tile` and `features` are
    those of `compute_letter_similarity`. Only the distribution among the letters changes, and only in proportion to the
    probability that the tile has a letter; no tile and blank keep their probabilities.
    """
    letters, lettered = chances[:, LETTER_CLASSES], (tile * (1 - chances[:, BLANK_CLASS]))[:, None]
    worth = compute_letter_evidence(letters, tile, features) @ SIMILARITY_WEIGHTS
    raised = letters * np.exp(worth - worth.max(axis=1, keepdims=True, initial=-np.inf))
    raised *= letters.sum(axis=1, keepdims=True) / np.maximum(raised.sum(axis=1, keepdims=True), _EPSILON)
    answer = chances.copy()
    answer[:, LETTER_CLASSES] = lettered * raised + (1 - lettered) * letters
    return answer
