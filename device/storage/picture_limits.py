"""Limits for the size and age of the stored pictures, and the deletion of pictures beyond them."""

from __future__ import annotations

from dataclasses import dataclass

from device.storage.database import Database
from device.storage.errors import log_store_errors

_DAY_S = 24 * 60 * 60
_MAX_BREAK_S = 2 * 365 * _DAY_S
"""Longest plausible time between two games. After a longer one, the clock is probably years ahead."""
_SUMMARY = """
SELECT count(*), coalesce(sum(length(jpeg)), 0), (SELECT min(started) FROM game WHERE id IN (SELECT game FROM picture))
FROM picture
"""
_DELETE_OLDEST_GAME = "DELETE FROM picture WHERE game = (SELECT min(game) FROM picture)"
_PREVIOUS_START = "SELECT started FROM game ORDER BY id DESC LIMIT 1 OFFSET 1"
_DELETE_BEFORE = "DELETE FROM picture WHERE game IN (SELECT id FROM game WHERE started < ?)"


@dataclass(frozen=True, slots=True)
class PictureLimits:
    """Limits for stored pictures: the size of all pictures in bytes, and their age in days since the start of the game.

    If `max_age_days` is 0, there is no limit for the age.
    """

    max_bytes: int = 4 * 2**30
    max_age_days: int = 365


DEFAULT_LIMITS = PictureLimits()


@dataclass(frozen=True, slots=True)
class PictureSummary:
    """Number and size (bytes) of the stored pictures, and the start (Unix time) of the oldest game with pictures.

    `oldest` is 0 if there are no pictures.
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
    database.truncate_log()


def delete_excess_pictures(database: Database, limits: PictureLimits, now: float) -> None:
    """Delete pictures beyond the limits: those that are too old at the time `now`, then those of the oldest games.

    `now` is the start of the newest game, in seconds since 1970. If it is implausible, the start of the game before it
    is used instead. Errors are only logged.
    """
    with log_store_errors("old pictures are still there"):  # the game starts even if old pictures cannot be deleted
        if limits.max_age_days:
            previous = database.fetch_rows(_PREVIOUS_START)
            if previous and now - previous[0][0] > _MAX_BREAK_S:
                now = previous[0][0]
            with database.transaction() as db:
                db.execute(_DELETE_BEFORE, (now - limits.max_age_days * _DAY_S,))
        while summarise_pictures(database).size > limits.max_bytes:
            with database.transaction() as db:
                db.execute(_DELETE_OLDEST_GAME)
