"""The schema of the hall's file, with checksums that detect damage.

Each game has a checksum (seal) over its row and its events. Each result and each note also has a checksum. `total` has
the numbers of games and results, so that lost rows are detected.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from device.storage.checksums import compute_checksum
from device.storage.schema import Schema

GameRow = tuple[int, str, str, int, float]
"""A game as a row of the file: id, table, the table's store, number of the game in this store, time of event 0."""
EventRow = tuple[int, float, str]
"""An event as a row of the file: number, time, body."""
_SELECT_EVENTS = "SELECT number, time, body FROM event WHERE game = ? ORDER BY number"
_SELECT_GAME = "SELECT id, place, store, number, started FROM game WHERE id = ?"


@dataclass(frozen=True, slots=True)
class HallTotal:
    """Numbers of the games and results in the file of a hall."""

    games: int
    results: int


def read_game(db: sqlite3.Connection, game: int) -> tuple[GameRow, list[EventRow]]:
    """Return a game and its events. Raises `sqlite3.Error`."""
    return db.execute(_SELECT_GAME, (game,)).fetchone(), db.execute(_SELECT_EVENTS, (game,)).fetchall()


def seal_game(db: sqlite3.Connection, game: int) -> None:
    """Write the checksum of a game, inside the caller's transaction."""
    seal = compute_checksum(*read_game(db, game))
    db.execute("UPDATE game SET seal = ? WHERE id = ? AND seal <> ?", (seal, game, seal))


def write_total(db: sqlite3.Connection) -> None:
    """Count the games and results again, inside the caller's transaction."""
    total = _count_rows(db)
    row = total.games, total.results
    db.execute("DELETE FROM total")
    db.execute("INSERT INTO total VALUES (?, ?, ?)", (*row, compute_checksum(*row)))


def _count_rows(db: sqlite3.Connection) -> HallTotal:
    return HallTotal(*db.execute("SELECT (SELECT count(*) FROM game), (SELECT count(*) FROM result)").fetchone())


def _read_total(db: sqlite3.Connection) -> HallTotal | None:
    """Return the stored numbers of games and results; None if they are damaged. Raises `sqlite3.Error`."""
    rows = db.execute("SELECT games, results, checksum FROM total").fetchall()
    if len(rows) != 1 or rows[0][2] != compute_checksum(*rows[0][:2]):
        return HallTotal(0, 0) if not rows else None
    return HallTotal(*rows[0][:2])


def find_damages(db: sqlite3.Connection) -> Iterator[str]:
    """Yield a description of each damage in a file. Raises `sqlite3.Error`."""
    ((found,),) = db.execute("PRAGMA integrity_check(1)")
    if found != "ok":
        yield found
    if _read_total(db) != _count_rows(db):
        yield "rows are missing"
    if db.execute("SELECT 1 FROM event WHERE game NOT IN (SELECT id FROM game) LIMIT 1").fetchone():
        yield "events without a game"
    for game, seal in db.execute("SELECT id, seal FROM game").fetchall():
        if seal != compute_checksum(*read_game(db, game)):
            yield f"game {game}"
    for *values, checksum in db.execute("SELECT game, body, checksum FROM result"):
        if checksum != compute_checksum(*values):
            yield f"result {values[0]}"
    for *values, checksum in db.execute("SELECT name, text, checksum FROM note"):
        if checksum != compute_checksum(*values):
            yield f"note {values[0]}"


HALL_SCHEMA = Schema(
    0x546B4800,  # "TkH"
    4,
    """
CREATE TABLE game (
    id        INTEGER PRIMARY KEY,
    place     TEXT NOT NULL,    -- name of the table
    store     TEXT NOT NULL,    -- id of the table's store, and the number of the game in it
    number    INTEGER NOT NULL,
    started   REAL NOT NULL,    -- time of event 0
    seal      TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX game_of_place ON game (place, store, number);
CREATE TABLE event (
    game   INTEGER NOT NULL REFERENCES game(id),
    number INTEGER NOT NULL,
    time   REAL NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (game, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE result (
    game     INTEGER PRIMARY KEY,   -- its game may have been lost by damage
    body     TEXT NOT NULL,
    checksum TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE note (name TEXT PRIMARY KEY, text TEXT NOT NULL, checksum TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE total (
    games    INTEGER PRIMARY KEY,   -- the only row
    results  INTEGER NOT NULL,
    checksum TEXT NOT NULL
) STRICT;
""",
    ("game", "event", "result", "note", "total"),
    ((0x546B4801, 1), (0x546B4802, 2), (0x546B4800, 3)),
)
