"""The schema of the hall's file, with checksums that detect damage.

Each game has a checksum (seal) over its row and its events. Each result and each note also has a checksum. `total` has
the numbers of changes, games and results, so that lost rows are detected. The number of changes is also stored in a
separate file (`TailRecord`), because SQLite drops the end of a damaged write-ahead log without an error.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from device.storage.checksums import Tail, compute_checksum
from device.storage.schema import Schema, run_script

_VERSION_1_SQL = """
CREATE TABLE IF NOT EXISTS game (
    id        INTEGER PRIMARY KEY,
    place     TEXT NOT NULL,    -- name of the table
    store     TEXT NOT NULL,    -- id of the table's store, and the number of the game in it
    number    INTEGER NOT NULL,
    started   REAL NOT NULL     -- time of event 0
) STRICT;
CREATE INDEX IF NOT EXISTS game_of_place ON game (place, store, number);
CREATE TABLE IF NOT EXISTS event (
    game   INTEGER NOT NULL REFERENCES game(id),
    number INTEGER NOT NULL,
    time   REAL NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (game, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS result (
    id   INTEGER PRIMARY KEY,
    game INTEGER UNIQUE,          -- NULL: entered by the director
    body TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS note (name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID;
"""
_VERSION_2_SQL = """
ALTER TABLE game ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE result ADD COLUMN checksum TEXT NOT NULL DEFAULT '';
ALTER TABLE note ADD COLUMN checksum TEXT NOT NULL DEFAULT '';
CREATE TABLE total (
    changes  INTEGER PRIMARY KEY,   -- the only row
    games    INTEGER NOT NULL,
    results  INTEGER NOT NULL,
    checksum TEXT NOT NULL
) STRICT;
"""
GameRow = tuple[int, str, str, int, float]
"""A game as a row of the file: id, table, the table's store, number of the game in this store, time of event 0."""
EventRow = tuple[int, float, str]
"""An event as a row of the file: number, time, body."""
_SELECT_EVENTS = "SELECT number, time, body FROM event WHERE game = ? ORDER BY number"
_SELECT_GAME = "SELECT id, place, store, number, started FROM game WHERE id = ?"


@dataclass(frozen=True, slots=True)
class HallTotal:
    """Numbers of the changes made to the file of a hall, and of the games and results in the file."""

    changes: int
    games: int
    results: int

    @property
    def tail(self) -> Tail:
        """The number of changes as a `Tail`, which `TailRecord` can store."""
        return Tail(0, self.changes, "")


def read_game(db: sqlite3.Connection, game: int) -> tuple[GameRow, list[EventRow]]:
    """Return a game and its events. Raises `sqlite3.Error`."""
    return db.execute(_SELECT_GAME, (game,)).fetchone(), db.execute(_SELECT_EVENTS, (game,)).fetchall()


def seal_game(db: sqlite3.Connection, game: int) -> None:
    """Write the checksum of a game, inside the caller's transaction."""
    seal = compute_checksum(*read_game(db, game))
    db.execute("UPDATE game SET seal = ? WHERE id = ? AND seal <> ?", (seal, game, seal))


def count_change(db: sqlite3.Connection) -> HallTotal:
    """Count one more change, inside the caller's transaction. Return the new total."""
    ((changes,),) = db.execute("SELECT coalesce(max(changes), 0) + 1 FROM total")
    ((games, results),) = db.execute("SELECT (SELECT count(*) FROM game), (SELECT count(*) FROM result)")
    db.execute("DELETE FROM total")
    db.execute(
        "INSERT INTO total VALUES (?, ?, ?, ?)", (changes, games, results, compute_checksum(changes, games, results))
    )
    return HallTotal(changes, games, results)


def read_total(db: sqlite3.Connection) -> HallTotal | None:
    """Return the stored numbers of changes, games and results; None if they are damaged. Raises `sqlite3.Error`."""
    rows = db.execute("SELECT changes, games, results, checksum FROM total").fetchall()
    if len(rows) != 1 or rows[0][3] != compute_checksum(*rows[0][:3]):
        return None
    return HallTotal(*rows[0][:3])


def find_damages(db: sqlite3.Connection) -> Iterator[str]:
    """Yield a description of each damage in a file. Raises `sqlite3.Error`."""
    ((found,),) = db.execute("PRAGMA integrity_check(1)")
    if found != "ok":
        yield found
    total = read_total(db)
    ((games, results),) = db.execute("SELECT (SELECT count(*) FROM game), (SELECT count(*) FROM result)")
    if total is None or (total.games, total.results) != (games, results):
        yield "rows are missing"
    if db.execute("SELECT 1 FROM event WHERE game NOT IN (SELECT id FROM game) LIMIT 1").fetchone():
        yield "events without a game"
    for game, seal in db.execute("SELECT id, seal FROM game").fetchall():
        if seal != compute_checksum(*read_game(db, game)):
            yield f"game {game}"
    for *values, checksum in db.execute("SELECT id, game, body, checksum FROM result"):
        if checksum != compute_checksum(*values):
            yield f"result {values[0]}"
    for *values, checksum in db.execute("SELECT name, text, checksum FROM note"):
        if checksum != compute_checksum(*values):
            yield f"note {values[0]}"


def _add_checksums(db: sqlite3.Connection) -> None:
    run_script(db, _VERSION_2_SQL)
    for (game,) in db.execute("SELECT id FROM game").fetchall():
        seal_game(db, game)
    for row in db.execute("SELECT id, game, body FROM result").fetchall():
        db.execute("UPDATE result SET checksum = ? WHERE id = ?", (compute_checksum(*row), row[0]))
    for row in db.execute("SELECT name, text FROM note").fetchall():
        db.execute("UPDATE note SET checksum = ? WHERE name = ?", (compute_checksum(*row), row[0]))
    count_change(db)


HALL_SCHEMA = Schema(
    0x546B4800,  # "TkH"
    (lambda db: run_script(db, _VERSION_1_SQL), _add_checksums),
    ("game", "event", "result", "note", "total"),
)
