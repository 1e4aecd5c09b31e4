"""Read a board from one picture: detect the board, then classify its squares."""

from __future__ import annotations

import math
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.messages import make_message
from engine.reading import (
    BOARD_SIZE,
    EMPTY,
    HIDDEN,
    MAX_CANDIDATES,
    MIN_CANDIDATE_PROBABILITY,
    BoardReading,
    SquareReading,
)
from vision.detection.layout_check import measure_board_confidence
from vision.detection.location import OTHER_GRID_MESSAGE, BoardLocation, BoardNotFoundError, LocationSource, Locator
from vision.detection.locator import BoardLocator
from vision.geometry import Floats, Image, as_quad, flip_points, is_convex, reverse_quad, rotate_quad, square_side
from vision.net import InvalidOutputError
from vision.recognition.classifier import ClassifiedBoard, SquareClassifier, SquarePredictions
from vision.recognition.letters import LetterNet
from vision.recognition.memory import BoardMemory, RecalledBoard
from vision.recognition.problems import MIN_ORIENTATION_CONFIDENCE, list_location_problems, list_square_problems
from vision.recognition.rereading import are_doubtful, is_better_reversed, is_clearly_better, measure_tile_confidence
from vision.recognition.squares import SquareNet
from vision.recognition.views import VIEW_MARGIN_SQUARES, VIEW_PX_PER_SQUARE, BoardViews
from vision.tracking import BoardTracker

MIN_SQUARE_PX: Final = 7.0
"""Minimum side of a square in pixels. A smaller board is not read, because no letter is legible."""
MIN_LOCATION_CONFIDENCE: Final = 0.6
"""Minimum confidence of a location from a search. If the confidence from the colours is lower, it is replaced by the
result of `measure_board_confidence`. If this result is lower as well, the reading has no board."""
MIN_TILES_FOR_FLIP: Final = 12
"""Minimum number of tiles that show clearly enough that a picture is mirrored, or no longer mirrored. It is more than
the first two plays usually have; afterwards, the recorded tiles show a wrong flip."""
_FEW_TILES_FLIP_CONFIDENCE: Final = 0.9
"""Maximum orientation confidence of a flipped picture with fewer tiles. Of 1345 rendered boards with 2 to 8 tiles in
unfamiliar typefaces, 18 were clearer flipped by chance, and 679 of 1342 mirrored ones were found."""
_EMPTY_SQUARE_PRIOR: Final = 0.8
"""Probability that a hidden square is empty: the share of empty squares in the middle of a game."""


@dataclass(frozen=True, slots=True)
class ReadingTimes:
    """Durations of the steps of a reading, in milliseconds; loading the picture from a file is not included."""

    locate: float
    read: float
    total: float


@dataclass(frozen=True, slots=True, eq=False)
class PhotoReading:
    """Result of reading one picture."""

    board: BoardReading | None
    """Symbols and probabilities of the squares; None if no board was found or the board is too small to read."""
    corners: Floats | None
    """`(4, 2)` outer corners of the grid in pixels, clockwise from the top left of the upright board; anticlockwise if
    the picture is mirrored."""
    problems: tuple[str, ...]
    """Messages for the user about an uncertain or failed reading."""
    ms: ReadingTimes
    """Durations of the steps in milliseconds."""
    views: BoardViews | None = None
    """Upright rectified views of the board, from which a profile takes examples of tiles."""
    orientation_confidence: float = 1.0
    """Probability that the orientation is correct; 1 if the orientation was given or if there are no tiles."""
    location: BoardLocation | None = None
    """Detected location of the board before it was turned upright, for `BoardTracker.update`. None if no board was
    found or if the corners were given."""
    is_mirrored: bool = False
    """True if the picture is mirrored; the board was read in the flipped picture. If only a few tiles show it,
    `location` still says what was expected."""
    memory: BoardMemory | None = None
    """Memory for `BoardTracker.confirm`; None if the board was not read or the picture is mirrored."""

    @property
    def is_flip_unsure(self) -> bool:
        """True if only a few tiles show whether the picture is mirrored (`BoardReading.alternative`)."""
        return self.board is not None and self.board.alternative is not None


class PhotoReader(Protocol):
    """Interface of board readers; `BoardReader` implements it."""

    def read(
        self,
        image: Image,
        tiles: Collection[str],
        *,
        corners: Floats | None = None,
        hint: BoardTracker | None = None,
    ) -> PhotoReading:
        """Read the board in `image`, `(H, W, 3) uint8 BGR`, with the letters `tiles` of a tile set.

        `corners` are the corners of the board, if they are known. `hint` is the tracker of earlier pictures.
        """


