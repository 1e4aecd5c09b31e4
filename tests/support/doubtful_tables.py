"""A table whose second letter is read with a doubt, so that the table asks about it."""

from __future__ import annotations

from device.session.commands.turns import EndTurn
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from engine.reading import BoardReading, SquareReading
from tests.support.text_table import TextTable, rows
from tests.support.waiting import PATIENCE_S

HARN = ("HARN", 7, 5, True)
MISREAD = SquareReading((("A", 0.97), ("O", 0.02)))


def lay_in_doubt(table: TextTable, *words: tuple[str, int, int, bool]) -> None:
    """Set the board; the second letter of HARN is read with a doubt, each time alike."""
    squares = list(BoardReading.from_rows(rows(*words)).squares)
    squares[7 * 15 + 6] = MISREAD
    table.board = BoardReading(tuple(squares))


def play_in_doubt(session: TableSession, table: TextTable, *words: tuple[str, int, int, bool]) -> TableSnapshot:
    """End a turn with a board that is read with a doubt."""
    lay_in_doubt(table, *words)
    return session.submit(EndTurn()).result(PATIENCE_S)


def get_words(state: TableSnapshot) -> list[str]:
    """Return the words of the score sheet; a provisional turn has a question mark."""
    return [turn.word + "?" * turn.provisional for turn in state.turns]
