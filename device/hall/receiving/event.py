"""The event of a hall (a tournament or a club evening): rounds, their pairings, and the game that counts for each.

All values are immutable, and all functions are pure. A round is saved alone, so it cannot change another round. Which
game belongs to which round is decided once, when the hall first sees the game, and is kept (`Event.games`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from device.catalogue import get_text
from device.player_names import normalize_name
from engine.errors import TilekeeperError
from engine.events import EndReason
from engine.game import Game
from engine.state import CLOSING_KINDS, POINTS_KINDS

MAX_UNDO = 20
"""Largest number of the director's changes that can be undone."""
BYE_SPREAD = 50
"""Difference in points that counts for a player without an opponent, as in most tournaments."""


class PairingsError(TilekeeperError):
    """Error for pairings that cannot be read or that contradict each other; the message gives line or name."""


class Result(msgspec.Struct, frozen=True):
    """A game as the hall has received it: its id, table, players, totals and winners (seats).

    `ended` is the time of its end in seconds since 1970, 0 while it is played. `needs_letters` is True if unplayed
    letters are missing in the totals. `is_early` is True if the players stopped before the rules ended the game.
    """

    table: str
    players: tuple[str, ...]
    totals: tuple[int, ...]
    winners: tuple[int, ...]
    ended: float
    game: int
    needs_letters: bool = False
    is_early: bool = False


def make_result(table: str, game_id: int, game: Game, ended: float) -> Result | None:
    """Return the result of a game; None while it is played, or if the players have ended it without a turn."""
    if not game.is_over or all(turn.kind in CLOSING_KINDS | POINTS_KINDS for turn in game.turns):
        return None
    winners = game.outcome.winners if game.outcome else ()
    return Result(
        table,
        game.players,
        game.totals,
        winners,
        ended,
        game_id,
        bool(game.racks_wanted),
        game.state.end_reason is EndReason.AGREED,
    )


class Pairing(msgspec.Struct, frozen=True):
    """Two players who meet at a table, in the order of their seats; without `second`, the first player has a bye.

    The director may enter `points`, or choose the `game` that counts (its id); otherwise the hall chooses a game.
    """

    table: str
    first: str
    second: str = ""
    points: tuple[int, int] | None = None
    game: int = 0

    @property
    def key(self) -> frozenset[str]:
        """A key that is the same for each pairing and game of these two players."""
        return make_players_key((self.first, self.second))