class BoardReader:
    """Board reader for any edition: detects the board in a picture and classifies its squares.

    A reader has no state besides the networks. To use the location from the previous picture, pass a `BoardTracker` as
    the `hint` of `read`.
    """

    def __init__(self, locator: Locator | None = None, letter_net: LetterNet | None = None) -> None:
        self._locator = locator or BoardLocator()
        self._letter_net = letter_net or LetterNet()
        self._classifier = SquareClassifier(SquareNet(), self._letter_net)

    def read(
        self,
        image: Image,
        tiles: Collection[str],
        *,
        corners: Floats | None = None,
        hint: BoardTracker | None = None,
    ) -> PhotoReading:
        """Read the board in `image`, `(H, W, 3) uint8 BGR`.

        `tiles` are the letters of the tile set. The location of the board comes from one of these:

        - `corners`, clockwise from the top left of the upright board. Raises ValueError unless they are a convex quad.
        - `hint`, the tracker of earlier pictures: the board is detected near its last corners.
        - Otherwise, the board is detected in the whole picture.

        The orientation of a detected board is estimated from its tiles; without tiles, the order of the detected
        corners is kept. A mirrored picture is flipped before it is read. It is recognised by its letters, by the
        `hint`, or by anticlockwise `corners`.
        """
        started_at = time.perf_counter()
        try:
            return self._read(image, tiles, corners, hint, started_at)
        except BoardNotFoundError as error:
            problem: str = make_message("board-not-found", "No board was found. {0}", error)
        except InvalidOutputError as error:
            problem = str(error)
        return PhotoReading(None, None, (problem,), _measure_times(started_at, time.perf_counter()))

    def _read(
        self, image: Image, tiles: Collection[str], corners: Floats | None, hint: BoardTracker | None, started_at: float
    ) -> PhotoReading:
        """Locate the board, classify its squares and build the reading; `started_at` is when the reading began."""
        # Locate the board, unless the caller gave the corners.
        location, recalled = self._locate(image, tiles, corners, hint)
        located_at = time.perf_counter()
        side = square_side(location.corners)
        if side < MIN_SQUARE_PX:
            times = _measure_times(started_at, located_at)
            detected = None if corners is not None else location
            return PhotoReading(None, location.corners, (_describe_small_board(side),), times, location=detected)

        # Classify the squares of the board.
        is_unsure = _is_unsure(location)  # before the squares raise the confidence
        expected = location
        location, classified, unflipped = self._classify_located(
            image, location, tiles, is_unsure=is_unsure, is_upright=corners is not None, recalled=recalled
        )

        # Build the reading in the orientation in which the tiles are upright.
        symbols = (*self._letter_net.class_symbols(tiles), HIDDEN)
        board = _build_reading(classified.squares_p, symbols)
        orientation = classified.orientation
        orientation_p = orientation.confidence if orientation.vote_count else 1.0
        # A few tiles may look clearer mirrored by chance: the players have to confirm it, and the tracker ignores it.
        tracked = location
        if unflipped is not None and board.tile_count < MIN_TILES_FOR_FLIP:
            orientation_p = min(orientation_p, _FEW_TILES_FLIP_CONFIDENCE)
            board = replace(board, alternative=_build_reading(unflipped.squares_p, symbols))
            tracked = replace(location, is_mirrored=expected.is_mirrored)
        upright = _turn_upright(location.corners, orientation.quarter_turns, is_mirrored=location.is_mirrored)
        memory = None
        if corners is None and not location.is_mirrored and orientation_p >= MIN_ORIENTATION_CONFIDENCE:
            memory = _update_memory(recalled, replace(location, corners=upright), classified, tiles)
        size = (image.shape[1], image.shape[0])
        problems = list_location_problems(location, size, is_unsure=is_unsure, is_tracked=hint is not None)
        problems += list_square_problems(classified, board, tiles, self._letter_net.unsupported_tiles(tiles))
        return PhotoReading(
            board=replace(board, orientation_confidence=orientation_p, offset_confidence=location.confidence),
            corners=upright,
            problems=tuple(problems),
            ms=_measure_times(started_at, located_at),
            views=classified.views,
            orientation_confidence=orientation_p,
            location=None if corners is not None else tracked,
            is_mirrored=location.is_mirrored,
            memory=memory,
        )

    def _locate(
        self, image: Image, tiles: Collection[str], corners: Floats | None, hint: BoardTracker | None
    ) -> tuple[BoardLocation, RecalledBoard | None]:
        """Return the location of the board and, if the board has not moved, its comparison with earlier pictures."""
        if corners is not None:
            return _use_corners(corners), None
        if hint is None:
            return self._locator.locate(image), None
        recalled = hint.recall(image, tiles)
        location = recalled.location if recalled else hint.locate(image, self._locator)
        return replace(location, is_mirrored=hint.is_mirrored), recalled

    def _classify_located(
        self,
        image: Image,
        location: BoardLocation,
        tiles: Collection[str],
        *,
        is_unsure: bool,
        is_upright: bool,
        recalled: RecalledBoard | None,
    ) -> tuple[BoardLocation, ClassifiedBoard, ClassifiedBoard | None]:
        """Classify the squares of the board, and mirrored or the other way up if their tiles are doubtful.

        Returns `location` with what the squares show: its confidence and whether the picture is mirrored. Then returns
        the best classification. If it is from the flipped picture, the last result is the best classification of the
        picture as it is, otherwise None. Raises `BoardNotFoundError` if the grid does not look like a board.
        """
        squares = self._classify_squares(image, location, recalled)
        if is_unsure:
            location = _verify_board(location, squares)  # before any letter is read
        classified = self._classifier.classify(squares, tiles, is_upright=is_upright, recalled=recalled)
        if recalled is not None:
            # The board is still in its place, so it is not mirrored: there is no memory of mirrored pictures.
            return location, classified, None
        classified, unflipped = self._classify_other_ways(image, location, tiles, classified, is_upright=is_upright)
        return replace(location, is_mirrored=location.is_mirrored ^ (unflipped is not None)), classified, unflipped

    def _classify_other_ways(
        self,
        image: Image,
        location: BoardLocation,
        tiles: Collection[str],
        classified: ClassifiedBoard,
        *,
        is_upright: bool,
    ) -> tuple[ClassifiedBoard, ClassifiedBoard | None]:
        """Classify the board upside down and mirrored if the tiles of `classified` are doubtful.

        Returns the best classification. If it is from the flipped picture, also returns the best classification of the
        picture as it is, otherwise None.
        """
        tiles_p = measure_tile_confidence(classified.squares_p, classified.foreign_p)
        # First the other way up: flipped letters of a turned board may be clear, such as B, C, E, O and X.
        if are_doubtful(tiles_p) and not is_upright and self._classifier.may_be_reversed(classified, tiles):
            turned = self._classifier.classify_reversed(classified, tiles)
            turned_p = measure_tile_confidence(turned.squares_p, turned.foreign_p)
            if is_better_reversed(turned_p, tiles_p):
                classified, tiles_p = turned, turned_p
        if are_doubtful(tiles_p) and self._classifier.may_be_mirrored(classified, tiles):
            other = replace(location, is_mirrored=not location.is_mirrored)
            flipped = self._classifier.classify(self._classify_squares(image, other), tiles)
            if is_clearly_better(measure_tile_confidence(flipped.squares_p, flipped.foreign_p), tiles_p):
                return flipped, classified
        return classified, None

    def _classify_squares(
        self, image: Image, location: BoardLocation, recalled: RecalledBoard | None = None
    ) -> SquarePredictions:
        """Classify the squares of the board at `location`; a mirrored picture is flipped first."""
        quad = location.corners
        if location.is_mirrored:
            quad = flip_points(reverse_quad(quad), image.shape[1])
            image = np.asarray(cv2.flip(image, 1), np.uint8)
        return self._classifier.classify_squares(image, quad, recalled)


