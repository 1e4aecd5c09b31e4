"""Classify the squares of a board whose corners are known: crop, classify, turn upright, refine, fuse.

Two networks look at the same board: one classifies squares (empty, tile, hidden), the other the tiles' letters.

The layout is the same from all four sides; the tiles are not. Every tile votes with the letter network's
log-probabilities of its rotation, from all four sides. Letters that look the same when rotated (H, I, N, O, S, X, Z)
have little weight.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image, estimate_board_pose, square_side
from vision.recognition.fusion import fuse_predictions
from vision.recognition.letters import LetterNet, TilePredictions, refine_by_similarity, restrict_to_alphabet
from vision.recognition.squares import TILE_KIND, SquareNet, find_likely_tiles, rectify_board
from vision.recognition.views import BoardViews, TilePoses, cut_square_crops, rectify_tops

_VOTE_ERROR_RATE: Final = 0.02
"""Share of tiles whose vote is random (rotated by hand, covered, misread), so that no single tile decides."""


_MAX_EFFECTIVE_VOTES: Final = 8
"""Upper limit of the number of independent votes: tiles of one set have correlated errors."""


@dataclass(frozen=True, slots=True)
class Orientation:
    """The rotation that makes a view upright."""

    quarter_turns: int
    """Anticlockwise quarter turns of the view, 0..3; the corners of the board are rotated by the same number."""
    confidence: float
    """Probability of that rotation."""
    vote_count: int
    """Number of tiles that voted."""


def combine_views(looks: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Combine predictions of tiles rotated by 0..3 quarter turns anticlockwise into `(n, 4)` log-probabilities.

    Each prediction is `(n, 4)` log-probabilities of the further quarter turns that make a tile upright. All four are
    needed because some letters look like others upside down (an A like a V).
    """
    return np.asarray(np.mean([np.roll(look, k, axis=1) for k, look in enumerate(looks)], axis=0), np.float32)


def estimate_orientation(turns: NDArray[np.float32]) -> Orientation:
    """Estimate the orientation from `(n, 4)` log-probabilities of rotations; without tiles, no rotation."""
    votes = np.log(_VOTE_ERROR_RATE / 4 + (1 - _VOTE_ERROR_RATE) * np.exp(turns.astype(np.float64))).sum(axis=0)
    votes *= _MAX_EFFECTIVE_VOTES / max(_MAX_EFFECTIVE_VOTES, len(turns))
    chances = np.exp(votes - votes.max())
    chances /= chances.sum()
    best = int(np.argmax(chances)) if len(turns) else 0
    return Orientation(best, float(chances[best]), len(turns))


Cell = tuple[int, int]
"""Row and column of a square."""


@dataclass(frozen=True, slots=True)
class ClassifierConfig:
    """Thresholds of `SquareClassifier`."""

    min_voter_p: float = 0.5
    """Probability of a tile from which a square votes on the orientation: others hold what is no tile, and is alike
    from all sides."""
    first_voter_count: int = 6
    """Tiles that vote at first: five clear votes decide."""
    extra_voter_count: int = 10
    """Further tiles that vote where the first leave a doubt: each costs four crops."""
    certain_orientation_p: float = 1 - 1e-9
    """Probability of an orientation that leaves no doubt: five clear votes, and two more for each against them."""
    fine_square_px: float = 10.0
    """Side of a square in pixels below which letter probabilities are flattened: the network saw few such pictures in
    training, and is surer there than it is right."""


@dataclass(frozen=True, slots=True, eq=False)
class SquarePredictions:
    """A board seen upright, and what the network of squares predicts for it."""

    board: Image
    """`(272, 272, 3) uint8 BGR`, of `rectify_board`."""
    tops: Image
    """`(448, 448) uint8`, of `rectify_tops`."""
    kinds_p: NDArray[np.float32]
    """`(15, 15, 3)`: probabilities of empty, tile and hidden."""
    cells: Sequence[Cell]
    """The squares that may hold tiles, the likeliest first."""

    def rotate(self, quarter_turns: int) -> SquarePredictions:
        """Return the same, turned anticlockwise."""
        if not quarter_turns:
            return self
        return SquarePredictions(
            np.rot90(self.board, quarter_turns),
            np.ascontiguousarray(np.rot90(self.tops, quarter_turns)),
            np.rot90(self.kinds_p, quarter_turns),
            [_rotate_cell(cell, quarter_turns) for cell in self.cells],
        )


@dataclass(frozen=True, slots=True, eq=False)
class TileTable:
    """The squares that may hold tiles, as parallel arrays: row i of each array belongs to `poses.cells[i]`."""

    poses: TilePoses
    """Where on the view the tiles are."""
    tile_p: Floats
    """`(n,)`: probability of a tile, by the network of squares."""
    letters_logp: NDArray[np.float32]
    """`(n, classes)`: log-probabilities of the letter network's classes."""
    turns_logp: NDArray[np.float32]
    """`(n, 4)`: log-probabilities that a tile is upright after 0 to 3 quarter turns."""
    features: NDArray[np.float32]
    """`(n, 128)`: alike where tiles look alike."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassifiedBoard:
    """The squares of a board, upright."""

    squares_p: Floats
    """`(15, 15, classes + 1)`: probabilities of the letter network's classes, and last of a hidden square."""
    orientation: Orientation
    views: BoardViews


