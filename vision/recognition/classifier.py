"""Classify the squares of a board whose corners are known.

The square network classifies squares as empty, tile or hidden (`SquareNet`); the letter network classifies the letters
of tiles (`LetterNet`). Their predictions are then combined (`fusion`).

Orientation: the layout of the board has fourfold symmetry, so only the tiles show which way up it is. For each tile,
the letter network predicts the log-probabilities of four rotations; the rotation with the highest sum over the tiles is
taken. Letters that look the same when rotated (H, I, N, O, S, X, Z) contribute little. `rereading` describes when a
board is read again, the other way up or in the flipped picture.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import BoardPose, Floats, Image, estimate_board_pose, square_side
from vision.recognition.alphabet import Alphabet, restrict_to_alphabet
from vision.recognition.colour_comparison import measure_log_colours
from vision.recognition.cut_squares import hide_cut_squares
from vision.recognition.details import (
    DetailNet,
    cut_detail_crops,
    group_accents,
    measure_missing_values,
    refine_accents,
    weigh_values,
)
from vision.recognition.fusion import fuse_predictions
from vision.recognition.letters import LETTER_CLASSES, LetterNet, TilePredictions, find_unclear_tiles
from vision.recognition.memory import RecalledBoard, TileTable
from vision.recognition.missed_tiles import doubt_tile_coloured_squares
from vision.recognition.shared_tiles import doubt_shared_tiles
from vision.recognition.similarity import refine_by_similarity
from vision.recognition.squares import SquareKinds, SquareNet, find_likely_tiles
from vision.recognition.tile_sets import limit_counts, list_limits, list_values
from vision.recognition.views import TILE_KIND, BoardViews, TilePoses, cut_square_crops, rectify_board, rectify_tops
from vision.recognition.written_blanks import find_unlike_tiles, measure_prints, weigh_written_blanks

_MIN_CLEAR_LETTER_P: Final = 0.95
"""Minimum probability of a letter without other accents in the tile set, for not reading its value."""
_VOTE_ERROR_RATE: Final = 0.02
"""Assumed share of tiles whose predicted rotation is random; it limits the influence of a tile on the result."""
_MAX_EFFECTIVE_VOTES: Final = 8
"""Maximum number of tiles that count as independent evidence; the errors of tiles of one set are correlated."""


@dataclass(frozen=True, slots=True)
class Orientation:
    """Estimated orientation of a board: the rotation that makes its tiles upright."""

    quarter_turns: int
    """Number (0..3) of anticlockwise quarter turns that make the rectified view upright."""
    confidence: float
    """Probability (0..1) of the rotation `quarter_turns`."""
    vote_count: int
    """Number of tiles that were used for the estimate."""


def average_rotations(turns_logp: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Average the rotation predictions for crops rotated by 0 to 3 quarter turns; return `(n, 4)` log-probabilities.

    `turns_logp[k]` `(n, 4)` are the predictions for the n crops after k anticlockwise quarter turns: the
    log-probability of each number of further turns that makes the tile upright. All four are needed because some
    letters resemble others upside down (an A resembles a V).
    """
    return np.asarray(np.mean([np.roll(logp, k, axis=1) for k, logp in enumerate(turns_logp)], axis=0), np.float32)


def estimate_orientation(turns_logp: NDArray[np.float32]) -> Orientation:
    """Estimate the board's orientation from the log-probabilities of rotation of n tiles, `(n, 4)`.

    Without tiles, the result is no rotation.
    """
    turns_p = np.exp(turns_logp.astype(np.float64))
    votes = np.log(_VOTE_ERROR_RATE / 4 + (1 - _VOTE_ERROR_RATE) * turns_p).sum(axis=0)
    votes *= _MAX_EFFECTIVE_VOTES / max(_MAX_EFFECTIVE_VOTES, len(turns_logp))
    orientation_p = np.exp(votes - votes.max())
    orientation_p /= orientation_p.sum()
    best = int(np.argmax(orientation_p)) if len(turns_logp) else 0
    return Orientation(best, float(orientation_p[best]), len(turns_logp))


