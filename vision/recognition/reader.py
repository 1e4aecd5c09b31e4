"""Read a whole board from one picture: find it, look at its squares and tiles, turn it upright."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.messages import said
from engine.reading import BOARD_SIZE, EMPTY, HIDDEN, BoardReading, SquareReading
from engine.squares import square_name
from vision.detection.location import BoardLocation, BoardNotFoundError
from vision.geometry import Floats, Image, estimate_board_pose, square_side
from vision.net import InvalidOutputError
from vision.quad import as_quad, is_convex, rotate_quad
from vision.recognition import squares
from vision.recognition.board_views import BoardViews
from vision.recognition.fusion import fuse_predictions
from vision.recognition.letters import LetterNet, TilePredictions, restrict_to_alphabet
from vision.recognition.orientation import Orientation, combine_views, estimate_orientation
from vision.recognition.squares import SquareNet, find_likely_tiles, rectify_board
from vision.recognition.tile_crops import TilePoses, cut_square_crops, rectify_tops
from vision.recognition.tile_similarity import refine_by_similarity

MIN_SQUARE_PX: Final = 7.0
"""Pixels a square below which nobody could read a letter."""
_FINE_SQUARE_PX: Final = 10.0
"""Pixels a square below which the letter network is surer than it is right: it has seen few such pictures."""
MIN_ORIENTATION_CONFIDENCE: Final = 0.95
MIN_LOCATION_CONFIDENCE: Final = 0.6
"""A grid that its colours do not speak for is at most so sure: half a board seen as a whole one of half its squares."""
_MIN_VOTER_PROBABILITY: Final = 0.5
_FIRST_VOTER_COUNT: Final = 6
_EXTRA_VOTER_COUNT: Final = 10
"""So many squares, at least so probably tiles, vote on which way is up; so many more where these leave a doubt."""
_SURE_ORIENTATION: Final = 1 - 1e-9
"""A way up so probable leaves none: it takes the clear votes of five, and two more for each that is against it."""
_EMPTY_SQUARE_PRIOR: Final = 0.8
"""The share of a board's squares that are bare, midway through a game."""
_MIN_CANDIDATE_PROBABILITY: Final = 1e-4
_MAX_CANDIDATES: Final = 8
"""Candidates kept for a square: at most so many, none less probable than `_LEAST`."""


@dataclass(frozen=True, slots=True)
class ReadingTimes:
    """How long a reading took, from the picture in memory to the answer."""

    locate: float
    read: float
    total: float


@dataclass(frozen=True, slots=True, eq=False)
class PhotoReading:
    """What one picture shows."""

    board: BoardReading | None
    """None where there is no board, or none that could be read."""
    corners: Floats | None
    """`(4, 2)` outer corners of the grid in pixels, clockwise from the top left as the tiles read upright."""
    problems: tuple[str, ...]
    ms: ReadingTimes
    views: BoardViews | None = None
    """What the board was read by, upright: this table's own examples are cut from it."""
    orientation_confidence: float = 1.0
    """How probable it is that the tiles read this way up; 1 where that was known, or where there are none."""


