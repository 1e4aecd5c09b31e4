"""Recovery of games and results from a damaged file of a hall, so that a hall can always start.

The contents of a damaged file are never changed: everything with a correct checksum is copied to a new file, which then
gets its name.
"""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from device.catalogue import get_text
from device.hall.receiving.received_games import CHECKED_TABLES, ReceivedGames
from device.storage.database import is_intact
from device.storage.errors import StoreDamagedError, to_store_error
from device.storage.recovery import open_damaged, read_rows, replace_store, set_damaged_aside

_log = logging.getLogger(__name__)


def open_received_games(path: Path | str) -> tuple[ReceivedGames, str]:
    """Open the file of a hall; return its games and a message about its faults (empty if there are none).

    Raises `StoreError`.
    """
    try:
        return ReceivedGames(path), ""
    except StoreDamagedError as error:
        _log.warning("%s", error)
        return _rescue_games(Path(path))


def _rescue_games(path: Path) -> tuple[ReceivedGames, str]:
    """Replace a damaged file; return a new file with all that can be read, and a message about it."""
    try:
        aside, copied = replace_store(path, lambda part: _copy_damaged(path, part), set_damaged_aside)
    except OSError as error:
        raise to_store_error(error, str(path)) from error
    return ReceivedGames(path), get_text("hall-rescued", path.name, *copied, aside.name)


def _copy_damaged(path: Path, target: Path) -> tuple[int, int]:
    """Copy all rows that are intact to a new file. Return the numbers of its games and results. Raises `StoreError`."""
    with closing(ReceivedGames(target, is_owner=False)) as games:
        try:
            with closing(open_damaged(path)) as db:
                for table, columns in CHECKED_TABLES.items():
                    for row in filter(is_intact, _read_from_both_ends(db, table, columns)):
                        games.add_row(table, row)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            _log.warning("the recovery of %s ended early: %s", path, error)
        return len(games.list_games()), len(games.list_results())


def _read_from_both_ends(db: sqlite3.Connection, table: str, columns: str) -> list[tuple[Any, ...]]:
    """Return the rows of a table, each once by its key, the first of its columns.

    A query stops at a damaged page, so the rows are read in ascending and in descending order.
    """
    sql = f"SELECT {columns}, checksum FROM {table} ORDER BY 1"
    rows = {row[0]: row for order in ("", " DESC") for row in read_rows(db, sql + order)}
    return list(rows.values())
