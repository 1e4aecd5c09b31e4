"""Examples of a table's own tiles, used to refine uncertain letters.

The letter network knows tiles in general; a table has one set. A tile whose features are close to an example gains a
bonus (nats) for the symbol of that example, after Zhang et al., Tip-Adapter, 2022. The size of the bonus is fitted:
each example is read with the examples of the other games, and a bonus is used only if that improves them
significantly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.reading import BLANK, EMPTY, HIDDEN, BoardReading, SquareReading
from vision.geometry import Floats, Image
from vision.recognition.letters import TilePredictions, letter_shape, normalise_features
from vision.recognition.views import CROP_SIDE_PX, BoardViews

MAX_EXAMPLES_PER_SYMBOL: Final = 8
MAX_EXAMPLES: Final = 400
"""Examples kept for one symbol, and in total: 400 crops of 36 x 36 pixels are half a megabyte."""
_BONUS_CHOICES_NATS: Final = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Bonuses to choose from, in nats, for a tile with the same features as an example; 0 is always a choice."""
_SMALL_BONUS_NATS: Final = 2.0
"""A larger bonus must do more than raise confidences: it must read more examples correctly than no bonus, and at least
as many as a smaller one."""
_SHARPNESS: Final = 8.0
"""Decay of the bonus with the cosine distance of the features: `exp(-8 * distance)`."""
_MIN_GAIN_STANDARD_ERRORS: Final = 1.5
"""Gain in log-likelihood over the examples, in standard errors, from which a bonus is used."""
_MIN_WON_PER_LOST: Final = 3
"""Examples that a bonus must correct for each one that it makes wrong."""
_MAX_LOSS_NATS: Final = 6.0
"""Largest loss of one example, in nats, so that no single example decides."""
_MIN_TILE_PROBABILITY: Final = 1e-6
"""Probability floor for the tiles of the set."""
_MIN_CREDIBLE_PROBABILITY: Final = 0.02
"""An example to which the network gives less is kept only if a player confirmed it or other examples support it."""
_HALF_GRANT_EXAMPLES: Final = 0.5
"""Pseudo-count: the nearness granted to a symbol is halved when it has this many examples."""
_LIKENESS_QUANTILE: Final = 0.1
"""Quantile of the similarities between examples that counts as usual for tiles of this set."""
_MAX_CANDIDATES: Final = 8
_MIN_CANDIDATE_PROBABILITY: Final = 1e-4
"""Candidates kept for a square, and the least probable one: the same as in the reader."""


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
    confirmed: bool
    """True if a player entered the letter."""


@dataclass(frozen=True, slots=True, eq=False)
class _EncodedExample:
    """An example with the features and log-probabilities that the network gives it."""

    example: Example
    features: Floats
    """`(n_features,)`, unit length."""
    log_probabilities: Mapping[str, float]
    """Log-probability of each symbol, given that there is a tile."""

    @property
    def origin(self) -> tuple[str, int]:
        return self.example.source, self.example.square


@dataclass(frozen=True, slots=True, eq=False)
class _BonusModel:
    """The fitted bonus and what is needed to apply it."""

    symbols: NDArray[np.str_]
    features: Floats
    bonus: float
    """Bonus at distance 0, in nats; 0 if examples do not help."""
    usual_nearness: float
    """Nearness (0..1) that most tiles reach to an example of their own symbol; granted to symbols without examples."""
    min_similarity: float
    """Cosine similarity to the nearest example that most tiles of this set reach; below it the set is another one."""


