"""Examples of a table's own tiles, used to refine letters.

The letter network knows tiles in general; a table has one set. A tile whose features are close to an example gains a
bonus (nats) for the symbol of that example, after Zhang et al., Tip-Adapter, 2022. The bonus is given only if it helps:
each example is read with the others, and more of them must become right than wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.reading import BLANK, EMPTY, HIDDEN, BoardReading, SquareReading
from vision.geometry import Floats, Image
from vision.recognition.letters import TilePredictions, letter_shape, normalise_features
from vision.recognition.reader import rank_candidates
from vision.recognition.views import CROP_SIDE_PX, BoardViews

MAX_EXAMPLES: Final = 400
"""Examples kept in total: 400 crops of 36 x 36 pixels are half a megabyte."""


@dataclass(frozen=True, slots=True)
class ExampleConfig:
    """Thresholds of `TileExamples`."""

    max_per_symbol: int = 8
    """Examples kept of one symbol, the newest: a table's tiles are worn, and lit in different ways."""
    bonus_nats: float = 16.0
    """Bonus for a tile with the same features as an example: more than the network's greatest confidence."""
    sharpness: float = 8.0
    """Decay of the bonus with the cosine distance of the features: `exp(-8 * distance)`."""
    won_per_lost: int = 3
    min_gain: int = 6
    """Examples that the bonus must correct for each one that it spoils, and besides: of 600 sets of examples that were
    named at random, it then helps none."""
    min_tile_p: float = 1e-6
    """Probability floor for the tiles of the set, so that a bonus can raise any of them."""


class TileClassifier(Protocol):
    """Predicts the letters of tile crops; implemented by `vision.recognition.letters.LetterNet`."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the network, in the order of its outputs."""

    def predict(self, cut: Image) -> TilePredictions:
        """Predict the letters of crops, `(n, 36, 36) uint8` grey."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A crop of a tile whose symbol is known."""

    symbol: str
    """Letter shape (see `vision.recognition.letters`), or `?` for a blank."""
    crop: Image
    """`(36, 36) uint8` grey, as cut by `vision.recognition.views`."""
    source: str
    """Name of the game it was seen in."""
    square: int


@dataclass(frozen=True, slots=True, eq=False)
class _EncodedExample:
    """An example with the features and log-probabilities that the network gives it."""

    example: Example
    features: Floats
    """`(128,)`, unit length."""
    letters_logp: NDArray[np.float32]
    """`(classes,)`: log-probabilities of the network's classes."""


