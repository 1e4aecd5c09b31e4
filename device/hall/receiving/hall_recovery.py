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

import msgspec

from device.catalogue import get_text
from device.hall.receiving.event import Result
from device.hall.receiving.hall_schema import HallTotal, read_game
from device.hall.receiving.received_games import ReceivedGames
from device.storage.checksums import compute_checksum
from device.storage.errors import StoreDamagedError, to_store_error
from device.storage.recovery import open_damaged, read_rows, replace_damaged

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
        aside, copied = replace_damaged(path, lambda part: _copy_damaged(path, part))
    except OSError as error:
        raise to_store_error(error, str(path)) from error
    return ReceivedGames(path), get_text("hall-rescued", path.name, copied.games, copied.results, aside.name)


def _copy_damaged(path: Path, target: Path) -> HallTotal:
    """Copy all that can be read to a new file. Return how much was copied. Raises `StoreError`."""
    with closing(ReceivedGames(target, is_owner=False)) as games:
        try:
            with closing(open_damaged(path)) as db:
                return _copy_intact(db, games)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            _log.warning("the recovery of %s ended early: %s", path, error)
            return HallTotal(0, 0)


def _copy_intact(db: sqlite3.Connection, target: ReceivedGames) -> HallTotal:
    """Copy games, results and notes with correct checksums. Return how many were copied. Raises `StoreError`."""
    games = set()
    for game, seal in _read_from_both_ends(db, "SELECT id, seal FROM game ORDER BY id"):
        if _copy_game(db, target, game, seal):
            games.add(game)
    results = 0
    for *row, checksum in _read_from_both_ends(db, "SELECT game, body, checksum FROM result ORDER BY game"):
        if checksum == compute_checksum(*row):
            target.save_result(row[0], msgspec.json.decode(row[1], type=Result))
            results += 1
    for *row, checksum in read_rows(db, "SELECT name, text, checksum FROM note"):
        if checksum == compute_checksum(*row):
            target.save_note(*row)
    return HallTotal(len(games), results)


def _copy_game(db: sqlite3.Connection, target: ReceivedGames, game: int, seal: str) -> bool:
    """Copy a game; return False if it is damaged."""
    try:
        row, events = read_game(db, game)
    except sqlite3.Error as error:
        _log.warning("game %s is not copied: %s", game, error)
        return False
    if row is None or seal != compute_checksum(row, events):
        return False
    target.add_game(row, events)
    return True


def _read_from_both_ends(db: sqlite3.Connection, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query in the order of their keys.

    The query stops at a damaged page, so it is run in ascending and in descending order.
    """
    rows = {row[0]: row for order in ("", " DESC") for row in read_rows(db, sql + order)}
    return [rows[key] for key in sorted(rows)]
