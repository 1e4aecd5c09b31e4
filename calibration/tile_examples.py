"""This table's own tiles: small pictures of them, and what they say of a tile that looks like one of them.

The letter network knows tiles in general; a table has one set. A tile that looks like one of the table's own, to the
network's features, is a little more likely to be that letter: a bonus in nats for each symbol, largest where the tile
looks exactly like an example (Zhang et al., Tip-Adapter, 2022). How large a bonus may be is not set by hand: the
examples themselves are read without their own game's, and a bonus is given only where that reads them better beyond
chance.
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
from vision.recognition.alphabets import letter_shape
from vision.recognition.board_views import BoardViews
from vision.recognition.letters import TilePredictions
from vision.recognition.tile_crops import CROP_SIDE_PX
from vision.recognition.tile_similarity import normalise_features

MAX_EXAMPLES_PER_SYMBOL: Final = 8
MAX_EXAMPLES: Final = 400
"""Examples kept of a symbol, and of all: 400 pictures of 36 x 36 pixels are half a megabyte."""
_BONUS_CHOICES_NATS: Final = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Nats that a tile which looks exactly like an example may gain; the examples choose, or choose none."""
_SMALL_BONUS_NATS: Final = 2.0
"""A bonus above this must not only make examples surer: more of them must be read right, and no fewer than by a
smaller one."""
_SHARPNESS: Final = 8.0
"""How fast the bonus falls with 1 - cosine of the features."""
_MIN_GAIN_STANDARD_ERRORS: Final = 1.5
"""Standard errors by which the examples must be read better before any bonus is given."""
_MIN_WON_PER_LOST: Final = 3
"""Examples that a bonus must put right for each that it spoils."""
_MAX_LOSS_NATS: Final = 6.0
"""Nats that one example counts at most, so that a single one decides nothing."""
_MIN_TILE_PROBABILITY: Final = 1e-6
"""The least probability of a tile of the set, however little the network thinks of it."""
_MIN_CREDIBLE_PROBABILITY: Final = 0.02
"""A symbol to which the network gives less is learnt only where other examples or a person bear it out."""
_HALF_GRANT_EXAMPLES: Final = 0.5
"""Examples, as it were, at which half of the benefit of the doubt is gone."""
_LIKENESS_QUANTILE: Final = 0.1
"""Quantile of the examples' likeness to each other that most tiles of the set reach."""
_MAX_CANDIDATES: Final = 8
_MIN_CANDIDATE_PROBABILITY: Final = 1e-4
"""Candidates of a square, as the reader gives them."""


class TileClassifier(Protocol):
    """Looks at crops of tiles: `vision.recognition.letters.LetterNet`."""

    @property
    def classes(self) -> tuple[str, ...]:
        """What it tells apart."""

    def predict(self, cut: Image) -> TilePredictions:
        """Read crops `(n, 36, 36) uint8`."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A tile that is known."""

    symbol: str
    """Its shape (`vision.recognition.alphabets`), or `?`."""
    crop: Image
    """`(36, 36) uint8`, as `vision.recognition.tile_crops` cuts it."""
    source: str
    """The game that it lay in."""
    square: int
    confirmed: bool
    """A person said what it is."""


@dataclass(frozen=True, slots=True, eq=False)
class _EncodedExample:
    """An example with what the network makes of it."""

    example: Example
    features: Floats
    """Of length 1."""
    log_probabilities: Mapping[str, float]
    """Log-probabilities by symbol, among tiles."""

    @property
    def origin(self) -> tuple[str, int]:
        return self.example.source, self.example.square


@dataclass(frozen=True, slots=True, eq=False)
class _BonusModel:
    """What the examples are worth."""

    symbols: NDArray[np.str_]
    features: Floats
    bonus: float
    """Nats; 0: they do not help."""
    usual_nearness: float
    """How near an example of its own symbol most tiles are at least: what is granted to a symbol without examples."""
    min_similarity: float
    """How like the nearest example tiles of this set are, at least most of them."""


