"""The explanations that come into question for a reading, each with its weight.

Priors are what happens at a table, in nats: a play or nothing is the rule, everything else the exception.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest, nsmallest
from math import log
from typing import NamedTuple

from engine.board import Board
from engine.events import BlankNamed, Event, PlayMade, PlayWithdrawn, SquareCorrected, TurnCorrected
from engine.game import Game
from engine.inference.alignment import MOST_BACK
from engine.inference.history import CLEAR, Evidence, Memory, agrees
from engine.inference.placements import laid_squares, letters, lies_well, tile_of
from engine.inference.variations import varied
from engine.messages import said
from engine.plays import Play
from engine.reading import EMPTY
from engine.squares import Square, column_of, row_of
from engine.turns import Kind, Turn

WITHDRAWN = log(0.05)
STILL_LYING = log(0.5)  # a play that was challenged off, its tiles not yet taken up
TWO_PLAYS = log(0.005)  # somebody forgot to end the turn
LIKE_IT = log(0.05)  # for each square on which what lies there is like the play taken back, or all its tiles elsewhere
LAID_AGAIN = log(0.05)  # a player shifts the last play, with all its tiles
OVERLOOKED = log(0.01)  # a tile of an earlier play was not seen at the time
NUDGED = log(0.005)

_MOST_SETS = 40  # sets of squares whose letters are tried
_LETTERINGS = 4  # letterings tried for each
_MOST_LOOSE = 20  # with more tiles than that to explain, something else is wrong
_BEAM = 6  # explanations that are tried with one more play
_MOST_PLAYS = 8  # between two looks
_MOST_NEVER = 3  # squares that are taken off the record at once: where more are bare, the tiles have been cleared away
_NUDGE = 2  # squares that a nudged tile can have moved


@dataclass(frozen=True)
class Hypothesis:
    """Events that may explain a reading, and the game after them. `score` is its log-likelihood with its prior."""

    game: Game
    events: tuple[Event, ...]
    prior: float
    evidence: Evidence
    moved: tuple[tuple[Square, Square], ...] = ()
    lying: Board | None = None
    note: str = ""

    @property
    def board(self) -> Board:
        """The board that the camera should see."""
        return self.game.board if self.lying is None else self.lying

    @cached_property
    def score(self) -> float:
        """How likely it is, in nats, up to a constant of the reading."""
        return self.prior + self.evidence.log_likelihood(self.board)

    def push(self, *events: Event, prior: float = 0.0) -> Hypothesis:
        """The hypothesis with more events."""
        game = self.game
        for event in events:
            game = game.push(event)
        return replace(self, game=game, events=self.events + events, prior=self.prior + prior)

    def unexplained(self) -> frozenset[Square]:
        """The squares where a tile is clearly seen and none should lie."""
        return frozenset(square for square in self.evidence.clear if self.board[square] is None)


def hypotheses(game: Game, evidence: Evidence, memory: Memory) -> list[Hypothesis]:
    """Everything that may have happened, the most likely first."""
    begin = _put_right(Hypothesis(game, (), 0.0, evidence), memory)
    bases = [begin, *_withdrawn(begin), *_still_lying(begin), *_laid_again(begin)]
    bases += [variant for base in (begin, *_withdrawn(begin)) for variant in varied(base)]
    if len(begin.unexplained()) <= _MOST_LOOSE:
        bases += nlargest(_BEAM, (*_overlooked(begin), *_nudged(begin)), key=lambda one: one.score)
    found = _with_plays(bases, overlooked=False)
    if 0 < len(max(found, key=lambda one: one.score).unexplained()) <= _MOST_LOOSE:
        found += _with_plays(bases, overlooked=True)
    return sorted(_unique(found), key=lambda one: -one.score)


def _with_plays(bases: list[Hypothesis], overlooked: bool) -> list[Hypothesis]:
    """The hypotheses, and each with the plays that may have followed: one, or several if somebody forgot to say so."""
    found = list(bases)
    front = bases
    for number in range(_MOST_PLAYS):
        prior = 0.0 if number == 0 else TWO_PLAYS
        going_on = [one for one in front if one.unexplained() or number == 0]
        laid = [(laid, one) for one in going_on for laid in _laid(one, prior, overlooked)]
        best = nlargest(_BEAM, laid, key=lambda pair: pair[0].weight + pair[1].score)
        front = _unique([one.push(PlayMade(one.game.to_move, play), prior=own) for (_, play, own), one in best])
        if not front:
            break
        found += front
    return found


def _unique(found: list[Hypothesis]) -> list[Hypothesis]:
    best: dict[object, Hypothesis] = {}
    for one in found:
        key = (one.events, one.moved, one.note)
        if key not in best or best[key].score < one.score:
            best[key] = one
    return list(best.values())


class _Laid(NamedTuple):
    """A play that may have been laid: how much better it makes the whole score, the play, its own prior."""

    weight: float
    play: Play
    prior: float


def _laid(base: Hypothesis, prior: float, overlooked: bool) -> Iterator[_Laid]:
    """The plays that whoever's turn it is may have laid."""
    game, evidence = base.game, base.evidence
    if game.is_over or base.lying is not None:
        return
    sets = nsmallest(
        _MOST_SETS,
        laid_squares(game.state, evidence, overlooked),
        key=lambda squares: sum(evidence.empty(square) for square in squares),
    )
    stock = game.state.stock()
    for squares in sets:
        for value, tiles in letters(evidence, squares, stock, _LETTERINGS):
            play = Play.of(dict(zip(squares, tiles, strict=True)))
            own = prior + value - sum(evidence.of(s, tile) for s, tile in play.tiles)
            own += _like_the_one_taken_back(base, play)
            yield _Laid(own + _gain(base, play), play, own)


