"""Standings of an event, computed from its pairings and the results of games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from device.hall.receiving.matching import match_results
from device.hall.receiving.pairings import Pairing, fold_name
from device.hall.receiving.results import Result

BYE_SPREAD = 50
"""Difference in points that counts for a player without an opponent, as in most tournaments."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's number of games, wins (a draw is half a win) and sum of the differences in points (`spread`)."""

    name: str
    games: int = 0
    wins: float = 0.0
    spread: int = 0

    def add(self, wins: float, spread: int) -> Standing:
        """Return the standing after one more game, with its `wins` (0, 0.5 or 1) and difference in points."""
        return Standing(self.name, self.games + 1, self.wins + wins, self.spread + spread)


def compute_standings(pairings: Sequence[Pairing], results: Sequence[Result]) -> list[Standing]:
    """Return the standings of all players, the leader first.

    Only games of the pairings count, and byes as soon as their round is played. If there are no pairings, every game
    with two players counts.
    """
    standings: dict[str, Standing] = {}
    matched = match_results(pairings, results)
    last_round = _find_last_round(matched)

    def add(name: str, wins: float, spread: int) -> None:
        key = fold_name(name)
        standings[key] = standings.get(key, Standing(name)).add(wins, spread)

    for pairing in pairings:
        for name in filter(None, (pairing.first, pairing.second)):
            standings.setdefault(fold_name(name), Standing(name))
        if not pairing.second and pairing.round <= last_round:
            add(pairing.first, 1.0, BYE_SPREAD)
    played = [result for _, result in matched] if pairings else results
    for result in played:
        if result is None or len(result.players) != 2:
            continue
        for seat, name in enumerate(result.players):
            won = (0.5 if len(result.winners) > 1 else 1.0) if seat in result.winners else 0.0
            add(name, won, result.totals[seat] - result.totals[1 - seat])
    return sorted(standings.values(), key=lambda one: (-one.wins, -one.spread, one.name.casefold()))


def _find_last_round(matched: Sequence[tuple[Pairing, Result | None]]) -> int:
    """Return the number of the last round that is played, given the pairings with their results, sorted by round.

    A round is played if one of its games has a result, or if all games of the earlier rounds have one.
    """
    with_result = [pairing.round for pairing, result in matched if result]
    without_result = [pairing.round for pairing, result in matched if pairing.second and result is None]
    first_open = without_result[0] if without_result else max((pairing.round for pairing, _ in matched), default=0)
    return max([first_open, *with_result])
