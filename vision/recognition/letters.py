"""Predict the letter, rotation and position of tiles.

The input of a small convolutional network is a grey crop of the top of each tile. Each crop is normalised separately,
so that the colours of tile and letter have no effect.

The network has one class for each letter shape (`alphabet`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats, Image
from vision.net import MODELS_DIR, Net
from vision.recognition.alphabet import (
    Alphabet,
    build_alphabet_matrix,
    letter_shape,
    list_foreign_classes,
    map_classes_to_tiles,
    restrict_to_alphabet,
)
from vision.recognition.views import CROP_SIDE_PX, TilePoses

LARGE_LETTERS_FILE: Final = "letters_large.onnx.gz"
"""File of the large network, compressed: its weights have few distinct values (`vision.training.large_networks`)."""
FEATURE_COUNT: Final = 128
"""Number of features per crop: the input of the last layer for the letter classes."""
_MIN_CLEAR_PROBABILITY: Final = 0.95
"""Minimum probability of a clear letter. Less clear tiles are read again with the large network."""
_MIN_PLAIN_PROBABILITY: Final = 0.7
_MAX_STRAY_PROBABILITY: Final = 0.06
"""Minimum probability of no letter, and maximum probability of each letter, for a tile whose doubt is spread over many
letters. The large network is as uncertain about such a blank, so the tile counts as clear."""
_SHIFTS_PX: Final = np.array([(2, 2), (-2, -2)])
"""Shifts (down, right) of the additional crops of an unclear tile, in pixels: 2 pixels are 7 % of a square. The mean of
several predictions has fewer errors than one prediction."""
_LARGE_NET_WEIGHT: Final = 0.8
"""Weight of the large network's log-probabilities for an unclear tile; the letter network's have the rest. A crop takes
the large network 25 times as long."""
_MIN_TILE_P, _MIN_SHIFTED_TILE_P = 0.5, 0.9
"""Minimum probabilities of a tile, by both networks, for reading an unclear square again, and in shifted crops too."""
_MIN_P: Final = 1e-12
_MIN_RECUT_OFFSET: Final = 0.07
"""Minimum offset of a tile (in squares) or rotation (in radians) for which its crop is corrected."""
_MAX_RECUTS: Final = 2
"""Maximum number of corrections of a crop. A second one helps, because large rotations are predicted less
accurately."""
_MIN_LETTER_PROBABILITY: Final = 0.5
"""Minimum probability that a crop shows a letter, for its predicted offset to be used: an empty square has no
offset."""
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
_MIN_TURN_PROBABILITY: Final = 0.1
"""Minimum probability of a rotation for which the letter of a rotated crop is predicted as well."""
_MIN_CONTRAST: Final = 6.0
"""Grey levels added to the contrast of a crop. The crop is divided by the sum, so that the grain of a blank is not
amplified."""
_INNER_PART: Final = slice(CROP_SIDE_PX // 6, -CROP_SIDE_PX // 6)
"""Rows, and columns, of a crop that show only the tile."""


def normalise_contrast(crops: Image) -> NDArray[np.float32]:
    """Normalise brightness and contrast of each crop: `(n, 36, 36) uint8` to `(n, 1, 36, 36) float32` in -3..3.

    The median and the standard deviation are measured on the inner part of the crop, which shows only the tile.
    """
    inner = crops[:, _INNER_PART, _INNER_PART]
    grey = crops.astype(np.float32)
    contrast = grey[:, _INNER_PART, _INNER_PART].std(axis=(1, 2)) + np.float32(_MIN_CONTRAST)
    # Take the median from the sorted pixels: for uint8, numpy's stable sort is a fast radix sort.
    ranked = np.sort(inner.reshape(len(crops), inner.shape[1] * inner.shape[2]), axis=1, kind="stable")
    median = ranked[:, [(ranked.shape[1] - 1) // 2, ranked.shape[1] // 2]].mean(axis=1, dtype=np.float32)
    normalised = np.clip((grey - median[:, None, None]) / (2 * contrast[:, None, None]), -3, 3)[:, None]
    return np.asarray(normalised, np.float32)


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

    def replace_at(self, rows: NDArray[np.intp], others: TilePredictions) -> TilePredictions:
        """Return a copy with the predictions `others` at the indices `rows`."""
        copies = [array.copy() for array in self._arrays]
        for copy, values in zip(copies, others._arrays, strict=True):
            copy[rows] = values
        return TilePredictions(*copies)

    def select(self, rows: Sequence[int]) -> TilePredictions:
        """Return the predictions of the rows with the given indices."""
        indices = np.array(rows, np.intp)
        return TilePredictions(*(array[indices] for array in self._arrays))

    def __add__(self, other: TilePredictions) -> TilePredictions:
        return TilePredictions(*map(np.concatenate, zip(self._arrays, other._arrays, strict=True)))

    @property
    def _arrays(self) -> tuple[NDArray[np.float32], ...]:
        return self.letters, self.turns, self.pose_offsets, self.features


class LetterNet:
    """Neural network that classifies the letter and the rotation of tile crops, and predicts the tile's offset.

    A second, larger network reads only the letters of unclear tiles.
    """

    def __init__(
        self, path: Path = MODELS_DIR / "letters.onnx", large_path: Path = MODELS_DIR / LARGE_LETTERS_FILE
    ) -> None:
        self._net = Net(path)
        self._large_net = Net(large_path)
        classes = self._net.metadata["classes"]
        assert isinstance(classes, list)
        self.classes: Final[tuple[str, ...]] = tuple(str(c) for c in classes)
        """Classes in the order of the network's outputs: `.` (no tile), `?` (a blank), then one letter per shape."""
        weights = self._net.metadata.get(SIMILARITY_KEY, SIMILARITY_WEIGHTS)
        assert isinstance(weights, Sequence)
        self.similarity_weights: Final[tuple[float, ...]] = tuple(float(w) for w in weights)
        """Weights for `refine_by_similarity`, from the metadata of the network."""

    def predict(self, crops: Image) -> TilePredictions:
        """Run the network on grey crops `(n, 36, 36) uint8`."""
        return self.predict_normalised(normalise_contrast(crops)) if len(crops) else self.predict_nothing()

    def predict_nothing(self) -> TilePredictions:
        """Return the predictions for no crops, to which others can be added."""
        return TilePredictions(
            *(np.zeros((0, width), np.float32) for width in (len(self.classes), 4, 3, FEATURE_COUNT))
        )

    def recentre_tiles(self, poses: TilePoses, predictions: TilePredictions) -> tuple[TilePoses, TilePredictions]:
        """Correct the crops of tiles that are off-centre or rotated, and run the network on the new crops.

        `predictions` are those for the crops of `poses`. Returns the corrected poses and predictions.
        """
        for _ in range(_MAX_RECUTS):
            has_letter = np.exp(predictions.letters[:, LETTER_CLASSES]).sum(axis=1) > _MIN_LETTER_PROBABILITY
            is_displaced = (np.abs(predictions.pose_offsets) >= _MIN_RECUT_OFFSET).any(axis=1)
            rows = np.flatnonzero(has_letter & is_displaced)
            if not len(rows):
                break
            poses = poses.shift_tiles(rows, predictions.pose_offsets[rows].astype(np.float64))
            predictions = predictions.replace_at(rows, self.predict(poses.cut_crops(rows)))
        return poses, predictions

    def reread_unclear_tiles(
        self, poses: TilePoses, letters_logp: NDArray[np.float32], alphabet: Alphabet, tile_p: Floats | None = None
    ) -> NDArray[np.float32]:
        """Read unclear tiles again; return log-probabilities `(n, classes)`.

        `letters_logp` `(n, classes)` are the log-probabilities for the tiles `poses`. The result for an unclear tile is
        a weighted mean of the large network's prediction and the letter network's predictions for three shifts of the
        crop. If the tile is still unclear and probably has a letter, the large network reads the shifted crops as well.

        `tile_p` `(n,)` are the square network's probabilities of a tile; without them, all squares have one. Squares
        that are probably empty are not read again: their letters hardly change the result.
        """
        tile_p = np.ones(len(letters_logp)) if tile_p is None else tile_p

        def find_unclear(logp: NDArray[np.float32], min_tile_p: float = _MIN_TILE_P) -> NDArray[np.intp]:
            return find_unclear_tiles(logp, restrict_to_alphabet(logp, alphabet), tile_p, min_tile_p)

        rows = find_unclear(letters_logp)
        if not len(rows):
            return letters_logp
        reread_logp = letters_logp.copy()
        small_logp = _average_shifts(lambda crops: self.predict(crops).letters, poses, rows, letters_logp[rows])
        large_logp = self._predict_large(poses.cut_crops(rows))
        reread_logp[rows] = _mix_predictions(large_logp, small_logp)
        # `is_left` marks the tiles among `rows` that are still unclear and probably have a letter.
        is_left = np.isin(rows, find_unclear(reread_logp, _MIN_SHIFTED_TILE_P))
        is_left &= np.exp(reread_logp[rows, LETTER_CLASSES]).sum(axis=1) > _MIN_LETTER_PROBABILITY
        if is_left.any():
            large_logp = _average_shifts(self._predict_large, poses, rows[is_left], large_logp[is_left])
            reread_logp[rows[is_left]] = _mix_predictions(large_logp, small_logp[is_left])
        return reread_logp

    def _predict_large(self, crops: Image) -> NDArray[np.float32]:
        """Return the large network's log-probabilities for grey crops `(n, 36, 36) uint8`: `(n, classes)`."""
        (logits,) = self._large_net(normalise_contrast(crops))
        return _log_softmax(logits)

    def marginalise_turns(
        self, poses: TilePoses, letters_logp: NDArray[np.float32], turns_logp: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Correct the letter predictions of rotated tiles; return log-probabilities `(n, classes)`.

        `letters_logp` and `turns_logp` are those of `TilePredictions` for the tiles `poses` in an upright view. The
        result is the mean over the possible rotations, weighted by their probabilities. Players rarely place a tile
        rotated, so only a clearly predicted rotation has an effect. For example, what may be an upside-down W is more
        probably an M.
        """
        # Replace the prior of the rotations in training by the prior on real boards.
        prior = [1 - 3 * _TURNED_TILE_RATE] + [_TURNED_TILE_RATE] * 3
        turns_p = np.exp(turns_logp.astype(np.float64)) * prior / _TRAINING_TURN_SHARES
        turns_p /= turns_p.sum(axis=1, keepdims=True)
        # A tile without print looks the same in all rotations, so only the others are read again.
        has_print = np.exp(letters_logp[:, _PLAIN_CLASSES]).sum(axis=1) < _MIN_CLEAR_PROBABILITY
        mixed_logp = letters_logp.copy()
        for turn in range(1, 4):
            rows = np.flatnonzero((turns_p[:, turn] > _MIN_TURN_PROBABILITY) & has_print)
            if not len(rows):
                continue
            # Predict the letters of the rotated crops, and mix them in with the probability of this rotation.
            crops, share = np.rot90(poses.cut_crops(rows), turn, axes=(1, 2)), turns_p[rows, turn, None]
            turned_p = np.exp(self.predict(np.ascontiguousarray(crops)).letters)
            mixed_logp[rows] = np.log((1 - share) * np.exp(mixed_logp[rows]) + share * turned_p + 1e-12)
        return mixed_logp

    def predict_normalised(self, normalised: NDArray[np.float32]) -> TilePredictions:
        """Run the network on an array `(n, 1, 36, 36)` from `normalise_contrast`."""
        letters, turns, pose_offsets, features = self._net(normalised)
        return TilePredictions(_log_softmax(letters), _log_softmax(turns), pose_offsets, features)

    def alphabet_matrix(self, tiles: Collection[str]) -> Alphabet:
        """Return the matrix that maps class probabilities to the alphabet of a tile set (`build_alphabet_matrix`)."""
        return build_alphabet_matrix(self.classes, frozenset(tiles))

    def measure_foreign_letters(self, letters_logp: NDArray[np.float32], tiles: Collection[str]) -> NDArray[np.float32]:
        """Return the probability that a tile shows a Latin letter or an accent that is not in `tiles`: `(n,)`.

        `letters_logp` `(n, classes)` are the log-probabilities of n tiles.
        """
        foreign = list_foreign_classes(self.classes, frozenset(tiles))
        return np.asarray(np.exp(letters_logp[:, foreign]).sum(axis=1), np.float32)

    def list_clear_shapes(self, letters_logp: NDArray[np.float32]) -> tuple[str, ...]:
        """Return the shape of each letter that is clearly recognised.

        `letters_logp` `(n, classes)` are the log-probabilities of n squares. The result has one shape for each square
        whose best class is a letter and has at least `_MIN_CLEAR_PROBABILITY`.
        """
        best = letters_logp.argmax(axis=1)
        # `initial` does not change a maximum, but allows an array without squares.
        is_clear = letters_logp.max(axis=1, initial=-np.inf) >= np.log(_MIN_CLEAR_PROBABILITY)
        return tuple(self.classes[k] for k in best[is_clear & (best >= LETTER_CLASSES.start)].tolist())

    def class_symbols(self, tiles: Collection[str]) -> tuple[str, ...]:
        """Return the symbol of each class: the tile of this letter shape in `tiles`, otherwise the class itself."""
        return map_classes_to_tiles(self.classes, tuple(tiles))

    def unsupported_tiles(self, tiles: Collection[str]) -> tuple[str, ...]:
        """Return the tiles among `tiles` for which the network has no class."""
        return tuple(sorted(t for t in tiles if letter_shape(t) not in self.classes))


def find_unclear_tiles(
    letters_logp: NDArray[np.float32], letters_p: Floats, tile_p: Floats, min_tile_p: float = _MIN_TILE_P
) -> NDArray[np.intp]:
    """Return the indices of the squares that probably have a tile, but whose letter is not clear.

    `letters_p` `(n, classes)` is the result of `restrict_to_alphabet` for the log-probabilities `letters_logp`. A tile
    is clear if its best letter has a high probability, or if the two classes without a letter (no tile and blank)
    together have a high probability; a lower one is enough if no single letter is likely. `fusion` later distinguishes
    no tile from blank. `tile_p` `(n,)` are the square network's probabilities of a tile, and `min_tile_p` is the
    minimum of those by both networks.
    """
    letter_p, plain_p = letters_p[:, LETTER_CLASSES].max(axis=1), letters_p[:, _PLAIN_CLASSES].sum(axis=1)
    is_clear = np.maximum(letter_p, plain_p) >= _MIN_CLEAR_PROBABILITY
    is_clear |= (plain_p >= _MIN_PLAIN_PROBABILITY) & (letter_p <= _MAX_STRAY_PROBABILITY)
    return np.flatnonzero(~is_clear & (_estimate_tile_p(letters_logp, tile_p) >= min_tile_p))


def _estimate_tile_p(letters_logp: NDArray[np.float32], tile_p: Floats) -> Floats:
    """Return the probability that each of n squares has a tile, `(n,)`, by both networks.

    `letters_logp` `(n, classes)` are the log-probabilities of the letter network, `tile_p` `(n,)` the probabilities of
    the square network.
    """
    no_tile = np.exp(letters_logp[:, NO_TILE_CLASS].astype(np.float64))
    tile = tile_p * (1 - no_tile)
    return np.asarray(tile / np.maximum(tile + (1 - tile_p) * no_tile, _MIN_P), np.float64)


def _cut_shifted_crops(poses: TilePoses, rows: NDArray[np.intp]) -> Image:
    """Return the crops of the tiles `rows` for the first of `_SHIFTS_PX`, then those for the next."""
    return poses.cut_crops(np.tile(rows, len(_SHIFTS_PX)), np.repeat(_SHIFTS_PX, len(rows), axis=0))


def _average_shifts(
    predict: Callable[[Image], NDArray[np.float32]],
    poses: TilePoses,
    rows: NDArray[np.intp],
    unshifted_logp: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return the mean log-probabilities of the tiles `rows` over their crops and shifted crops, `(n, classes)`.

    `predict` returns the log-probabilities for crops; `unshifted_logp` `(n, classes)` are those without a shift.
    """
    shifted_logp = predict(_cut_shifted_crops(poses, rows)).reshape(len(_SHIFTS_PX), len(rows), -1)
    return np.asarray(np.concatenate([unshifted_logp[None], shifted_logp]).mean(axis=0), np.float32)


def _mix_predictions(large_logp: NDArray[np.float32], small_logp: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the weighted mean of the log-probabilities of the large and the small network, `(n, classes)`."""
    return _log_softmax(_LARGE_NET_WEIGHT * large_logp + (1 - _LARGE_NET_WEIGHT) * small_logp)


def _log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)), np.float32)
