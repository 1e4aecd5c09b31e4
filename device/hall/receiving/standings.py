"""Pairings of a round robin or Swiss event, and the standings computed from the results."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from device.catalogue import get_text
from device.hall.receiving.results import Result
from device.player_names import is_player_name
from engine.errors import TilekeeperError

MAX_PAIRINGS = 5000
_MAX_CELLS = 4
_BYES = ("", "-", "bye")
"""Texts for a missing opponent (in lower case), which a pairings file may have in place of the second player."""
BYE_SPREAD = 50
"""Difference in points that counts for a player without an opponent, as in most tournaments."""


class PairingsError(TilekeeperError):
    """Error for a pairings file that cannot be read; the message gives the line."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two players who meet in a round at a table; `second` is empty for a player without an opponent."""

    round: int
    table: str
    first: str
    second: str


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


def parse_pairings(text: str, *, allows_short_byes: bool = False) -> tuple[Pairing, ...]:
    """Return the pairings in lines `round,table,player,player`; a heading line is skipped. Raises `PairingsError`.

    If `allows_short_byes` is True, a line `round,table,player` is a bye at a table, as in earlier versions.

    >>> parse_pairings("round,table,player 1,player 2\\n1,Table 1,Anna,Ben\\n1,,Cleo,")
    (Pairing(round=1, table='Table 1', first='Anna', second='Ben'), Pairing(round=1, table='', first='Cleo', second=''))
    """
    pairings: list[Pairing] = []
    text = text.lstrip("\ufeff\r\n \t")
    heading = text.splitlines()[0] if text else ""
    delimiter = next((one for one in "\t;" if one in heading), ",")
    for number, row in enumerate(_read_rows(text, delimiter), 1):
        cells = [cell.strip() for cell in row]
        while len(cells) > _MAX_CELLS and not cells[-1]:  # empty columns of a spreadsheet
            cells.pop()
        is_heading = number == 1 and not any(map(str.isdecimal, cells[0]))
        if not any(cells) or is_heading:
            continue
        if len(cells) == _MAX_CELLS and cells[3].casefold() in _BYES:
            cells.pop()
        is_bye = len(cells) == _MAX_CELLS - 1
        lacks_table = is_bye and bool(cells[1]) and len(row) < _MAX_CELLS  # `1,Anna,Ben` is a game without its table
        if (lacks_table and not allows_short_byes) or (not is_bye and len(cells) != _MAX_CELLS):
            raise _make_line_error(number)
        round_text, table, *names = cells
        names = list(map(_normalize, names))
        # Round 0 would be that of every game (`Result.round`).
        has_valid_round = round_text.isdecimal() and len(round_text) < 4 and int(round_text) > 0
        has_valid_names = all(map(is_player_name, names)) and len(make_players_key(names)) == len(names)
        if not has_valid_round or not has_valid_names or len(pairings) >= MAX_PAIRINGS:
            raise _make_line_error(number)
        pairings.append(Pairing(int(round_text), table[:40], names[0], "" if is_bye else names[1]))
    return tuple(pairings)


def check_pairings(pairings: Iterable[Pairing]) -> None:
    """Raise `PairingsError` if a player or a table has two games in a round."""
    busy: set[tuple[int, str, bool]] = set()
    for pairing in pairings:
        for name, is_table in ((pairing.first, False), (pairing.second, False), (pairing.table, True)):
            key = pairing.round, _fold(name), is_table
            if name and key in busy and is_table:
                raise PairingsError(get_text("pairings-table-twice", name, pairing.round))
            if name and key in busy:
                raise PairingsError(get_text("pairings-player-twice", name, pairing.round))
            busy.add(key)


def _normalize(name: str) -> str:
    """Return a name in a normal form: without double spaces, each accent combined with its letter, ready to compare.

    >>> _normalize("Zoë  Mai") == "Zoë Mai"
    True
    """
    return " ".join(unicodedata.normalize("NFC", name).split())


def _read_rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the cells of each line; lines may end with CR, LF or both. Raises `PairingsError`."""
    reader = csv.reader(io.StringIO(text, newline=None), delimiter=delimiter)
    try:
        yield from reader
    except csv.Error:  # quotes that do not end before the limit of a cell
        raise _make_line_error(reader.line_num) from None


def _make_line_error(number: int) -> PairingsError:
    return PairingsError(get_text("pairings-line", number))


def format_pairings(pairings: Sequence[Pairing]) -> str:
    """Return pairings as a text that `parse_pairings` reads.

    The text begins with a heading, so that a `;` in a name is not mistaken for the delimiter.
    """
    if not pairings:
        return ""
    rows = [(str(one.round), one.table, one.first, one.second) for one in pairings]
    return _write_rows([("round", "table", "player 1", "player 2"), *rows], "\n")


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


def make_pair_key(pairing: Pairing) -> frozenset[str]:
    """Return a key that is the same for pairings of the same two players."""
    return make_players_key((pairing.first, pairing.second))


def make_players_key(players: Iterable[str]) -> frozenset[str]:
    """Return a key that is the same for the same players in any order; case and spacing of the names do not matter."""
    return frozenset(map(_fold, players))


def _fold(name: str) -> str:
    return _normalize(name).casefold()


def compute_standings(pairings: Sequence[Pairing], results: Sequence[Result]) -> list[Standing]:
    """Return the standings of all players, the leader first.

    Only games of the pairings count, and byes as soon as their round is played. If there are no pairings, every game
    with two players counts.
    """
    standings: dict[str, Standing] = {}
    matched = match_results(pairings, results)
    last_round = _find_last_round(matched)

    def add(name: str, wins: float, spread: int) -> None:
        key = _fold(name)
        standings[key] = standings.get(key, Standing(name)).add(wins, spread)

    for pairing in pairings:
        for name in filter(None, (pairing.first, pairing.second)):
            standings.setdefault(_fold(name), Standing(name))
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


def format_csv(matched: Iterable[tuple[Pairing, Result | None]]) -> str:
    """Return pairings with their results as CSV."""
    rows: list[list[int | str]] = [["round", "table", "player 1", "points 1", "player 2", "points 2"]]
    for pairing, result in matched:
        totals: tuple[int | str, ...] = ("", "")
        if result:
            names = [_fold(name) for name in result.players]
            totals = tuple(result.totals[names.index(_fold(name))] for name in (pairing.first, pairing.second))
        cells: list[int | str] = [pairing.round, pairing.table, pairing.first, totals[0], pairing.second, totals[1]]
        rows.append([_escape_formula(cell) for cell in cells])
    return _write_rows(rows, "\r\n")


def _write_rows(rows: Iterable[Sequence[int | str]], line_end: str) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator=line_end).writerows(rows)
    return file.getvalue()


def _escape_formula(cell: int | str) -> int | str:
    """Return the cell; a text that a spreadsheet would run as a formula gets the prefix `'`."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t") else cell