Cell = tuple[int, int]
"""Row and column of a square."""


@dataclass(frozen=True, slots=True)
class ClassifierConfig:
    """Thresholds of `SquareClassifier`."""

    min_voter_p: float = 0.5
    """Minimum tile probability of the squares from which the orientation is estimated."""
    first_voter_count: int = 6
    """Number of tiles in the first estimate of the orientation; five of them suffice if their predictions are clear."""
    extra_voter_count: int = 10
    """Number of further tiles used if the first estimate is uncertain; each tile costs four crops."""
    certain_orientation_p: float = 1 - 1e-9
    """Minimum probability of an orientation that is accepted without more tiles. Five clear predictions reach it."""
    sample_count: int = 8
    """Number of letters that are read in mirrored crops, and upside down, if many tiles are doubtful."""
    outvoted_orientation_p: float = 0.9
    """Confidence of an orientation that contradicts the predicted rotations: low enough for the reading to report a
    problem. The orientation was correct on 14 of 19 rendered boards, most in typefaces that no training uses."""
    detailed_square_px: float = 18.0
    """Minimum side of a square, in pixels, for reading accents and values. On smaller squares, they are illegible."""
    fine_square_px: float = 10.0
    """Minimum side of a square, in pixels, for using letter probabilities unchanged. On smaller squares they are
    flattened, because the letter network is overconfident: few training pictures have small squares."""


_CONFIG: Final = ClassifierConfig()


