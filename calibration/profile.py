"""The profile of one table, which refines readings by examples of its tiles, its file and a reader that uses it.

The letter network was trained on many tile sets, but a table has only one. So if the features of a tile are close to
those of an example, the log-probability of the example's symbol is increased by a bonus in nats (after Zhang et al.,
Tip-Adapter, 2022). The bonus is only used if it improves accuracy in a leave-one-out test on the examples.
"""

from __future__ import annotations

import io
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from engine.board import SQUARES
from engine.errors import TilekeeperError, is_read_fault
from engine.messages import make_message
from engine.reading import BLANK, EMPTY, HIDDEN, BoardReading, SquareReading, rank_candidates
from vision.geometry import Floats, Image
from vision.recognition.alphabet import letter_shape
from vision.recognition.letters import LetterNet, TilePredictions
from vision.recognition.reader import PhotoReader, PhotoReading
from vision.recognition.similarity import normalise_features
from vision.recognition.views import CROP_SIDE_PX, BoardViews
from vision.tracking import BoardTracker

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


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A tile crop with its true symbol."""

    symbol: str
    """Letter of the tile, or `?` for a blank. Letters that look alike, such as Latin and Greek A, are one symbol."""
    crop: Image
    """`(36, 36) uint8` grey, from `vision.recognition.views.BoardViews.cut_crops`."""
    source: str
    """Name of the game in which the picture was taken."""
    square: int
    """Index (0..224) of the tile's square."""


class TileExamples:
    """Collection of examples of one table's tiles, with which the letter probabilities of readings are refined."""

    def __init__(self, letter_net: LetterNet, examples: Sequence[Example] = ()) -> None:
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

        `tiles` are the letters of the set. A letter must not become less probable only because it has no examples. So a
        square is not changed if its most probable letter has no example. On other squares, letters without examples
        get the same bonus as the letter with the nearest example.
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


_VERSION: Final = 2
"""Version of the format of profile files."""
_MAX_UNPACKED_BYTES: Final = 4_000_000
"""Maximum uncompressed size of a profile file in bytes; a full profile is much smaller."""
_MAX_SOURCE_CHARS: Final = 24
"""Maximum length of a game's name in the file, in characters; longer names are cut off."""


class ProfileFileError(TilekeeperError):
    """Error for a profile file that cannot be loaded; the message says what to do."""


class ProtectedProfileError(ProfileFileError):
    """Error for a profile file that must not be overwritten: it cannot be read now, or is of a newer version."""


def load_examples(path: Path) -> tuple[Example, ...]:
    """Load the examples from a profile file; a missing file gives no examples.

    Raises `ProtectedProfileError` for a file that must stay as it is, and `ProfileFileError` for a damaged file, which
    is renamed to `*.damaged`.
    """
    try:
        if path.exists() and not path.is_file():  # a FIFO would wait for its writer
            raise ValueError("it is not a file")
        with zipfile.ZipFile(path) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > _MAX_UNPACKED_BYTES:
                raise ValueError("it is far too large")
        with np.load(path, allow_pickle=False) as arrays:
            if int(arrays["version"]) > _VERSION:
                text = "{0} was written by a newer Tilekeeper. Update Tilekeeper, or rename the file."
                raise ProtectedProfileError(make_message("store-newer", text, path.name))
            return _from_arrays(arrays)
    except FileNotFoundError:
        return ()
    except ProtectedProfileError:
        raise
    except Exception as error:  # numpy parses array headers as Python literals: damaged bytes may raise any exception
        if is_read_fault(error):
            text = "The pictures of your tiles cannot be read ({1}). {0} stays as it is."
            raise ProtectedProfileError(make_message("learnt-unread", text, path.name, error.strerror)) from error
        with suppress(OSError):
            path.replace(path.with_name(f"{path.name}.damaged"))
        text = (
            "The file with the pictures of your tiles ({0}) is damaged. The table learns your tiles again as you play."
        )
        raise ProfileFileError(make_message("learnt-damaged", text, path.name)) from error


