"""Results of games, computed from a table's events or entered by the director."""

from __future__ import annotations

import msgspec

from engine.game import Game


class Result(msgspec.Struct, frozen=True):
    """The result of a game: names, totals and winners (seats), and the time of its end in seconds since 1970.

    `game` is the game's id in the hall, or 0 if the director has entered the result. An entered result has the number
    of its `round`, if there are pairings.
    """

    table: str
    players: tuple[str, ...]
    totals: tuple[int, ...]
    winners: tuple[int, ...]
    ended: float
    game: int = 0
    round: int = 0


def make_result(table: str, game_id: int, game: Game, ended: float) -> Result | None:
    """Return the result of a game; None if the game has not ended, or if unplayed letters were not entered yet.

    A game that ended without a turn has no result: the table deletes it when the next game begins.

    `ended` is the time at which the game ended, in seconds since 1970.
    """
    outcome = game.outcome
    if outcome is None or game.racks_wanted or not game.turns:
        return None
    return Result(table, game.players, game.totals, outcome.winners, ended, game_id)
