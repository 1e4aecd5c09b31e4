"""Backup of a hall: a ZIP file with its games, rounds and results, and with the key that its tables have accepted.

The file is as secret as the key: only its owner may read it.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path

from device.catalogue import get_text
from device.hall.director import FILE_NAME as KEY_FILE_NAME
from device.hall.receiving.received_games import ReceivedGames
from device.storage.database import lock_beside, open_read_only
from device.storage.errors import StoreDamagedError, StoreError, to_store_error
from device.storage.files import give_to_folder_owner, make_dated_path, write_file

HALL_FILE_NAME = "hall.db"
_MAX_BYTES = 4_000_000_000


def save_hall(folder: Path, file: Path) -> int:
    """Write the hall in a folder, which may be running, to a new file; return the number of its games.

    Raises `StoreError`, also if the file exists.
    """
    if file.exists():
        raise StoreError(get_text("file-exists", file))
    try:
        with tempfile.TemporaryDirectory(dir=file.parent) as name:
            copy = Path(name) / HALL_FILE_NAME
            with closing(open_read_only(folder / HALL_FILE_NAME)) as db, closing(sqlite3.connect(copy)) as target:
                db.backup(target)
            with closing(ReceivedGames(copy, is_owner=False)) as games:
                count = len(games.list_games())
            part = Path(name) / "part"
            with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
                for path in (copy, folder / KEY_FILE_NAME):
                    if path.exists():
                        archive.write(path, path.name)
            write_file(file, part.read_bytes(), mode=0o600)
    except (OSError, sqlite3.Error) as error:
        raise to_store_error(error, str(file)) from error
    return count


def restore_hall(file: Path, folder: Path) -> tuple[int, Path | None]:
    """Replace the hall in a folder by that of a backup; the hall must not run. Return the number of its games.

    The second value is the folder to which the replaced hall was moved, None if there was none. Raises `StoreError`,
    and `StoreDamagedError` if the file is no backup of a hall; then nothing is changed.
    """
    lock = lock_beside(str(folder / HALL_FILE_NAME))
    try:
        with tempfile.TemporaryDirectory(dir=folder) as name, zipfile.ZipFile(file) as archive:
            sizes = {one.filename: one.file_size for one in archive.infolist()}
            if HALL_FILE_NAME not in sizes or sum(sizes.values()) > _MAX_BYTES:
                raise StoreDamagedError(get_text("store-damaged", file))
            members = [one for one in (HALL_FILE_NAME, KEY_FILE_NAME) if one in sizes]
            for member in members:
                archive.extract(member, name)
            with closing(ReceivedGames(Path(name) / HALL_FILE_NAME, is_owner=False)) as games:
                count = len(games.list_games())
            aside = _keep_aside(folder)
            for member in members:
                (Path(name) / member).chmod(0o600)
                (Path(name) / member).replace(folder / member)
                give_to_folder_owner(folder / member)
    except zipfile.BadZipFile as error:
        raise StoreDamagedError(get_text("store-damaged", file)) from error
    except OSError as error:
        raise to_store_error(error, str(folder)) from error
    finally:
        os.close(lock)
    return count, aside


def _keep_aside(folder: Path) -> Path | None:
    """Move the files of a hall to a new folder beside them, and return the folder; None if there is no hall."""
    found = [path for path in folder.glob(f"{HALL_FILE_NAME}*") if path.suffix != ".lock"]
    if not found:
        return None
    aside = make_dated_path(folder / "replaced-hall")
    aside.mkdir(mode=0o700)
    for path in (*found, folder / KEY_FILE_NAME):
        if path.exists():
            path.rename(aside / path.name)
    return aside
