"""How a game ends and who wins: rule 9, Scoring 9, How to Win, and the Finish Line game."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from engine.events import EndReason
from engine.rules import Challenge, Unplayed
from engine.turns import Kind, Turn

if TYPE_CHECKING:
    from engine.state import State

_GOING_ON = (Kind.RECYCLED, Kind.BLANK_TAKEN)


@dataclass(frozen=True, slots=True)
class EndScore:
    """A line of the score sheet that the end of the game writes."""

    player: int
    kind: Kind
    score: int
    tiles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended. `before` are the totals before unplayed letters; several winners: a draw."""

    reason: EndReason
    winners: tuple[int, ...]
    totals: tuple[int, ...]
    before: tuple[int, ...]

    @property
    def is_draw(self) -> bool:
        """True when the tie could not be broken."""
        return len(self.winners) > 1


def end_due(state: State) -> EndReason | None:
    """Why the game should end now, by the rules in force; None while it goes on.

    Only people end a game (the last play may still be challenged): this is what to propose to them.
    """
    turns = [turn for turn in state.turns if turn.kind not in _GOING_ON]
    if state.ended or not turns:
        return None
    if _finish_line_reached(state):
        return EndReason.FINISH_LINE
    last = turns[-1]
    if last.kind in (Kind.PLAY, Kind.CHALLENGE) and state.bag == 0 and state.racks[last.player] == 0:
        return EndReason.PLAYED_OUT
    stuck = state.bag < max(1, state.rules.exchange_minimum_bag)
    if stuck and passes_in_succession(turns) >= len(state.players):
        return EndReason.NO_PLAY_LEFT
    limit = state.rules.scoreless_turns
    waiting = state.rules.first_word_minimum > 2 and not state.board  # play passes until a player has a first word
    if limit and not waiting and scoreless_in_succession(state) >= limit:
        return EndReason.SCORELESS
    return None


def passes_in_succession(turns: list[Turn]) -> int:
    """How many of the last turns were passes."""
    count = 0
    for turn in reversed(turns):
        if turn.kind is not Kind.PASS:
            break
        count += 1
    return count


def scoreless_in_succession(state: State) -> int:
    """How many turns in succession scored nothing: passes, exchanges, plays withdrawn, turns lost, plays of 0."""
    count = 0
    for turn in reversed(state.turns):
        if turn.kind is Kind.PLAY and turn.stands and turn.score:
            break
        lost = turn.kind is Kind.CHALLENGE and state.rules.challenge is Challenge.DOUBLE
        count += lost or turn.kind in (Kind.PLAY, Kind.PASS, Kind.EXCHANGE)
    return count


def _finish_line_reached(state: State) -> bool:
    lines = state.rules.finish_lines(len(state.players))
    if not any(total >= line for total, line in zip(state.totals, lines, strict=False)):
        return False
    return not state.rules.finish_round or state.to_move == state.turns[0].player


def racks(state: State) -> tuple[tuple[str, ...] | None, ...]:
    """The letters each player holds at the end, as far as they are known; None where somebody has to be
    asked.

    A player without tiles holds none; what is unseen belongs to the only other player.
    """
    known: list[tuple[str, ...] | None] = [
        state.revealed.get(player, () if count == 0 and state.bag == 0 else None)
        for player, count in enumerate(state.racks)
    ]
    unknown = [player for player, tiles in enumerate(known) if tiles is None]
    if len(unknown) == 1 and state.bag == 0:
        left = state.unseen() - Counter(tile for tiles in known if tiles for tile in tiles)
        known[unknown[0]] = tuple(sorted(left.elements()))
    return tuple(known)


def racks_wanted(state: State) -> tuple[int, ...]:
    """The players whose unplayed letters somebody has to tell before the final scores are right."""
    if not _counts_unplayed(state):
        return ()
    held = racks(state)
    if state.rules.unplayed is Unplayed.TWICE and _out(state) is not None:
        return ()
    return tuple(player for player, tiles in enumerate(held) if tiles is None)


def end_scores(state: State) -> list[EndScore]:
    """What unplayed letters (Scoring 9) and overtime add and take, by the rules in force."""
    lines = _unplayed(state) if _counts_unplayed(state) else []
    rules = state.rules
    if rules.clock_seconds:
        for player, used in enumerate(state.clocks):
            over = ceil(max(0.0, used - rules.clock_seconds) / 60)
            if over:
                lines.append(EndScore(player, Kind.TIME, -over * rules.overtime_points))
    return lines


def _counts_unplayed(state: State) -> bool:
    if state.rules.unplayed is Unplayed.NONE:
        return False
    return state.ended is not EndReason.FINISH_LINE or state.rules.finish_unplayed


def _out(state: State) -> int | None:
    """The player who used all letters."""
    if state.bag:
        return None
    return next((player for player, count in enumerate(state.racks) if count == 0), None)


def _unplayed(state: State) -> list[EndScore]:
    held = racks(state)
    out = _out(state)
    lines: list[EndScore] = []
    if out is not None:
        others = tuple(sorted(state.unseen().elements()))
        factor = 2 if state.rules.unplayed is Unplayed.TWICE else 1
        lines.append(EndScore(out, Kind.ENDRACK, factor * state.tiles.points(others), others))
        if state.rules.unplayed is Unplayed.TWICE:
            return lines
    for player, tiles in enumerate(held):
        if tiles and player != out:
            lines.append(EndScore(player, Kind.ENDRACK, -state.tiles.points(tiles), tiles))
    return lines


def outcome(state: State) -> Outcome | None:
    """Who won, once the game has ended: the highest total; in a tie the highest before unplayed letters."""
    if state.ended is None:
        return None
    before = list(state.totals)
    for turn in state.turns:
        if turn.kind is Kind.ENDRACK:
            before[turn.player] -= turn.score
    best = max(zip(state.totals, before, strict=True))
    winners = tuple(p for p, both in enumerate(zip(state.totals, before, strict=True)) if both == best)
    return Outcome(state.ended, winners, state.totals, tuple(before))
