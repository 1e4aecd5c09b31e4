"""Summary of a finished game for each player: best play, bingos, average. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from device.session.snapshot import TableSnapshot, TurnView

_TURN_KINDS = frozenset({"play", "exchange", "pass", "recycled", "blank-taken"})
"""Kinds of score lines that count as a turn of a player."""


@dataclass(frozen=True, slots=True)
class PlayerSummary:
    """One player's game: best valid play (None without one), bingos, points per turn, unplayed letters."""

    player: int
    best: TurnView | None
    bingos: int
    average: float
    unplayed: str = ""


def summaries(state: TableSnapshot) -> tuple[PlayerSummary, ...]:
    """Return every player's summary, in seat order.

    A withdrawn play counts as a turn without points; unplayed letters and overtime are no turns.
    """
    return tuple(_summarise_player(state, player) for player in range(len(state.players)))


def find_best_play(state: TableSnapshot) -> TurnView | None:
    """Return the play with the highest score, the first of equals."""
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
