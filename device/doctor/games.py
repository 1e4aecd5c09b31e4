"""Check that games can be stored: folder, permissions, file system, free space, database file."""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path

from device.doctor.finding import Finding, Subject
from device.doctor.program import (
    SERVICE_UNITS,
    SERVICE_USER,
    find_reinstall_remedy,
    find_service_account,
    is_service_installed,
)
from device.doctor.system import System, can_write
from device.settings import SERVICE_DATA_FOLDER, Settings, find_user_folder

MIN_FREE_BYTES, LOW_FREE_BYTES = 200_000_000, 1_000_000_000
"""Free space in bytes: below `MIN_FREE_BYTES` a fault is given, below `LOW_FREE_BYTES` a warning. A game with its
pictures takes about ten million bytes."""

_WRITTEN_FILES = (
    "games.db", "games.db-wal", "games.db-shm", "games.db.lock", "table.npz", "pairing.json", "https.pem",
    "tilekeeper.log", "backups", "lexicons",
)  # fmt: skip
"""Files in the data folder that the table must be able to write. A copy that was made with sudo belongs to root."""
_UNIT_DATA = re.compile(r"(?m)^ExecStart=.*\s--data[ =](\S+)")
"""Pattern of the folder of the games in the unit of the service. There, the option replaces `data.folder`."""
_OCTAL_ESCAPE = re.compile(r"\\(\d{3})")
"""Pattern of a space or another special character in a path of `/proc/mounts`, such as `\\040`."""
_SQLITE_MAGIC = b"SQLite format 3\0"


