"""Points that belong to no turn, such as a penalty or a bonus of a club, as event lines of a GCG file.

GCG has no line for them. Points that a player gains are written as points for a challenge, and points that a player
loses as overtime, because other programs count these lines. A note says how many of the points of the line they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.events import PointsGiven, PointsReason
from engine.gcg.record import Entry
from engine.state import CLOSING_KINDS, POINTS_KINDS, Turn, TurnKind

_NOTE = re.compile(rf"^({'|'.join(PointsReason)}) of .* ([+-]\d{{1,6}})$", re.MULTILINE)


def find_points(turns: Sequence[Turn]) -> tuple[dict[int | None, list[PointsGiven]], list[PointsGiven]]:
    """Return the points that belong to no turn: those gained, by the number of the turn before them, and those lost.

    Besides penalties and bonuses, these are points that players entered for a swap of a tile on the board. Other
    programs read points gained only after a play of their player. This is the last play before them, or the next one;
    the number is None without a play.
    """
    gained: dict[int | None, list[PointsGiven]] = {}
    lost: list[PointsGiven] = []
    for turn in turns:
        if turn.kind not in POINTS_KINDS and turn.square is None:
            continue
        why = PointsReason(turn.kind) if turn.kind in POINTS_KINDS else PointsReason.BONUS
        points = PointsGiven(turn.player, turn.score, why)
        if turn.score < 0:
            lost.append(points)
        elif turn.score:
            gained.setdefault(_find_turn_before(turn, turns), []).append(points)
    return gained, lost


def _find_turn_before(points: Turn, turns: Sequence[Turn]) -> int | None:
    """Return the number of the turn after which points gained are written; None for a player without a play.

    That turn is the player's play before the points, or the failed challenge of this play.
    """
    plays = [turn for turn in turns if turn.player == points.player and turn.play is not None and turn.stands]
    if not plays:
        return None
    play = next((play for play in reversed(plays) if play.number < points.number), plays[0])
    challenges = (turn for turn in turns if turn.kind is TurnKind.CHALLENGE and turn.target == play.number)
    return next((turn.number for turn in challenges if turn.player == play.player and turn.score > 0), play.number)


def add_gained(entries: list[Entry], gained: Iterable[PointsGiven], names: Sequence[str]) -> None:
    """Add points gained to the last event line if it has points for a challenge; otherwise, add a line for them."""
    for points in gained:
        if not entries or (entries[-1].player, entries[-1].kind) != (points.player, TurnKind.CHALLENGE):
            entries.append(Entry(points.player, TurnKind.CHALLENGE, 0))
        entries[-1] = _add_points(entries[-1], points, names)


def add_lost(entries: list[Entry], lost: Iterable[PointsGiven], names: Sequence[str]) -> None:
    """Add points lost to the line with the overtime of their player; without such a line, add one at the end.

    Other programs read one such line for each player, after all turns and unplayed letters.
    """
    for points in lost:
        lines = (n for n, entry in enumerate(entries) if (entry.player, entry.kind) == (points.player, TurnKind.TIME))
        at = next(lines, len(entries))
        old = entries[at] if at < len(entries) else Entry(points.player, TurnKind.TIME, 0)
        entries[at:] = [_add_points(old, points, names), *entries[at + 1 :]]


def _add_points(entry: Entry, points: PointsGiven, names: Sequence[str]) -> Entry:
    note = f"{points.why} of {names[points.player]} {points.points:+d}"
    return replace(entry, score=entry.score + points.points, note=f"{entry.note}\n{note}".strip())


def has_points(note: str) -> bool:
    """Return True if a note names points that belong to no turn."""
    return _NOTE.search(note) is not None


def parse_points(entry: Entry) -> tuple[PointsGiven, ...]:
    """Return the points in the score of an event line that belong to no turn. A note must not exceed this score.

    >>> parse_points(Entry(0, TurnKind.TIME, -30, note="penalty of Anna -20"))
    (PointsGiven(player=0, points=-20, why=<PointsReason.PENALTY: 'penalty'>),)
    """
    sign = {TurnKind.CHALLENGE: 1, TurnKind.TIME: -1}.get(entry.kind, 0)
    found = tuple(PointsGiven(entry.player, int(m[2]), PointsReason(m[1])) for m in _NOTE.finditer(entry.note))
    is_right = all(sign * one.points > 0 for one in found)
    return found if is_right and sum(sign * one.points for one in found) <= sign * entry.score else ()


def remove_points(entry: Entry) -> Entry:
    """Return an event line without the points in its score that belong to no turn."""
    return replace(entry, score=entry.score - sum(points.points for points in parse_points(entry)))


def has_only_points(entry: Entry) -> bool:
    """Return True for an event line that has no other points than those that belong to no turn."""
    return bool(parse_points(entry)) and not remove_points(entry).score


def ends_game(entry: Entry) -> bool:
    """Return True for an event line that only a game has that is over."""
    return entry.kind in CLOSING_KINDS and not has_only_points(entry)