@dataclass(frozen=True, slots=True, eq=False)
class SquarePredictions:
    """Predictions of the square network for one board, with the rectified views that they belong to."""

    picture: Image
    """`(H, W, 3) uint8 BGR`: picture from which the views were rectified."""
    pose: BoardPose
    """Pose of the board in the picture, for the coordinates of the views."""
    board: Image
    """`(272, 272, 3) uint8 BGR`: rectified board from `rectify_board`."""
    tops: Image
    """`(448, 448) uint8`: rectified plane of the tile tops from `rectify_tops`."""
    colours: Floats
    """`(225, 3)`: colours of the squares from `measure_log_colours`."""
    kinds_p: NDArray[np.float32]
    """`(15, 15, 3)`: probabilities of empty, tile and hidden for each square, with the doubts of `missed_tiles`."""
    cells: Sequence[Cell]
    """Squares (row, column) that may have a tile, in order of falling tile probability."""
    kinds: SquareKinds | None
    """Predictions in the form that is kept for the next picture; None in a copy made by `rotate`."""

    def rotate(self, quarter_turns: int) -> SquarePredictions:
        """Return the views and predictions rotated anticlockwise by `quarter_turns` quarter turns."""
        if not quarter_turns:
            return self
        colours = self.colours.reshape(BOARD_SIZE, BOARD_SIZE, -1)
        return SquarePredictions(
            picture=self.picture,
            pose=self.pose.rotate(quarter_turns),
            board=np.rot90(self.board, quarter_turns),
            tops=np.ascontiguousarray(np.rot90(self.tops, quarter_turns)),  # OpenCV would copy it for each crop
            colours=np.rot90(colours, quarter_turns).reshape(self.colours.shape),
            kinds_p=np.rot90(self.kinds_p, quarter_turns),
            cells=[_rotate_cell(cell, quarter_turns) for cell in self.cells],
            kinds=None,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ClassifiedBoard:
    """Result of `SquareClassifier`: class probabilities of the squares of an upright board."""

    squares_p: Floats
    """`(15, 15, classes + 1)`: probabilities of the letter network's classes, then that of a hidden square."""
    orientation: Orientation
    """Rotation that made the board upright."""
    squares: SquarePredictions
    """Predictions without the letter network, for the upright board."""
    poses: Floats
    """`(15, 15, 3)`: shift and rotation of the tile on each square, as in `TilePoses.poses`."""
    kept_tiles: TileTable
    """Predictions of the letter network that are kept for the next picture: all but those of unclear tiles."""
    foreign_p: Floats
    """`(15, 15)`: probability that a tile shows a letter or an accent outside the tile set; 0 without a tile."""
    clear_shapes: tuple[str, ...]
    """Letter shapes that are clear on tiles, of all letters that the network knows."""

    @property
    def views(self) -> BoardViews:
        """Upright rectified views of the board."""
        return BoardViews(self.squares.board, self.squares.tops, self.poses)


class SquareClassifier:
    """Classifier for the squares of a board whose corners are known; also estimates the orientation of the board."""

    def __init__(self, square_net: SquareNet, letter_net: LetterNet) -> None:
        self._square_net = square_net
        self._letter_net = letter_net
        self._detail_net = DetailNet()

    def classify(
        self,
        squares: SquarePredictions,
        tiles: Collection[str],
        *,
        is_upright: bool = False,
        recalled: RecalledBoard | None = None,
    ) -> ClassifiedBoard:
        """Classify the tiles of a board from the result of `classify_squares`; the possible letters are `tiles`.

        - `is_upright`: the first corner is the top left of the upright board. Otherwise the orientation is estimated,
          and the board is turned upright.
        - `recalled`: the memory of an earlier reading, for the same corners; only tiles that have changed are read.
        """
        if recalled:
            orientation = Orientation(0, recalled.memory.orientation_confidence, len(recalled.unchanged_tiles.tile_p))
            table = self._classify_changed_tiles(squares, recalled, tiles)
        else:
            orientation, known = (Orientation(0, 1.0, 0), None) if is_upright else self._vote_orientation(squares)
            squares = squares.rotate(orientation.quarter_turns)
            table = self._classify_tiles(squares, tiles, known)
        return self._fuse(squares, orientation, table, tiles)

    def classify_reversed(self, board: ClassifiedBoard, tiles: Collection[str]) -> ClassifiedBoard:
        """Classify the letters of `board` again, with the board upside down relative to its estimated orientation."""
        turned = board.squares.rotate(2)
        half_turn = (board.orientation.quarter_turns + 2) % 4
        orientation = replace(board.orientation, quarter_turns=half_turn, confidence=_CONFIG.outvoted_orientation_p)
        table = self._classify_tiles(turned, tiles)
        return self._fuse(turned, orientation, table, tiles)

    def may_be_mirrored(self, board: ClassifiedBoard, tiles: Collection[str]) -> bool:
        """Return True if the picture may be mirrored: some letters of `board` are clearer in mirrored crops.

        The mirrored crops are read both ways up, because a mirrored board is often estimated to be upside down.
        """
        crops, clarity = self._sample_letters(board)
        mirrored = crops[:, :, ::-1]
        return self._measure_clarity([mirrored, _turn_crops(mirrored, 2)], tiles) > clarity

    def may_be_reversed(self, board: ClassifiedBoard, tiles: Collection[str]) -> bool:
        """Return True if the board may be upside down: some letters of `board` are clearer in turned crops."""
        crops, clarity = self._sample_letters(board)
        return self._measure_clarity([_turn_crops(crops, 2)], tiles) > clarity

    def _sample_letters(self, board: ClassifiedBoard) -> tuple[Image, float]:
        """Return the crops of a sample of the letters, and the sum of the probabilities of these letters."""
        letters_p = board.squares_p[:, :, :-1][:, :, LETTER_CLASSES].max(axis=2)
        has_letter = letters_p >= board.squares_p.max(axis=2)
        lettered = [cell for cell in find_likely_tiles(board.squares.kinds_p) if has_letter[cell]]
        sample = [row * BOARD_SIZE + column for row, column in lettered[: _CONFIG.sample_count]]
        return board.views.cut_crops(sample), float(letters_p.ravel()[sample].sum())

    def _measure_clarity(self, variants: Sequence[Image], tiles: Collection[str]) -> float:
        """Return how clearly some crops show letters: the sum of the probabilities of their best classes.

        Each of `variants` has the same crops in another position. The variant with the highest sum counts.
        """
        letters = self._letter_net.predict(np.concatenate(variants)).letters
        best_p = restrict_to_alphabet(letters, self._letter_net.alphabet_matrix(tiles)).max(axis=1)
        return float(best_p.reshape(len(variants), -1).sum(axis=1).max())

    def _fuse(
        self,
        squares: SquarePredictions,
        orientation: Orientation,
        table: TileTable,
        tiles: Collection[str],
    ) -> ClassifiedBoard:
        """Combine the predictions of both networks for an upright board.

        `table` has the predictions of the letter network for the squares that may have a tile. The board has the tile
        set with the letters `tiles`.
        """
        alphabet = self._letter_net.alphabet_matrix(tiles)
        letters_p = restrict_to_alphabet(table.letters_logp, alphabet)
        refined_p = self._refine(table, letters_p, alphabet, square_side(squares.pose.corners))
        valued = self._read_values(squares, table, refined_p)
        refined_p = weigh_written_blanks(refined_p, valued)
        fused_p = fuse_predictions(squares.kinds_p, table.poses.cells, refined_p, squares.board, squares.colours)
        limits = np.append(list_limits(self._letter_net.classes, frozenset(tiles)), 0)  # hidden squares have no limit
        fused_p = limit_counts(fused_p.reshape(BOARD_SIZE**2, -1), limits).reshape(fused_p.shape)
        poses = table.poses.poses_by_square()
        unclear = find_unclear_tiles(table.letters_logp, letters_p, table.tile_p)
        return ClassifiedBoard(
            squares_p=doubt_shared_tiles(fused_p, poses),
            orientation=orientation,
            squares=squares,
            poses=poses,
            kept_tiles=valued.select(np.delete(np.arange(len(letters_p)), unclear).tolist()),
            foreign_p=self._map_foreign_letters(table, tiles),
            clear_shapes=self._letter_net.list_clear_shapes(table.letters_logp[table.tile_p >= _CONFIG.min_voter_p]),
        )

    def _map_foreign_letters(self, table: TileTable, tiles: Collection[str]) -> Floats:
        """Return the probability of a letter or an accent outside `tiles` for each square: `(15, 15)`.

        It is 0 for a square that has no tile, or for which a tile is less probable than `min_voter_p`.
        """
        foreign_p = np.zeros((BOARD_SIZE, BOARD_SIZE))
        foreign = self._letter_net.measure_foreign_letters(table.letters_logp, tiles)
        for cell, tile_p, p in zip(table.poses.cells, table.tile_p, foreign, strict=True):
            foreign_p[cell] = p * (tile_p >= _CONFIG.min_voter_p)
        return foreign_p

    def classify_squares(
        self, image: Image, corners: Floats, recalled: RecalledBoard | None = None
    ) -> SquarePredictions:
        """Rectify the two views of the board inside `corners` `(4, 2)` px, and classify its squares.

        With `recalled`, the memory of an earlier reading for the same corners, only changed squares are classified.
        """
        pose = recalled.memory.pose if recalled else estimate_board_pose(corners, (image.shape[1], image.shape[0]))
        board, tops = rectify_board(image, pose), recalled.tops if recalled else rectify_tops(image, pose)
        if recalled is None:
            kinds = self._square_net.predict(board)
        elif recalled.memory.kinds is None:
            kinds = self._square_net.predict(board, ~recalled.is_unchanged)
        else:
            kinds = self._square_net.predict_changed(board, recalled.memory.kinds, ~recalled.is_unchanged)
        colours = measure_log_colours(board)
        kinds_p = doubt_tile_coloured_squares(kinds.kinds_p, colours)
        kinds_p = hide_cut_squares(kinds_p, pose, (image.shape[1], image.shape[0]))
        return SquarePredictions(image, pose, board, tops, colours, kinds_p, find_likely_tiles(kinds_p), kinds)

    def _vote_orientation(self, squares: SquarePredictions) -> tuple[Orientation, TilePredictions]:
        """Estimate the orientation from the most probable tiles; also return the predictions for their upright crops.

        The first estimate is from crops as they are in the view. If the crops turned by this estimate are not clearly
        upright, all four rotations are compared. A board without tiles counts as upright.
        """
        voters = [cell for cell in squares.cells if squares.kinds_p[cell][TILE_KIND] >= _CONFIG.min_voter_p]
        crops = cut_square_crops(squares.tops, voters[: _CONFIG.first_voter_count])
        by_turn = {0: self._letter_net.predict(crops)}
        if turns := estimate_orientation(by_turn[0].turns).quarter_turns:
            by_turn[turns] = self._letter_net.predict(_turn_crops(crops, turns))
        remaining = estimate_orientation(by_turn[turns].turns)
        if not remaining.quarter_turns and remaining.confidence >= _CONFIG.certain_orientation_p:
            return replace(remaining, quarter_turns=turns), by_turn[turns]
        return self._compare_rotations(squares, voters, by_turn)

    def _compare_rotations(
        self, squares: SquarePredictions, voters: Sequence[Cell], known: Mapping[int, TilePredictions]
    ) -> tuple[Orientation, TilePredictions]:
        """Estimate the orientation from predictions for all four rotations of the tiles on the squares `voters`.

        `known` are earlier predictions for the first voters, by number of quarter turns. Also returns the predictions
        for the upright crops.
        """
        first, last = _CONFIG.first_voter_count, _CONFIG.first_voter_count + _CONFIG.extra_voter_count
        by_turn = [self._letter_net.predict_nothing()] * 4
        for cells, known_by_turn in ((voters[:first], known), (voters[first:last], {})):
            crops = cut_square_crops(squares.tops, cells)
            by_turn = [
                predictions + (known_by_turn.get(turn) or self._letter_net.predict(_turn_crops(crops, turn)))
                for turn, predictions in enumerate(by_turn)
            ]
            orientation = estimate_orientation(average_rotations([predictions.turns for predictions in by_turn]))
            if orientation.confidence >= _CONFIG.certain_orientation_p:
                break
        return orientation, by_turn[orientation.quarter_turns]

    def _classify_tiles(
        self, squares: SquarePredictions, tiles: Collection[str], known: TilePredictions | None = None
    ) -> TileTable:
        """Run the letter network on the tiles of an upright board, then on new crops of off-centre or rotated tiles.

        `known`, if given, are earlier predictions for the first tiles of `squares.cells`; they are not computed again.
        """
        alphabet = self._letter_net.alphabet_matrix(tiles)
        predictions = known or self._letter_net.predict(cut_square_crops(squares.tops, squares.cells))
        if rest := squares.cells[len(predictions.letters) :]:
            predictions += self._letter_net.predict(cut_square_crops(squares.tops, rest))
        poses = TilePoses.at_centres(squares.tops, squares.cells)
        poses, predictions = self._letter_net.recentre_tiles(poses, predictions)
        tile_p = np.array([squares.kinds_p[cell][TILE_KIND] for cell in squares.cells])
        letters_logp = self._letter_net.reread_unclear_tiles(poses, predictions.letters, alphabet, tile_p)
        # Allow for tiles that a player placed rotated.
        letters_logp = self._letter_net.marginalise_turns(poses, letters_logp, predictions.turns)
        unread, prints = np.full(len(tile_p), np.nan), measure_prints(poses.cut_crops())
        table = TileTable(poses, tile_p, letters_logp, predictions.turns, predictions.features, unread, prints)
        return self._weigh_details(squares, table, tiles)

    def _weigh_details(self, squares: SquarePredictions, table: TileTable, tiles: Collection[str]) -> TileTable:
        """Read accents and values of tiles, and weigh their letters with them.

        The tiles are those with an unclear letter, and those whose letter has other accents in the tile set.
        """
        classes, groups = self._letter_net.classes, group_accents(self._letter_net.classes, frozenset(tiles))
        alphabet = self._letter_net.alphabet_matrix(tiles)
        letters_p = restrict_to_alphabet(table.letters_logp, alphabet)
        is_unclear = letters_p[:, LETTER_CLASSES].max(axis=1) < _MIN_CLEAR_LETTER_P
        has_accents = np.isin(letters_p.argmax(axis=1), [k for group in groups for k in group])
        rows = np.flatnonzero((is_unclear | has_accents) & (table.tile_p >= _CONFIG.min_voter_p))
        if not len(rows) or square_side(squares.pose.corners) < _CONFIG.detailed_square_px:
            return table
        accents_logp, values_logp = self._read_details(squares, table.poses, rows)
        letters_logp, value_nats = table.letters_logp.copy(), table.value_nats.copy()
        letters_logp[rows] = refine_accents(letters_logp[rows], accents_logp, classes, groups)
        refined_p = restrict_to_alphabet(letters_logp[rows], alphabet)
        letters_logp[rows] += np.log(weigh_values(refined_p, values_logp, list_values(classes, frozenset(tiles))))
        value_nats[rows] = measure_missing_values(values_logp)
        return replace(table, letters_logp=letters_logp, value_nats=value_nats)

    def _read_values(self, squares: SquarePredictions, table: TileTable, letters_p: Floats) -> TileTable:
        """Look for the printed values of the tiles that look like no other tile of their letter."""
        is_unlike = find_unlike_tiles(letters_p, table)
        rows = np.flatnonzero(is_unlike & np.isnan(table.value_nats))
        if not len(rows):
            return table
        value_nats = table.value_nats.copy()
        _, values_logp = self._read_details(squares, table.poses, rows)
        value_nats[rows] = measure_missing_values(values_logp)
        return replace(table, value_nats=value_nats)

    def _read_details(
        self, squares: SquarePredictions, poses: TilePoses, rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Run the detail network on the tiles with the indices `rows` of `poses`.

        Returns the log-likelihoods of the accents, and of the values, for each of these tiles.
        """
        cells = [poses.cells[row] for row in rows.tolist()]
        return self._detail_net.predict(cut_detail_crops(squares.picture, squares.pose, cells, poses.poses[rows]))

    def _classify_changed_tiles(
        self, squares: SquarePredictions, recalled: RecalledBoard, tiles: Collection[str]
    ) -> TileTable:
        """Run the letter network on the tiles that have changed; the others keep their predictions."""
        before = recalled.unchanged_tiles
        row_by_cell = {cell: row for row, cell in enumerate(before.poses.cells)}
        unchanged = before.select([row_by_cell[cell] for cell in squares.cells if cell in row_by_cell])
        tile_p = np.array([squares.kinds_p[cell][TILE_KIND] for cell in unchanged.poses.cells])
        changed = replace(squares, cells=[cell for cell in squares.cells if cell not in row_by_cell])
        return replace(unchanged, tile_p=tile_p).join(self._classify_tiles(changed, tiles))

    def _refine(self, table: TileTable, letters_p: Floats, alphabet: Alphabet, square_px: float) -> Floats:
        """Refine the probabilities of the letters of n tiles, `letters_p` `(n, classes)`; return `(n, classes)`.

        The probabilities of letters outside the tile set are 0. `square_px` is the side of a square in the picture.
        """
        # Flatten the log-probabilities for pictures of low resolution, in which the network is overconfident.
        if square_px < _CONFIG.fine_square_px:
            flattened_logp = table.letters_logp * (square_px / _CONFIG.fine_square_px) ** 2
            letters_p = restrict_to_alphabet(flattened_logp, alphabet)
        # Compare the tiles with each other: tiles with the same letter look alike.
        return refine_by_similarity(letters_p, table.tile_p, table.features, self._letter_net.similarity_weights)


def _turn_crops(crops: Image, quarter_turns: int) -> Image:
    """Return the crops `(n, 36, 36)` rotated anticlockwise by `quarter_turns` quarter turns."""
    return np.ascontiguousarray(np.rot90(crops, quarter_turns, axes=(1, 2)))


def _rotate_cell(cell: Cell, quarter_turns: int) -> Cell:
    """Return the (row, column) of a square after `quarter_turns` anticlockwise quarter turns of the board."""
    row, column = cell
    for _ in range(quarter_turns):
        row, column = BOARD_SIZE - 1 - column, row
    return row, column
