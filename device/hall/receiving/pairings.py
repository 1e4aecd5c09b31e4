"""Pairings of a round robin or Swiss event, results of their games, the text they are read from, and CSV of both."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import msgspec

from device.catalogue import get_text, list_languages, load_catalogue
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
_BYE_WORDS = frozenset({
    "bye", "no opponent", "freilos", "kein gegner", "exempte", "exempté", "exemptée", "descanso", "libre", "riposo",
    "vrije ronde", "pauza", "pauzuje", "stă",
})  # fmt: skip
"""Words for a missing opponent, in lower case, beside those of the catalogues."""
_ROUND_WORDS = frozenset({
    "round", "runde", "ronde", "ronda", "tour", "turno", "giro", "runda", "rundă", "rd", "rnd", "rodada", "kolo",
    "omgang", "omgång", "kierros", "kör",
})  # fmt: skip
"""Words with which a heading begins, in lower case."""
_NO_LETTERS = re.compile(r"[\W\d_]+")
_MIN_DELIMITERS = 2


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
    """Return the pairings in lines `round,table,player,player`. Raises `PairingsError`.

    A title and a heading before the first line are skipped. A missing opponent is an empty cell, or a word for a bye in
    any language of the page. If `allows_short_byes` is True, a line `round,table,player` is a bye at a table, as in
    earlier versions.

    >>> parse_pairings("round,table,player 1,player 2\\n1,Table 1,Anna,Ben\\n1,,Cleo,bye")
    (Pairing(round=1, table='Table 1', first='Anna', second='Ben'), Pairing(round=1, table='', first='Cleo', second=''))
    """
    pairings: list[Pairing] = []
    text = text.lstrip("\ufeff\r\n \t")
    for number, row in enumerate(_read_rows(text, _find_delimiter(text)), 1):
        cells = [cell.strip() for cell in row]
        while len(cells) > _MAX_CELLS and not cells[-1]:  # empty columns of a spreadsheet
            cells.pop()
        if not any(cells) or (not pairings and _is_heading(cells)):
            continue
        pairing = _parse_row(cells, len(row), allows_short_byes=allows_short_byes)
        if pairing is None or len(pairings) >= MAX_PAIRINGS:
            raise _make_line_error(number)
        pairings.append(pairing)
    if text and not pairings:
        raise _make_line_error(1)
    return tuple(pairings)


def _find_delimiter(text: str) -> str:
    """Return the delimiter in the first line that has one several times; a title may be above that line."""
    for line in text.splitlines():
        for delimiter in "\t;,":
            if line.count(delimiter) >= _MIN_DELIMITERS:
                return delimiter
    return ","


def _is_heading(cells: Sequence[str]) -> bool:
    """Return True for a title, which has only one cell, and for a heading of the columns.

    A line with two names is a heading only if it begins with a word for a round, or if the names differ only by digits.
    """
    if sum(map(bool, cells)) == 1:
        return True
    if any(map(str.isdecimal, cells[0])):
        return False
    first, *_, last = map(_find_words, cells[2:]) if len(cells) > _MAX_CELLS - 1 else ("", "")
    is_alike = bool(first) and first == last and cells[2] != cells[3]
    return _find_words(cells[0]) in _ROUND_WORDS or is_alike


def _parse_row(cells: Sequence[str], cell_count: int, *, allows_short_byes: bool) -> Pairing | None:
    """Return the pairing in a line, or None if the line is none; `cell_count` has the empty cells at its end, too."""
    round_text, table, *names = (*cells, *[""] * (_MAX_CELLS - 1 - len(cells)))
    if len(cells) == _MAX_CELLS - 1 and table and cell_count < _MAX_CELLS and not allows_short_byes:
        return None  # `1,Anna,Ben` is a game without its table
    players = [normalize_name(name) for name in names if not _is_bye(name)]
    # Round 0 would be that of every game (`Result.round`).
    has_valid_round = round_text.isdecimal() and len(round_text) < 4 and int(round_text) > 0
    has_valid_names = all(map(is_player_name, players)) and len(make_players_key(players)) == len(players) > 0
    if not has_valid_round or not has_valid_names or len(cells) > _MAX_CELLS:
        return None
    return Pairing(int(round_text), table[:40], players[0], players[1] if len(players) > 1 else "")


def _is_bye(cell: str) -> bool:
    """Return True if a cell names no player: it is empty, has only signs, or a word for a bye, as in `Bye (+50)`."""
    words = _find_words(cell)
    return words in _list_bye_words() if words else not any(map(str.isalnum, cell))


def _find_words(cell: str) -> str:
    """Return the words of a cell in lower case, without digits and signs."""
    return " ".join(_NO_LETTERS.sub(" ", cell).casefold().split())


@cache
def _list_bye_words() -> frozenset[str]:
    """Return the words for a bye, also those that the page shows in its languages."""
    return _BYE_WORDS | {_find_words(load_catalogue(code).find_text("hall.bye")) for code in list_languages()}


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


def format_csv(matched: Iterable[tuple[Pairing, Result | None]], delimiter: str = ",") -> str:
    """Return pairings with their results as CSV for spreadsheets.

    Excel takes a file without a byte order mark for one in the encoding of its country. It splits lines only at the
    delimiter of its country, which is the semicolon where the decimal sign is a comma.
    """
    rows: list[list[int | str]] = [["round", "table", "player 1", "points 1", "player 2", "points 2"]]
    for pairing, result in matched:
        totals: tuple[int | str, ...] = ("", "")
        if result:
            names = [fold_name(name) for name in result.players]
            totals = tuple(result.totals[names.index(fold_name(name))] for name in (pairing.first, pairing.second))
        cells: list[int | str] = [pairing.round, pairing.table, pairing.first, totals[0], pairing.second, totals[1]]
        rows.append([_escape_formula(cell) for cell in cells])
    return "\ufeff" + _write_rows(rows, "\r\n", delimiter)


def make_pair_key(pairing: Pairing) -> frozenset[str]:
    """Return a key that is the same for pairings of the same two players."""
    return make_players_key((pairing.first, pairing.second))


def make_players_key(players: Iterable[str]) -> frozenset[str]:
    """Return a key that is the same for the same players in any order; case and spacing of the names do not matter."""
    return frozenset(map(fold_name, players))


def fold_name(name: str) -> str:
    """Return a name in a form for comparison; case and spacing do not matter."""
    return normalize_name(name).casefold()


def _write_rows(rows: Iterable[Sequence[int | str]], line_end: str, delimiter: str = ",") -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator=line_end, delimiter=delimiter).writerows(rows)
    return file.getvalue()


def _escape_formula(cell: int | str) -> int | str:
    """Return the cell; a text that a spreadsheet would run as a formula gets the prefix `'`."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t") else cell