class SquareClassifier:
    """Classifies the squares of a board whose corners are known, and finds which way up it is."""

    def __init__(
        self, square_net: SquareNet, letter_net: LetterNet, config: ClassifierConfig = ClassifierConfig()
    ) -> None:
        self._square_net = square_net
        self._letter_net = letter_net
        self._config = config

    def classify(
        self, image: Image, corners: Floats, tiles: Collection[str], *, is_upright: bool = False
    ) -> ClassifiedBoard:
        """Classify the squares inside `corners` as `tiles` of a set; unless `is_upright`, turn the board first."""
        alphabet = self._letter_net.alphabet_matrix(tiles)
        found = self._classify_squares(image, corners)
        if is_upright:
            orientation = Orientation(0, 1.0, 0)
            known = self._letter_net.predict(cut_square_crops(found.tops, found.cells))
        else:
            orientation, known = self._vote_orientation(found)
        found = found.rotate(orientation.quarter_turns)
        table = self._classify_tiles(found, known)
        letters_p = self._refine(table, alphabet, square_side(corners))
        return ClassifiedBoard(
            fuse_predictions(found.kinds_p, found.cells, letters_p, found.board),
            orientation,
            BoardViews(found.board, found.tops, table.poses.poses_by_square()),
        )

    def _classify_squares(self, image: Image, corners: Floats) -> SquarePredictions:
        """Crop the two views of the board, and classify its squares as empty, tile or hidden."""
        pose = estimate_board_pose(corners, (image.shape[1], image.shape[0]))
        board, tops = rectify_board(image, pose), rectify_tops(image, pose)
        kinds_p = self._square_net.predict(board)
        return SquarePredictions(board, tops, kinds_p, find_likely_tiles(kinds_p))

    def _vote_orientation(self, found: SquarePredictions) -> tuple[Orientation, TilePredictions]:
        """Return the orientation by the votes of the likeliest tiles, and the predictions for those tiles, upright.

        Without tiles the view stays as it is.
        """
        config = self._config
        voters = [cell for cell in found.cells if found.kinds_p[cell][TILE_KIND] >= config.min_voter_p]
        first, last = config.first_voter_count, config.first_voter_count + config.extra_voter_count
        by_turn = [self._letter_net.predict(cut_square_crops(found.tops, []))] * 4
        for some in (voters[:first], voters[first:last]):
            crops = cut_square_crops(found.tops, some)
            turned = (np.ascontiguousarray(np.rot90(crops, turn, axes=(1, 2))) for turn in range(4))
            by_turn = [before + self._letter_net.predict(crop) for before, crop in zip(by_turn, turned, strict=True)]
            orientation = estimate_orientation(combine_views([predictions.turns for predictions in by_turn]))
            if orientation.confidence >= config.certain_orientation_p:
                break
        return orientation, by_turn[orientation.quarter_turns]

    def _classify_tiles(self, found: SquarePredictions, known: TilePredictions) -> TileTable:
        """Classify the tiles of an upright board, those of `known` predictions excepted, and centre their crops."""
        if rest := found.cells[len(known.letters) :]:
            known += self._letter_net.predict(cut_square_crops(found.tops, rest))
        poses, predictions = self._letter_net.recentre_tiles(TilePoses.at_centres(found.tops, found.cells), known)
        tile_p = np.array([found.kinds_p[cell][TILE_KIND] for cell in found.cells])
        return TileTable(poses, tile_p, predictions.letters, predictions.turns, predictions.features)

    def _refine(self, table: TileTable, alphabet: NDArray[np.float32], square_px: float) -> Floats:
        """Return `(n, classes)` probabilities of the tile set's letters, after a closer look at unclear tiles."""
        # Average unclear tiles over shifted crops: one crop errs more often than the mean of five.
        table = replace(
            table, letters_logp=self._letter_net.predict_augmented(table.poses, table.letters_logp, alphabet)
        )
        # Read tiles that were laid turned as they are.
        table = replace(
            table,
            letters_logp=self._letter_net.marginalise_turns(table.poses, table.letters_logp, table.turns_logp),
        )
        # Flatten the log-probabilities of small pictures, of which the network is too sure.
        flattened_logp = table.letters_logp * min(1.0, square_px / self._config.fine_square_px) ** 2
        # Compare the tiles with each other: those of one letter look alike.
        letters_p = restrict_to_alphabet(flattened_logp, alphabet)
        return refine_by_similarity(letters_p, table.tile_p, table.features)


def _rotate_cell(cell: Cell, quarter_turns: int) -> Cell:
    """Return where a square is after the board was turned anticlockwise by quarters."""
    row, column = cell
    for _ in range(quarter_turns):
        row, column = BOARD_SIZE - 1 - column, row
    return row, column