class TileExamples:
    """Examples of a table's tiles, and the readings that they refine."""

    def __init__(
        self, letter_net: TileClassifier, examples: Sequence[Example] = (), config: ExampleConfig = ExampleConfig()
    ) -> None:
        self._letter_net = letter_net
        self._config = config
        self._keep(self._encode(examples))

    @property
    def examples(self) -> tuple[Example, ...]:
        """The examples, oldest first."""
        return tuple(one.example for one in self._encoded)

    def learn(self, views: BoardViews, faces: Mapping[int, str], source: str) -> None:
        """Add the tiles of a picture; `faces` maps squares (0..224) to faces.

        An earlier example from the same square and game is replaced.
        """
        squares = list(faces)
        crops = zip(squares, views.cut_crops(squares), strict=True)
        new = self._encode([Example(letter_shape(faces[square]), crop, source, square) for square, crop in crops])
        replaced = {(source, square) for square in squares}
        self._keep([one for one in self._encoded if (one.example.source, one.example.square) not in replaced] + new)

    def refine_reading(self, views: BoardViews, board: BoardReading, tiles: Collection[str]) -> BoardReading:
        """Return the reading with letters refined by their similarity to examples; `tiles` are those of the set.

        A letter without an example is not changed: otherwise the first of two similar letters that is learnt would
        replace the other one.
        """
        if not self.is_helpful:
            return board
        learnt = [one.example.symbol for one in self._encoded]
        symbols = [symbol for row in board.rows() for symbol in row]
        asked = [at for at, symbol in enumerate(symbols) if letter_shape(symbol) in learnt]
        if not asked:
            return board
        # Compare the tiles with the examples, and give each symbol the bonus of its nearest one.
        features = normalise_features(self._letter_net.predict(views.cut_crops(asked)).features)
        similarity = features @ np.array([one.features for one in self._encoded]).T
        tiles = (*tiles, BLANK)
        nearness = self._compute_nearness(similarity, learnt, [letter_shape(tile) for tile in tiles])
        squares = list(board.squares)
        for at, factors in zip(asked, np.exp(self._config.bonus_nats * nearness), strict=True):
            squares[at] = _scale_tiles(squares[at], tiles, factors, self._config.min_tile_p)
        return BoardReading(tuple(squares))

    def _encode(self, examples: Sequence[Example]) -> list[_EncodedExample]:
        crops = np.array([one.crop for one in examples], np.uint8).reshape(-1, CROP_SIDE_PX, CROP_SIDE_PX)
        predictions = self._letter_net.predict(crops)
        rows = zip(examples, normalise_features(predictions.features), predictions.letters, strict=True)
        return [_EncodedExample(*row) for row in rows]

    def _keep(self, encoded: Sequence[_EncodedExample]) -> None:
        """Keep the newest examples of each symbol, and find out if the bonus helps."""
        count: Counter[str] = Counter()
        kept: list[_EncodedExample] = []
        for one in reversed(encoded):
            count[one.example.symbol] += 1
            if count[one.example.symbol] <= self._config.max_per_symbol:
                kept.append(one)
        self._encoded = kept[:MAX_EXAMPLES][::-1]
        self.is_helpful = bool(self._encoded) and self._does_bonus_help()
        """True if the bonus is given, because it corrects examples."""

    def _does_bonus_help(self) -> bool:
        """Read each example with the others; return True if the bonus corrects clearly more than it spoils."""
        symbols = [one.example.symbol for one in self._encoded]
        classes = self._letter_net.classes
        names = sorted({*classes, *symbols} - {EMPTY})
        # Take the network's log-probabilities; those of symbols that it was not trained on are at the floor.
        floor = np.log(self._config.min_tile_p)
        by_class = np.array([[*one.letters_logp, floor] for one in self._encoded])
        columns = [classes.index(name) if name in classes else -1 for name in names]
        letters_logp = np.maximum(by_class[:, columns], floor)
        # Add the bonus of the other examples.
        features = np.array([one.features for one in self._encoded])
        similarity = features @ features.T
        np.fill_diagonal(similarity, -np.inf)
        raised = letters_logp + self._config.bonus_nats * self._compute_nearness(similarity, symbols, names)
        # Count the examples that become right, and those that become wrong.
        truth = np.array([names.index(symbol) for symbol in symbols])
        right, now_right = letters_logp.argmax(axis=1) == truth, raised.argmax(axis=1) == truth
        won, lost = int((now_right & ~right).sum()), int((right & ~now_right).sum())
        return won - self._config.won_per_lost * lost >= self._config.min_gain

    def _compute_nearness(self, similarity: Floats, symbols: Sequence[str], names: Sequence[str]) -> Floats:
        """Return how near each tile is to the examples of each of `names`: `(m, names)`, 0..1, 0 without an example.

        `similarity` `(m, n)` are cosines to examples of `symbols` (n).
        """
        near = np.exp(-self._config.sharpness * (1 - similarity))
        is_own = np.array(symbols)[:, None] == np.array(names)
        return np.stack([near[:, own].max(axis=1, initial=0.0) for own in is_own.T], axis=1)


def _scale_tiles(square: SquareReading, tiles: Sequence[str], factors: Floats, floor: float) -> SquareReading:
    """Return the square with the probabilities of `tiles` scaled; their sum, empty and hidden keep theirs."""
    chances = dict(square.candidates)
    tiles_p = np.array([chances.get(tile, 0.0) for tile in tiles])
    scaled = np.maximum(tiles_p, floor) * factors
    scaled *= tiles_p.sum() / scaled.sum()
    kept = {symbol: p for symbol, p in chances.items() if symbol in (EMPTY, HIDDEN)}
    return rank_candidates(kept | dict(zip(tiles, scaled.tolist(), strict=True)))
