"""Find the orders of plays that lead to a final board with the scores of a score sheet.

The plays of a game lie on its final board, and each score excludes nearly all of them: the search goes forward from the
empty board, one score after the other, and keeps every set of squares that can be covered so far. Only the values of
the tiles matter, so blanks need no letters. `engine.sheet_errors` finds what is wrong if no order fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile

from engine.board import Board, Layout, Square
from engine.errors import TilekeeperError
from engine.rules import Rules
from engine.tiles import Tile, TileSet

Squares = int
"""A set of squares: bit n is set if square n is in it."""
ScoredPlay = tuple[Squares, int]
"""The newly covered squares of a play, and its score."""
Step = tuple[Squares, Squares]
"""A play in an order: the squares that were covered before it, and the squares that it covers."""

MAX_STEPS = 500_000
"""Limit of plays that one search follows. Most games need fewer than 200."""


class TooManyOrdersError(TilekeeperError):
    """Error for a board and scores that fit so many orders that the search was stopped."""


def pack_squares(squares: Iterable[Square]) -> Squares:
    """Return squares as a set.

    >>> unpack_squares(pack_squares([112, 113]))
    (112, 113)
    """
    return sum(1 << square for square in set(squares))


def unpack_squares(packed: Squares) -> tuple[Square, ...]:
    """Return the squares of a set in ascending order."""
    return tuple([square for square in range(packed.bit_length()) if packed >> square & 1])


@dataclass(frozen=True, slots=True)
class _Run:
    """An unbroken line of tiles of the final board, in which plays can lie.

    `line` are its squares as a set, `area` the squares that decide on the scores of these plays: the run and the runs
    that cross it. `crosses` are for each square the squares of the crossing run on either side, nearest first.
    `scored` are the plays by score, for each set of squares of the area that may be covered before.
    """

    squares: range
    line: Squares
    area: Squares
    crosses: tuple[tuple[range, range], ...]
    scored: dict[Squares, dict[int, list[Squares]]] = field(default_factory=dict)

    @classmethod
    def build(cls, board: Board, squares: range) -> _Run:
        crossing = [board.tile_run(square, squares.step != 1) for square in squares]
        at = [run.index(square) for run, square in zip(crossing, squares, strict=True)]
        crosses = tuple((run[:n][::-1], run[n + 1 :]) for run, n in zip(crossing, at, strict=True))
        return cls(squares, pack_squares(squares), pack_squares(chain(squares, *crossing)), crosses)


def _find_runs(board: Board, squares: Iterable[Square]) -> tuple[_Run, ...]:
    """Return the runs of at least two tiles through the squares."""
    runs = [board.tile_run(square, across) for square in squares for across in (True, False)]
    return tuple([_Run.build(board, run) for run in dict.fromkeys(runs) if len(run) > 1])


@dataclass(frozen=True, slots=True)
class PlayFinder:
    """Finds the plays that can be made on a final board when some of its squares are covered.

    `values` are the points of the tile on each square, `full` the squares with a tile.
    """

    board: Board
    layout: Layout
    rules: Rules
    values: tuple[int, ...]
    full: Squares
    runs: tuple[_Run, ...]

    @classmethod
    def build(cls, board: Board, layout: Layout, tiles: TileSet, rules: Rules) -> PlayFinder:
        """Return the finder for a final board."""
        squares = board.occupied_squares()
        values = tuple(0 if tile is None else tiles.values[tile.face] for tile in board.squares)
        return cls(board, layout, rules, values, pack_squares(squares), _find_runs(board, squares))

    def with_tile(self, square: Square) -> PlayFinder:
        """Return a finder for the board with a blank on an empty square."""
        board = self.board.with_tiles({square: Tile.unnamed()})
        concerned = pack_squares(chain(board.tile_run(square, True), board.tile_run(square, False)))
        runs = [run for run in self.runs if not run.line & concerned]
        runs += _find_runs(board, unpack_squares(concerned))
        return replace(self, board=board, full=self.full | 1 << square, runs=tuple(runs))

    def with_value(self, square: Square, value: int) -> PlayFinder:
        """Return a finder with another value of the tile on a square."""
        runs = tuple([replace(run, scored={}) if run.area >> square & 1 else run for run in self.runs])
        return replace(self, values=(*self.values[:square], value, *self.values[square + 1 :]), runs=runs)

    def find_plays(self, covered: Squares, points: int | None = None, over: Squares = 0) -> Iterator[ScoredPlay]:
        """Yield squares and score of each play; only plays of this score, and only those over the squares of `over`."""
        for run in self.runs:
            if run.area & over == over:
                plays = self._score_run(run, covered)
                for score in plays if points is None else (points,):
                    yield from [(play, score) for play in plays.get(score, ()) if play & over == over]

    def _score_run(self, run: _Run, covered: Squares) -> dict[int, list[Squares]]:
        """Return the plays in a run by score. Only the first play need not touch a covered tile."""
        near = covered & run.area
        if covered and not near:
            return {}
        if near not in run.scored:
            scored = run.scored[near] = {}
            for play, points in self._find_in_run(run, covered):
                scored.setdefault(points, []).append(play)
        return run.scored[near]

    def _find_in_run(self, run: _Run, covered: Squares) -> Iterator[ScoredPlay]:
        crosses = [self._sum_crossing(cross, covered) for cross in run.crosses]
        before, length = 0, 0  # value and number of the covered tiles directly before a square
        for at, square in enumerate(run.squares):
            if covered >> square & 1:
                before, length = before + self.values[square], length + 1
                continue
            for play, points, is_joined in self._extend_play(run, covered, crosses, at, before, length):
                is_found_across = play.bit_count() == 1 and run.squares.step != 1 and any(run.crosses[at])
                if not is_found_across and (is_joined if covered else self._is_first_play(play)):
                    yield play, points
            before, length = 0, 0

    def _sum_crossing(self, cross: tuple[range, range], covered: Squares) -> int | None:
        """Return the value of the covered tiles that cross a square, None if there are none."""
        tiles = [square for squares in cross for square in takewhile(lambda square: covered >> square & 1, squares)]
        return sum([self.values[square] for square in tiles]) if tiles else None

    def _extend_play(
        self, run: _Run, covered: Squares, crosses: Sequence[int | None], first: int, main: int, length: int
    ) -> Iterator[tuple[Squares, int, bool]]:
        """Yield the plays whose first new square is number `first` of the run, longer and longer.

        `main` and `length` are value and number of the covered tiles directly before it. Yields the squares, the
        score, and True for a play that touches a covered tile.
        """
        letters, words = self.layout.letter_multipliers, self.layout.word_multipliers
        play, count, multiplier, crossing, is_joined = 0, 0, 1, 0, length > 0
        for square, cross in zip(run.squares[first:], crosses[first:], strict=True):
            length += 1
            if covered >> square & 1:
                main, is_joined = main + self.values[square], True
            elif count < self.rules.rack_size:
                points = self.values[square] * letters[square]
                play, count, multiplier, main = play | 1 << square, count + 1, multiplier * words[square], main + points
                if cross is not None:
                    crossing, is_joined = crossing + (cross + points) * words[square], True
            else:
                return
            if not covered & run.line & 1 << square + run.squares.step:
                yield play, (main * multiplier if length > 1 else 0) + crossing + self.rules.bonus(count), is_joined

    def _is_first_play(self, play: Squares) -> bool:
        return bool(play >> self.layout.centre & 1) and play.bit_count() >= self.rules.first_word_minimum


@dataclass(frozen=True, slots=True)
class PlayOrders:
    """All orders of plays that fit, as the possible steps of each turn. Every step is part of an order.

    `full` are the squares that are covered at the end.
    """

    steps: tuple[tuple[Step, ...], ...]
    full: Squares

    @classmethod
    def connect(cls, steps: Sequence[Iterable[Step]], full: Squares) -> PlayOrders:
        """Return the orders of all steps that lead from the empty board to the covered squares `full`."""
        ends, kept = {full}, list[list[Step]]()
        for turn in reversed(steps):
            kept.append([step for step in turn if step[0] | step[1] in ends])
            ends = {before for before, _ in kept[-1]}
        starts, connected = {0}, list[tuple[Step, ...]]()
        for turn in reversed(kept):
            connected.append(tuple([step for step in turn if step[0] in starts]))
            starts = {before | play for before, play in connected[-1]}
        return cls(tuple(connected), full)

    @property
    def count(self) -> int:
        """The number of orders."""
        return sum(self.count_plays(0).values()) if self.steps else 0

    def __iter__(self) -> Iterator[tuple[Squares, ...]]:
        """Yield each order: the newly covered squares of each turn."""
        return self._follow(0, 0)

    def _follow(self, turn: int, covered: Squares) -> Iterator[tuple[Squares, ...]]:
        if turn == len(self.steps):
            yield ()
            return
        for before, play in self.steps[turn]:
            if before == covered:
                yield from ((play, *rest) for rest in self._follow(turn + 1, before | play))

    def count_plays(self, turn: int) -> Counter[Squares]:
        """Return the number of orders with each play that is possible at a turn."""
        before, after = Counter({0: 1}), Counter({self.full: 1})
        for steps in self.steps[:turn]:
            before = _sum_ways((covered | play, before[covered]) for covered, play in steps)
        for steps in reversed(self.steps[turn + 1 :]):
            after = _sum_ways((covered, after[covered | play]) for covered, play in steps)
        return _sum_ways((play, before[covered] * after[covered | play]) for covered, play in self.steps[turn])

    def find_open_turn(self) -> int | None:
        """Return the turn whose play tells most about the order; None if at most one order is left."""
        if self.count <= 1:
            return None
        return min(range(len(self.steps)), key=lambda turn: max(self.count_plays(turn).values()))

    def choose_play(self, turn: int, play: Squares) -> PlayOrders:
        """Return the orders in which `play` was made at a turn."""
        kept = [step for step in self.steps[turn] if step[1] == play]
        return PlayOrders.connect((*self.steps[:turn], kept, *self.steps[turn + 1 :]), self.full)


def _sum_ways(ways: Iterable[tuple[Squares, int]]) -> Counter[Squares]:
    total = Counter[Squares]()
    for squares, count in ways:
        total[squares] += count
    return total


def find_orders(finder: PlayFinder, points: Sequence[int]) -> PlayOrders:
    """Return the orders of plays on the final board with these scores. `points` has one score for each play.

    Raises `TooManyOrdersError`.
    """
    return PlayOrders.connect(list(follow_scores(finder, points, {0: {0}}, MAX_STEPS)), finder.full)


def follow_scores(
    finder: PlayFinder, points: Sequence[int], starts: Mapping[int, Iterable[Squares]], max_steps: int, spare: int = 0
) -> Iterator[list[Step]]:
    """Yield the possible plays of each turn.

    `starts` are the covered squares from which the search begins at a turn. Steps after which the other turns cannot
    cover the rest of the board are left out; `spare` is a number of turns or tiles that may be missing. Raises
    `TooManyOrdersError` for more than `max_steps` plays.
    """
    covered: set[Squares] = set()
    for turn, score in enumerate(points):
        covered.update(starts.get(turn, ()))
        later = len(points) - turn - 1
        most = (later + spare) * finder.rules.rack_size
        steps = [
            (before, play)
            for before in covered
            for play, _ in finder.find_plays(before, score)
            if later - spare <= (finder.full & ~(before | play)).bit_count() <= most
        ]
        max_steps -= len(steps)
        if max_steps < 0:
            raise TooManyOrdersError
        yield steps
        covered = {before | play for before, play in steps}
