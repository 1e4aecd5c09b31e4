"""Functions for small files: write a file completely or not at all, and read a file of limited size."""

from __future__ import annotations

import errno
import logging
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.errors import TilekeeperError

OLD_PART_S = 3600.0
"""Age of an incomplete file in seconds after which no program is still writing it."""
_PART_SUFFIX = ".part"
_READ_PAUSES_S = (0.1, 0.4)
"""Pauses in seconds after which a file is read again, if the disk could not read it."""

COMPANION_SUFFIXES = ("-wal", "-journal", "-shm")
"""Suffixes of the names of the files that SQLite has beside a database."""
_log = logging.getLogger(__name__)


class HomeFolderError(TilekeeperError):
    """Error for a user without a home folder, such as one that a container runs with a number only."""


def find_home_folder() -> Path:
    """Return the home folder of the user. Raises `HomeFolderError`."""
    try:
        return Path.home()
    except RuntimeError:
        raise HomeFolderError(
            "This user has no home folder. Set the environment variable HOME to a folder in which the user may write."
        ) from None


def may_exist(path: Path) -> bool:
    """Return False if there certainly is no file.

    A file in a folder that may not be searched may exist, and so may the target of a link, on a disk that is missing.
    """
    try:
        path.lstat()
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
    return True


@contextmanager
def keep_private() -> Iterator[None]:
    """Let other users read nothing that the program writes during a `with` block."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def write_file(path: Path, data: bytes, mode: int = 0o600, *, sync: bool = True) -> None:
    """Write a file completely or not at all, even if the power fails. Raises `OSError`.

    `mode` are the permissions of the file. If `sync` is False, nothing is synced to disk, which takes tens of
    milliseconds on a card; a power cut may then leave the file empty. A file that root replaces keeps its owner, and a
    new file of root gets the owner of its folder.
    """
    prefix = f".{path.name}-"
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=prefix, suffix=_PART_SUFFIX, delete=False) as part:
        try:
            part.write(data)
            part.flush()
            if sync:
                os.fsync(part.fileno())
            os.fchmod(part.fileno(), mode)
            _give_to_owner_of(path if may_exist(path) else path.parent, Path(part.name))
            Path(part.name).replace(path)
        except OSError:
            Path(part.name).unlink(missing_ok=True)
            raise
    if sync:
        sync_folder(path.parent)
    _remove_old_parts(path.parent, prefix)


def _remove_old_parts(folder: Path, prefix: str) -> None:
    """Remove the parts of files that a power cut or a killed program has left; names begin with `prefix`.

    A new part is kept, because another program may be writing it.
    """
    for part in folder.iterdir():
        if part.name.startswith(prefix) and part.suffix == _PART_SUFFIX:
            with suppress(FileNotFoundError):  # another program has removed it, or has completed its file
                if abs(time.time() - part.stat().st_mtime) > OLD_PART_S:
                    part.unlink()


def read_small_file(path: Path, max_bytes: int) -> bytes:
    """Return the content of a file of at most `max_bytes` bytes.

    If the disk cannot read it, this is tried again after a short time. Raises `OSError`, also if the file is larger, or
    is not a regular file but a device, FIFO or folder.
    """
    for pause_s in _READ_PAUSES_S:
        try:
            return _read_once(path, max_bytes)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            _log.warning("%s is read again: %s", path, error)
            time.sleep(pause_s)
    return _read_once(path, max_bytes)


def set_aside(path: Path) -> None:
    """Rename a file that cannot be used to `*.damaged`; errors are ignored."""
    with suppress(OSError):
        path.replace(path.with_name(f"{path.name}.damaged"))


def find_unusable_file(path: Path | None) -> Path | None:
    """Return `path` if there is something that is no file, or that may not be read and written; otherwise None."""
    if path is None or not may_exist(path):
        return None
    return None if path.is_file() and os.access(path, os.R_OK | os.W_OK) else path


def rename_aside(path: Path) -> Path:
    """Rename a file, and the log files that SQLite has beside a store, to `*.old-DATE`; return the new path.

    Raises `OSError`.
    """
    aside = make_dated_path(path.with_name(f"{path.name}.old"))
    move_store(path, aside)
    return aside


def move_store(path: Path, target: Path, *, keeps_name: bool = False) -> None:
    """Rename a store and the log files that SQLite has beside it. Raises `OSError`.

    If `keeps_name` is True, the store itself also keeps its name, unless the file system has no hard links.
    """
    with suppress(OSError):
        if keeps_name:
            os.link(path, target)
    if not target.exists():
        path.rename(target)
    for suffix in COMPANION_SUFFIXES:
        if (beside := path.with_name(path.name + suffix)).exists():
            beside.rename(f"{target}{suffix}")


def _read_once(path: Path, max_bytes: int) -> bytes:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # a FIFO would wait for its writer
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode) or state.st_size > max_bytes:
            raise OSError(errno.EINVAL, f"no file of up to {max_bytes} bytes", str(path))
        return file.read()


def make_dated_path(path: Path) -> Path:
    """Return `path` with today's date at the end of its name, and a number as well if there is such a file already."""
    stem = f"{path.name}-{time.strftime('%Y%m%d')}"
    numbered = (path.with_name(stem if n == 0 else f"{stem}-{n}") for n in range(10_000))
    return next(name for name in numbered if not os.path.lexists(name))


def sync_folder(folder: Path) -> None:
    """Sync a folder to disk. Without this, a power cut may lose the name of a new file."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def give_to_folder_owner(*paths: Path) -> None:
    """Give new files to the owner of their folder, if root made them: the service could not use a file of root.

    Paths without a file are skipped. Raises `OSError` for a folder that cannot be read.
    """
    for path in filter(Path.exists, paths):
        _give_to_owner_of(path.parent, path)


def _give_to_owner_of(other: Path, path: Path) -> None:
    """Give a file of root to the owner of another file or folder."""
    if os.geteuid() != 0:
        return
    state = other.stat()
    try:
        os.chown(path, state.st_uid, state.st_gid)
    except OSError as error:  # a container or a file system in which root may not do this
        _log.warning("%s keeps its owner: %s", path, error)
