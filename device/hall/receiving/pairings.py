"""Pairings of a round robin or Swiss event, results of their games, the text they are read from, and CSV of both."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from device.catalogue import get_text
from device.player_names import is_player_name, normalize_name
from engine.errors import TilekeeperError
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


MAX_PAIRINGS = 5000
_MAX_CELLS = 4
_BYES = ("", "-", "bye")
"""Texts for a missing opponent (in lower case), which a pairings file may have in place of the second player."""


class PairingsError(TilekeeperError):
    """Error for a pairings file that cannot be read; the message gives the line."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two players who meet in a round at a table; `second` is empty for a player without an opponent."""

    round: int
    table: str
    first: str
    second: str


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
        names = list(map(normalize_name, names))
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
            key = pairing.round, fold_name(name), is_table
            if name and key in busy and is_table:
                raise PairingsError(get_text("pairings-table-twice", name, pairing.round))
            if name and key in busy:
                raise PairingsError(get_text("pairings-player-twice", name, pairing.round))
            busy.add(key)


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


def format_csv(matched: Iterable[tuple[Pairing, Result | None]]) -> str:
    """Return pairings with their results as CSV."""
    rows: list[list[int | str]] = [["round", "table", "player 1", "points 1", "player 2", "points 2"]]
    for pairing, result in matched:
        totals: tuple[int | str, ...] = ("", "")
        if result:
            names = [fold_name(name) for name in result.players]
            totals = tuple(result.totals[names.index(fold_name(name))] for name in (pairing.first, pairing.second))
        cells: list[int | str] = [pairing.round, pairing.table, pairing.first, totals[0], pairing.second, totals[1]]
        rows.append([_escape_formula(cell) for cell in cells])
    return _write_rows(rows, "\r\n")


def make_pair_key(pairing: Pairing) -> frozenset[str]:
    """Return a key that is the same for pairings of the same two players."""
    return make_players_key((pairing.first, pairing.second))


def make_players_key(players: Iterable[str]) -> frozenset[str]:
    """Return a key that is the same for the same players in any order; case and spacing of the names do not matter."""
    return frozenset(map(fold_name, players))


def fold_name(name: str) -> str:
    """Return a name in a form for comparison; case and spacing do not matter."""
    return normalize_name(name).casefold()


def _write_rows(rows: Iterable[Sequence[int | str]], line_end: str) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator=line_end).writerows(rows)
    return file.getvalue()


def _escape_formula(cell: int | str) -> int | str:
    """Return the cell; a text that a spreadsheet would run as a formula gets the prefix `'`."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t") else cell
