"""Stores that were changed from outside, as a failing card changes them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def change_store(path: Path, sql: str) -> None:
    """Run a statement that the triggers of a store would refuse; it has to change a row."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        assert db.execute(sql).rowcount
        for _, definition in triggers:
            db.execute(definition)