def pack_examples(examples: Sequence[Example]) -> bytes:
    """Return the content of a profile file with the examples."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **_to_arrays(examples))
    return packed.getvalue()


def _to_arrays(examples: Sequence[Example]) -> dict[str, Any]:
    return {
        "version": np.array(_VERSION),
        "crops": np.array([example.crop for example in examples], np.uint8).reshape(-1, CROP_SIDE_PX, CROP_SIDE_PX),
        "symbols": np.array([example.symbol for example in examples], "U8"),
        "sources": np.array([example.source for example in examples], f"U{_MAX_SOURCE_CHARS}"),
        "squares": np.array([example.square for example in examples], np.uint8),
    }


def _from_arrays(arrays: Mapping[str, Any]) -> tuple[Example, ...]:
    """Convert the arrays of a profile file to examples. Raises ValueError or KeyError for arrays of another format."""
    if int(arrays["version"]) != _VERSION:
        raise ValueError("it is of another version")
    crops, symbols, sources, squares = (arrays[name] for name in ("crops", "symbols", "sources", "squares"))
    count = len(crops)
    fits = (
        count <= MAX_EXAMPLES
        and crops.shape == (count, CROP_SIDE_PX, CROP_SIDE_PX)
        and crops.dtype == np.uint8
        and symbols.dtype.kind == sources.dtype.kind == "U"
        and symbols.shape == sources.shape == squares.shape == (count,)
        and (squares < len(SQUARES)).all()
    )
    if not fits:
        raise ValueError("its parts do not fit together")
    rows = zip(symbols.tolist(), crops, sources.tolist(), squares.tolist(), strict=True)
    return tuple(Example(*row) for row in rows)


class ProfileError(TilekeeperError):
    """Error for a profile that could not be saved."""


class TableProfile:
    """Profile of one table: examples of the table's tiles. Thread-safe.

    The examples are loaded from the file `path`; if `path` is None, they are kept only in memory. If the file is
    damaged, cannot be read or is from a newer version, the profile is empty, and `problem` has a message. A damaged
    file is renamed. The other two are neither renamed nor overwritten.
    """

    def __init__(self, path: Path | None, letters: LetterNet | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._save_lock = threading.Lock()
        self.problem = ""
        """Message about a profile file that could not be loaded; an empty string if there was no problem."""
        examples: tuple[Example, ...] = ()
        try:
            examples = load_examples(path) if path else ()
        except ProfileFileError as error:
            self.problem = str(error)
            if isinstance(error, ProtectedProfileError):
                self._path = None
        self._tile_examples = TileExamples(letters or LetterNet(), examples)

    @property
    def examples(self) -> tuple[Example, ...]:
        """Examples of the table's tiles, oldest first."""
        return self._tile_examples.examples

    def learn(self, views: BoardViews, rows: Sequence[Sequence[str]], source: str) -> None:
        """Add the tiles of a picture as examples, given the true faces on the board.

        `views` are the rectified views of the picture. `rows` are 15 rows of 15 true faces: `.` for an empty square,
        `?` for any blank, a letter, or `#` for an unknown or hidden square. `source` is the name of the game. A new
        example replaces one from the same game and square. Raises ValueError for rows of another size.
        """
        faces = [face for row in rows for face in row]
        if len(faces) != len(SQUARES):
            raise ValueError(f"a board has {len(SQUARES)} squares, got {len(faces)}")
        tiles = {square: face for square, face in enumerate(faces) if face not in (EMPTY, HIDDEN)}
        with self._lock:
            self._tile_examples.learn(views, tiles, source)

    def refine_reading(self, reading: PhotoReading, tiles: Collection[str]) -> PhotoReading:
        """Return the reading with letter probabilities refined by the examples; `tiles` are the letters of the set."""
        if reading.board is None or reading.views is None:
            return reading
        with self._lock:
            return replace(reading, board=self._tile_examples.refine_reading(reading.views, reading.board, tiles))

    def save(self, write_file: Callable[[Path, bytes], object]) -> None:
        """Write the examples to the profile's file with `write_file`. Raises `ProfileError` if writing fails.

        `write_file` should write a file completely or not at all, even if the power fails.
        """
        if self._path:
            try:
                with self._save_lock:  # otherwise a thread could overwrite newer examples with its own
                    write_file(self._path, pack_examples(self.examples))
            except OSError as error:
                text = "The pictures of your tiles could not be saved ({0})."
                raise ProfileError(make_message("learnt-not-saved", text, error.strerror or error)) from error


class ProfiledReader:
    """Board reader that refines the readings of another reader with the profile of one table."""

    def __init__(self, reader: PhotoReader, profile: TableProfile) -> None:
        self._reader = reader
        self._profile = profile

    def read(
        self,
        image: Image,
        tiles: Collection[str],
        *,
        corners: Floats | None = None,
        hint: BoardTracker | None = None,
    ) -> PhotoReading:
        """Read the board in `image`, `(H, W, 3) uint8 BGR`, and refine the reading with the profile.

        `tiles` are the letters of the tile set. `corners` are the corners of the board, if they are known, and `hint`
        is the tracker of earlier pictures.
        """
        return self._profile.refine_reading(self._reader.read(image, tiles, corners=corners, hint=hint), tiles)