class TileExamples:
    """Examples of a table's tiles: at most `MAX_EXAMPLES_PER_SYMBOL` for a symbol and `MAX_EXAMPLES` in total."""

    def __init__(self, letters: TileClassifier, examples: Sequence[Example] = ()) -> None:
        self._classifier = letters
        self._encoded = self._drop_excess(self._encode(examples))
        self._bonus_model = _fit_bonus(self._encoded)

    @property
    def examples(self) -> tuple[Example, ...]:
        """The examples, oldest first."""
        return tuple(one.example for one in self._encoded)

    @property
    def bonus(self) -> float:
        """The fitted bonus in nats; 0 if the examples do not help."""
        return self._bonus_model.bonus

    def learn(self, views: BoardViews, faces: Mapping[int, str], source: str, confirmed: Collection[int]) -> None:
        """Add the tiles of a picture; `faces` maps squares (0..224) to faces.

        An earlier example from the same square and game is replaced. `confirmed` are the squares whose letter a player
        entered.
        """
        squares = list(faces)
        new = self._encode(
            Example(letter_shape(faces[square]), crop, source, square, square in confirmed)
            for square, crop in zip(squares, views.cut_crops(squares), strict=True)
        )
        places = {one.origin for one in new}
        kept = [one for one in self._encoded if one.origin not in places]
        self._encoded = self._drop_excess([*kept, *(one for one in new if _is_credible(one, kept))])
        self._bonus_model = _fit_bonus(self._encoded)

    def refine_reading(self, views: BoardViews, board: BoardReading, tiles: Collection[str]) -> BoardReading:
        """Return the reading with uncertain letters refined by their similarity to examples.

        `tiles` are the letters of the tile set.
        """
        fitted = self._bonus_model
        if not fitted.bonus:
            return board
        tiles = (*tiles, BLANK)
        known = set(fitted.symbols.tolist())
        asked = [
            at
            for at, square in enumerate(board.squares)
            if _can_bonus_change_letter(square, tiles, known, fitted.bonus)
        ]
        if not asked:
            return board
        # Some certain squares are classified too: they show whether the tiles are of the set that was learnt.
        clear = [at for at, square in enumerate(board.squares) if square.is_tile and at not in set(asked)]
        looked = [*asked, *clear[:: max(1, len(clear) // 16)]]
        features = normalise_features(self._classifier.predict(views.cut_crops(looked)).features)
        like = features @ fitted.features.T
        if np.median(like.max(axis=1)) < fitted.min_similarity:
            return board
        squares = list(board.squares)
        for at, row in zip(asked, like, strict=False):
            squares[at] = _apply_bonus(squares[at], _compute_bonuses(row, fitted), tiles)
        return BoardReading(tuple(squares))

    def _encode(self, examples: Iterable[Example]) -> list[_EncodedExample]:
        several = list(examples)
        cut = (
            np.stack([one.crop for one in several]) if several else np.zeros((0, CROP_SIDE_PX, CROP_SIDE_PX), np.uint8)
        )
        looks = self._classifier.predict(cut)
        classes = self._classifier.classes
        return [
            _EncodedExample(example, features, {c: float(p) for c, p in zip(classes, logs, strict=True) if c != EMPTY})
            for example, features, logs in zip(several, normalise_features(looks.features), looks.letters, strict=True)
        ]

    def _drop_excess(self, known: Sequence[_EncodedExample]) -> list[_EncodedExample]:
        """Return at most the allowed number of examples.

        Of a symbol with too many, the older one of the two most similar is dropped; then the oldest of all.
        """
        by_symbol: dict[str, list[int]] = defaultdict(list)
        for number, one in enumerate(known):
            by_symbol[one.example.symbol].append(number)
        for numbers in by_symbol.values():
            while len(numbers) > MAX_EXAMPLES_PER_SYMBOL:
                features = np.array([known[number].features for number in numbers])
                like = np.triu(features @ features.T, 1) - 2 * np.tri(len(numbers))
                older, _ = np.unravel_index(int(like.argmax()), like.shape)
                del numbers[int(older)]
        kept = sorted(number for numbers in by_symbol.values() for number in numbers)
        return [known[number] for number in kept[-MAX_EXAMPLES:]]


def _is_credible(one: _EncodedExample, known: Sequence[_EncodedExample]) -> bool:
    """Return True if a player, the network or other examples support the symbol of a new example."""
    symbol = one.example.symbol
    if one.example.confirmed or one.log_probabilities.get(symbol, -np.inf) > np.log(_MIN_CREDIBLE_PROBABILITY):
        return True
    seen = max(one.log_probabilities, key=lambda s: one.log_probabilities[s])
    nearest: dict[str, float] = defaultdict(lambda: -1.0)
    for other in known:
        nearest[other.example.symbol] = max(nearest[other.example.symbol], float(one.features @ other.features))
    return nearest[symbol] > nearest[seen]


def _fit_bonus(known: Sequence[_EncodedExample]) -> _BonusModel:
    """Choose the bonus by reading each example with the examples of other games (cross-validation)."""
    symbols = np.array([one.example.symbol for one in known], np.str_)
    if len(known) < 2:
        return _BonusModel(symbols, np.zeros((len(known), 0)), 0.0, 0.0, 1.0)
    features = np.array([one.features for one in known])
    sources = np.array([one.example.source for one in known])
    apart = sources[:, None] != sources[None]
    # Compare with examples of other games if they have this symbol, otherwise with all other examples.
    elsewhere = (apart & (symbols[:, None] == symbols[None])).any(axis=1)
    apart[~elsewhere] = ~np.eye(len(known), dtype=bool)[~elsewhere]
    like = np.where(apart, features @ features.T, -np.inf)
    alike = float(np.quantile(like.max(axis=1), _LIKENESS_QUANTILE))

    columns = sorted({symbol for one in known for symbol in (*one.log_probabilities, one.example.symbol)})
    logs = np.array(
        [[max(one.log_probabilities.get(c, -np.inf), np.log(_MIN_TILE_PROBABILITY)) for c in columns] for one in known]
    )
    truth = np.array([columns.index(symbol) for symbol in symbols])
    nearest = {symbol: _compute_nearness(like[:, symbols == symbol].max(axis=1)) for symbol in set(symbols.tolist())}
    own = [nearest[symbol][row] for row, symbol in enumerate(symbols.tolist())]
    usual = float(np.quantile(own, _LIKENESS_QUANTILE))
    bonus = np.full_like(logs, usual)
    for symbol, near in nearest.items():
        number = (apart & (symbols == symbol)[None]).sum(axis=1)
        bonus[:, columns.index(symbol)] = np.maximum(near, _granted_nearness(usual, number))
    before, right = _compute_losses(logs, truth), logs.argmax(axis=1) == truth
    best, gained, most_right = 0.0, 0.0, int(right.sum())
    for nats in _BONUS_CHOICES_NATS:
        raised = logs + nats * bonus
        gains = before - _compute_losses(raised, truth)
        now_right = raised.argmax(axis=1) == truth
        lost, won = int((right & ~now_right).sum()), int((now_right & ~right).sum())
        surely = float(gains.sum() - _MIN_GAIN_STANDARD_ERRORS * np.sqrt((gains**2).sum()))
        worth = nats <= _SMALL_BONUS_NATS or (now_right.sum() > right.sum() and now_right.sum() >= most_right)
        if surely > gained and worth and lost * _MIN_WON_PER_LOST <= won:
            best, gained, most_right = nats, surely, int(now_right.sum())
    return _BonusModel(symbols, features, best, usual, alike)


def _compute_nearness(like: Floats) -> Floats:
    return np.asarray(np.exp(-_SHARPNESS * (1 - like)), np.float64)


def _compute_losses(logs: Floats, truth: NDArray[np.intp]) -> Floats:
    """Return the negative log-likelihood of the true symbols, each clipped to `_MAX_LOSS_NATS`."""
    most = logs.max(axis=1)
    total = most + np.log(np.exp(logs - most[:, None]).sum(axis=1))
    return np.asarray(np.minimum(total - logs[np.arange(len(logs)), truth], _MAX_LOSS_NATS), np.float64)


def _granted_nearness(usual: float, number: NDArray[np.intp] | int) -> Floats:
    """Return the nearness granted to a symbol with few examples: its next tile may still look like one of them."""
    return np.asarray(usual * _HALF_GRANT_EXAMPLES / (_HALF_GRANT_EXAMPLES + number), np.float64)


def _compute_bonuses(like: Floats, fitted: _BonusModel) -> dict[str, float]:
    """Return the bonus of each symbol, in nats, for a tile with these similarities to the examples."""
    near = _compute_nearness(like)
    bonuses: dict[str, float] = defaultdict(lambda: fitted.bonus * fitted.usual_nearness)
    for symbol in set(fitted.symbols.tolist()):
        own = near[fitted.symbols == symbol]
        bonuses[symbol] = fitted.bonus * max(
            float(own.max()), float(_granted_nearness(fitted.usual_nearness, len(own)))
        )
    return bonuses


def _tile_probabilities(square: SquareReading, tiles: Collection[str]) -> dict[str, float]:
    """Return the probability of each tile of the set, with a floor."""
    return {tile: max(square.probability(tile), _MIN_TILE_PROBABILITY) for tile in tiles}


def _can_bonus_change_letter(
    square: SquareReading, tiles: Collection[str], known: Collection[str], bonus: float
) -> bool:
    """Return True if a bonus could change the most probable letter and this letter has an example.

    Without the second condition, the first of two similar letters that is learnt would replace the other one.
    """
    if not square.is_tile or letter_shape(square.symbol) not in known:
        return False
    first, second = sorted(_tile_probabilities(square, tiles).values())[:-3:-1]
    return bool(np.log(first / second) < bonus)


def _apply_bonus(square: SquareReading, bonus: Mapping[str, float], tiles: Collection[str]) -> SquareReading:
    """Return the square with its tile probability redistributed; empty and hidden keep theirs."""
    others = {symbol: p for symbol, p in square.candidates if symbol in (EMPTY, HIDDEN)}
    chances = _tile_probabilities(square, tiles)
    tile = sum(square.probability(symbol) for symbol in chances)
    raised = {symbol: p * float(np.exp(bonus[letter_shape(symbol)])) for symbol, p in chances.items()}
    total = sum(raised.values())
    return rank_candidates(others | {symbol: tile * p / total for symbol, p in raised.items()})


def rank_candidates(chances: Mapping[str, float]) -> SquareReading:
    """Return the candidates of a square, most probable first, without the improbable ones."""
    best = sorted(chances.items(), key=lambda item: -item[1])[:_MAX_CANDIDATES]
    return SquareReading(tuple((symbol, p) for symbol, p in best if p >= _MIN_CANDIDATE_PROBABILITY))
