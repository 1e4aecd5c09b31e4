"""Standings of an event, computed from its pairings and from the results of games, which are matched with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from device.hall.receiving.pairings import Pairing, Result, fold_name, make_pair_key, make_players_key


def match_results(pairings: Iterable[Pairing], results: Iterable[Result]) -> list[tuple[Pairing, Result | None]]:
    """Return each pairing with its result (or None), sorted by round.

    A pairing gets the first of these results that exists:

    - the newest result that the director has entered for the round,
    - the result of a game of the two players at the pairing's table,
    - the result of a game of the two players at another table, if no other pairing has this result.

    An entered result replaces a game at the pairing's table, or else one that ended before the result was entered: the
    game counts for no later round of the same players.
    """
    unmatched: defaultdict[frozenset[str], list[Result]] = defaultdict(list)
    for result in results:
        unmatched[make_players_key(result.players)].append(result)
    ordered = sorted(pairings, key=lambda pairing: pairing.round)
    entered = [_take_entered(unmatched[make_pair_key(one)], one.round) for one in ordered]
    # Pairings with an entered result take a game, too: the entered result replaces it, so no other pairing may have it.
    at_table = [_take_result(unmatched[make_pair_key(one)], one.table) for one in ordered]
    matched: list[tuple[Pairing, Result | None]] = []
    for pairing, entry, game in zip(ordered, entered, at_table, strict=True):
        other = None if game else _take_result(unmatched[make_pair_key(pairing)], before=entry.ended if entry else None)
        matched.append((pairing, entry or game or other))
    return matched


def match_games(pairings: Iterable[Pairing], results: Sequence[Result]) -> list[tuple[Pairing, int]]:
    """Return each pairing with the id of its game in the hall (0 if it has no game), sorted by round.

    Usually the game is that of the pairing's result. If the director entered the result, the pairing gets a game
    of its two players that belongs to no other pairing; a game at the pairing's table is preferred.
    """
    matched = match_results(pairings, results)
    counted = {result.game for _, result in matched if result}
    with_entered_result = [pairing for pairing, result in matched if result and not result.game]
    uncounted_games = [result for result in results if result.game and result.game not in counted]
    replaced = match_results(with_entered_result, uncounted_games)
    games = {pairing: result.game for pairing, result in (*matched, *replaced) if result}
    return [(pairing, games.get(pairing, 0)) for pairing, _ in matched]


def _take_entered(results: list[Result], number: int) -> Result | None:
    """Remove and return the newest result that was entered for a round, or None."""
    entered = [result for result in results if result.round == number]
    if not entered:
        return None
    results.remove(entered[-1])
    return entered[-1]


def _take_result(results: list[Result], table: str | None = None, before: float | None = None) -> Result | None:
    """Remove and return the first result without a round, or None. Results that were entered for a round are skipped.

    If `table` is given, only results of this table are searched; if `before` is given, only those that ended before
    this time, in seconds since 1970.
    """
    for result in results:
        is_at_table = table is None or result.table.casefold() == table.casefold()
        if not result.round and is_at_table and (before is None or result.ended < before):
            results.remove(result)
            return result
    return None


def find_uncounted(pairings: Sequence[Pairing], results: Iterable[Result]) -> list[Result]:
    """Return the results that belong to no pairing; none if there are no pairings."""
    results = list(results)
    counted = {id(result) for _, result in match_results(pairings, results)}
    return [result for result in results if id(result) not in counted] if pairings else []


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