class BoardReader:
    """Reads boards of any edition from pictures.

    Holds the networks and nothing of what it has seen: every picture is read by itself.
    """

    def __init__(
        self,
        locate: Callable[[Image], BoardLocation],
        square_net: SquareNet | None = None,
        letter_net: LetterNet | None = None,
    ) -> None:
        """`locate` finds the grid in a picture, its corners in any of four turns, or raises `BoardNotFoundError`."""
        self._locate = locate
        self._squares = square_net or SquareNet()
        self._letters = letter_net or LetterNet()

    def read(self, image: Image, tiles: Collection[str], corners: Floats | None = None) -> PhotoReading:
        """Read the board in `image`, `(H, W, 3) uint8 BGR`.

        `tiles` are the letters of the tile set. With `corners` (clockwise from the top left as the tiles read
        upright) the board is read where they say; without, it is found and turned upright by its tiles; a board
        without tiles keeps the turn that it was found in. Raises ValueError for corners that no board can have.
        """
        begun = time.perf_counter()
        try:
            return self._read(image, tiles, corners, begun)
        except InvalidOutputError as error:
            return PhotoReading(None, None, (str(error),), _measure_times(begun, time.perf_counter()))

    def _read(self, image: Image, tiles: Collection[str], corners: Floats | None, begun: float) -> PhotoReading:
        problems: list[str] = []
        if corners is not None:
            corners = as_quad(corners)
            if not is_convex(corners):
                raise ValueError(
                    "corners must run clockwise around the grid: top left, top right, bottom right, bottom left"
                )
            quad, known_upright = corners, True
        else:
            try:
                found = self._locate(image)
            except BoardNotFoundError as error:
                problems.append(said("board-not-found", "no board found: {0}", error))
                return PhotoReading(None, None, tuple(problems), _measure_times(begun, time.perf_counter()))
            quad, known_upright = found.corners, False
            if found.confidence < MIN_LOCATION_CONFIDENCE:
                text = "not sure that this is the board ({0} %): check the corners"
                problems.append(said("board-unsure", text, f"{100 * found.confidence:.0f}"))
        located = time.perf_counter()
        side = square_side(quad)
        if side < MIN_SQUARE_PX:
            text = "the board is too small to read: {0} pixels a square, {1} are needed"
            problems.append(said("board-small", text, f"{side:.0f}", f"{MIN_SQUARE_PX:.0f}"))
            return PhotoReading(None, quad, tuple(problems), _measure_times(begun, located))
        chances, turn, views = self._predict_squares(image, quad, tiles, known_upright)
        if turn.confidence < MIN_ORIENTATION_CONFIDENCE and turn.vote_count:
            text = "not sure which way is up ({0} %): lay more tiles or give the corners"
            problems.append(said("board-way-up", text, f"{100 * turn.confidence:.0f}"))
        unknown = self._letters.unsupported_tiles(tiles)
        if unknown:
            text = "cannot read these letters of the tile set: {0}"
            problems.append(said("board-letters", text, " ".join(unknown)))
        board = _build_reading(chances, (*self._letters.class_symbols(tiles), HIDDEN))
        hidden = [square_name(i) for i, square in enumerate(board.squares) if square.symbol == HIDDEN]
        if hidden:
            problems.append(said("board-hidden", "cannot see {0}", " ".join(hidden)))
        corners, sure = rotate_quad(quad, turn.quarter_turns), turn.confidence if turn.vote_count else 1.0
        return PhotoReading(board, corners, tuple(problems), _measure_times(begun, located), views, sure)

    def _predict_squares(
        self, image: Image, quad: Floats, tiles: Collection[str], known_upright: bool
    ) -> tuple[NDArray[np.float64], Orientation, BoardViews]:
        """Probabilities `(15, 15, classes + 1)`, the last for a hidden square, of the board turned upright."""
        pose = estimate_board_pose(quad, (image.shape[1], image.shape[0]))
        board, view = rectify_board(image, pose), rectify_tops(image, pose)
        kinds = self._squares.predict(board)
        cells, within = find_likely_tiles(kinds), self._letters.alphabet_matrix(tiles)
        if known_upright:
            turn, looks = Orientation(0, 1.0, 0), self._letters.predict(cut_square_crops(view, cells))
        else:
            turn, looks = self._vote_orientation(
                view, [cell for cell in cells if kinds[cell][squares.TILE_KIND] >= _MIN_VOTER_PROBABILITY]
            )
        if turn.quarter_turns:
            kinds = np.rot90(kinds, turn.quarter_turns)
            view = np.ascontiguousarray(np.rot90(view, turn.quarter_turns))
            board = np.rot90(board, turn.quarter_turns)
            cells = [_rotate_cell(cell, turn.quarter_turns) for cell in cells]
        if rest := cells[len(looks.letters) :]:
            looks += self._letters.predict(cut_square_crops(view, rest))
        spots, looks = self._letters.recentre_tiles(TilePoses.at_centres(view, cells), looks)
        letters = self._letters.predict_augmented(spots, looks.letters, within)
        letters = self._letters.marginalise_turns(spots, letters, looks.turns)
        letters = letters * min(1.0, square_side(quad) / _FINE_SQUARE_PX) ** 2
        tile = np.array([kinds[cell][squares.TILE_KIND] for cell in cells])
        chances = refine_by_similarity(restrict_to_alphabet(letters, within), tile, looks.features)
        return fuse_predictions(kinds, cells, chances, board), turn, BoardViews(board, view, spots.poses_by_square())

    def _vote_orientation(self, view: Image, likely: Sequence[tuple[int, int]]) -> tuple[Orientation, TilePredictions]:
        """Which way is up, by the first of the `likely` tiles, and the looks at them the right way up.

        Without tiles the view stays as it is.
        """
        ways = [self._letters.predict(cut_square_crops(view, []))] * 4
        for voters in (
            likely[:_FIRST_VOTER_COUNT],
            likely[_FIRST_VOTER_COUNT : _FIRST_VOTER_COUNT + _EXTRA_VOTER_COUNT],
        ):
            cut = cut_square_crops(view, voters)
            looks = (self._letters.predict(np.ascontiguousarray(np.rot90(cut, k, axes=(1, 2)))) for k in range(4))
            ways = [way + look for way, look in zip(ways, looks, strict=True)]
            turn = estimate_orientation(combine_views([way.turns for way in ways]))
            if turn.confidence >= _SURE_ORIENTATION:
                break
        return turn, ways[turn.quarter_turns]


def _rotate_cell(cell: tuple[int, int], quarter_turns: int) -> tuple[int, int]:
    """Where a square comes to lie when the board is turned by quarters anticlockwise."""
    row, column = cell
    for _ in range(quarter_turns):
        row, column = BOARD_SIZE - 1 - column, row
    return row, column


def _build_reading(chances: NDArray[np.float64], names: tuple[str, ...]) -> BoardReading:
    flat = chances.reshape(BOARD_SIZE * BOARD_SIZE, -1)
    order = np.argsort(-flat, axis=1, kind="stable")[:, :_MAX_CANDIDATES]
    likely = np.take_along_axis(flat, order, axis=1)
    kept = (likely >= _MIN_CANDIDATE_PROBABILITY).sum(axis=1).tolist()
    symbols = np.array(names, object)[order].tolist()
    squares = zip(symbols, likely.tolist(), kept, strict=True)
    return BoardReading(tuple(SquareReading(tuple(zip(best[:n], ps[:n], strict=True))) for best, ps, n in squares))


def best_guess(square: SquareReading) -> tuple[str, float]:
    """What to show for a square, and how probable it is.

    For a hidden square that is a guess, and its probability as much from what most squares are as from the picture:
    bare, unless what is half seen there makes one tile likelier.
    """
    if square.symbol != HIDDEN:
        return square.candidates[0]
    bare = square.probability(EMPTY) + _EMPTY_SQUARE_PRIOR * square.confidence
    tiles = ((symbol, p) for symbol, p in square.candidates if symbol not in (EMPTY, HIDDEN))
    return max((EMPTY, bare), next(tiles, (EMPTY, 0.0)), key=lambda guess: guess[1])


def _measure_times(begun: float, located: float) -> ReadingTimes:
    now = time.perf_counter()
    return ReadingTimes(1e3 * (located - begun), 1e3 * (now - located), 1e3 * (now - begun))