def _like_the_one_taken_back(base: Hypothesis, play: Play) -> float:
    """How unlikely a play is because it is much like the one that was taken back just now, in nats.

    After a challenge the next player may well cover the same squares, but hardly with the same tiles.
    """
    last = base.game.turns[-1] if base.game.turns else None
    if last is None or last.kind is not Kind.WITHDRAWN or last.target is None:
        return 0.0
    back = {square: tile.face for square, tile in base.game.turns[last.target].placements}
    known = not any(isinstance(event, PlayWithdrawn) for event in base.events)
    reads = [(base.evidence.reading.squares[square], face) for square, face in back.items()]
    alike = sum(read.symbol == face if known else read.is_tile for read, face in reads)
    same = sorted(back.values()) == sorted(tile.face for _, tile in play.tiles)
    return LIKE_IT * max(alike, same)


def _gain(base: Hypothesis, play: Play) -> float:
    """How much better the reading agrees with the board when these tiles lie on its empty squares."""
    evidence = base.evidence
    return sum(evidence.at(s, tile) - evidence.empty(s) for s, tile in play.tiles)


def _put_right(begin: Hypothesis, memory: Memory) -> Hypothesis:
    """Old tiles that all readings together contradict are corrected, unless a person has said what they are."""
    told = {
        e.square for e in begin.game.events if isinstance(e, BlankNamed) or (isinstance(e, SquareCorrected) and e.told)
    }
    contradictions = memory.contradictions(begin.game.board)
    cleared = sum(symbol == EMPTY for symbol in contradictions.values()) > _MOST_NEVER
    for square, symbol in contradictions.items():
        if symbol == EMPTY and cleared:
            continue
        known = symbol == EMPTY or begin.game.unseen[symbol] > 0
        if square not in told and known and begin.evidence.reading.squares[square].probability(symbol) > CLEAR:
            tile = None if symbol == EMPTY else tile_of(symbol)
            begin = begin.push(SquareCorrected(square, tile))
    return begin


def last_play(game: Game) -> Turn | None:
    """The play that would be taken back next: the last one, or the one before those that were taken back already."""
    for turn in reversed(game.turns):
        if turn.kind is Kind.PLAY and turn.stands:
            return turn
    return None


def _withdrawn(base: Hypothesis) -> Iterator[Hypothesis]:
    """The last play was taken back: its tiles left the board. Or the first few all were: it was not the game yet."""
    seen = base.evidence.reading.squares
    for number in range(MOST_BACK):
        last = last_play(base.game)
        if last is None or base.game.is_over:
            return
        gone = [seen[square].symbol == EMPTY for square, _ in last.placements]
        other = any(not agrees(seen[square].symbol, tile) for square, tile in last.placements)
        if not (other if number == 0 else all(gone)):
            return
        base = base.push(PlayWithdrawn(last.player), prior=WITHDRAWN)
        if number == 0 or not base.board:
            yield base
        if not all(gone):
            return


def _still_lying(base: Hypothesis) -> Iterator[Hypothesis]:
    """The last play was challenged off by a person, and its tiles have not been taken up."""
    last = base.game.turns[-1] if base.game.turns else None
    if last and last.kind is Kind.WITHDRAWN and last.target is not None:
        play = base.game.turns[last.target].play
        assert play is not None
        name = base.game.players[last.player]
        note = said("still-there", "the tiles that {0} must take back still lie there", name)
        yield replace(base, lying=play.on(base.board), prior=base.prior + STILL_LYING, note=note)


def _overlooked(base: Hypothesis) -> Iterator[Hypothesis]:
    """A tile of an earlier play was not seen at the time: it belongs to that play."""
    state = base.game.state
    for square in base.unexplained():
        for turn in state.turns:
            squares = {square, *(placed for placed, _ in turn.placements)}
            before = state.turns[turn.number - 1].board if turn.number else Board()
            if turn.kind is Kind.PLAY and turn.stands and lies_well(replace(state, board=before), sorted(squares)):
                for _, tiles in letters(base.evidence, (square,), state.stock(), 2):
                    yield base.push(SquareCorrected(square, tiles[0], turn.number), prior=OVERLOOKED)


def _laid_again(base: Hypothesis) -> Iterator[Hypothesis]:
    """A player has shifted the last play: the same tiles, in the same order, elsewhere."""
    last = last_play(base.game)
    if last is None or last.play is None or not base.unexplained():
        return
    for taken in _withdrawn(base):
        for _, play, own in _laid(taken, 0.0, overlooked=False):
            if play != last.play and [t.face for _, t in play.tiles] == [t.face for _, t in last.placements]:
                event = TurnCorrected(last.number, PlayMade(last.player, play))
                yield base.push(event, prior=LAID_AGAIN + own - _like_the_one_taken_back(taken, play))


def _nudged(base: Hypothesis) -> Iterator[Hypothesis]:
    """An old tile lies beside its square."""
    evidence, board = base.evidence, base.board
    gone = [s for s in board.occupied() if evidence.reading.squares[s].probability(EMPTY) > CLEAR]
    for square in gone:
        tile = board.tile(square)
        for other in base.unexplained():
            far = max(abs(row_of(square) - row_of(other)), abs(column_of(square) - column_of(other)))
            if far <= _NUDGE and evidence.reading.squares[other].probability(tile.face) > CLEAR:
                swapped = evidence.swapped(square, other)
                yield replace(base, evidence=swapped, moved=((square, other),), prior=base.prior + NUDGED)
