"""What is told of a game when it is over: who played what best, and how it came about. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from device.session.snapshot import TableSnapshot, TurnView

_TURN_KINDS = frozenset({"play", "exchange", "pass", "recycled", "blank-taken"})
"""Kinds of lines that are a turn of a player."""


@dataclass(frozen=True, slots=True)
class PlayerSummary:
    """One player's game: the best play that stands (None without one), bingos, points a turn, unplayed letters."""

    player: int
    best: TurnView | None
    bingos: int
    average: float
    unplayed: str = ""


def summaries(state: TableSnapshot) -> tuple[PlayerSummary, ...]:
    """Every player's game, in seat order.

    A play that was taken back counts as a turn without points; unplayed letters and overtime are no turns.
    """
    return tuple(_summarise_player(state, player) for player in range(len(state.players)))


def find_best_play(state: TableSnapshot) -> TurnView | None:
    """The play that counted most, the first of equals."""
    return max(_select_standing_plays(state.turns), key=lambda turn: turn.score, default=None)


def _summarise_player(state: TableSnapshot, player: int) -> PlayerSummary:
    theirs = [turn for turn in state.turns if turn.player == player]
    plays = _select_standing_plays(theirs)
    turns = sum(turn.kind in _TURN_KINDS for turn in theirs)
    return PlayerSummary(
        player,
        max(plays, key=lambda turn: turn.score, default=None),
        sum(turn.bonus > 0 for turn in plays),
        sum(turn.score for turn in plays) / turns if turns else 0.0,
        "".join(turn.word for turn in theirs if turn.kind == "endrack" and turn.score < 0),
    )


def _select_standing_plays(turns: list[TurnView] | tuple[TurnView, ...]) -> list[TurnView]:
    return [turn for turn in turns if turn.kind == "play" and turn.stands]
