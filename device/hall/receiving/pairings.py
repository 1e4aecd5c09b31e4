"""Pairings as text: spreadsheets (CSV), lines such as "Anna - Ben", and tsh; results as CSV and for tsh."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from msgspec.structs import replace

from device.catalogue import get_text, list_languages, load_catalogue
from device.hall.receiving.event import Event, Line, Pairing, PairingsError, fold_name, save_round
from device.player_names import is_player_name, normalize_name

MAX_PAIRINGS = 5000
_MAX_CELLS = 4
_BYE_WORDS = frozenset({
    "bye", "no opponent", "freilos", "kein gegner", "exempte", "exempté", "exemptée", "descanso", "libre", "riposo",
    "vrije ronde", "pauza", "pauzuje", "stă",
    "n a", "null", "none", "nobody", "no one", "no player", "niemand", "keiner", "kein spieler", "personne", "aucun",
    "aucune", "nadie", "ninguno", "ninguna", "nessuno", "nessuna", "geen", "nikt", "brak", "nimeni", "niciunul",
})  # fmt: skip
"""Words for a missing opponent, in lower case, beside those of the catalogues."""
_NO_VALUE = re.compile(r"NA|NaN|#NV|#?[Nn]/[A-Za-z]!?")
"""A cell without a value in programs for tables, which write it in their languages: `#N/A`, `#N/D`, `#NV`."""
_HEADING_WORDS = frozenset({
    "round", "runde", "ronde", "ronda", "tour", "turno", "giro", "runda", "rundă", "rd", "rnd", "rodada", "kolo",
    "omgang", "omgång", "kierros", "kör", "table", "tisch", "board", "brett", "mesa", "tavolo", "tafel", "stolik",
    "masă",
})  # fmt: skip
"""Words with which a heading begins, in lower case."""
_NO_LETTERS = re.compile(r"[\W\d_]+")
_VERSUS = re.compile(r"\s+(?:-|\u2013|\u2014|vs?\.?)\s+|\s+vs?\.(?=\S)")
_TABLE = re.compile(r"^(?:[^\W\d]+\s*)?(\d+)\s*[.:)]?\s+(?=\S)")
_TSH_MARKS = re.compile(r"\(?#?\b[A-Z]?\d+\)|\(#\w+\)|#\d+|\*[^*]*\*|\.$")
_TSH_FIRST = re.compile(r"\*\s*(?:starts|first|1st)\s*\*", re.I)
_TSH_LINE = re.compile(r"^(?P<name>\S.*?)\s+(?P<numbers>\d+(?:\s+\d+)*)\s*;(?P<rest>[\s\d-]*(?:;.*)?)$")
_ROUND = re.compile(r"(?:[^\W\d]+\s*)?0*([1-9]\d{0,2})")


@dataclass(frozen=True, slots=True)
class PairingsText:
    """What a text contains: the pairings of each round, and all players in the order of their numbers in tsh."""

    rounds: Mapping[int, tuple[Pairing, ...]]
    numbered_players: tuple[str, ...] = ()


def parse_pairings(text: str, number: int = 1) -> PairingsText:
    """Return the pairings in a text; lines without a round belong to the round `number`. Raises `PairingsError`.

    A text may be a data file of tsh (`a.t`), its printed pairings or lines such as `3 Anna - Ben`, or a table with the
    columns round, table, player, player; the round may be missing, and also the table. A title and a heading above are
    skipped. A missing opponent is an empty cell, or a word for a bye or for nobody in any language of the page (`n/a`).

    >>> parse_pairings("round,table,player 1,player 2\\n1,7,Anna,Ben\\n1,,Cleo,bye").rounds[1]
    (Pairing(table='7', first='Anna', second='Ben', points=None, game=0), \
Pairing(table='', first='Cleo', second='', points=None, game=0))
    """
    lines = text.lstrip("\ufeff").splitlines()
    written = [line for line in lines if line.strip()]
    if written and all(map(_TSH_LINE.match, written)):
        return _parse_tsh(written)
    rounds: dict[int, list[Pairing]] = {}
    is_versus = any(map(_VERSUS.search, written)) and not any(line.count(one) > 2 for line in written for one in "\t;,")
    for at, cells in _split_lines(lines) if is_versus else _read_rows(lines):
        if not any(cells) or (not rounds and _is_heading(cells)):
            continue
        found = _parse_row(cells, number)
        if found is None or sum(map(len, rounds.values())) >= MAX_PAIRINGS:
            raise _make_line_error(at)
        rounds.setdefault(found[0], []).append(found[1])
    if written and not rounds:
        raise _make_line_error(1)
    return PairingsText({key: tuple(one) for key, one in rounds.items()})


def import_pairings(event: Event, text: str, number: int = 0) -> Event:
    """Return the event with the pairings in a text. The text replaces the round `number` of the event.

    Other rounds in the text are only added if the event does not have them yet. With `number` 0, no round is replaced.
    Raises `PairingsError`.
    """
    found = parse_pairings(text, number or 1)
    if number and number not in found.rounds:  # the director has deleted all lines of this round
        event = save_round(event, number, ())
    for one, pairings in found.rounds.items():
        if one == number or one not in event.rounds:
            event = save_round(event, one, pairings)
    if found.numbered_players:
        event = replace(event, numbered_players=found.numbered_players)
    return event


def _read_rows(lines: Sequence[str]) -> Iterable[tuple[int, list[str]]]:
    """Yield the number and the cells of each line of a spreadsheet. Raises `PairingsError`."""
    reader = csv.reader(io.StringIO("\n".join([*lines, ""])), delimiter=_find_delimiter(lines))
    first_line = 1
    try:
        for row in reader:
            cells = [cell if "\n" in cell else cell.strip() for cell in row]
            while len(cells) > _MAX_CELLS and not cells[-1]:  # empty columns of a spreadsheet
                cells.pop()
            yield first_line, cells
            first_line = reader.line_num + 1
    except csv.Error:  # quotes that do not end before the limit of a cell
        raise _make_line_error(reader.line_num) from None


def _find_delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter of the first line that has one twice, or once; a title may be above that line."""
    found = (delimiter for count in (2, 1) for line in lines for delimiter in "\t;," if line.count(delimiter) >= count)
    return next(found, ",")