class Event(msgspec.Struct, frozen=True):
    """The rounds of an event by their numbers, and what the director has decided.

    - `games`: the round of each game of the event by the id of the game; 0 without a round.
    - `sent`: the round that the director has sent to the tables last, 0 for none; `is_started`: whether it is started.
    - `begun`, `last_game`: time of the event's begin (s since 1970), and the id of the hall's newest game at that time.
      An earlier game belongs to this event only if the director says so.
    - `numbered_players`: the players in the order of their numbers in tsh, if pairings came from there.
    """

    rounds: Mapping[int, tuple[Pairing, ...]] = {}
    games: Mapping[int, int] = {}
    sent: int = 0
    is_started: bool = False
    begun: float = 0.0
    last_game: int = 0
    numbered_players: tuple[str, ...] = ()

    @property
    def players(self) -> list[str]:
        """The names of all players, in the order in which they are first paired."""
        return list(self._read_players(sorted(self.rounds)).values())

    def _read_players(self, numbers: Iterable[int]) -> dict[str, str]:
        names = (name for number in numbers for one in self.rounds[number] for name in _list_names(one))
        return {fold_name(name): name for name in names}

    def compare_players(self, number: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return who plays in the round `number` but in none before, and who played the round before but is missing.

        Of a misspelt name, one spelling is among the new players, and the other one among the missing players.
        """
        earlier = [one for one in sorted(self.rounds) if one < number]
        if not earlier or number not in self.rounds:
            return (), ()
        shown, before, last = map(self._read_players, ([number], earlier, earlier[-1:]))
        new = tuple(name for key, name in shown.items() if key not in before)
        return new, tuple(name for key, name in last.items() if key not in shown)

    def find_rounds(self, players: Iterable[str]) -> list[int]:
        """Return the rounds in which these players meet."""
        key = make_players_key(players)
        return [number for number, pairings in sorted(self.rounds.items()) if key in [one.key for one in pairings]]

    def includes(self, result: Result) -> bool:
        """Return True if a game belongs to this event, and not to the time before it.

        These games belong to it:

        - A game that is still played.
        - A game that the hall or the director has given to this event (`games`).
        - An ended game with a newer id than all games before the event (`last_game`), if it has also ended after the
          event began, by the clock of its table.
        """
        is_new = result.game > self.last_game and result.ended > self.begun
        return is_new or not result.ended or result.game in self.games


NO_EVENT = Event()


class PairingState(StrEnum):
    """What is known of a pairing. In `LETTERS`, its game has ended, but unplayed letters are missing."""

    BYE = "bye"
    OPEN = "open"
    PLAYING = "playing"
    LETTERS = "letters"
    TABLE = "table"
    HAND = "hand"


@dataclass(frozen=True, slots=True)
class Line:
    """A pairing of a round with its state, with points and winners in the order of the pairing, and with its games.

    `game` is the game that the points are from, or None. In the states `PLAYING` and `LETTERS`, the points do not
    count.
    """

    round: int
    pairing: Pairing
    state: PairingState
    points: tuple[int, ...] = ()
    winners: tuple[int, ...] = ()
    game: Result | None = None
    games: tuple[Result, ...] = ()

    @property
    def counts(self) -> bool:
        """True if the points count."""
        return self.state in (PairingState.TABLE, PairingState.HAND)

    @property
    def is_open(self) -> bool:
        """True if a game has to be played or ended."""
        return self.state is not PairingState.BYE and not self.counts


Rounds = Mapping[int, Sequence[Line]]


def make_rounds(event: Event, results: Iterable[Result]) -> Rounds:
    """Return the lines of each round, in ascending order. `results` are those of all games, also of running ones."""
    games: defaultdict[tuple[int, frozenset[str]], list[Result]] = defaultdict(list)
    for result in sorted(results, key=lambda one: one.game):
        games[event.games.get(result.game, 0), make_players_key(result.players)].append(result)
    return {
        number: [_make_line(number, one, games[number, one.key]) for one in event.rounds[number]]
        for number in sorted(event.rounds)
    }


def _make_line(number: int, pairing: Pairing, games: Sequence[Result]) -> Line:
    """Return a pairing with its state and points: a result that the director has entered, otherwise that of a game."""
    if not pairing.second:
        return Line(number, pairing, PairingState.BYE)
    if pairing.points:
        winners = _find_winners(pairing.points)
        return Line(number, pairing, PairingState.HAND, pairing.points, winners, None, tuple(games))
    game = _choose_game(pairing, games)
    if game is None:
        return Line(number, pairing, PairingState.OPEN)
    seats = [0, 1] if fold_name(game.players[0]) == fold_name(pairing.first) else [1, 0]
    points = tuple(game.totals[seat] for seat in seats)
    winners = tuple(seats.index(seat) for seat in game.winners) or _find_winners(points)
    state = PairingState.TABLE
    if not game.ended:
        state, winners = PairingState.PLAYING, ()
    elif game.needs_letters and game.game != pairing.game:
        state, winners = PairingState.LETTERS, ()
    return Line(number, pairing, state, points, winners, game, tuple(games))


def _choose_game(pairing: Pairing, games: Sequence[Result]) -> Result | None:
    """Return the game that counts for a pairing, or None if there is none.

    It is the game that the director has chosen, or else the first one that the rules have ended, or else the newest. So
    a false start that the players have stopped does not count, nor a game that they play for fun afterwards.
    """
    chosen = [one for one in games if one.game == pairing.game]
    complete = [one for one in games if one.ended and not one.is_early and not one.needs_letters]
    return next(iter((*chosen, *complete, *games[::-1])), None)


def find_current_round(event: Event, rounds: Rounds) -> int:
    """Return the number of the round that is being played.

    It is the round that was sent last, or a later one if the games of all rounds before are decided.
    """
    first_open = (number for number, lines in rounds.items() if any(line.is_open for line in lines))
    return max(event.sent, next(first_open, max(rounds, default=0)))


def assign_games(event: Event, results: Iterable[Result], find_table: Callable[[str], str] = str) -> Event:
    """Return the event after each of its games that had no round got one.

    A game gets the round of a pairing of its two players. If they meet in several rounds, these are preferred in this
    order: the current round, an earlier round in which their game is open, any earlier round, a later round. Of equal
    rounds, one at the table of the game is preferred. `find_table` returns the name of a table by any of its names.
    """
    results = sorted(results, key=lambda one: one.game)
    keys = {number: {one.key for one in pairings if one.second} for number, pairings in event.rounds.items()}
    for result in results:
        key = make_players_key(result.players)
        found = [number for number, round_keys in keys.items() if key in round_keys]
        has_round = event.games.get(result.game, 0) in found or (not found and result.game in event.games)
        if not has_round and event.includes(result):
            number = _choose_round(event, results, result, find_table) if found else 0
            event = replace(event, games={**event.games, result.game: number})
    return event


def _choose_round(event: Event, results: Sequence[Result], result: Result, find_table: Callable[[str], str]) -> int:
    """Return the round to which a game of two paired players belongs, in the order that `assign_games` prefers."""
    rounds = make_rounds(event, results)
    current, key = find_current_round(event, rounds), make_players_key(result.players)

    def rank(line: Line) -> tuple[bool, bool, bool, bool, int]:
        is_later = line.round > current
        is_elsewhere = find_table(line.pairing.table).casefold() != result.table.casefold()
        distance = line.round if line.is_open or is_later else -line.round
        return line.round != current, is_later, not line.is_open, is_elsewhere, distance

    lines = (line for lines in rounds.values() for line in lines if line.pairing.key == key)
    return min(lines, key=rank).round


def check_round(number: int, pairings: Iterable[Pairing]) -> None:
    """Raise `PairingsError` if a player or a table has two games in a round."""
    busy: set[tuple[str, bool]] = set()
    for pairing in pairings:
        for name, is_table in ((pairing.table, True), *((name, False) for name in _list_names(pairing))):
            key = fold_name(name), is_table
            if name and key in busy:
                raise PairingsError(
                    get_text("pairings-table-twice" if is_table else "pairings-player-twice", name, number)
                )
            busy.add(key)


def save_round(event: Event, number: int, pairings: Sequence[Pairing]) -> Event:
    """Return the event with these pairings as the round `number`; other rounds stay. Without pairings, it is deleted.

    A pairing of the same players keeps what the director has decided about it. Raises `PairingsError`.
    """
    check_round(number, pairings)
    before = {one.key: one for one in event.rounds.get(number, ())}
    kept = tuple(_keep_decision(one, before.get(one.key)) for one in pairings)
    rounds = {key: one for key, one in event.rounds.items() if key != number}
    return replace(event, rounds=rounds | ({number: kept} if kept else {}))


def _keep_decision(pairing: Pairing, before: Pairing | None) -> Pairing:
    if before is None or not pairing.second:
        return pairing
    points = before.points
    if points and fold_name(pairing.first) != fold_name(before.first):
        points = points[1], points[0]
    return replace(pairing, points=points, game=before.game)


def decide(event: Event, number: int, first: str, *, points: tuple[int, int] | None = None, game: int = 0) -> Event:
    """Return the event after the director has decided what counts for the pairing of the player `first` in a round.

    Either the `points` count, or the game with the id `game`, which then belongs to the round. If neither is given, the
    hall chooses the game.
    """
    pairings = tuple(
        replace(one, points=points, game=game) if fold_name(one.first) == fold_name(first) else one
        for one in event.rounds.get(number, ())
    )
    games = {**event.games, game: number} if game else event.games
    return replace(event, rounds={**event.rounds, number: pairings}, games=games)


def undo_change(event: Event, before: Event) -> Event:
    """Return the event `before` the director's last change, with the games that have come since."""
    if event.begun != before.begun:
        return replace(before, games={**event.games, **before.games})
    games = {**before.games, **event.games}
    return replace(event, rounds=before.rounds, games=games, numbered_players=before.numbered_players)


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's number of games, wins (a draw is half a win), sum of the differences in points, and rank."""

    name: str
    games: int = 0
    wins: float = 0.0
    spread: int = 0
    rank: int = 0


def compute_standings(event: Event, results: Iterable[Result]) -> list[Standing]:
    """Return the standings of all players, the leader first; players with equal records have equal ranks.

    A bye is a win as soon as a game of its round counts; in a round without games, as soon as all games before count.
    If there are no rounds, every game of the event with two players counts.
    """
    results = list(results)
    records: dict[str, tuple[str, list[tuple[float, int]]]] = {fold_name(one): (one, []) for one in event.players}

    def add(names: Sequence[str], points: Sequence[int], winners: Sequence[int]) -> None:
        for seat, name in enumerate(names):
            wins = (1.0 if len(winners) == 1 else 0.5) if seat in winners else 0.0
            records.setdefault(fold_name(name), (name, []))[1].append((wins, points[seat] - points[1 - seat]))

    rounds = make_rounds(event, results)
    for lines in rounds.values():
        for line in lines:
            if line.counts:
                add(_list_names(line.pairing), line.points, line.winners)
            elif line.state is PairingState.BYE and _counts_byes(rounds, line.round):
                records[fold_name(line.pairing.first)][1].append((1.0, BYE_SPREAD))
    for one in results if not rounds else ():
        if len(one.players) == 2 and one.ended and not one.needs_letters and event.includes(one):
            add(one.players, one.totals, one.winners)
    return _rank(
        Standing(name, len(one), sum(w for w, _ in one), sum(s for _, s in one)) for name, one in records.values()
    )


def _counts_byes(rounds: Rounds, number: int) -> bool:
    has_game = any(line.state is not PairingState.BYE for line in rounds[number])
    if has_game:
        return any(line.counts for line in rounds[number])
    return not any(line.is_open for earlier, lines in rounds.items() if earlier < number for line in lines)


def _rank(standings: Iterable[Standing]) -> list[Standing]:
    """Return the standings in order, with ranks. Equal wins and equal spread give the same rank."""
    ranked: list[Standing] = []
    for one in sorted(standings, key=lambda one: (-one.wins, -one.spread, one.name.casefold())):
        last = ranked[-1] if ranked else None
        is_equal = last is not None and (last.wins, last.spread) == (one.wins, one.spread)
        rank = last.rank if last and is_equal else len(ranked) + 1
        ranked.append(Standing(one.name, one.games, one.wins, one.spread, rank))
    return ranked


def find_uncounted(event: Event, results: Iterable[Result]) -> list[Result]:
    """Return the ended games of no pairing; none if there are no rounds. Games of earlier events are left out."""
    results = list(results)
    paired = {game.game for lines in make_rounds(event, results).values() for line in lines for game in line.games}
    ended = (one for one in results if one.ended and (one.game > event.last_game or one.game in event.games))
    return [one for one in ended if one.game not in paired and (event.rounds or not event.includes(one))]


def make_players_key(players: Iterable[str]) -> frozenset[str]:
    """Return a key that is the same for the same players in any order; case and spacing of the names do not matter."""
    return frozenset(map(fold_name, players))


@lru_cache(maxsize=10_000)
def fold_name(name: str) -> str:
    """Return a name in a form for comparison; case and spacing do not matter."""
    return normalize_name(name).casefold()


def _list_names(pairing: Pairing) -> tuple[str, ...]:
    return (pairing.first, pairing.second) if pairing.second else (pairing.first,)


def _find_winners(points: Sequence[int]) -> tuple[int, ...]:
    return tuple(seat for seat, total in enumerate(points) if total == max(points))
