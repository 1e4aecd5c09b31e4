"""Faults of stores: files that a failing card or another program has changed, and writes that fail."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from device.storage.store import GameStore

PAGE_SIZE = 4096
"""Size of a page of the file in bytes."""


def change_store(path: Path, sql: str) -> None:
    """Run a statement that the triggers of a store would refuse; it has to change a row."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        assert db.execute(sql).rowcount
        for _, definition in triggers:
            db.execute(definition)


def set_pragma(path: Path, name: str, value: object) -> None:
    """Set a pragma that is kept in the file, or run one that has an effect on the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA {name} = {value}")


def find_root_page(path: Path, name: str) -> slice:
    """Return where the first page of a table or an index is in the bytes of the file."""
    with closing(sqlite3.connect(path)) as db:
        ((page,),) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchall()
    return slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)


def get_connection(store: GameStore) -> sqlite3.Connection:
    """Return the connection of an open store: SQLite keeps what lets writes fail for each connection."""
    return store._database.connection


def protect_from_writes(store: GameStore, on: bool) -> None:
    """Let all writes fail, as on a card whose file system was made read-only."""
    get_connection(store).execute(f"PRAGMA query_only = {'ON' if on else 'OFF'}")


def limit_pages(store: GameStore, pages: int | None = None) -> None:
    """Let the file not grow beyond a number of pages, as on a full disk; without a number, beyond its size now."""
    if pages is None:
        (pages,) = get_connection(store).execute("PRAGMA page_count").fetchone()
    get_connection(store).execute(f"PRAGMA max_page_count = {pages}")


def free_pages(store: GameStore) -> None:
    """Make room again after `limit_pages`."""
    limit_pages(store, 100_000)
