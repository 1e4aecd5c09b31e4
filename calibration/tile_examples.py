"""Examples of one table's tiles, and the refinement of letter probabilities by similarity to these examples.

The letter network was trained on many tile sets, but a table has only one. So if the features of a tile are close to
those of an example, the log-probability of the example's symbol is increased by a bonus in nats (after Zhang et al.,
Tip-Adapter, 2022). The bonus is only used if it improves accuracy in a leave-one-out test on the examples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from engine.reading import BLANK, EMPTY, HIDDEN, BoardReading, SquareReading, rank_candidates
from vision.geometry import Floats, Image
from vision.recognition.alphabet import letter_shape
from vision.recognition.letters import TilePredictions
from vision.recognition.similarity import normalise_features
from vision.recognition.views import CROP_SIDE_PX, BoardViews

MAX_EXAMPLES: Final = 400
"""Maximum number of examples: 400 crops of 36 x 36 pixels take half a megabyte."""


@dataclass(frozen=True, slots=True)
class ExampleConfig:
    """Thresholds of `TileExamples`."""

    max_per_symbol: int = 8
    """Maximum number of examples of each symbol; the oldest are dropped. There are several because tiles of one letter
    differ in wear and lighting."""
    bonus_nats: float = 16.0
    """Bonus (nats) for a tile with the same features as an example: more than the log-odds between any two letters."""
    sharpness: float = 8.0
    """Decrease of the bonus for a similar example with the cosine distance of the features: `exp(-sharpness *
    distance)`."""
    won_per_lost: int = 3
    min_gain: int = 6
    """Minimum gain by the bonus in the leave-one-out test of the examples; if the gain is lower, the examples are not
    used. The gain is the number of examples that the bonus corrects, minus `won_per_lost` times the number that it
    makes wrong. In a trial, none of 600 sets of examples with random symbols reached this gain."""
    min_tile_p: float = 1e-6
    """Minimum probability of a tile that has an example before the bonus is applied; lower probabilities are raised to
    it. Otherwise, the bonus could not make a very improbable tile likely."""


_CONFIG: Final = ExampleConfig()


class TileClassifier(Protocol):
    """Interface of letter classifiers for tile crops; `vision.recognition.letters.LetterNet` implements it."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Classes of the classifier, in the order of its outputs."""

    def predict(self, crops: Image) -> TilePredictions:
        """Predict the letters of tile crops `(n, 36, 36) uint8` grey."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A tile crop with its true symbol."""

    symbol: str
    """Letter shape (see `vision.recognition.letters`), or `?` for a blank."""
    crop: Image
    """`(36, 36) uint8` grey, from `vision.recognition.views.BoardViews.cut_crops`."""
    source: str
    """Name of the game in which the picture was taken."""
    square: int
    """Index (0..224) of the tile's square."""


