"""Checksums that show damage: each event's is chained to the one before, and each game has a seal over all of it.

A flipped bit changes the checksum of its event, and a lost or moved event breaks the chain. The seal is in another
table and covers the number of events, so that a missing end shows as well. `TailRecord` keeps the seal written last in
a file of its own: SQLite drops the end of a damaged write-ahead log without an error.
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

_log = logging.getLogger(__name__)

CHECKSUM_DIGITS = 32
"""Hexadecimal digits of a checksum: 128 bits of a SHA-256."""

EventRow = tuple[int, float, str, str]
"""Number, time, body and checksum of an event as they are stored."""


def compute_checksum(*parts: object) -> str:
    """Return a checksum over values, by their `repr`.

    >>> compute_checksum("", 0, 1.5, "{}") == compute_checksum("", 0, 1.5, "{ }")
    False
    """
    return hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()[:CHECKSUM_DIGITS]


def chain_events(previous: str, events: Iterable[tuple[int, float, str]]) -> list[EventRow]:
    """Return the rows of events (number, time, body) that follow an event with the checksum `previous`."""
    rows: list[EventRow] = []
    for number, time, body in events:
        previous = compute_checksum(previous, number, time, body)
        rows.append((number, time, body, previous))
    return rows


def find_intact_events(rows: Iterable[EventRow]) -> list[EventRow]:
    """Return the events up to the first that is missing or damaged."""
    intact: list[EventRow] = []
    previous = ""
    for row in rows:
        number, time, body, checksum = row
        if number != len(intact) or checksum != compute_checksum(previous, number, time, body):
            break
        intact.append(row)
        previous = checksum
    return intact


def compute_seal(started: float, imported: bool | int, length: int, last_checksum: str) -> str:
    """Return the checksum of a whole game, which is kept in the list of games."""
    return compute_checksum(started, bool(imported), length, last_checksum)


def seal_all_games(db: sqlite3.Connection) -> None:
    """Compute the checksums of a store that was written without them, inside the caller's transaction.

    What follows an event that is no JSON object stays without checksums: the game counts as damaged from there on.
    """
    for game, started, imported in db.execute("SELECT id, started, imported FROM game").fetchall():
        events = db.execute("SELECT number, time, body FROM event WHERE game = ? ORDER BY number", (game,)).fetchall()
        rows = find_valid_events([(*event, "") for event in events])
        db.executemany(
            "UPDATE event SET checksum = ? WHERE game = ? AND number = ?",
            [(checksum, game, number) for number, _, _, checksum in rows],
        )
        last = rows[-1][3] if rows else ""
        seal = compute_seal(started, imported, len(rows), last) if len(rows) == len(events) else ""
        db.execute("UPDATE game SET length = ?, seal = ? WHERE id = ?", (len(events), seal, game))
    notes = db.execute("SELECT game, name, text FROM note").fetchall()
    db.executemany(
        "UPDATE note SET checksum = ? WHERE game = ? AND name = ?",
        [(compute_checksum(*note), note[0], note[1]) for note in notes],
    )


def find_valid_events(rows: Iterable[EventRow]) -> list[EventRow]:
    """Return the events without checksums up to the first that is missing or no JSON object, with new checksums."""
    valid: list[tuple[int, float, str]] = []
    for number, time, body, _ in rows:
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
    """Return the row of a note, with its checksum."""
    return game, name, text, compute_checksum(game, name, text)


def is_intact_note(row: Sequence[object]) -> bool:
    """Return True if the row of a note (game, name, text, checksum) is as it was written."""
    return row[3] == compute_checksum(*row[:3])


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of the game that was written last."""

    game: int
    length: int
    seal: str


class TailRecord:
    """The file with the newest `Tail`; as it is not synced, a power cut may leave one older than the store."""

    def __init__(self, path: Path | None) -> None:
        """Take the file's path; None keeps nothing."""
        self._path = path

    def write(self, tail: Tail) -> None:
        """Write the tail; a disk that does not accept it is ignored, as the store itself has the events."""
        if self._path:
            data = msgspec.json.encode({"tail": tail, "checksum": compute_checksum(tail)})
            try:
                self._path.write_bytes(data)
            except OSError as error:
                _log.warning("the record of the last event is not written: %s", error)

    def delete(self) -> None:
        """Delete the file. Raises `OSError`."""
        if self._path:
            self._path.unlink(missing_ok=True)

    def read(self) -> Tail | None:
        """Return the tail; None if there is none or the file is damaged."""
        with suppress(OSError, ValueError):
            if self._path:
                stored = msgspec.json.decode(self._path.read_bytes(), type=_StoredTail)
                if stored.checksum == compute_checksum(stored.tail):
                    return stored.tail
        return None


class _StoredTail(msgspec.Struct):
    tail: Tail
    checksum: str
