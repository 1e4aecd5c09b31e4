"""Find the smallest mistake that explains why no order of plays fits a final board and the scores of a score sheet.

A mistake is one wrong score, one missing turn, or one tile that was read with another value or not at all. The scores
before a mistake are right. So each search for a mistake at a turn begins with the sets of squares that can be covered
by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from engine.board import NEIGHBOURS, SQUARES, Square
from engine.play_orders import PlayFinder, Squares, follow_scores
from engine.tiles import TileSet

_MAX_STEPS, _MAX_CHANGED_STEPS = 500, 20_000
"""Maximum numbers of plays that the search follows: before the mistake (`_MAX_STEPS`) and after it.

In most games fewer than 150 plays fit the scores before the mistake. After each of them many mistakes are tried, so
with more than `_MAX_STEPS` the search would take minutes.
"""


class Mistake(StrEnum):
    """The kinds of mistakes on a score sheet or in the reading of a board."""

    SCORE = "score"
    TURN_MISSING = "turn_missing"
    TILE = "tile"


@dataclass(frozen=True, slots=True)
class SheetError:
    """One mistake after whose correction an order of plays fits.

    - `turn`: the number, from 0, of the play at which the mistake was made.
    - `play`: the squares that this play covers. `covered`: all squares that are covered after it.
    - `value`: the right score of the play. For a misread tile, the right value of the tile on `square`.
    """

    mistake: Mistake
    turn: int
    covered: Squares
    play: Squares
    value: int
    square: Square | None = None


Starts = dict[int, list[SheetError]]
"""Possible mistakes, by the number of the first turn after the mistake: from there, the scores are right again."""


def find_sheet_errors(finder: PlayFinder, tiles: TileSet, points: Sequence[int]) -> list[SheetError]:
    """Return the mistakes each of which alone explains why no order of plays has the scores `points`.

    Raises `TooManyOrdersError`.
    """
    steps = list(follow_scores(finder, points, {0: {0}}, _MAX_STEPS, spare=1))
    covered = [{0}, *({before | play for before, play in turn} for turn in steps)]
    changed_tiles = (
        _follow_mistakes(changed, points, _find_changed_tiles(changed, square, covered, points))
        for square, changed in _change_tiles(finder, sorted(set(tiles.values.values())))
    )
    other_plays = (
        _follow_mistakes(finder, points, _find_other_plays(finder, covered, mistake))
        for mistake in (Mistake.SCORE, Mistake.TURN_MISSING)
    )
    return [*chain.from_iterable(changed_tiles), *chain.from_iterable(other_plays)]


def group_by_place(errors: Iterable[SheetError], full: Squares) -> list[list[SheetError]]:
    """Group the mistakes by the place where the players must look: those of one play are together, missing turns last.

    `full` are the squares on which a tile was read.
    """
    places: dict[tuple[int, Squares], list[SheetError]] = {}
    for error in sorted(errors, key=lambda error: error.mistake is Mistake.TURN_MISSING):
        turn = -1 if error.mistake is Mistake.TURN_MISSING else error.turn
        places.setdefault((turn, error.play & full), []).append(error)
    return list(places.values())


def _follow_mistakes(finder: PlayFinder, points: Sequence[int], starts: Starts) -> Iterator[SheetError]:
    """Yield those of the mistakes `starts` after which the remaining scores lead to the final board."""
    after = {turn: {error.covered for error in errors} for turn, errors in starts.items()}
    # Forwards: all plays that have the scores after one of the mistakes, even if they cannot lead to the final board.
    steps = list(follow_scores(finder, points, after, _MAX_CHANGED_STEPS))
    # Backwards from the final board: the sets of covered squares before each turn from which these plays lead to it.
    leads_to_final = {finder.full}
    for turn in range(len(points), -1, -1):
        yield from [error for error in starts.get(turn, ()) if error.covered in leads_to_final]
        if turn:
            leads_to_final = {before for before, play in steps[turn - 1] if before | play in leads_to_final}


def _find_other_plays(finder: PlayFinder, covered: Sequence[set[Squares]], mistake: Mistake) -> Starts:
    """Return each possible play as a mistake: its score on the sheet is wrong, or it is missing on the sheet.

    `covered` has the sets of squares that can be covered before each turn. `mistake` is the kind of the mistakes.
    """
    used_scores = int(mistake is Mistake.SCORE)  # a missing play has no score on the sheet
    return {
        turn + used_scores: [
            SheetError(mistake, turn, before | play, play, score)
            for before in squares
            for play, score in finder.find_plays(before)
        ]
        for turn, squares in enumerate(covered)
    }


def _change_tiles(finder: PlayFinder, values: Sequence[int]) -> Iterator[tuple[Square, PlayFinder]]:
    """Yield the squares on or beside the tiles, each with a finder for every other value of its tile."""
    for square in SQUARES:
        if finder.full >> square & 1:
            yield from [(square, finder.with_value(square, v)) for v in values if v != finder.values[square]]
        elif any(finder.full >> near & 1 for near in NEIGHBOURS[square]):
            added = finder.with_tile(square)
            yield from [(square, added.with_value(square, value)) for value in values]


def _find_changed_tiles(
    finder: PlayFinder, square: Square, covered: Sequence[set[Squares]], points: Sequence[int]
) -> Starts:
    """Return the plays that have the score of the sheet only with the other value of the tile on `square`.

    `finder` has the board with this other value.
    """
    found: Starts = {}
    value = finder.values[square]
    for turn, score in enumerate(points):
        for before in [squares for squares in covered[turn] if not squares >> square & 1]:
            for play, _ in finder.find_plays(before, score, 1 << square):
                error = SheetError(Mistake.TILE, turn, before | play, play, value, square)
                found.setdefault(turn + 1, []).append(error)
    return found