def _split_lines(lines: Sequence[str]) -> Iterable[tuple[int, list[str]]]:
    """Yield the number and the cells (table, player, player) of each line such as `3 Anna - Ben`.

    A line without an opponent has one cell, as a title has in a spreadsheet. Of two players, the one with a mark of the
    program TSH such as `*starts*` comes first.
    """
    for at, line in enumerate(lines, 1):
        if not line.strip():
            continue
        table = _TABLE.match(line.strip())
        names = line.strip()[table.end() :] if table else line.strip()
        first, *others = _VERSUS.split(names, maxsplit=1)
        if others and _TSH_FIRST.search(others[0]) and not _TSH_FIRST.search(first):
            first, others = others[0], [first]
        players = [" ".join(_TSH_MARKS.sub(" ", one).split()) for one in (first, *others)]
        yield at, [table[1] if table else "", *players] if others else players


def _is_heading(cells: Sequence[str]) -> bool:
    """Return True for a title, which has only one cell, and for a heading of the columns.

    A line with two names is a heading only if it begins with a word for a round or a table, or if the names differ only
    by digits.
    """
    if sum(map(bool, cells)) == 1:
        return True
    if any(map(str.isdecimal, cells[0])):
        return False
    first, last = map(_find_words, cells[-2:])
    return _find_words(cells[0]) in _HEADING_WORDS or (bool(first) and first == last and cells[-2] != cells[-1])


def _parse_row(cells: Sequence[str], number: int) -> tuple[int, Pairing] | None:
    """Return the round and the pairing in the cells of a line, or None if there is none."""
    if len(cells) == _MAX_CELLS - 1 and not any(map(str.isalpha, cells[1])):
        cells = [*cells, ""]  # round, table and a player without an opponent
    *places, first, second = ["", "", *cells] if len(cells) > 1 else ["", "", "", ""]
    table, round_text = places[-1], places[-2] or str(number)
    players = [normalize_name(name) for name in (first, second) if not _is_bye(name)]
    has_valid_names = all(map(is_player_name, players)) and len(set(map(fold_name, players))) == len(players) > 0
    round_match = _ROUND.fullmatch(round_text)
    has_open_quote = any("\n" in cell for cell in cells)  # then the following lines are in the cell
    if len(cells) > _MAX_CELLS or has_open_quote or not has_valid_names or not round_match:
        return None
    return int(round_match[1]), Pairing(table[:40], players[0], players[1] if len(players) > 1 else "")


def _is_bye(cell: str) -> bool:
    """Return True if a cell names no player: it is empty, has only signs, or a word for a bye, as in `Bye (+50)`."""
    words = _find_words(cell)
    if not words:
        return not any(map(str.isalnum, cell))
    return words in _list_bye_words() or _NO_VALUE.fullmatch(cell) is not None


def _find_words(cell: str) -> str:
    """Return the words of a cell in lower case, without digits and signs."""
    return " ".join(_NO_LETTERS.sub(" ", cell).casefold().split())


