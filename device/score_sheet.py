"""Read a score sheet as it is written on paper: a column for each player, points of a turn or running totals."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.errors import TilekeeperError
from engine.events import Passed, PlayMade
from engine.messages import make_message
from engine.rules import MAX_PLAYERS, MIN_PLAYERS

MAX_ROWS = 60
_RUNNING_SHARE = 0.8
"""Share of scores that are not below the player's score before, at which the scores are taken for running totals.

Of the points of single turns, about half are.
"""
_SCORE = re.compile(r"([+-]?)(\d{1,4})(?:\+(\d{1,3}))?\Z")
_MINUS_SIGNS = str.maketrans("\u2212\u2013\u2014", "---")
_NO_SCORE = frozenset({"", "-", "x", "/"})


SheetAct = tuple[PlayMade | Passed, int | None]
"""What happened in a turn of a score sheet, and the turn's score if that is not the one of the play."""


class ScoreSheetError(TilekeeperError):
    """Error for a score sheet that cannot be read; the message gives the reason in one sentence."""


@dataclass(frozen=True, slots=True)
class SheetTurn:
    """A turn on a score sheet: the points of the play, and `extra` points for a failed challenge.

    A pass, an exchange, and a play that was taken back have no points.
    """

    player: int
    points: int
    extra: int = 0


@dataclass(frozen=True, slots=True)
class ScoreSheet:
    """The turns of a score sheet in their order.

    `end` are the points of each player for unplayed letters, empty if there are none on the sheet.
    """

    players: tuple[str, ...]
    turns: tuple[SheetTurn, ...]
    end: tuple[int, ...] = ()

    @property
    def scored(self) -> tuple[SheetTurn, ...]:
        """The turns with points: the plays."""
        return tuple(turn for turn in self.turns if turn.points)


@dataclass(frozen=True, slots=True)
class _Cell:
    value: int
    is_signed: bool = False
    extra: int = 0


_Row = list[_Cell | None]


def parse_score_sheet(text: str) -> ScoreSheet:
    """Return the score sheet in a text of comma-separated values; semicolons and tabs separate as well.

    The first line may have the names of the players. Raises `ScoreSheetError`.

    >>> sheet = parse_score_sheet("Anna,Ben\\n14,9\\n25,\\n30,12\\n+4,-4")
    >>> [turn.points for turn in sheet.turns], sheet.end
    ([14, 9, 25, 0, 30, 12], (4, -4))
    """
    lines = list(csv.reader(re.sub(r"[;\t]", ",", text.removeprefix("\ufeff")).splitlines()))
    rows = [[cell.strip() for cell in line] for line in lines if any(map(str.strip, line))]
    width = max(map(len, rows), default=0)
    has_names = bool(rows) and not any(_SCORE.match(cell.translate(_MINUS_SIGNS)) for cell in rows[0])
    names = rows.pop(0) if has_names else [str(number + 1) for number in range(width)]
    return read_score_sheet(names, rows)


def read_score_sheet(names: Sequence[str], rows: Sequence[Sequence[str]]) -> ScoreSheet:
    """Return the score sheet with these cells. Raises `ScoreSheetError`."""
    if not MIN_PLAYERS <= len(names) <= MAX_PLAYERS or len(set(names)) < len(names):
        raise ScoreSheetError(
            make_message(
                "sheet-players", "A score sheet has a column for each of 2 to 4 players, with different names."
            )
        )
    cells = [_parse_row(row, number, len(names)) for number, row in enumerate(rows[:MAX_ROWS], 1)]
    while cells and not any(cells[-1]):
        cells.pop()
    if _has_totals(cells):
        cells = _subtract_totals(cells)
    ends = [row for row in cells if any(cell and cell.is_signed for cell in row)]
    if ends and ends != cells[-len(ends) :]:
        raise ScoreSheetError(
            make_message("sheet-signs", "Only the points for unplayed letters, after all turns, have a sign.")
        )
    turns = list(_list_turns(cells[: len(cells) - len(ends)]))
    if not any(turn.points for turn in turns):
        raise ScoreSheetError(make_message("sheet-empty", "Enter the scores of the turns."))
    end = tuple(sum(cell.value for cell in column if cell) for column in zip(*ends, strict=True))
    return ScoreSheet(tuple(names), tuple(turns), end)


def _parse_row(row: Sequence[str], number: int, width: int) -> _Row:
    cells = [_parse_cell(text, number) for text in row]
    if any(cells[width:]):
        raise ScoreSheetError(
            make_message(
                "sheet-players", "A score sheet has a column for each of 2 to 4 players, with different names."
            )
        )
    return (cells + [None] * width)[:width]


def _parse_cell(text: str, row: int) -> _Cell | None:
    written = "".join(text.split()).translate(_MINUS_SIGNS).lower()
    if written in _NO_SCORE:
        return None
    match = _SCORE.match(written)
    if match is None:
        raise ScoreSheetError(make_message("sheet-score", "{0} in row {1} is not a score", repr(text), row))
    sign, digits, extra = match.groups()
    return _Cell(int(sign + digits), bool(sign), int(extra or 0))


def _has_totals(rows: Sequence[_Row]) -> bool:
    """Return True if the cells are running totals."""
    columns = ([cell.value for cell in column if cell and not cell.is_signed] for column in zip(*rows, strict=True))
    pairs = [pair for values in columns for pair in pairwise(values)]
    return len(pairs) > 3 and sum(after >= before for before, after in pairs) >= _RUNNING_SHARE * len(pairs)


def _subtract_totals(rows: Sequence[_Row]) -> list[_Row]:
    """Return the points of each turn. A row in which a total falls has points for unplayed letters, with signs."""
    totals = [0] * len(rows[0])
    subtracted: list[_Row] = []
    for row in rows:
        values = [
            total if cell is None else cell.value + total * cell.is_signed
            for cell, total in zip(row, totals, strict=True)
        ]
        changes = [value - total for value, total in zip(values, totals, strict=True)]
        is_end = any(cell and cell.is_signed for cell in row) or min(changes) < 0
        subtracted.append([cell and _Cell(change, is_end) for cell, change in zip(row, changes, strict=True)])
        totals = values
    return subtracted


def _list_turns(rows: Sequence[_Row]) -> Iterator[SheetTurn]:
    """Yield the turns row by row; an empty cell is a turn without points, unless no turn follows."""
    cells = [(player, cell) for row in rows for player, cell in enumerate(row)]
    last = max((number for number, (_, cell) in enumerate(cells) if cell), default=-1)
    for player, cell in cells[: last + 1]:
        yield SheetTurn(player, cell.value if cell else 0, cell.extra if cell else 0)
