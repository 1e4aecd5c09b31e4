"""The store: an append-only log of events for each game, and a picture of the board for each turn.

The first event of a log is the start of the game, and the others are the entries of its ledger (`engine.ledger_data`).
When `append_events` returns, the events are on disk. The store also contains notes (texts that are overwritten, such as
the running clock), the colours of players, and pictures. Old pictures may be deleted.

Events, games and notes have checksums (`device.storage.database`). A damaged event stays in its game as an unreadable
entry; all others can still be read, and other games are not affected.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from device.catalogue import get_text
from device.storage.database import (
    SELECT_GAMES,
    Database,
    EventRow,
    add_checksum,
    compute_checksum,
    find_damaged_games,
    find_length,
    has_orphans,
    is_intact,
    read_event_rows,
)
from device.storage.errors import GameDeletedError, StoreDamagedError, StoreError, StoreFullError, log_store_errors
from device.system.closeable import Closeable
from engine.ledger_data import UNREADABLE

MAX_TIME_S = 1e11
"""Upper limit for the start time of a game, in seconds since 1970; a later time is invalid."""
EventBody = Mapping[str, Any]
"""An event as a JSON object."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event in a game's log: its number in the game (from 0), its time in seconds since 1970, and its body."""

    number: int
    time: float
    body: EventBody


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game in the list of the store: number, start time (seconds since 1970), first event and number of events.

    `imported` is True for a game from a file, which is not resumed at this table. `damage` is a message about damage,
    or empty.
    """

    id: int
    started: float
    first_event: EventBody
    length: int
    imported: bool = False
    damage: str = ""

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players in the first event; empty if the first event is damaged."""
        names = self.first_event.get("players")
        return tuple(map(str, names)) if isinstance(names, list | tuple) else ()


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A picture of an event: number of the event in the game, kind (`board` or `photo`) and JPEG data."""

    number: int
    kind: str
    jpeg: bytes


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


def _find_old_games(starts: Iterable[tuple[int, float, int]], max_age_s: float) -> list[int]:
    """Return the numbers of the games that are more than `max_age_s` older than the newest game.

    `starts` has, for each game from the newest to the oldest, its number, its start (seconds since 1970) and whether it
    was imported. An imported game was added when the games around it were played, so its own start is not used.

    The age of a game is the sum of the times between the later games. Times that are not plausible are left out: a
    clock that was years ahead must not make all earlier games old.
    """
    age_s, later, old = 0.0, None, []  # `later` is the start of the game that was played after this one
    for game, started, is_imported in starts:
        if not is_imported:
            if later is not None and abs(later - started) <= _MAX_BREAK_S:
                age_s += later - started
            later = started
        if age_s > max_age_s:
            old.append(game)
    return old


MAX_PICTURE_BYTES = 4_000_000
"""Largest size of a picture that is stored, in bytes."""

Pictures = Mapping[int, Mapping[str, bytes]]
"""JPEG data by the number of the event and the kind of the picture."""
Change = tuple[str, int] | tuple[str, int, str] | tuple[str, str, str]
"""A change of the store: `events` with the number of the game, `note` with game and name, `colour` with a player's name
and colour, or `name` with the names of a player before and after."""
TABLE_NOTES = 0
"""Value used as the game number for notes of the table itself."""

_INSERT_EVENT = "INSERT INTO event (game, number, time, body, checksum) VALUES (?, ?, ?, ?, ?)"
_INSERT_PICTURE = "INSERT INTO picture (game, number, kind, jpeg) VALUES (?, ?, ?, ?)"
_INSERT_NOTE = "INSERT OR REPLACE INTO note (game, name, text, checksum) VALUES (?, ?, ?, ?)"
_HAS_GAME = "SELECT 1 FROM game WHERE id = ? AND (NOT deleted OR EXISTS (SELECT 1 FROM event WHERE game = id))"
_DELETE_GAME = """
UPDATE game SET deleted = 1 WHERE id = ? AND (NOT deleted OR EXISTS (SELECT 1 FROM event WHERE game = id))
"""
_UPSERT_PLAYER = """
INSERT INTO player (name, played) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET played = max(played, excluded.played)
"""


class GameStore(Closeable):
    """Games in an SQLite file; thread-safe, and owned by only one program at a time."""

    def __init__(
        self,
        path: Path | str,
        *,
        clock: Callable[[], float] = time.time,
        is_owner: bool = True,
        is_read_only: bool = False,
    ) -> None:
        """Open or create the file; with the path `":memory:"`, games are kept in memory only. Raises `StoreError`.

        If `is_owner` is False, another program may own the file, that is, play games with it. If `is_read_only` is
        True, a file on a disk that cannot be written can be opened, too.
        """
        self._clock = clock
        self.picture_limits = DEFAULT_LIMITS
        """Limits for the stored pictures. When a game starts, pictures beyond the limits are deleted."""
        self.picture_problem = ""
        """The reason why the pictures of the newest events were not stored; an empty string if they were."""
        self.path = str(path)
        self.unsaved_events: dict[int, Sequence[StoredEvent]] = {}
        """The events that could not be saved yet, by game number. Exported files contain them, too."""
        self._discarded_games: list[int] = []
        """The numbers of the games that could not be deleted yet."""
        self.delete_listeners: list[Callable[[float, bool], None]] = []
        """Functions that are called for a game that was deleted, with its start time (seconds since 1970) and whether
        it was imported."""
        self._database = Database(path, is_owner=is_owner, is_read_only=is_read_only)
        try:
            self._check_games()
        except BaseException:
            self._database.close()
            raise

    def __repr__(self) -> str:
        return f"<GameStore {self.path}>"

    def close(self) -> None:
        """Close the file of the store."""
        self._database.close()

    # The log

    @property
    def next_game_number(self) -> int:
        """The number that the next game will get. It is kept in memory, so that it is known even if the disk fails."""
        return self._last_game_number + 1

    def begin_game(self, first: EventBody) -> int:
        """Add a game with its first event, add its players to the list of players, and return the game's number."""
        now = self._clock()
        game = self.add_game(now, [StoredEvent(0, now, first)], (), imported=False)
        self._delete_excess_pictures()
        return game

    def append_events(
        self,
        game: int,
        bodies: Sequence[EventBody],
        pictures: Pictures | None = None,
        notes: Mapping[str, str] | None = None,
    ) -> tuple[StoredEvent, ...]:
        """Append events to the log of a game, all or none; the events are on disk when the method returns.

        `pictures` has JPEG data by number of the event and kind, such as `photo` or `board`. If the disk is full, the
        events are saved without the pictures, and `picture_problem` is set. `notes` of the game are saved with them.
        """
        self.picture_problem = ""
        found = [(number, kind, jpeg) for number, jpegs in (pictures or {}).items() for kind, jpeg in jpegs.items()]
        kept = [picture for picture in found if len(picture[2]) <= MAX_PICTURE_BYTES]
        if len(kept) < len(found):
            _log.warning("a picture of more than %d bytes is not kept", MAX_PICTURE_BYTES)
        try:
            return self._append_with_pictures(game, bodies, kept, notes or {})
        except (StoreFullError, StoreDamagedError) as error:
            if not kept:
                raise
            _log.warning("the turn is kept without its picture: %s", error)
            saved = self._append_with_pictures(game, bodies, (), notes or {})
            self.picture_problem = str(error)
            return saved

    def list_games(self) -> tuple[StoredGame, ...]:
        """Return all games, newest first."""
        sql = """
            SELECT id, started, body, length, imported FROM game LEFT JOIN event ON event.game = id AND number = 0
            WHERE NOT deleted OR event.game IS NOT NULL ORDER BY id DESC
        """
        return tuple(
            self._make_stored_game(game, started, body, length, bool(imported))
            for game, started, body, length, imported in self._database.fetch_rows(sql)
        )

    def find_own_lengths(self) -> dict[int, int]:
        """Return the number of events of each game that was started at this table, without deleted games."""
        return dict(self._database.fetch_rows("SELECT id, length FROM game WHERE NOT imported AND NOT deleted"))

    def find_lengths_without(self, kind: str) -> dict[int, int]:
        """Return the number of events of each game that certainly has no act or edit of a kind."""
        sql = "SELECT id, length FROM game WHERE id NOT IN (SELECT game FROM event WHERE instr(body, ?))"
        return dict(self._database.fetch_rows(sql, json.dumps(kind)))

    def read_events(self, game: int) -> tuple[StoredEvent, ...]:
        """Return the events of a game in order; empty if there is no such game. Damaged ones are unreadable entries."""
        return tuple(StoredEvent(number, at, json.loads(body)) for number, at, body in self._read_rows(game))

    def list_events_to_export(self, game: int) -> tuple[StoredEvent, ...]:
        """Return the events of a game like `read_events`, followed by those that could not be saved yet."""
        events = self.read_events(game)
        for event in self.unsaved_events.get(game, ()):
            if event.number == len(events):  # otherwise it has just been saved
                events += (event,)
        return events

    def delete_game(self, game: int) -> None:
        """Delete a game with its pictures and notes; the game's number is not used again. Raises `StoreError`."""
        with self._database.transaction() as db:
            if db.execute(_DELETE_GAME, (game,)).rowcount == 0:
                raise GameDeletedError(get_text("game-gone", game))
            started, imported = db.execute("SELECT started, imported FROM game WHERE id = ?", (game,)).fetchone()
            self._write_game(db, game, length=0)
            for table in ("picture", "event", "note"):
                db.execute(f"DELETE FROM {table} WHERE game = ?", (game,))
        self._database.truncate_write_ahead_log()
        for notify in self.delete_listeners:
            notify(started, bool(imported))

    def discard_game(self, game: int) -> str:
        """Delete a game now or, if the store cannot be written, in a later call of `delete_discarded_games`.

        Return the reason if it is not deleted yet, otherwise an empty string.
        """
        self._discarded_games.append(game)
        return self.delete_discarded_games()

    @property
    def has_discarded_games(self) -> bool:
        """True if there are discarded games that could not be deleted yet."""
        return bool(self._discarded_games)

    def delete_discarded_games(self) -> str:
        """Try to delete the discarded games that could not be deleted before; return the reason if this fails."""
        try:
            while self._discarded_games:
                with suppress(GameDeletedError):
                    self.delete_game(self._discarded_games[0])
                del self._discarded_games[0]
        except StoreError as error:
            _log.warning("a game that was taken back cannot be deleted yet: %s", error)
            return str(error)
        return ""

    def add_game(
        self,
        started: float,
        events: Sequence[StoredEvent],
        pictures: Iterable[StoredPicture],
        notes: Mapping[str, str] | None = None,
        *,
        imported: bool = True,
    ) -> int:
        """Add a whole game, with the times of its events, in one transaction; return the game's number.

        `started` is the start time in seconds since 1970.
        """
        sql = "INSERT INTO game (started, imported, length, checksum) VALUES (?, ?, 0, '') RETURNING id"
        with self._database.transaction() as db:
            (game,) = db.execute(sql, (started, int(imported))).fetchone()
            names = (name for name in events[0].body.get("players", ()) if isinstance(name, str))
            db.executemany(_UPSERT_PLAYER, [(name, started) for name in names])
            self._insert_events(db, game, events)
            db.executemany(_INSERT_PICTURE, ((game, p.number, p.kind, p.jpeg) for p in pictures))
            db.executemany(_INSERT_NOTE, [add_checksum(game, name, text) for name, text in (notes or {}).items()])
        self._last_game_number = int(game)
        if unreadable := sum(event.body == UNREADABLE for event in events):
            self._damaged[game] = len(events) - unreadable
        self._handle_change(("events", game))
        return int(game)

    def add_events(self, game: int, events: Sequence[StoredEvent], pictures: Iterable[StoredPicture]) -> None:
        """Append events that already have times and numbers, with their pictures.

        The first number must be the next one in the game's log.
        """
        with self._database.transaction() as db:
            self._insert_events(db, game, events)
            db.executemany(_INSERT_PICTURE, ((game, p.number, p.kind, p.jpeg) for p in pictures))

    # Pictures

    def read_picture(self, game: int, number: int, kind: str) -> bytes | None:
        """Return the JPEG data of an event's picture, or None if there is no picture or it cannot be read."""
        sql = "SELECT jpeg FROM picture WHERE game = ? AND number = ? AND kind = ?"
        try:
            rows = self._database.fetch_rows(sql, game, number, kind)
        except StoreError as error:
            _log.warning("picture %d-%d is not shown: %s", game, number, error)
            return None
        return bytes(rows[0][0]) if rows else None

    def list_pictures(self, game: int) -> tuple[tuple[int, str], ...]:
        """Return the event number and the kind of each picture of a game, in the order of the events."""
        rows = self._database.fetch_rows("SELECT number, kind FROM picture WHERE game = ? ORDER BY number, kind", game)
        return tuple((number, kind) for number, kind in rows)

    def summarise_pictures(self) -> PictureSummary:
        """Return number, size and age of all stored pictures. Raises `StoreError`."""
        count, size, oldest = self._database.fetch_rows(_SUMMARY)[0]
        return PictureSummary(count, size, oldest or 0.0)

    def delete_pictures(self) -> None:
        """Delete all pictures; the games remain. Raises `StoreError`."""
        with self._database.transaction() as db:
            db.execute("DELETE FROM picture")
        self._database.truncate_write_ahead_log()

    def _delete_excess_pictures(self) -> None:
        """Delete pictures beyond the limits: first those that are too old, then those of the oldest games.

        Ages are counted up to the start of the newest game. Errors are only logged: a game starts even if old pictures
        cannot be deleted.
        """
        limits = self.picture_limits
        with log_store_errors("old pictures are still there"):
            if limits.max_age_days:
                old = _find_old_games(self._database.fetch_rows(_LIST_STARTS), limits.max_age_days * _DAY_S)
                with self._database.transaction() as db:
                    db.executemany(_DELETE_OF_GAME, [(game,) for game in old])
            while self.summarise_pictures().size > limits.max_bytes:
                with self._database.transaction() as db:
                    deleted = db.execute(_DELETE_OLDEST_GAME).rowcount
                if not deleted:
                    _log.warning("old pictures are still there: their index is damaged")
                    break

    # Notes and players

    def save_note(self, game: int, name: str, text: str) -> None:
        """Save a note (a text with a name) of a game, or of the table if `game` is `TABLE_NOTES`.

        A note with the same name is replaced. The note is on disk when the method returns. Raises `StoreError`, also if
        the store does not have the game: otherwise the next game with this number would get its note.
        """
        with self._database.transaction() as db:
            if game != TABLE_NOTES and db.execute(_HAS_GAME, (game,)).fetchone() is None:
                raise GameDeletedError(get_text("game-gone", game))
            db.execute(_INSERT_NOTE, add_checksum(game, name, text))
        self._handle_change(("note", game, name))

    def read_note(self, game: int, name: str) -> str | None:
        """Return the text of a note by its name, or None if there is no intact note with this name."""
        return self.read_game_notes(game).get(name)

    def read_game_notes(self, game: int) -> dict[str, str]:
        """Return the texts of all intact notes of a game (or of `TABLE_NOTES`) by name."""
        rows = self._database.fetch_rows("SELECT game, name, text, checksum FROM note WHERE game = ?", game)
        return {row[1]: row[2] for row in rows if is_intact(row)}

    def save_notes(self, name: str, texts: Mapping[int, str]) -> None:
        """Save notes with the same name for several games, all or none; `texts` maps game numbers to texts.

        Deleted games are skipped. The notes are on disk when the method returns.
        """
        with self._database.transaction() as db:
            db.executemany(
                "INSERT OR REPLACE INTO note (game, name, text, checksum)"
                " SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM event WHERE game = ?1)",
                [add_checksum(game, name, text) for game, text in texts.items()],
            )

    def read_notes_by_game(self, name: str) -> dict[int, str]:
        """Return the texts of all intact notes with this name, by game number."""
        rows = self._database.fetch_rows("SELECT game, name, text, checksum FROM note WHERE name = ?", name)
        return {row[0]: row[2] for row in rows if is_intact(row)}

    def list_players(self) -> tuple[tuple[str, str], ...]:
        """Return the names and colours of all players, most recent first; the colour is empty if none was chosen."""
        rows = self._database.fetch_rows("SELECT name, colour FROM player ORDER BY played DESC, name")
        return tuple((name, colour) for name, colour in rows)

    def save_colour(self, name: str, colour: str) -> None:
        """Save a player's colour for future games."""
        with self._database.transaction() as db:
            (played,) = db.execute("SELECT coalesce(max(played), 0.0) FROM player").fetchone()
            db.execute(_UPSERT_PLAYER, (name, played))
            db.execute("UPDATE player SET colour = ? WHERE name = ?", (colour, name))
        self._handle_change(("colour", name, colour))

    def rename_player(self, before: str, after: str) -> None:
        """Rename a player in the list of players. If the new name is already in the list, its colour is kept."""
        with self._database.transaction() as db:
            db.execute("UPDATE OR IGNORE player SET name = ? WHERE name = ?", (after, before))
            db.execute("DELETE FROM player WHERE name = ?", (before,))
        self._handle_change(("name", before, after))

    # Backup

    def copy_to(self, path: Path, *, pictures: bool = True) -> None:
        """Copy the store, which may be in use, to a new file. Raises `StoreError`, also if `path` exists."""
        self._database.copy_to(path, pictures=pictures)

    # Helper methods

    def _append_with_pictures(
        self,
        game: int,
        bodies: Sequence[EventBody],
        pictures: Iterable[tuple[int, str, bytes]],
        notes: Mapping[str, str],
    ) -> tuple[StoredEvent, ...]:
        with self._database.transaction() as db:
            next_number, now = find_length(db, game), self._clock()
            events = tuple(StoredEvent(next_number + i, now, body) for i, body in enumerate(bodies))
            if events:
                self._insert_events(db, game, events)
                db.executemany(_INSERT_PICTURE, [(game, *picture) for picture in pictures])
                db.executemany(_INSERT_NOTE, [add_checksum(game, name, text) for name, text in notes.items()])
        self._handle_change(("events", game), *(("note", game, name) for name in notes))
        return events

    def _handle_change(self, *changes: Change) -> None:
        """Do nothing: the changes are on disk. `FallbackStore` saves them in its file."""

    def _read_rows(self, game: int) -> list[EventRow]:
        with self._database.reading() as db:
            return read_event_rows(db, game)

    def _insert_events(self, db: sqlite3.Connection, game: int, events: Sequence[StoredEvent]) -> None:
        """Insert events after the last event of a game."""
        rows = [(game, event.number, float(event.time), _encode_body(event.body)) for event in events]
        db.executemany(_INSERT_EVENT, [add_checksum(*row) for row in rows])
        if rows:
            self._write_game(db, game, rows[-1][1] + 1)

    def _write_game(self, db: sqlite3.Connection, game: int, length: int) -> None:
        """Write the number of events of a game, and the checksum of its row in the list of games."""
        db.execute("UPDATE game SET length = ? WHERE id = ?", (length, game))
        *row, _ = db.execute(f"{SELECT_GAMES} WHERE id = ?", (game,)).fetchone()
        db.execute("UPDATE game SET checksum = ? WHERE id = ?", (compute_checksum(*row), game))

    def _make_stored_game(self, game: int, started: float, body: str | None, length: int, imported: bool) -> StoredGame:
        damage = ""
        if game in self._damaged:
            rows = self._read_rows(game)
            body, length = rows[0][2] if rows else None, len(rows)
            damage = get_text("game-damaged", game, self._damaged[game], length)
        started = started if 0 <= started < MAX_TIME_S else 0.0
        return StoredGame(game, started, json.loads(body or "{}"), length, imported, damage)

    def _check_games(self) -> None:
        """Find the damaged games, each with the number of its intact events, and the number of the last game."""
        with self._database.reading() as db:
            if has_orphans(db):
                raise StoreDamagedError(get_text("store-broken", self.path, "a game is missing"))
            self._damaged = find_damaged_games(db)
        self._last_game_number = int(self._database.fetch_rows("SELECT coalesce(max(id), 0) FROM game")[0][0])


def _encode_body(body: EventBody) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))
