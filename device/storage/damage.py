"""Find the damage of a store: games with missing or changed events, and a newest game that lacks its last events."""

from __future__ import annotations

import logging

from device.catalogue import get_text
from device.storage.checksums import EventRow, Tail, TailRecord, compute_seal, find_intact_events, find_last_checksum
from device.storage.database import Database

_log = logging.getLogger(__name__)


def read_intact_rows(database: Database, game: int) -> list[EventRow]:
    """Return the rows of a game's events up to the first missing or damaged event. Raises `StoreError`."""
    sql = "SELECT number, time, body, checksum FROM event WHERE game = ? ORDER BY number"
    return find_intact_events(database.fetch_rows(sql, game))


def find_damaged_games(database: Database) -> dict[int, int]:
    """Return, for each game with missing or changed events, the number of events before the damage.

    Raises `StoreError`.
    """
    damaged = {}
    sql = "SELECT id, started, imported, deleted, length, seal FROM game"
    for game, started, imported, deleted, length, seal in database.fetch_rows(sql):
        rows = read_intact_rows(database, game)
        if deleted and not rows:
            continue
        is_whole = len(rows) == length
        if deleted or not is_whole or seal != compute_seal(started, imported, length, find_last_checksum(rows)):
            damaged[game] = len(rows)
            _log.warning("game %d is damaged after %d events", game, len(rows))
    return damaged


def describe_lost_tail(database: Database, tail_record: TailRecord) -> str:
    """Return a message if events at the end of the newest game are missing, otherwise an empty string.

    The number of events in `tail_record` is corrected, so that the message is not given again at the next start.
    Raises `StoreError`.
    """
    tail = tail_record.read()
    if tail is None:
        return ""
    rows = database.fetch_rows("SELECT length, deleted FROM game WHERE id = ?", tail.game)
    length, deleted = rows[0] if rows else (0, 0)
    if deleted or length >= tail.length:
        return ""
    tail_record.write(Tail(tail.game, length, ""))
    return get_text("store-tail-lost", tail.game, length, tail.length)