def _update_memory(
    recalled: RecalledBoard | None, location: BoardLocation, classified: ClassifiedBoard, tiles: Collection[str]
) -> BoardMemory:
    """Return the memory for the next picture, after a reading of the upright board at `location`.

    `recalled` is the comparison with earlier pictures; None if all squares were read.
    """
    if recalled is not None:
        return recalled.update_memory(classified.kept_tiles, classified.squares.kinds)
    return BoardMemory(
        location=location,
        pose=classified.squares.pose,
        orientation_confidence=classified.orientation.confidence,
        tops=classified.views.tops,
        kept_tiles=classified.kept_tiles,
        kinds=classified.squares.kinds,
        tiles=frozenset(tiles),
    )


def _use_corners(corners: Floats) -> BoardLocation:
    """Return the location for given corners. Raises ValueError unless the corners are a convex quad."""
    quad = as_quad(corners)
    if is_convex(quad):
        return BoardLocation(quad, 1.0, LocationSource.PLACED)
    if is_convex(reverse_quad(quad)):
        return BoardLocation(reverse_quad(quad), 1.0, LocationSource.PLACED, is_mirrored=True)
    raise ValueError("corners must run clockwise around the grid: top left, top right, bottom right, bottom left")


def _is_unsure(location: BoardLocation) -> bool:
    """Return True if the search found a grid, but the colours do not show well enough that it is the board."""
    return location.source is LocationSource.SEARCHED and location.confidence < MIN_LOCATION_CONFIDENCE