@cache
def _list_bye_words() -> frozenset[str]:
    """Return the words for a bye, also those that the page shows in its languages."""
    return _BYE_WORDS | {_find_words(load_catalogue(code).find_text("hall.bye")) for code in list_languages()}


@dataclass(frozen=True, slots=True)
class _TshPlayer:
    """A line of a data file of tsh: the number of the opponent in each round, and further fields by name."""

    name: str
    opponents: tuple[int, ...]
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def read_field(self, name: str, index: int) -> str:
        values = self.fields.get(name, ())
        return values[index] if index < len(values) else ""


def _parse_tsh(lines: Sequence[str]) -> PairingsText:
    """Return the pairings in a data file of the program tsh.

    A line of the file is `name, rating, opponents; scores; fields`. Opponent 0 is a bye. The field `p12` says who
    begins, and `board` at which table they play (poslarchive.com/tsh/doc, player data files).
    """
    players = [_parse_tsh_player(line) for line in lines]
    rounds: dict[int, tuple[Pairing, ...]] = {}
    for index in range(max(len(one.opponents) for one in players)):
        found: list[Pairing] = []
        for number, one in enumerate(players, 1):
            opponent = one.opponents[index] if index < len(one.opponents) else number
            if not 0 <= opponent <= len(players):
                raise _make_line_error(number)
            board = one.read_field("board", index)
            if opponent == 0:
                found.append(Pairing("", one.name))
            elif number < opponent:
                names = one.name, players[opponent - 1].name
                found.append(Pairing(board, *(names[::-1] if one.read_field("p12", index) == "2" else names)))
        if found:
            rounds[index + 1] = tuple(sorted(found, key=lambda one: (not one.table, int(one.table or 0))))
    return PairingsText(rounds, tuple(one.name for one in players))


def _parse_tsh_player(line: str) -> _TshPlayer:
    match = _TSH_LINE.match(line)
    assert match is not None
    _rating, *opponents = match["numbers"].split()
    fields = (part.split() for part in match["rest"].split(";"))
    named = {words[0]: tuple(words[1:]) for words in fields if words}
    return _TshPlayer(normalize_name(match["name"]), tuple(map(int, opponents)), named)


def _make_line_error(number: int) -> PairingsError:
    return PairingsError(get_text("pairings-line", number))


def format_pairings(pairings: Sequence[Pairing]) -> str:
    """Return the pairings of a round as a text that `parse_pairings` reads.

    The text begins with a heading, so that a `;` in a name is not mistaken for the delimiter.
    """
    rows = [(one.table, one.first, one.second) for one in pairings]
    return _write_rows([("table", "player 1", "player 2"), *rows], "\n") if rows else ""


def format_csv(lines: Iterable[Line], delimiter: str = ",") -> str:
    """Return pairings with their results as CSV for spreadsheets.

    Excel takes a file without a byte order mark for one in the encoding of its country. It splits lines only at the
    delimiter of its country, which is the semicolon where the decimal sign is a comma.
    """
    rows: list[list[int | str]] = [["round", "table", "player 1", "points 1", "player 2", "points 2"]]
    for line in lines:
        first, second = line.points if line.counts else ("", "")
        one = line.pairing
        cells: list[int | str] = [line.round, one.table, one.first, first, one.second, second]
        rows.append([_escape_formula(cell) for cell in cells])
    return "\ufeff" + _write_rows(rows, "\r\n", delimiter)


def format_tsh(lines: Iterable[Line], numbered_players: Sequence[str]) -> str:
    """Return results as tsh's command `a` reads them: number and points of each player.

    >>> from device.hall.receiving.event import PairingState
    >>> line = Line(1, Pairing("3", "Ben", "Anna"), PairingState.HAND, (400, 380), (0,))
    >>> format_tsh([line], ["Anna", "Ben"])
    '2 400 1 380\\n'
    """
    numbers = {fold_name(name): number for number, name in enumerate(numbered_players, 1)}
    found = (
        (line, [numbers.get(fold_name(one)) for one in (line.pairing.first, line.pairing.second)]) for line in lines
    )
    return "".join(
        f"{first} {line.points[0]} {second} {line.points[1]}\n"
        for line, (first, second) in found
        if line.counts and first and second
    )


def _write_rows(rows: Iterable[Sequence[int | str]], line_end: str, delimiter: str = ",") -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator=line_end, delimiter=delimiter).writerows(rows)
    return file.getvalue()


def _escape_formula(cell: int | str) -> int | str:
    """Return the cell; a text that a spreadsheet would run as a formula gets the prefix `'`."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t") else cell
