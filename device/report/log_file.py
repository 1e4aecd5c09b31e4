"""The log file in the data folder, with the warnings of the last weeks for problem reports."""

from __future__ import annotations

import errno
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from device.storage.files import read_small_file

LOG_FILE_NAME = "tilekeeper.log"
_MAX_READ_BYTES = 16_000_000
"""Largest size of a log file that is read, in bytes. It is above `MAX_LOG_BYTES`, because the last message may be long.
"""
MAX_LOG_BYTES = 200_000
"""Size in bytes at which the log file is renamed to `tilekeeper.log.1`, in place of the previous file of this name."""
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class _LogFileHandler(RotatingFileHandler):
    """Handler that writes to the log file, and ignores errors such as a full disk.

    An error report after each log message would hide the log messages on the console.
    """

    def _open(self) -> TextIOWrapper:
        """Open the log file. Raises `OSError`, also for a FIFO, because opening a FIFO would wait for a reader."""
        path = Path(self.baseFilename)
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "no file", str(path))
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802, ARG002
        self.close()


@contextmanager
def keep_log(folder: Path) -> Iterator[None]:
    """Write warnings to the log file in `folder`, in addition to the console, until the `with` block ends."""
    file = _LogFileHandler(folder / LOG_FILE_NAME, maxBytes=MAX_LOG_BYTES, backupCount=1, encoding="utf-8", delay=True)
    file.setFormatter(logging.Formatter(_FORMAT))
    console = logging.StreamHandler(sys.stderr)  # without any handler, logging itself would write to the console
    handlers: tuple[logging.Handler, ...] = (file, console)
    root = logging.getLogger()
    for handler in handlers:
        handler.setLevel(logging.WARNING)
        root.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            root.removeHandler(handler)
        file.close()


def read_log(folder: Path) -> str:
    """Return the text of the previous and the current log file, or an empty string if there is none."""
    parts = []
    for name in (f"{LOG_FILE_NAME}.1", LOG_FILE_NAME):
        try:
            parts.append(read_small_file(folder / name, _MAX_READ_BYTES)[-MAX_LOG_BYTES:].decode(errors="replace"))
        except OSError:
            continue
    return "".join(parts)