def _describe_small_board(side: float) -> str:
    """Return the message about a board whose squares have only `side` pixels."""
    text = "The board is too small in the picture. Move the camera closer: a square has {0} pixels, but needs {1}."
    return make_message("board-small", text, f"{math.floor(10 * side) / 10:.1f}", f"{MIN_SQUARE_PX:.0f}")


def _verify_board(location: BoardLocation, squares: SquarePredictions) -> BoardLocation:
    """Return `location` with a confidence that takes the classification of the squares into account.

    Raises `BoardNotFoundError` if the grid does not look like a board.
    """
    edge = VIEW_MARGIN_SQUARES * VIEW_PX_PER_SQUARE
    grid = np.ascontiguousarray(squares.board[edge:-edge, edge:-edge])
    confidence = measure_board_confidence(grid, VIEW_PX_PER_SQUARE, squares.kinds_p)
    if confidence < MIN_LOCATION_CONFIDENCE:
        raise BoardNotFoundError(OTHER_GRID_MESSAGE)
    return replace(location, confidence=confidence)


def _turn_upright(quad: Floats, quarter_turns: int, *, is_mirrored: bool) -> Floats:
    """Return the corners of the upright board, given the clockwise corners `quad` `(4, 2)` of the picture.

    `quarter_turns` is the number of anticlockwise quarter turns that make the board upright, in the flipped picture if
    the picture is mirrored.
    """
    return rotate_quad(reverse_quad(quad) if is_mirrored else quad, quarter_turns)


def _build_reading(squares_p: NDArray[np.float64], symbols: tuple[str, ...]) -> BoardReading:
    """Build a board reading with the most probable symbols of each square.

    `squares_p` are the probabilities `(15, 15, classes + 1)`, `symbols` the symbols of the classes in the same order.
    """
    flat_p = squares_p.reshape(BOARD_SIZE * BOARD_SIZE, -1)
    # Few classes of a square are probable enough: sort only these, by square and then by falling probability.
    squares, classes = divmod(np.flatnonzero(flat_p >= MIN_CANDIDATE_PROBABILITY), flat_p.shape[1])
    likely_p = flat_p[squares, classes]
    order = np.lexsort((-likely_p, squares))
    candidates = list(zip(np.array(symbols, object)[classes[order]].tolist(), likely_p[order].tolist(), strict=True))
    # Split the list by square, and keep the first candidates of each.
    ends = np.cumsum(np.bincount(squares, minlength=len(flat_p))).tolist()
    by_square = (candidates[start:end][:MAX_CANDIDATES] for start, end in pairwise([0, *ends]))
    return BoardReading(tuple([SquareReading(tuple(square)) for square in by_square]))


def best_guess(square: SquareReading) -> tuple[str, float]:
    """Return the most probable symbol of a square and its probability, never the symbol `HIDDEN`.

    If the square was read as `HIDDEN`, 80 % of the probability of `HIDDEN` is added to that of an empty square, because
    most squares are empty.
    """
    if square.symbol != HIDDEN:
        return square.candidates[0]
    empty_p = square.probability(EMPTY) + _EMPTY_SQUARE_PRIOR * square.confidence
    tiles = ((symbol, p) for symbol, p in square.candidates if symbol not in (EMPTY, HIDDEN))
    return max((EMPTY, empty_p), next(tiles, (EMPTY, 0.0)), key=lambda guess: guess[1])


def _measure_times(started_at: float, located_at: float) -> ReadingTimes:
    now = time.perf_counter()
    return ReadingTimes(1e3 * (located_at - started_at), 1e3 * (now - located_at), 1e3 * (now - started_at))