def check_games(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that games can be stored: folder, permissions, file system, free space, database file."""
    subject = Subject("games")
    folder = find_data_folder(system, settings)
    path = system.path(folder)
    if not path.is_dir():
        if is_service_installed(system):
            yield subject.fault(f"{folder} is missing", "sudo systemctl restart tilekeeper")
        else:
            yield subject.note(f"{folder} does not exist yet: the first game creates it")
        return
    yield from _check_writable(system, subject, folder)
    yield from _check_file_system(system, subject, folder)
    yield from _check_free_space(system, subject, folder)
    if _can_open(path):
        yield from _check_store(system, subject, folder / "games.db")
    else:
        yield subject.note(f"{folder} cannot be opened", "sudo tilekeeper doctor")


def _can_open(folder: Path) -> bool:
    return os.access(folder, os.R_OK | os.X_OK)


def _check_writable(system: System, subject: Subject, folder: Path) -> Iterator[Finding]:
    """Check that the service's user can write to the folder and its files."""
    path, account = system.path(folder), find_service_account(system)
    files = [path / name for name in _WRITTEN_FILES] if _can_open(path) else []
    needed = (path, *filter(Path.exists, files))
    if account is not None and (closed := [one for one in needed if not can_write(one, account)]):
        yield subject.fault(
            f"the table cannot write to /{closed[0].relative_to(system.root)}",
            f"sudo chown -R {SERVICE_USER}: {shlex.quote(str(folder))} && sudo systemctl restart tilekeeper",
        )


def _check_file_system(system: System, subject: Subject, folder: Path) -> Iterator[Finding]:
    """Check that the file system of the folder can be written, and that its files outlast a power cut."""
    mount, kind, options = _find_mount(system, folder)
    if "ro" in options and mount != "/":  # a root that is mounted read-only is a fault of the card
        yield subject.fault(
            f"{folder} is mounted read-only, as the kernel does after errors: no turn can be saved",
            f"sudo mount -o remount,rw {shlex.quote(mount)}; if it becomes read-only again, save the games (tilekeeper "
            "backup FILE) and use another card or stick",
        )
    if kind == "overlay":
        yield subject.fault(
            f"{folder} is on an overlay: every game is lost when the power goes off",
            "sudo raspi-config nonint do_overlayfs 1 && sudo reboot, or mount a separate partition there",
        )
    elif kind == "tmpfs":
        yield subject.fault(
            f"{folder} is in memory only: every game is lost when the power goes off", "mount a partition there"
        )


def _check_free_space(system: System, subject: Subject, folder: Path) -> Iterator[Finding]:
    free = system.measure_free_bytes(folder)
    if free is None:
        return
    if free < MIN_FREE_BYTES:
        yield subject.fault(
            f"only {free // 1_000_000} MB are free: soon no turn can be saved",
            "sudo apt-get clean && sudo journalctl --vacuum-size=20M, or delete games on the page",
        )
    elif free < LOW_FREE_BYTES:
        yield subject.warning(f"{free // 1_000_000} MB are free", "sudo apt-get clean, or delete games on the page")
    else:
        yield subject.good(f"{free // 1_000_000:,} MB are free in {folder}")


def find_data_folder(system: System, settings: Settings) -> Path:
    """Return the folder of the stored games, as a path on the examined machine (without `System.root`).

    If the service is installed, this is the folder that its unit names; the service does not use `data.folder`.
    Raises `HomeFolderError`.
    """
    for unit in filter(None, map(system.read_text, SERVICE_UNITS)):
        if named := _UNIT_DATA.search(unit):
            return Path(named[1])
    if settings.data.folder is not None:
        return settings.data.folder
    return SERVICE_DATA_FOLDER if is_service_installed(system) else find_user_folder()


def _check_store(system: System, subject: Subject, shown: Path) -> Iterator[Finding]:
    """Check the database file. If a running table may have it open, only its header is read.

    `shown` is the path of the file on the examined machine, as in messages.
    """
    from device.storage.schema import STORE_SCHEMA

    path = system.path(shown)
    restart = "sudo systemctl restart tilekeeper" if is_service_installed(system) else "restart the table"
    recover = f"{restart}: the table keeps the file, and recovers the games that can be read"
    quoted = shlex.quote(str(shown))
    aside = f"sudo systemctl stop tilekeeper; sudo mv {quoted} {quoted}.damaged; sudo systemctl start tilekeeper"
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except FileNotFoundError:
        return
    except PermissionError:
        yield subject.note(f"{shown} cannot be opened", "sudo tilekeeper doctor")
        return
    except OSError as error:
        yield subject.fault(f"{shown} cannot be read ({error.strerror}): the card may be failing", aside)
        return
    if not head:
        return  # the table is creating it at this moment
    if len(head) < 100 or not head.startswith(_SQLITE_MAGIC):
        yield subject.fault(f"{shown} is damaged, or is not a store of games", recover)
        return
    (version,) = struct.unpack(">I", head[60:64])  # https://www.sqlite.org/fileformat2.html#the_database_header
    if version > STORE_SCHEMA.version:
        yield subject.fault(f"{shown} was written by a newer Tilekeeper", find_reinstall_remedy(system))
    elif path.with_name(path.name + "-wal").exists():
        yield subject.good(f"{shown} is in use, or was not closed (the next start repairs that)")
    else:
        yield from _check_integrity(subject, path, shown, recover)


def _check_integrity(subject: Subject, path: Path, shown: Path, recover: str) -> Iterator[Finding]:
    """Run SQLite's `quick_check` on the database. The table must be stopped.

    The database is opened as `immutable`, so that SQLite creates no files beside it. `shown` is the path of the
    database in messages, and `recover` the remedy for a damaged database.
    """
    try:
        store = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            (result,) = store.execute("PRAGMA quick_check(1)").fetchone()
            (count,) = store.execute("SELECT count(DISTINCT game) FROM event").fetchone()  # not deleted ones
        finally:
            store.close()
    except sqlite3.Error as error:
        result, count = str(error), 0
    if result == "ok":
        yield subject.good(f"{shown} is intact: {count} game{'' if count == 1 else 's'}")
    else:
        yield subject.fault(f"{shown} is damaged ({result})", recover)


def _find_mount(system: System, folder: Path) -> tuple[str, str, tuple[str, ...]]:
    """Return the mount point, the type and the options of the file system that contains `folder`.

    The values are empty if they are unknown.
    """
    found: tuple[str, str, tuple[str, ...]] = ("", "", ())
    for line in (system.read_text("/proc/mounts") or "").splitlines():
        fields = [_OCTAL_ESCAPE.sub(lambda match: chr(int(match[1], 8)), field) for field in line.split()]
        if len(fields) > 3 and folder.is_relative_to(fields[1]) and len(fields[1]) >= len(found[0]):
            found = (fields[1], fields[2], tuple(fields[3].split(",")))
    return found
