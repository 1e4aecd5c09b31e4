"""Pairings of a round robin or Swiss event, and the standings computed from the results."""

from __future__ import annotations

import csv
import io
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from device.hall.results import Result
from device.player_names import is_player_name
from engine.errors import TilekeeperError
from engine.messages import make_message

MAX_PAIRINGS = 5000
BYE_SPREAD = 50
"""Difference in points that is counted for a player without an opponent, as in most tournaments."""


class PairingsError(TilekeeperError):
    """A pairings file that cannot be read; the message gives the line."""


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


def parse_pairings(text: str) -> tuple[Pairing, ...]:
    """Return the pairings in lines `round,table,player,player`; a heading is skipped. Raises `PairingsError`.

    >>> parse_pairings("round,table,player 1,player 2\\n1,Table 1,Anna,Ben\\n1,,Cleo,")
    (Pairing(round=1, table='Table 1', first='Anna', second='Ben'), Pairing(round=1, table='', first='Cleo', second=''))
    """
    pairings: list[Pairing] = []
    delimiter = ";" if ";" in text.partition("\n")[0] else ","
    for number, row in enumerate(_read_rows(text.lstrip("\ufeff"), delimiter), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or (number == 1 and not cells[0].isdecimal()):
            continue
        is_bye = len(cells) == 3 or (len(cells) == 4 and not cells[3])
        names = cells[2:3] if is_bye else cells[2:]
        sound = len(cells) in (3, 4) and cells[0].isdecimal() and len(cells[0]) < 4 and all(map(is_player_name, names))
        if not sound or len(pairings) >= MAX_PAIRINGS or len(set(names)) != len(names):
            raise _make_line_error(number)
        pairings.append(Pairing(int(cells[0]), cells[1][:40], names[0], "" if is_bye else names[1]))
    return tuple(pairings)


def _read_rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the cells of each line; lines may end with CR, LF or both. Raises `PairingsError`."""
    reader = csv.reader(io.StringIO(text, newline=None), delimiter=delimiter)
    try:
        yield from reader
    except csv.Error:  # quotes that do not end before the limit of a cell
        raise _make_line_error(reader.line_num) from None


def _make_line_error(number: int) -> PairingsError:
    text = "line {0} of the pairings is not round,table,player,player"
    return PairingsError(make_message("pairings-line", text, number))


def format_pairings(pairings: Sequence[Pairing]) -> str:
    """Return pairings as a text that `parse_pairings` reads.

    The text begins with a heading, so that a `;` in a name is not mistaken for the delimiter.
    """
    if not pairings:
        return ""
    rows = [(str(one.round), one.table, one.first, one.second) for one in pairings]
    return _write_rows([("round", "table", "player 1", "player 2"), *rows], "\n")


def match_results(pairings: Iterable[Pairing], results: Iterable[Result]) -> list[tuple[Pairing, Result | None]]:
    """Return each pairing with its result, or None; pairings are sorted by round.

    The result of a pairing is the first one with these two players that belongs to no earlier pairing.
    """
    left: defaultdict[frozenset[str], deque[Result]] = defaultdict(deque)
    for result in results:
        left[_make_key(result.players)].append(result)
    matched = []
    for pairing in sorted(pairings, key=lambda pairing: pairing.round):
        found = left[_make_key((pairing.first, pairing.second))]
        matched.append((pairing, found.popleft() if found else None))
    return matched


def _make_key(players: Iterable[str]) -> frozenset[str]:
    return frozenset(name.casefold() for name in players)


def compute_standings(pairings: Sequence[Pairing], results: Sequence[Result]) -> list[Standing]:
    """Return the standings of all players, the leader first.

    The games of the pairings count; without pairings, all games of two players count.
    """
    standings: dict[str, Standing] = {}

    def add(name: str, wins: float, spread: int) -> None:
        key = name.casefold()
        standings[key] = standings.get(key, Standing(name)).add(wins, spread)

    for pairing in pairings:
        for name in filter(None, (pairing.first, pairing.second)):
            standings.setdefault(name.casefold(), Standing(name))
        if not pairing.second:
            add(pairing.first, 1.0, BYE_SPREAD)
    played = [result for _, result in match_results(pairings, results)] if pairings else results
    for result in played:
        if result is None or len(result.players) != 2:
            continue
        for seat, name in enumerate(result.players):
            won = (0.5 if len(result.winners) > 1 else 1.0) if seat in result.winners else 0.0
            add(name, won, result.totals[seat] - result.totals[1 - seat])
    return sorted(standings.values(), key=lambda one: (-one.wins, -one.spread, one.name.casefold()))


def format_csv(matched: Iterable[tuple[Pairing, Result | None]]) -> str:
    """Return pairings with their results as CSV."""
    rows: list[list[int | str]] = [["round", "table", "player 1", "points 1", "player 2", "points 2"]]
    for pairing, result in matched:
        totals: tuple[int | str, ...] = ("", "")
        if result:
            names = [name.casefold() for name in result.players]
            totals = tuple(result.totals[names.index(name.casefold())] for name in (pairing.first, pairing.second))
        cells: list[int | str] = [pairing.round, pairing.table, pairing.first, totals[0], pairing.second, totals[1]]
        rows.append([_escape_formula(cell) for cell in cells])
    return _write_rows(rows, "\r\n")


def _write_rows(rows: Iterable[Sequence[int | str]], line_end: str) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator=line_end).writerows(rows)
    return file.getvalue()


def _escape_formula(cell: int | str) -> int | str:
    """Return the cell with a `'` before a text that a spreadsheet would run as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t") else cell
