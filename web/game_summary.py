"""What is told of a game when it is over: who played what best, and how it came about. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from device.session.snapshot import TableState, TurnView

_TURNS = frozenset({"play", "exchange", "pass", "recycled", "blank-taken"})
"""Kinds of lines that are a turn of a player."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One player's game: the best play that stands (None without one), bingos, points a turn, unplayed letters."""

    player: int
    best: TurnView | None
    bingos: int
    average: float
    unplayed: str = ""


def summaries(state: TableState) -> tuple[Summary, ...]:
    """Every player's game, in seat order.

    A play that was taken back counts as a turn without points; unplayed letters and overtime are no turns.
    """
    return tuple(_summary(state, player) for player in range(len(state.players)))


def best_play(state: TableState) -> TurnView | None:
    """The play that counted most, the first of equals."""
    return max(_standing(state.turns), key=lambda turn: turn.score, default=None)


def _summary(state: TableState, player: int) -> Summary:
    theirs = [turn for turn in state.turns if turn.player == player]
    plays = _standing(theirs)
    turns = sum(turn.kind in _TURNS for turn in theirs)
    return Summary(
        player,
        max(plays, key=lambda turn: turn.score, default=None),
        sum(turn.bonus > 0 for turn in plays),
        sum(turn.score for turn in plays) / turns if turns else 0.0,
        "".join(turn.word for turn in theirs if turn.kind == "endrack" and turn.score < 0),
    )


def _standing(turns: list[TurnView] | tuple[TurnView, ...]) -> list[TurnView]:
    return [turn for turn in turns if turn.kind == "play" and turn.stands]
