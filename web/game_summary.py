"""Summary of a finished game for each player: best play, bingos, average score."""

from __future__ import annotations

from dataclasses import dataclass

from device.session.snapshot import TableSnapshot, TurnView
from engine.state import TURN_KINDS


@dataclass(frozen=True, slots=True)
class PlayerSummary:
    """Summary of one player: best valid play (None if there is none), bingos, points per turn, unplayed letters."""

    player: int
    best: TurnView | None
    bingos: int
    average: float
    unplayed: str = ""


def summarise_players(state: TableSnapshot) -> tuple[PlayerSummary, ...]:
    """Return every player's summary, in seat order.

    A withdrawn play counts as a turn without points. Unplayed letters and overtime do not count as turns.
    """
    return tuple(_summarise_player(state, player) for player in range(len(state.players)))


def _summarise_player(state: TableSnapshot, player: int) -> PlayerSummary:
    theirs = [turn for turn in state.turns if turn.player == player]
    plays = [turn for turn in theirs if turn.kind == "play" and turn.stands]
    turns = sum(turn.kind in TURN_KINDS for turn in theirs)
    return PlayerSummary(
        player,
        max(plays, key=lambda turn: turn.score, default=None),
        sum(turn.bonus > 0 for turn in plays),
        sum(turn.score for turn in plays) / turns if turns else 0.0,
        "".join(turn.word for turn in theirs if turn.kind == "endrack" and turn.score < 0),
    )
