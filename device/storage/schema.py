"""SQL schemas by version, the schema of the store, and the migration of older files.

The statements of a released version are never changed; a new version adds further statements.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from device.storage.checksums import seal_all_games

_VERSION_1_SQL = """
CREATE TABLE game (
    id      INTEGER PRIMARY KEY,
    started REAL NOT NULL
) STRICT;
CREATE TABLE event (
    game   INTEGER NOT NULL REFERENCES game(id),
    number INTEGER NOT NULL,
    time   REAL NOT NULL,
    body   TEXT NOT NULL,
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
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
    BEGIN SELECT RAISE(ABORT, 'the log only grows'); END;
CREATE TRIGGER event_is_never_removed BEFORE DELETE ON event
    WHEN EXISTS (SELECT 1 FROM game WHERE id = OLD.game)
    BEGIN SELECT RAISE(ABORT, 'the log only grows'); END;
"""

# The row of a deleted game remains in `game`, so that its number is never used again: browsers may have stored links.
_VERSION_2_SQL = """
ALTER TABLE game ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1));
ALTER TABLE game ADD COLUMN imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1));
DROP TRIGGER event_is_never_removed;
CREATE TRIGGER event_is_removed_with_its_game_only BEFORE DELETE ON event
    WHEN NOT EXISTS (SELECT 1 FROM game WHERE id = OLD.game AND deleted)
    BEGIN SELECT RAISE(ABORT, 'the log only grows'); END;
CREATE TRIGGER deleted_game_gets_no_event BEFORE INSERT ON event
    WHEN EXISTS (SELECT 1 FROM game WHERE id = NEW.game AND deleted)
    BEGIN SELECT RAISE(ABORT, 'the game was deleted'); END;
CREATE TABLE note (
    game INTEGER NOT NULL,
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (game, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE player (
    name   TEXT PRIMARY KEY,
    colour TEXT NOT NULL DEFAULT '',
    played REAL NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO player (name, played)
    SELECT seat.value, max(game.started)
    FROM event JOIN game ON game.id = event.game,
        json_each(CASE WHEN json_valid(event.body) THEN event.body ELSE '{}' END, '$.players') AS seat
    WHERE event.number = 0 AND seat.type = 'text'
    GROUP BY seat.value;
"""

# Checksums: `device.storage.checksums`. `length` is the number of events of a game, `seal` a checksum of the game.
_VERSION_3_SQL = """
ALTER TABLE game ADD COLUMN length INTEGER NOT NULL DEFAULT 0;
ALTER TABLE game ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN checksum TEXT NOT NULL DEFAULT '';
ALTER TABLE note ADD COLUMN checksum TEXT NOT NULL DEFAULT '';
DROP TRIGGER event_is_never_changed;
"""
_VERSION_3_END_SQL = """
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
    BEGIN SELECT RAISE(ABORT, 'the log only grows'); END;
"""


def _add_checksums(db: sqlite3.Connection) -> None:
    run_script(db, _VERSION_3_SQL)
    seal_all_games(db)
    run_script(db, _VERSION_3_END_SQL)


@dataclass(frozen=True, slots=True)
class Schema:
    """The versions of the schema of an SQLite file.

    `migrations` are the changes from version 0 (an empty file) to 1, from 1 to 2, and so on. `file_id` is the base of
    SQLite's application ids (see `make_file_id`). `checked_tables` are the tables that are checked when a file is
    opened.
    """

    file_id: int
    migrations: tuple[Callable[[sqlite3.Connection], None], ...]
    checked_tables: tuple[str, ...]

    @property
    def version(self) -> int:
        """The newest version of the schema."""
        return len(self.migrations)

    def migrate(self, db: sqlite3.Connection) -> None:
        """Migrate a file to the newest version, inside the caller's transaction. Raises `sqlite3.Error`."""
        (version,) = db.execute("PRAGMA user_version").fetchone()
        for step in self.migrations[version:]:
            step(db)
        if version < self.version:
            db.execute(f"PRAGMA user_version = {self.version}")
            db.execute(f"PRAGMA application_id = {self.make_file_id(self.version)}")

    def make_file_id(self, version: int) -> int:
        """Return SQLite's application id for a file of this version.

        Because it includes the version, a damaged version number in the file is detected.
        """
        return self.file_id + version


STORE_SCHEMA = Schema(
    0x546B0000,  # "Tk"
    (lambda db: run_script(db, _VERSION_1_SQL), lambda db: run_script(db, _VERSION_2_SQL), _add_checksums),
    ("game", "event", "note", "player"),  # a check of the pictures would take minutes
)


def read_schema(db: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    """Return the name and the SQL statement of each table and trigger."""
    return frozenset(db.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


def run_script(db: sqlite3.Connection, script: str) -> None:
    """Run the statements of an SQL script inside the caller's transaction; `executescript` would commit it."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""
