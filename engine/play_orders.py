"""Find the orders of plays that lead to a final board with the scores of a score sheet.

All plays of a game lie on its final board, and few of them have the score of a turn. The search begins with the empty
board and takes one score after the other. After each score, it keeps every set of squares that can be covered by then.
Only the values of the tiles matter, so blanks need no letters. `engine.sheet_errors` finds what is wrong if no order
fits.
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
"""Maximum number of plays that one search follows. Most games need fewer than 200."""


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

    - `line`: the squares of the run as a set.
    - `area`: the squares that decide on the scores of plays in the run: its own, and those of the runs that cross it.
    - `crosses`: for each square, the squares of the crossing run before and after it, the nearest first.
    - `scored`: cache of the plays in the run by score, for each set of squares of `area` that was covered before.
    """

    squares: range
    line: Squares
    area: Squares
    crosses: tuple[tuple[range, range], ...]
    scored: dict[Squares, dict[int, list[Squares]]] = field(default_factory=dict)

    @classmethod
    def build(cls, board: Board, squares: range) -> _Run:
        """Return the run on `squares`."""
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
    """Finder of the next plays in a game of which only the final board is known.

    `values` has the points of the tile on each square. `full` are the squares with a tile, `runs` the lines of tiles in
    which the plays lie. A finder is not bound to a moment of the game: its methods take the squares that are already
    covered.
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
        """Yield the squares and the score of each play that is possible when the squares `covered` have their tiles.

        If `points` is given, yield only plays of this score. `over` are squares that every play must cover.
        """
        for run in self.runs:
            if run.area & over == over:
                plays = self._score_run(run, covered)
                for score in plays if points is None else (points,):
                    yield from [(play, score) for play in plays.get(score, ()) if play & over == over]

    def _score_run(self, run: _Run, covered: Squares) -> dict[int, list[Squares]]:
        """Return the plays in a run by score, when the squares `covered` have their tiles."""
        near = covered & run.area
        if covered and not near:
            return {}  # only the first play of a game need not touch another tile
        if near not in run.scored:
            scored = run.scored[near] = {}
            for play, points in self._find_in_run(run, covered):
                scored.setdefault(points, []).append(play)
        return run.scored[near]

    def _find_in_run(self, run: _Run, covered: Squares) -> Iterator[ScoredPlay]:
        """Yield the legal plays in a run, each with its score."""
        crosses = [self._sum_crossing(cross, covered) for cross in run.crosses]
        before, length = 0, 0  # value and number of the covered tiles directly before a square
        for at, square in enumerate(run.squares):
            if covered >> square & 1:
                before, length = before + self.values[square], length + 1
                continue
            for play, points, is_joined in self._extend_play(run, covered, crosses, at, before, length):
                # A single tile in two words is a play of both runs. It is yielded for the run across.
                is_found_across = play.bit_count() == 1 and run.squares.step != 1 and any(run.crosses[at])
                if not is_found_across and (is_joined if covered else self._is_first_play(play)):
                    yield play, points
            before, length = 0, 0

    def _sum_crossing(self, cross: tuple[range, range], covered: Squares) -> int | None:
        """Return the points of the covered tiles directly beside a square in the crossing run; None if there are none.

        `cross` has the squares of the crossing run before and after the square.
        """
        tiles = [square for squares in cross for square in takewhile(lambda square: covered >> square & 1, squares)]
        return sum([self.values[square] for square in tiles]) if tiles else None

    def _extend_play(
        self, run: _Run, covered: Squares, crosses: Sequence[int | None], first: int, main: int, length: int
    ) -> Iterator[tuple[Squares, int, bool]]:
        """Yield the plays whose first new square is number `first` of the run, from the shortest to the longest.

        `crosses` has the points of the tiles that cross each square. `main` and `length` are the points and the number
        of the covered tiles directly before the first square. Each result has the new squares, the score, and True for
        a play that touches a covered tile.
        """
        letters, words = self.layout.letter_multipliers, self.layout.word_multipliers
        # `main` is the score of the main word before its multiplier, and `crossing` that of all cross words.
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
            if not covered & run.line & 1 << square + run.squares.step:  # the word ends here: the next square is empty
                yield play, (main * multiplier if length > 1 else 0) + crossing + self.rules.bonus(count), is_joined

    def _is_first_play(self, play: Squares) -> bool:
        return bool(play >> self.layout.centre & 1) and play.bit_count() >= self.rules.first_word_minimum


@dataclass(frozen=True, slots=True)
class PlayOrders:
    """All orders of plays that fit the final board and the scores of the turns.

    The orders are not stored one by one, because there may be very many. `steps` has the possible plays of each turn. A
    step follows a step of the turn before if it begins with the squares that are covered after that step. Every step is
    part of at least one order. `full` are the squares that are covered at the end.
    """

    steps: tuple[tuple[Step, ...], ...]
    full: Squares

    @classmethod
    def connect(cls, steps: Sequence[Iterable[Step]], full: Squares) -> PlayOrders:
        """Return the orders that lead from the empty board to the covered squares `full`.

        `steps` has the possible plays of each turn. Those from which no order follows are removed: first those that do
        not lead to the end, then those that cannot be reached from the beginning.
        """
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
        """The number of orders. It is 0 if no order fits, and if there are no turns."""
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
        """Return the possible plays of turn number `turn`, each with the number of orders that have it."""
        # Numbers of ways: from the beginning to covered squares before the turn, and from those after it to the end.
        before, after = Counter({0: 1}), Counter({self.full: 1})
        for steps in self.steps[:turn]:
            before = _sum_ways((covered | play, before[covered]) for covered, play in steps)
        for steps in reversed(self.steps[turn + 1 :]):
            after = _sum_ways((covered, after[covered | play]) for covered, play in steps)
        return _sum_ways((play, before[covered] * after[covered | play]) for covered, play in self.steps[turn])

    def find_open_turn(self) -> int | None:
        """Return the turn to ask the players about: whatever they answer, the fewest orders are left.

        Return None if at most one order is left already.
        """
        if self.count <= 1:
            return None
        return min(range(len(self.steps)), key=lambda turn: max(self.count_plays(turn).values()))

    def choose_play(self, turn: int, play: Squares) -> PlayOrders:
        """Return only the orders in which turn number `turn` is `play`."""
        kept = [step for step in self.steps[turn] if step[1] == play]
        return PlayOrders.connect((*self.steps[:turn], kept, *self.steps[turn + 1 :]), self.full)


def _sum_ways(ways: Iterable[tuple[Squares, int]]) -> Counter[Squares]:
    total = Counter[Squares]()
    for squares, count in ways:
        total[squares] += count
    return total


def find_orders(finder: PlayFinder, points: Sequence[int]) -> PlayOrders:
    """Return all orders of plays that lead to the final board of `finder`. `points` has the scores of the plays.

    Raises `TooManyOrdersError`.
    """
    return PlayOrders.connect(list(follow_scores(finder, points, {0: {0}}, MAX_STEPS)), finder.full)


def follow_scores(
    finder: PlayFinder, points: Sequence[int], starts: Mapping[int, Iterable[Squares]], max_steps: int, spare: int = 0
) -> Iterator[list[Step]]:
    """Yield, for each turn, the plays that have its score and fit the turns before. `points` has the scores.

    `starts` has, for some turns, sets of covered squares from which the search begins at this turn. Plays after which
    the later turns cannot cover the rest of the board are left out; `spare` is the number of turns or tiles that may be
    missing for this. Raises `TooManyOrdersError` for more than `max_steps` plays.
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
