"""SQL schemas of SQLite files, and the schema of the store."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of an SQLite file.

    `file_id` is the base of SQLite's application ids (see `make_file_id`), `version` the version of the schema, and
    `sql` creates it. `checked_tables` are the tables that are checked when a file is opened. `old_versions` are the
    application id and the version of older files, which this program does not read.
    """

    file_id: int
    version: int
    sql: str
    checked_tables: tuple[str, ...]
    old_versions: tuple[tuple[int, int], ...] = ()

    def create(self, db: sqlite3.Connection) -> None:
        """Create the tables in an empty file, inside the caller's transaction. Raises `sqlite3.Error`."""
        if db.execute("PRAGMA user_version").fetchone() == (self.version,):
            return
        _run_script(db, self.sql)
        db.execute(f"PRAGMA user_version = {self.version}")
        db.execute(f"PRAGMA application_id = {self.make_file_id(self.version)}")

    def make_file_id(self, version: int) -> int:
        """Return SQLite's application id for a file of this version.

        Because it includes the version, a damaged version number in the file is detected.
        """
        return self.file_id + version


# The row of a deleted game remains in `game`, so that its number is never used again: browsers may have stored links.
# Checksums: `device.storage.checksums`. `length` is the number of events of a game.
STORE_SCHEMA = Schema(
    0x546B5300,  # "TkS"
    4,
    """
CREATE TABLE game (
    id       INTEGER PRIMARY KEY,
    started  REAL NOT NULL,
    imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1)),
    deleted  INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
    length   INTEGER NOT NULL,
    checksum TEXT NOT NULL
) STRICT;
CREATE TABLE event (
    game     INTEGER NOT NULL REFERENCES game(id),
    number   INTEGER NOT NULL,
    time     REAL NOT NULL,
    body     TEXT NOT NULL,
    checksum TEXT NOT NULL,
    PRIMARY KEY (game, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE picture (
    game   INTEGER NOT NULL,
    number INTEGER NOT NULL,
    kind   TEXT NOT NULL,
    jpeg   BLOB NOT NULL,
    PRIMARY KEY (game, number, kind),
    FOREIGN KEY (game, number) REFERENCES event(game, number)
) STRICT;
CREATE TABLE note (
    game     INTEGER NOT NULL,
    name     TEXT NOT NULL,
    text     TEXT NOT NULL,
    checksum TEXT NOT NULL,
    PRIMARY KEY (game, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE player (
    name   TEXT PRIMARY KEY,
    colour TEXT NOT NULL DEFAULT '',
    played REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
    BEGIN SELECT RAISE(ABORT, 'the log only grows'); END;
CREATE TRIGGER event_is_removed_with_its_game_only BEFORE DELETE ON event
    WHEN NOT EXISTS (SELECT 1 FROM game WHERE id = OLD.game AND deleted)
    BEGIN SELECT RAISE(ABORT, 'the log only grows'); END;
CREATE TRIGGER deleted_game_gets_no_event BEFORE INSERT ON event
    WHEN EXISTS (SELECT 1 FROM game WHERE id = NEW.game AND deleted)
    BEGIN SELECT RAISE(ABORT, 'the game was deleted'); END;
""",
    ("game", "event", "note", "player"),  # a check of the pictures would take minutes
    ((0, 1), (0, 2), (0x546B0003, 3)),
)


def read_schema(db: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    """Return the name and the SQL statement of each table and trigger."""
    return frozenset(db.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


def _run_script(db: sqlite3.Connection, script: str) -> None:
    """Run the statements of an SQL script inside the caller's transaction; `executescript` would commit it."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""