class TileExamples:
    """The known tiles of a table, never more than `MAX_EXAMPLES_PER_SYMBOL` of a symbol and `MAX_EXAMPLES` in all."""

    def __init__(self, letters: TileClassifier, examples: Sequence[Example] = ()) -> None:
        self._classifier = letters
        self._encoded = self._drop_excess(self._encode(examples))
        self._bonus_model = _fit_bonus(self._encoded)

    @property
    def examples(self) -> tuple[Example, ...]:
        """Those that are kept, the oldest first."""
        return tuple(one.example for one in self._encoded)

    @property
    def bonus(self) -> float:
        """Nats that a likeness is worth at this table; 0 where the examples do not help."""
        return self._bonus_model.bonus

    def learn(self, views: BoardViews, faces: Mapping[int, str], source: str, confirmed: Collection[int]) -> None:
        """Take in the tiles of a picture: square to face. The same square of the same game is learnt anew."""
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
        """The reading of a board with its letters in doubt weighed by their likeness to examples."""
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
        # Squares that are clear are looked at too where few are in doubt: they tell whether these are our tiles.
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
        """Without the older of the two most alike of each symbol that has too many, then without the oldest."""
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
    """Whether a new example may be what it is said to be: a person says so, the network, or its likes."""
    symbol = one.example.symbol
    if one.example.confirmed or one.log_probabilities.get(symbol, -np.inf) > np.log(_MIN_CREDIBLE_PROBABILITY):
        return True
    seen = max(one.log_probabilities, key=lambda s: one.log_probabilities[s])
    nearest: dict[str, float] = defaultdict(lambda: -1.0)
    for other in known:
        nearest[other.example.symbol] = max(nearest[other.example.symbol], float(one.features @ other.features))
    return nearest[symbol] > nearest[seen]


def _fit_bonus(known: Sequence[_EncodedExample]) -> _BonusModel:
    """Find out what likeness is worth: read each example by those of other games."""
    symbols = np.array([one.example.symbol for one in known], np.str_)
    if len(known) < 2:
        return _BonusModel(symbols, np.zeros((len(known), 0)), 0.0, 0.0, 1.0)
    features = np.array([one.features for one in known])
    sources = np.array([one.example.source for one in known])
    apart = sources[:, None] != sources[None]
    # By other games, where they know its letter; else by all but itself.
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
    """Minus the log-probability of the truth, each at most `_MAX_LOSS_NATS`."""
    most = logs.max(axis=1)
    total = most + np.log(np.exp(logs - most[:, None]).sum(axis=1))
    return np.asarray(np.minimum(total - logs[np.arange(len(logs)), truth], _MAX_LOSS_NATS), np.float64)


def _granted_nearness(usual: float, number: NDArray[np.intp] | int) -> Floats:
    """The nearness that a symbol of few examples is granted: unlike its one example, it may yet be like the next."""
    return np.asarray(usual * _HALF_GRANT_EXAMPLES / (_HALF_GRANT_EXAMPLES + number), np.float64)


def _compute_bonuses(like: Floats, fitted: _BonusModel) -> dict[str, float]:
    """The bonus of each symbol for a tile, by its likeness to each example."""
    near = _compute_nearness(like)
    bonuses: dict[str, float] = defaultdict(lambda: fitted.bonus * fitted.usual_nearness)
    for symbol in set(fitted.symbols.tolist()):
        own = near[fitted.symbols == symbol]
        bonuses[symbol] = fitted.bonus * max(
            float(own.max()), float(_granted_nearness(fitted.usual_nearness, len(own)))
        )
    return bonuses


def _tile_probabilities(square: SquareReading, tiles: Collection[str]) -> dict[str, float]:
    """The probability of each tile of the set, none quite impossible."""
    return {tile: max(square.probability(tile), _MIN_TILE_PROBABILITY) for tile in tiles}


def _can_bonus_change_letter(
    square: SquareReading, tiles: Collection[str], known: Collection[str], bonus: float
) -> bool:
    """Whether a bonus could rightly make another letter the most likely: not where this one has no example yet.

    Of two letters alike, the one that was laid first would take the other's tiles.
    """
    if not square.is_tile or letter_shape(square.symbol) not in known:
        return False
    first, second = sorted(_tile_probabilities(square, tiles).values())[:-3:-1]
    return bool(np.log(first / second) < bonus)


def _apply_bonus(square: SquareReading, bonus: Mapping[str, float], tiles: Collection[str]) -> SquareReading:
    """The square with its tile's probability shared out anew; nothing and hidden keep theirs."""
    others = {symbol: p for symbol, p in square.candidates if symbol in (EMPTY, HIDDEN)}
    chances = _tile_probabilities(square, tiles)
    tile = sum(square.probability(symbol) for symbol in chances)
    raised = {symbol: p * float(np.exp(bonus[letter_shape(symbol)])) for symbol, p in chances.items()}
    total = sum(raised.values())
    return rank_candidates(others | {symbol: tile * p / total for symbol, p in raised.items()})


def rank_candidates(chances: Mapping[str, float]) -> SquareReading:
    """A square's candidates in falling order, the improbable left out."""
    best = sorted(chances.items(), key=lambda item: -item[1])[:_MAX_CANDIDATES]
    return SquareReading(tuple((symbol, p) for symbol, p in best if p >= _MIN_CANDIDATE_PROBABILITY))
