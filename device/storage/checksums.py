"""Checksums that detect damage of stored games.

The checksum of an event includes that of the previous event (a hash chain). So a flipped bit changes the checksum of
the event, and a lost or moved event breaks the chain. The seal of a game is a checksum over its number of events and
its last checksum. It is stored in the list of games, so missing events at the end of a game are detected, too.
`TailRecord` stores the newest seal in a separate file, because SQLite drops the end of a damaged write-ahead log
without an error.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from device.storage.files import read_small_file

_log = logging.getLogger(__name__)

CHECKSUM_DIGITS = 32
"""Number of hexadecimal digits of a checksum, which is the first 128 bits of a SHA-256."""

_MAX_TAIL_BYTES = 1000

EventRow = tuple[int, float, str, str]
"""An event as a row of the database: number, time (seconds since 1970), body (JSON) and checksum."""


def compute_checksum(*parts: object) -> str:
    """Return a checksum over the `repr` of the given values.

    >>> compute_checksum("", 0, 1.5, "{}") == compute_checksum("", 0, 1.5, "{ }")
    False
    """
    return hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()[:CHECKSUM_DIGITS]


def chain_events(previous: str, events: Iterable[tuple[int, float, str]]) -> list[EventRow]:
    """Return events (number, time, body) as rows with checksums.

    `previous` is the checksum of the event before the first one, or empty at the beginning of a game.
    """
    rows: list[EventRow] = []
    for number, time, body in events:
        previous = compute_checksum(previous, number, time, body)
        rows.append((number, time, body, previous))
    return rows


def find_intact_events(rows: Iterable[EventRow]) -> list[EventRow]:
    """Return the rows before the first event that is missing or has a wrong checksum."""
    intact: list[EventRow] = []
    previous = ""
    for row in rows:
        number, time, body, checksum = row
        if number != len(intact) or checksum != compute_checksum(previous, number, time, body):
            break
        intact.append(row)
        previous = checksum
    return intact


def find_last_checksum(rows: Sequence[EventRow]) -> str:
    """Return the checksum of the last event, or an empty string if there are no events."""
    return rows[-1][3] if rows else ""


def compute_seal(started: float, imported: bool | int, length: int, last_checksum: str) -> str:
    """Return the seal of a game: a checksum over its start time, origin, number of events and last checksum.

    The seal is stored in the list of games.
    """
    return compute_checksum(started, bool(imported), length, last_checksum)


def seal_all_games(db: sqlite3.Connection) -> None:
    """Add checksums and seals to all games of a store of an older version, inside the caller's transaction.

    If an event is not a JSON object, this event and the following ones get no checksums. The game then counts as
    damaged from this event on.
    """
    for game, started, imported in db.execute("SELECT id, started, imported FROM game").fetchall():
        events = db.execute("SELECT number, time, body FROM event WHERE game = ? ORDER BY number", (game,)).fetchall()
        rows = find_valid_events(events)
        db.executemany(
            "UPDATE event SET checksum = ? WHERE game = ? AND number = ?",
            [(checksum, game, number) for number, _, _, checksum in rows],
        )
        is_whole = len(rows) == len(events)
        seal = compute_seal(started, imported, len(rows), find_last_checksum(rows)) if is_whole else ""
        db.execute("UPDATE game SET length = ?, seal = ? WHERE id = ?", (len(events), seal, game))
    notes = db.execute("SELECT game, name, text FROM note").fetchall()
    db.executemany(
        "UPDATE note SET checksum = ? WHERE game = ? AND name = ?",
        [(compute_checksum(*note), note[0], note[1]) for note in notes],
    )


def find_valid_events(events: Iterable[tuple[int, float, str]]) -> list[EventRow]:
    """Return the events before the first one that is missing or not a JSON object, as rows with checksums.

    The events (number, time, body) come from files of older versions, which have no checksums.
    """
    valid: list[tuple[int, float, str]] = []
    for number, time, body in events:
        if number != len(valid) or not _is_object(body):
            break
        valid.append((number, time, body))
    return chain_events("", valid)


def _is_object(body: str) -> bool:
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


def make_note_row(game: int, name: str, text: str) -> tuple[int, str, str, str]:
    """Return a note (a text with a name) as a row of the database: game, name, text, checksum."""
    return game, name, text, compute_checksum(game, name, text)


def is_intact_note(row: Sequence[object]) -> bool:
    """Return True if the checksum in the row of a note (game, name, text, checksum) is correct."""
    return row[3] == compute_checksum(*row[:3])


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of the game that was changed last: its game number, its number of events, and its seal (checksum)."""

    game: int
    length: int
    seal: str


class TailRecord:
    """File with the newest `Tail`. It is not synced to disk, so after a power cut it may be older than the store."""

    def __init__(self, path: Path | None) -> None:
        """Use the file at `path`; if `path` is None, nothing is written or read."""
        self._path = path

    def write(self, tail: Tail) -> None:
        """Write a `Tail` to the file; an error is only logged, because the events themselves are in the store."""
        if self._path:
            data = msgspec.json.encode({"tail": tail, "checksum": compute_checksum(tail)})
            part = self._path.with_name(f"{self._path.name}.part")
            try:
                part.write_bytes(data)
                part.replace(self._path)
            except OSError as error:
                _log.warning("the record of the last event is not written: %s", error)

    def delete(self) -> None:
        """Delete the file. Raises `OSError`."""
        if self._path:
            self._path.unlink(missing_ok=True)

    def read(self) -> Tail | None:
        """Return the `Tail` in the file, or None if the file is missing or damaged."""
        with suppress(OSError, ValueError):
            if self._path:
                stored = msgspec.json.decode(read_small_file(self._path, _MAX_TAIL_BYTES), type=_StoredTail)
                if stored.checksum == compute_checksum(stored.tail):
                    return stored.tail
        return None


class _StoredTail(msgspec.Struct):
    tail: Tail
    checksum: str