class TileExamples:
    """Collection of examples of one table's tiles, with which the letter probabilities of readings are refined."""

    def __init__(self, letter_net: TileClassifier, examples: Sequence[Example] = ()) -> None:
        self._letter_net = letter_net
        self._store(examples, self._predict(examples))

    def learn(self, views: BoardViews, faces: Mapping[int, str], source: str) -> None:
        """Add the tiles of a picture as examples; `faces` maps squares (0..224) to true faces.

        `source` is the name of the game. An earlier example from the same game and square is replaced.
        """
        squares = list(faces)
        crops = zip(squares, views.cut_crops(squares), strict=True)
        new = [Example(letter_shape(faces[square]), crop, source, square) for square, crop in crops]
        replaced = {(source, square) for square in squares}
        kept = [row for row, example in enumerate(self.examples) if (example.source, example.square) not in replaced]
        examples = [*(self.examples[row] for row in kept), *new]
        self._store(examples, self._predictions.select(kept) + self._predict(new))

    def refine_reading(self, views: BoardViews, board: BoardReading, tiles: Collection[str]) -> BoardReading:
        """Return the reading `board` with letter probabilities refined by the similarity of tiles to the examples.

        `tiles` are the letters of the set. A letter without examples loses nothing to a similar letter that has some:
        a square is not changed if its most probable letter has no example, and on other squares, letters without
        examples gain as much as the letter with the nearest example.
        """
        if not self.is_helpful:
            return board
        symbols = [example.symbol for example in self.examples]
        refined = [square for square, symbol in enumerate(board.symbols) if letter_shape(symbol) in symbols]
        if not refined:
            return board
        # Compare the tiles with the examples; the bonus of a symbol depends on the nearest example of that symbol.
        features = normalise_features(self._letter_net.predict(views.cut_crops(refined)).features)
        similarity = features @ normalise_features(self._predictions.features).T
        tiles = (*tiles, BLANK)
        shapes = [letter_shape(tile) for tile in tiles]
        has_example = np.isin(shapes, symbols)
        nearness = _compute_nearness(similarity, symbols, shapes)
        nearness[:, ~has_example] = nearness.max(axis=1, keepdims=True)
        least_p = np.where(has_example, _CONFIG.min_tile_p, 0.0)
        squares = list(board.squares)
        for square, factors in zip(refined, np.exp(_CONFIG.bonus_nats * nearness), strict=True):
            squares[square] = _scale_tiles(squares[square], tiles, factors, least_p)
        return replace(board, squares=tuple(squares))

    def _predict(self, examples: Sequence[Example]) -> TilePredictions:
        crops = np.array([example.crop for example in examples], np.uint8).reshape(-1, CROP_SIDE_PX, CROP_SIDE_PX)
        return self._letter_net.predict(crops)

    def _store(self, examples: Sequence[Example], predictions: TilePredictions) -> None:
        """Store the newest examples of each symbol, and test whether their use improves accuracy.

        `predictions` are those of the letter network for the crops of the examples.
        """
        counts: Counter[str] = Counter()
        kept: list[int] = []
        for row in reversed(range(len(examples))):
            counts[examples[row].symbol] += 1
            if counts[examples[row].symbol] <= _CONFIG.max_per_symbol:
                kept.append(row)
        kept = kept[:MAX_EXAMPLES][::-1]
        self.examples = tuple(examples[row] for row in kept)
        """The examples, oldest first."""
        self._predictions = predictions.select(kept)
        self.is_helpful = bool(kept) and self._does_bonus_help()
        """True if the examples improve accuracy in a leave-one-out test on themselves; otherwise they are not used."""

    def _does_bonus_help(self) -> bool:
        """Return True if the bonus corrects enough examples in a leave-one-out test (`ExampleConfig.min_gain`).

        Each example is classified without a bonus, and with the bonus from all other examples.
        """
        symbols = [example.symbol for example in self.examples]
        classes = self._letter_net.classes
        names = sorted({*classes, *symbols} - {EMPTY})
        # Take the network's log-probabilities; symbols that the network has no class for get the floor.
        floor = np.log(_CONFIG.min_tile_p)
        by_class = np.column_stack([self._predictions.letters, np.full(len(symbols), floor)])
        columns = [classes.index(name) if name in classes else -1 for name in names]
        letters_logp = np.maximum(by_class[:, columns], floor)
        # Add the bonus from the other examples.
        features = normalise_features(self._predictions.features)
        similarity = features @ features.T
        np.fill_diagonal(similarity, -np.inf)
        raised = letters_logp + _CONFIG.bonus_nats * _compute_nearness(similarity, symbols, names)
        # Count the examples that the bonus corrects, and the examples that it makes wrong.
        truth = np.array([names.index(symbol) for symbol in symbols])
        was_right, is_right = letters_logp.argmax(axis=1) == truth, raised.argmax(axis=1) == truth
        corrected, spoiled = int((is_right & ~was_right).sum()), int((was_right & ~is_right).sum())
        return corrected - _CONFIG.won_per_lost * spoiled >= _CONFIG.min_gain


def _compute_nearness(similarity: Floats, symbols: Sequence[str], names: Sequence[str]) -> Floats:
    """Return the similarity (0..1) of m tiles to the nearest example of each of k symbols, as an array `(m, k)`.

    `similarity` `(m, n)` are the cosine similarities of the tiles to n examples, `symbols` the symbols of these
    examples, and `names` the k symbols. The result is `exp(-sharpness * distance)`, and 0 for a symbol without an
    example.
    """
    near = np.exp(-_CONFIG.sharpness * (1 - similarity))
    is_own = np.array(symbols)[:, None] == np.array(names)
    return np.stack([near[:, own].max(axis=1, initial=0.0) for own in is_own.T], axis=1)


def _scale_tiles(square: SquareReading, tiles: Sequence[str], factors: Floats, least_p: Floats) -> SquareReading:
    """Multiply the probabilities of `tiles` in a square reading by `factors`, then scale them to their former sum.

    Lower probabilities are first raised to `least_p`. The probabilities of empty and hidden are unchanged.
    """
    chances = dict(square.candidates)
    tiles_p = np.array([chances.get(tile, 0.0) for tile in tiles])
    scaled = np.maximum(tiles_p, least_p) * factors
    scaled *= tiles_p.sum() / scaled.sum()
    kept = {symbol: p for symbol, p in chances.items() if symbol in (EMPTY, HIDDEN)}
    return rank_candidates(kept | dict(zip(tiles, scaled.tolist(), strict=True)))
