"""Limits for the size and age of the stored pictures, and the deletion of pictures beyond them."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from device.storage.database import Database
from device.storage.errors import log_store_errors
from device.storage.stored_game import MAX_TIME_S

_log = logging.getLogger(__name__)

_DAY_S = 24 * 60 * 60
_MAX_BREAK_S = 2 * 365 * _DAY_S
"""Longest plausible time between two games. After a longer one, the clock was probably wrong by years, or was set."""
_SUMMARY = f"""
SELECT count(*), coalesce(sum(length(jpeg)), 0), (
    SELECT min(started) FROM game WHERE id IN (SELECT game FROM picture) AND started BETWEEN 0 AND {MAX_TIME_S:.0f}
) FROM picture
"""
_DELETE_OLDEST_GAME = "DELETE FROM picture WHERE game = (SELECT min(game) FROM picture)"
_LIST_STARTS = "SELECT id, started, imported FROM game ORDER BY id DESC"
_DELETE_OF_GAME = "DELETE FROM picture WHERE game = ?"


@dataclass(frozen=True, slots=True)
class PictureLimits:
    """Limits for stored pictures: the size of all pictures in bytes, and their age in days.

    The age of a picture is the time since the start of its game, or since its import. If `max_age_days` is 0, there is
    no limit for the age.
    """

    max_bytes: int = 4 * 2**30
    max_age_days: int = 365


DEFAULT_LIMITS = PictureLimits()


@dataclass(frozen=True, slots=True)
class PictureSummary:
    """Number and size (bytes) of the stored pictures, and the start (Unix time) of the oldest game with pictures.

    `oldest` is 0 if there are no pictures. A start that is damaged does not count.
    """

    count: int
    size: int
    oldest: float


def summarise_pictures(database: Database) -> PictureSummary:
    """Return number, size and age of the stored pictures. Raises `StoreError`."""
    count, size, oldest = database.fetch_rows(_SUMMARY)[0]
    return PictureSummary(count, size, oldest or 0.0)


def delete_pictures(database: Database) -> None:
    """Delete all pictures; the games remain. Raises `StoreError`."""
    with database.transaction() as db:
        db.execute("DELETE FROM picture")
    database.truncate_write_ahead_log()


def delete_excess_pictures(database: Database, limits: PictureLimits) -> None:
    """Delete pictures beyond the limits: first those that are too old, then those of the oldest games.

    Call the function when a game has started: ages are counted up to this start. Errors are only logged.
    """
    with log_store_errors("old pictures are still there"):  # the game starts even if old pictures cannot be deleted
        if limits.max_age_days:
            old = _find_old_games(database.fetch_rows(_LIST_STARTS), limits.max_age_days * _DAY_S)
            with database.transaction() as db:
                db.executemany(_DELETE_OF_GAME, [(game,) for game in old])
        while summarise_pictures(database).size > limits.max_bytes:
            with database.transaction() as db:
                deleted = db.execute(_DELETE_OLDEST_GAME).rowcount
            if not deleted:
                _log.warning("old pictures are still there: their index is damaged")
                break


def _find_old_games(starts: Iterable[tuple[int, float, int]], max_age_s: float) -> list[int]:
    """Return the numbers of the games that are more than `max_age_s` older than the newest game.

    `starts` has, for each game, its number, its start (seconds since 1970) and whether it was imported, newest first.
    The age is the sum of the times between the games. Implausible times are left out, so that games with a clock years
    ahead do not make all earlier games old. The start of an imported game is not used: its age begins with the import.
    """
    age_s, later, old = 0.0, None, []
    for game, started, is_imported in starts:
        if not is_imported:
            if later is not None and abs(later - started) <= _MAX_BREAK_S:
                age_s += later - started
            later = started
        if age_s > max_age_s:
            old.append(game)
    return old
